"""References to nodes: whole ids, unique prefixes, and helpful errors for the rest."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Invalid, NotFound
from tests.engines import Engine, fill_once, person
from tests.errors import error_of
from tests.work.client import WorkClient

# Every argument that names an existing node.
NAMING: dict[str, Callable[[WorkClient, str], Any]] = {
    "plan below": lambda work, ref: work.plan("x", under=ref),
    "plan depending on": lambda work, ref: work.plan(f"x: {ref}"),
    "next": lambda work, ref: work.offers(scope=ref),
    "context": lambda work, ref: work.context(ref),
    "update": lambda work, ref: work.update(ref, state=1),
    "query": lambda work, ref: work.query(ancestor=ref),
    "move": lambda work, ref: work.move(ref, "other"),
    "move below": lambda work, ref: work.move("other", ref),
    "merge": lambda work, ref: work.merge(ref, "other"),
    "merge into": lambda work, ref: work.merge("other", ref),
    "drop": lambda work, ref: work.drop(ref),
    "history": lambda work, ref: work.history(ref),
}
every_tool = pytest.mark.parametrize("tool", NAMING)  # operations that change something

IDS = {"first": "abcd1xxx", "second": "abcd2xxx", "third": "wxyz3456", "other": "zzzz9999"}


def plan_named(engine: Engine) -> dict[str, str]:
    """Plan the nodes, set their ids, and return the ids by name."""
    desk = WorkClient(engine.session("ada"))
    desk.open()
    desk.plan("\n".join(IDS))
    engine.as_owner(*(f"UPDATE work_nodes SET id = '{IDS[one]}' WHERE id = '{desk[one]}'" for one in IDS))
    return {**desk.ids, **IDS}


@pytest.fixture
def chosen_ids(engine: Engine) -> WorkClient:
    """Nodes with ids that the test chose."""
    ids = fill_once(engine, plan_named)
    return WorkClient(engine.session("ada"), ids={**ids})


@every_tool
@pytest.mark.parametrize("chars", [4, 8])
def test_a_unique_beginning_of_four_characters_is_enough(chosen_ids: WorkClient, tool: str, chars: int) -> None:
    NAMING[tool](chosen_ids, IDS["third"][:chars])


def test_a_shorter_beginning_is_not(chosen_ids: WorkClient, subtests: pytest.Subtests) -> None:
    for tool, call in NAMING.items():
        with subtests.test(tool):
            assert isinstance(error_of(partial(call, chosen_ids, IDS["third"][:3])), NotFound)


def test_a_beginning_of_several_ids_is_ambiguous_and_names_them(
    chosen_ids: WorkClient, subtests: pytest.Subtests
) -> None:
    for tool, call in NAMING.items():
        with subtests.test(tool):
            refusal = error_of(partial(call, chosen_ids, "abcd"))

            assert isinstance(refusal, Invalid)
            assert (refusal.code, refusal.details["near"]) == ("ambiguous_node", ["abcd1xxx", "abcd2xxx"])


def test_a_whole_id_is_meant_even_when_it_is_the_beginning_of_another(engine: Engine, chosen_ids: WorkClient) -> None:
    engine.as_owner("UPDATE work_nodes SET id = 'abcd1' WHERE id = 'abcd1xxx'")
    engine.as_owner("UPDATE work_nodes SET id = 'abcd1xxx' WHERE id = 'abcd2xxx'")

    assert chosen_ids.node("abcd1").summary == "first"
    assert chosen_ids.node("abcd1x").summary == "second"


def test_an_unknown_id_comes_with_what_was_probably_meant(chosen_ids: WorkClient, subtests: pytest.Subtests) -> None:
    for tool, call in NAMING.items():
        with subtests.test(tool):
            refusal = error_of(partial(call, chosen_ids, "wxyz3465"))

            assert isinstance(refusal, NotFound)
            assert refusal.details == {"thing": "node", "ref": "wxyz3465", "near": ["wxyz3456"]}


def test_what_is_no_id_is_not_found(chosen_ids: WorkClient, subtests: pytest.Subtests) -> None:
    for ref in ("abcd%", "abcd_xxx", "wxyz345_", "ABCD1XXX", "wxyz3456 ", "' OR 1=1 --", "é" * 5, "~~~~~"):
        with subtests.test(ref):
            assert isinstance(error_of(partial(chosen_ids.context, ref)), NotFound)


def test_an_ambiguous_end_of_an_edge_is_rejected_with_the_ids(chosen_ids: WorkClient) -> None:
    (rejected,) = chosen_ids.connect("abcd: other").rejected

    assert (rejected.reason, rejected.near) == ("ambiguous_node", ["abcd1xxx", "abcd2xxx"])


def test_the_ends_of_an_edge_may_be_beginnings(chosen_ids: WorkClient) -> None:
    assert chosen_ids.connect("wxyz: zzzz").applied == 1
    assert chosen_ids.waits_for("third") == ["other"]


def test_near_ids_and_beginnings_are_only_of_nodes_that_the_caller_sees(engine: Engine, chosen_ids: WorkClient) -> None:
    root = engine.session("finn").call("work.open", project="finn's own").root.id
    engine.as_owner(f"UPDATE work_nodes SET id = 'mmmmmmmm' WHERE id = '{root}'")  # a random one could be near
    finn = chosen_ids.by(person("finn"))

    for ref in ("abcd", "wxyz", "wxyz3465", "wxyz3456"):
        refusal = error_of(partial(finn.context, ref))
        assert refusal.details == {"thing": "node", "ref": ref}


def test_a_beginning_that_is_ambiguous_only_through_hidden_nodes_is_unique(
    engine: Engine, chosen_ids: WorkClient
) -> None:
    root = engine.session("finn").call("work.open", project="finn's own").root.id
    engine.as_owner(f"UPDATE work_nodes SET id = 'abcd7xxx' WHERE id = '{root}'")

    assert chosen_ids.by(person("finn")).node("abcd").id == "abcd7xxx"


READS = ("next", "context", "query", "history")


@pytest.mark.parametrize("tool", [tool for tool in NAMING if tool not in READS])
def test_a_change_under_the_id_of_a_merged_node_is_one_of_its_target(
    engine: Engine, work: WorkClient, tool: str
) -> None:
    work.plan("source\ntarget\nother")
    work.merge("source", "target")
    ((merged_at,),) = engine.as_owner("SELECT max(rev) FROM events")

    NAMING[tool](work, work["source"])

    written = engine.as_owner(f"SELECT subject, changes FROM events WHERE rev > {merged_at}")
    assert work["target"] in str(written)
    assert work["source"] not in str(written)


def test_a_read_under_the_id_of_a_merged_node_is_one_of_its_target(work: WorkClient) -> None:
    work.plan("source\ntarget\n  child\nother")
    work.merge("source", "target")
    source = work["source"]

    assert work.context(source).node.id == work["target"]
    assert work.names(one.node for one in work.offers(scope=source)) == ["child"]
    assert work.query(ancestor=source) == ["child"]
    assert work.actions("source") == ["created", "merged"]  # the past is its own


MIXED: dict[str, Callable[[WorkClient], Any]] = {
    "plan below": lambda work: work.plan("x", under="elsewhere"),
    "plan depending on": lambda work: work.plan("x: elsewhere"),
    "plan without a project": lambda work: work.plan("x: elsewhere", under="a", project=None),
    "scope": lambda work: work.offers(scope="elsewhere"),
    "update": lambda work: work.updates({"node_id": "a", "state": 1}, {"node_id": "elsewhere", "state": 1}),
    "query": lambda work: work.query(ancestor=work["elsewhere"]),
    "move": lambda work: work.move("a", "elsewhere"),
    "merge": lambda work: work.merge("elsewhere", "a"),
    "drop": lambda work: work.restructure(
        {"op": "drop", "node_id": "a", "reason": "x"}, {"op": "drop", "node_id": "elsewhere", "reason": "x"}
    ),
}


def test_one_call_is_about_one_project(engine: Engine, work: WorkClient, subtests: pytest.Subtests) -> None:
    work.plan("a")
    other = WorkClient(work.session, "borealis", work.ids)
    other.open()
    other.plan("elsewhere")
    work.open()
    before = engine.as_owner("SELECT rev FROM projects ORDER BY id")

    for name, call in MIXED.items():
        with subtests.test(name):
            refusal = error_of(partial(call, work))

            assert isinstance(refusal, Invalid)
            assert (refusal.code, len(refusal.details["projects"])) == ("mixed_projects", 2)
            assert work["elsewhere"] in refusal.details["nodes"]
            assert set(refusal.details["nodes"]) <= {work["elsewhere"], work["a"]}
            assert work.open().root.id not in refusal.details["nodes"]
            assert engine.as_owner("SELECT rev FROM projects ORDER BY id") == before


def test_ids_are_short_and_easy_to_read(work: WorkClient) -> None:
    planned = work.plan("\n".join(f"n{place}" for place in range(200)))

    ids = {one.id for one in planned.created}
    assert len(ids) == 200
    assert {len(one) for one in ids} == {6}
    assert not set("".join(ids)) - set("0123456789abcdefghjkmnpqrstvwxyz")
