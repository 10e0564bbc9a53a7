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
from tests.work.graph.plans import add_chain, add_children, encode_text, plan, root_of, session_with_cap


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


def test_a_tree_shows_at_most_fifty_children_of_a_node_and_two_hundred_nodes_level_by_level(
    engine: Engine, ada: Session
) -> None:
    refs = [f"branch {number}" for number in range(6)]
    ids = plan(
        ada,
        "atlas",
        *({"ref": ref} for ref in refs),
        *({"ref": f"{ref}.{number}", "parent_ref": ref} for ref in refs for number in range(60)),
    )

    found = ada.call("work.context", node_id=root_of(ada, "atlas"), depth=10)

    below = found.children.children
    assert [branch.summary for branch in below] == refs
    assert [0 if one.children is UNSET else len(one.children) for one in below] == [50, 50, 50, 43, 0, 0]
    assert [one.child_count for one in below] == [60] * 6
    assert [one.summary for one in below[0].children] == [f"branch 0.{number}" for number in range(50)]
    assert found.left_out["children"] == 6 * 60 - 193
    assert len(ids) == 366


def test_at_most_twenty_dependencies_are_shown_in_each_direction_the_open_ones_first(ada: Session) -> None:
    refs = [f"n{number:02}" for number in range(30)]
    ids = plan(ada, "atlas", *({"ref": ref} for ref in refs), {"ref": "last", "depends_on": refs})
    ada.call("work.update", updates=[{"node_id": ids[ref], "resolved": True} for ref in refs[:25]])
    others = plan(ada, "atlas", *({"ref": f"w{number:02}", "depends_on": [ids["last"]]} for number in range(23)))
    edges = [{"from": ids["last"], "to": other, "type": "relates_to"} for other in others.values()]
    ada.call("work.connect", edges=edges)

    found = ada.call("work.context", node_id=ids["last"])

    assert [one.node.summary for one in found.depends_on] == [*refs[25:], *refs[:15]]
    assert [one.node.summary for one in found.depended_by] == [f"w{number:02}" for number in range(20)]
    assert len(found.related) == 20
    assert found.left_out == {"depends_on": 10, "depended_by": 3, "related": 3}


@pytest.mark.proof
def test_a_node_with_very_many_children_is_answered_in_bounds(engine: Engine, ada: Session) -> None:
    count = scaled(5_000, 100_000)
    ids = plan(ada, "atlas", {"ref": "fat"})
    add_children(engine, "atlas", 2, count)

    found = session_with_cap(engine, 20_000).call("work.context", node_id=ids["fat"], depth=10)

    assert len(found.children.children) == 50
    assert found.children.child_count == count
    assert found.left_out["children"] == count - 50
    assert [one.summary for one in found.children.children[:2]] == ["child 1", "child 2"]
    assert count_tokens(encode_text(found)) < 2_000


@pytest.mark.proof
def test_the_lowest_of_very_many_levels_is_shown_with_the_root_and_the_nearest_ancestors(
    engine: Engine, ada: Session
) -> None:
    levels = scaled(2_000, 10_000)
    add_chain(engine, "atlas", 1, levels)

    lowest = ada.call("work.context", node_id=f"made{levels + 1}")
    highest = ada.call("work.context", node_id="made2", depth=10)

    assert lowest.node.summary == f"level {levels}"
    shown = [one.summary for one in lowest.ancestors]
    assert shown == ["A map that every walker trusts", *(f"level {number}" for number in range(levels - 49, levels))]
    assert lowest.left_out["ancestors"] == levels - 50
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
    missing = found.left_out or {}
    assert len(found.ancestors) + missing.get("ancestors", 0) == 2
    assert len(found.depends_on) + missing.get("depends_on", 0) == 12
    assert len(found.depended_by) + missing.get("depended_by", 0) == 12
    assert (missing.get("children", 0) > 0) == (tokens_max < 10_000)
    if tokens_max >= 3_000:  # the tree is trimmed first
        assert (len(found.ancestors), len(found.depends_on)) == (2, 12)


def test_a_node_that_is_too_long_itself_loses_its_oldest_evidence(engine: Engine, ada: Session) -> None:
    ids = plan(ada, "atlas", {"ref": "it", "context_links": ["x" * 500, "y" * 500]})
    evidence = [{"type": "note", "ref": f"{number} " + "z" * 500} for number in range(8)]
    ada.call("work.update", updates=[{"node_id": ids["it"], "add_evidence": evidence}])

    found = session_with_cap(engine, 800).call("work.context", node_id=ids["it"])

    assert count_tokens(encode_text(found)) <= 800
    assert found.left_out == {"ancestors": 1, "node.context_links": 2, "node.evidence": 4}
    assert [one.ref.partition(" ")[0] for one in found.node.evidence] == ["4", "5", "6", "7"]
