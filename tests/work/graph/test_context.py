"""graph_context: a node and its neighbourhood, complete if small and bounded if large."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from groundplan.kernel.answers import count_tokens
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.session import Session
from tests.engines import Engine, fill_once, person
from tests.proof import scaled
from tests.work.cases import try_each
from tests.work.graph.plans import add_chain, encode_text, plan, root_of, session_with_cap


def open_atlas(engine: Engine) -> None:
    """Open the project."""
    engine.session("ada").call("work.open", project="atlas", goal="A map that every walker trusts")


@pytest.fixture
def ada(engine: Engine) -> Session:
    fill_once(engine, open_atlas)
    return engine.session("ada")


def error_of(session: Session, operation: str, **arguments: Any) -> GroundplanError:
    with pytest.raises(GroundplanError) as caught:
        session.call(operation, **arguments)
    return caught.value


def outline(tree: Any) -> Any:
    """Return a tree as summaries: a leaf is its summary, else (summary, children, child_count if some are left out)."""
    children = [] if tree.children is UNSET else [outline(child) for child in tree.children]
    if tree.child_count is not UNSET:
        return tree.summary, children, tree.child_count
    return (tree.summary, children) if children else tree.summary


def test_a_node_is_shown_with_its_ancestors_its_tree_and_both_sides_of_its_dependencies(ada: Session) -> None:
    ids = plan(
        ada,
        "atlas",
        {"ref": "survey"},
        {"ref": "north", "parent_ref": "survey"},
        {"ref": "walk", "parent_ref": "north", "depends_on": ["boots"]},
        {"ref": "boots"},
        {"ref": "print", "depends_on": ["north"]},
    )

    found = ada.call("work.context", node_id=ids["north"])

    assert (found.node.id, found.node.parent, found.node.summary) == (ids["north"], ids["survey"], "north")
    assert msgspec.to_builtins(found.ancestors) == [
        {"id": root_of(ada, "atlas"), "summary": "A map that every walker trusts", "resolved": False},
        {"id": ids["survey"], "summary": "survey", "resolved": False},
    ]
    assert msgspec.to_builtins(found.children) == {
        "id": ids["north"],
        "summary": "north",
        "resolved": False,
        "children": [{"id": ids["walk"], "summary": "walk", "resolved": False}],
    }
    assert found.depends_on == []
    assert [(one.node.summary, one.satisfied) for one in found.depended_by] == [("print", False)]
    assert found.related is UNSET
    assert found.left_out is UNSET


def test_a_dependency_is_satisfied_once_its_target_is_resolved(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b"}, {"ref": "c", "depends_on": ["a", "b"]})
    done = {"node_id": ids["a"], "resolved": True, "add_evidence": [{"type": "note", "ref": "ok"}]}
    ada.call("work.update", updates=[done])

    waiting = ada.call("work.context", node_id=ids["c"])
    resolved = ada.call("work.context", node_id=ids["a"])

    assert [(one.node.summary, one.satisfied) for one in waiting.depends_on] == [("b", False), ("a", True)]
    assert [(one.node.summary, one.satisfied) for one in resolved.depended_by] == [("c", True)]
    assert resolved.node.evidence[0].ref == "ok"


def test_edges_that_nobody_waits_for_are_shown_as_related_in_both_directions(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b", "depends_on": ["a"]})
    edges = [
        {"from": ids["a"], "to": ids["b"], "type": "relates_to"},
        {"from": ids["b"], "to": ids["a"], "type": "a review of"},
    ]
    ada.call("work.connect", edges=edges)

    found = ada.call("work.context", node_id=ids["a"])

    assert [(one.type, one.direction, one.id, one.summary) for one in found.related] == [
        ("relates_to", "out", ids["b"], "b"),
        ("a review of", "in", ids["b"], "b"),
    ]
    assert [one.node.id for one in found.depended_by] == [ids["b"]]


@pytest.mark.parametrize(
    ("depth", "expected"),
    [
        (0, ("a", [], 2)),
        (1, ("a", [("b", [], 1), "e"])),
        (2, ("a", [("b", [("c", [], 1)]), "e"])),
        (3, ("a", [("b", [("c", ["d"])]), "e"])),
        (10, ("a", [("b", [("c", ["d"])]), "e"])),
    ],
)
def test_the_tree_goes_as_deep_as_asked_and_counts_what_lies_below(ada: Session, depth: int, expected: Any) -> None:
    ids = plan(
        ada,
        "atlas",
        {"ref": "a"},
        {"ref": "b", "parent_ref": "a"},
        {"ref": "c", "parent_ref": "b"},
        {"ref": "d", "parent_ref": "c"},
        {"ref": "e", "parent_ref": "a"},
    )

    found = ada.call("work.context", node_id=ids["a"], depth=depth)

    assert outline(found.children) == expected
    assert found.left_out is UNSET


def test_a_tree_shows_the_state_of_its_nodes(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b", "parent_ref": "a"})
    ada.call("work.update", updates=[{"node_id": ids["b"], "state": {"step": 2}}])

    assert ada.call("work.context", node_id=ids["a"]).children.children[0].state == {"step": 2}


@pytest.mark.parametrize("depth", [-1, 11])
def test_a_depth_out_of_bounds_is_refused(ada: Session, depth: int) -> None:
    assert error_of(ada, "work.context", node_id=root_of(ada, "atlas"), depth=depth).status == 400


def test_a_lean_answer_has_no_empty_parts(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"}, {"ref": "b", "parent_ref": "a"})

    leaf = msgspec.to_builtins(ada.call("work.context", node_id=ids["b"], lean=True))
    root = msgspec.to_builtins(ada.call("work.context", node_id=root_of(ada, "atlas"), lean=True))

    assert leaf.keys() == {"node", "ancestors"}
    assert root.keys() == {"node", "children"}
    assert root["children"]["children"][0]["children"] == [{"id": ids["b"], "summary": "b", "resolved": False}]


def test_the_beginning_of_an_id_is_enough(ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})

    assert ada.call("work.context", node_id=ids["a"][:4]).node.id == ids["a"]


def test_a_hidden_node_reads_like_a_missing_one(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "a"})
    ada.call("work.open", project="borealis")
    ada.call("member.add", scopeId="borealis", userId="ben", role="viewer")
    ben = engine.session(person("ben"))

    hidden = error_of(ben, "work.context", node_id=ids["a"])
    missing = error_of(ben, "work.context", node_id="zzzzzz")

    assert isinstance(hidden, NotFound)
    assert encode_text(hidden.to_dict()).replace(ids["a"], "zzzzzz") == encode_text(missing.to_dict())


def test_the_open_dependencies_come_first(ada: Session) -> None:
    refs = [f"n{number:02}" for number in range(30)]
    ids = plan(ada, "atlas", *({"ref": ref} for ref in refs), {"ref": "last", "depends_on": refs})
    ada.call("work.update", updates=[{"node_id": ids[ref], "resolved": True} for ref in refs[:25]])

    found = ada.call("work.context", node_id=ids["last"])

    assert [one.node.summary for one in found.depends_on] == [*refs[25:], *refs[:25]]


@pytest.mark.proof
def test_the_lowest_of_very_many_levels_is_shown_with_the_root_and_the_nearest_ancestors(
    engine: Engine, ada: Session
) -> None:
    levels = scaled(2_000, 10_000)
    add_chain(engine, "atlas", 1, levels)
    capped = session_with_cap(engine, 20_000)

    lowest = capped.call("work.context", node_id=f"made{levels + 1}")
    highest = capped.call("work.context", node_id="made2", depth=10)

    assert lowest.node.summary == f"level {levels}"
    shown = [one.summary for one in lowest.ancestors]
    near = len(shown) - 1
    assert near > 40
    assert shown == ["A map that every walker trusts", *(f"level {number}" for number in range(levels - near, levels))]
    assert lowest.left_out == {"ancestors": levels - 1 - near}
    assert highest.left_out is UNSET
    assert encode_text(highest.children).count('"id"') == 11


@pytest.fixture
def crowded_node(ada: Session) -> str:
    """The id of a node with dozens of neighbours in each direction, each with a long summary."""
    long = '"' * 200
    refs = [f"n{number:02}" for number in range(12)]
    ids = plan(
        ada,
        "atlas",
        {"ref": "above", "summary": f"above {long}"},
        {"ref": "it", "parent_ref": "above", "depends_on": refs},
        *({"ref": ref, "summary": f"{ref} {long}"} for ref in refs),
        *({"ref": f"c{ref}", "parent_ref": "it", "summary": f"c{ref} {long}"} for ref in refs),
        *({"ref": f"d{ref}", "parent_ref": f"c{ref}", "summary": f"d{ref} {long}"} for ref in refs),
        *({"ref": f"w{ref}", "depends_on": ["it"], "summary": f"w{ref} {long}"} for ref in refs),
    )

    return ids["it"]


@try_each("tokens_max", [250, 400, 700, 1_500, 3_000, 10_000])
def test_an_answer_keeps_the_cap_and_counts_what_it_left_out(
    engine: Engine, crowded_node: str, tokens_max: int
) -> None:
    found = session_with_cap(engine, tokens_max).call("work.context", node_id=crowded_node)

    assert count_tokens(encode_text(found)) <= tokens_max
    assert found.node.summary == "it"
    missing = {} if found.left_out is UNSET else found.left_out
    assert len(found.ancestors) + missing.get("ancestors", 0) == 2
    assert len(found.depends_on) + missing.get("depends_on", 0) == 12
    assert len(found.depended_by) + missing.get("depended_by", 0) == 12
    assert (missing.get("children", 0) > 0, found.next_cursor is not UNSET) == (True, True)


def test_a_node_that_is_too_long_itself_loses_its_oldest_evidence(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "it", "context_links": ["x" * 500, "y" * 500]})
    evidence = [{"type": "note", "ref": f"{number} " + "z" * 500} for number in range(8)]
    ada.call("work.update", updates=[{"node_id": ids["it"], "add_evidence": evidence}])

    found = session_with_cap(engine, 800).call("work.context", node_id=ids["it"])

    assert count_tokens(encode_text(found)) <= 800
    assert found.left_out == {"node.evidence": 6}
    assert [one.ref.partition(" ")[0] for one in found.node.evidence] == ["6", "7"]
