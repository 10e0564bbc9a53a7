"""graph_connect: dependencies and other edges. Invalid edges are rejected one by one, the others are made."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.actors import Access, local_actor
from groundplan.session import Session
from tests.engines import Engine, person
from tests.errors import error_of
from tests.work.client import WorkClient


def reasons(answer: Any) -> list[str]:
    return [one.reason for one in answer.rejected or ()]


def test_a_dependency_on_an_open_node_blocks_at_once(work: WorkClient) -> None:
    work.plan("a\nb")

    answer = work.connect("a: b")

    assert (answer.applied, answer.rejected) == (1, UNSET)
    assert work.next() == ["b"]
    assert work.query(is_blocked=True) == ["a"]


def test_a_dependency_on_a_resolved_node_blocks_nobody(work: WorkClient) -> None:
    work.plan("a\nb")
    work.resolve("b")

    work.connect("a: b")

    assert work.next() == ["a"]


def test_taking_a_dependency_away_unblocks_and_tells(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: a, b")

    answer = work.disconnect("b: a", "c: a")

    assert answer.applied == 2
    assert work.names(answer.newly_actionable) == ["b"]
    assert work.waits_for("c") == ["b"]


@pytest.mark.parametrize("size", [2, 3, 6])
def test_a_cycle_is_refused_and_the_path_is_named(work: WorkClient, size: int) -> None:
    names = [f"n{place}" for place in range(size)]
    work.plan("\n".join(names))
    work.connect(*(f"{one}: {after}" for one, after in pairwise(names)))

    answer = work.connect(f"{names[-1]}: {names[0]}")

    assert (answer.applied, reasons(answer)) == (0, ["cycle_detected"])
    (rejected,) = answer.rejected
    assert (work.name(rejected.from_), work.name(rejected.to)) == (names[-1], names[0])
    assert [work.name(one) for one in rejected.path] == [names[-1], *names]


def test_only_open_nodes_close_a_cycle_and_reopening_one_that_does_is_refused(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b")
    work.resolve("b")

    assert work.connect("a: c").applied == 1
    error = error_of(lambda: work.reopen("b"))

    assert (error.code, [work.name(one) for one in error.details["path"]]) == (
        "cycle_detected",
        ["b", "a", "c", "b"],
    )


def test_two_nodes_that_wait_for_the_parents_of_each_other_are_refused(work: WorkClient) -> None:
    work.plan("p\n  c\nq\n  d")
    work.connect("c: q")

    (rejected,) = work.connect("d: p").rejected

    assert rejected.reason == "cycle_detected"
    assert [work.name(one) for one in rejected.path] == ["d", "p", "c", "q", "d"]
    assert [[work.name(one) for one in pair] for pair in rejected.depends_on] == [["d", "p"], ["c", "q"]]


def test_a_cycle_through_the_tree_is_gone_with_one_of_its_dependencies(work: WorkClient) -> None:
    work.plan("p\n  c\nq\n  d")
    work.connect("c: q")
    edges = [work.edge("d: p"), work.edge("c: q", remove=True)]  # what is removed goes first

    answer = work.call("work.connect", edges=edges)

    assert (answer.applied, answer.rejected) == (2, UNSET)


def test_a_node_cannot_depend_on_itself(work: WorkClient) -> None:
    work.plan("a")

    assert reasons(work.connect("a: a")) == ["cycle_detected"]


@pytest.mark.parametrize("above", ["root", "phase", "step"])
def test_a_node_cannot_depend_on_a_node_above_it(work: WorkClient, above: str) -> None:
    work.plan("phase\n  step\n    a")

    answer = work.connect(f"a: {above}")

    assert reasons(answer) == ["cycle_detected"]
    path = [work.name(one) for one in answer.rejected[0].path]
    assert path == ["a", *["root", "phase", "step"][["root", "phase", "step"].index(above) :], "a"]


def test_a_node_may_depend_on_a_node_below_it(work: WorkClient) -> None:
    work.plan("phase\n  a")

    assert work.connect("phase: a").applied == 1
    assert work.names(work.resolve("a").newly_actionable) == ["phase"]


def test_mutual_blocking_is_refused(work: WorkClient) -> None:
    work.plan("a\nb")

    answer = work.connect("a: b", "b: a")

    assert (answer.applied, reasons(answer)) == (1, ["cycle_detected"])


def test_other_types_may_go_round_and_block_nobody(work: WorkClient) -> None:
    work.plan("a\nb")

    answer = work.connect("a: b", "b: a", type="relates_to")

    assert (answer.applied, answer.rejected) == (2, UNSET)
    assert work.next() == ["a", "b"]
    assert [(one.type, one.direction) for one in work.context("a").related] == [
        ("relates_to", "out"),
        ("relates_to", "in"),
    ]


def test_two_nodes_may_be_connected_in_several_ways(work: WorkClient) -> None:
    work.plan("a\nb")
    work.connect("a: b")

    assert work.connect("a: b", type="relates_to").applied == 1
    assert work.disconnect("a: b", type="relates_to").applied == 1
    assert work.waits_for("a") == ["b"]


REJECTED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown source": ({"from": "oooooo", "to": "b", "type": "depends_on"}, "node_not_found"),
    "an unknown target": ({"from": "a", "to": "oooooo", "type": "depends_on"}, "node_not_found"),
    "a node of another project": ({"from": "a", "to": "elsewhere", "type": "depends_on"}, "mixed_projects"),
    "an edge that is there already": ({"from": "c", "to": "a", "type": "depends_on"}, "already_connected"),
    "an edge that is not there": ({"from": "a", "to": "b", "type": "depends_on", "remove": True}, "not_connected"),
    "an edge of another type": ({"from": "c", "to": "a", "type": "relates_to", "remove": True}, "not_connected"),
    "an edge to itself": ({"from": "a", "to": "a", "type": "relates_to"}, "self_edge"),
    "a cycle": ({"from": "a", "to": "c", "type": "depends_on"}, "cycle_detected"),
    "the tree": ({"from": "a", "to": "b", "type": "parent"}, "use_graph_restructure"),
    "the tree from the other side": ({"from": "a", "to": "b", "type": "child_of"}, "use_graph_restructure"),
}


@pytest.mark.parametrize("wrong", REJECTED)
def test_a_bad_edge_is_listed_with_its_reason_and_the_others_are_made(work: WorkClient, wrong: str) -> None:
    work.ids["elsewhere"] = work.call("work.open", project="borealis").root.id
    work.plan("a\nb\nc: a\nd")
    edge, reason = REJECTED[wrong]
    bad = edge | {"from": work[edge["from"]], "to": work[edge["to"]]}

    answer = work.call("work.connect", edges=[work.edge("d: a"), bad, work.edge("d: b")])

    assert answer.applied == 2
    assert [(one.from_, one.to, one.reason) for one in answer.rejected] == [(bad["from"], bad["to"], reason)]
    assert work.waits_for("d") == ["a", "b"]


def test_when_every_edge_is_bad_that_is_no_error_either(engine: Engine, work: WorkClient) -> None:
    work.plan("a\nb: a")
    before = engine.as_owner("SELECT rev FROM projects")

    answer = work.connect("a: b", "a: oooooo")

    assert (answer.applied, reasons(answer)) == (0, ["cycle_detected", "node_not_found"])
    assert engine.as_owner("SELECT rev FROM projects") == before


def test_a_call_in_which_no_node_is_known_rejects_each_edge_and_is_no_error(engine: Engine, work: WorkClient) -> None:
    work.plan("a")
    before = engine.as_owner("SELECT rev FROM projects")
    mistyped = work["a"][:-1] + "o"

    answer = work.connect("oooooo: uuuuuu", f"{mistyped}: uuuuuu")

    assert (answer.applied, reasons(answer)) == (0, ["node_not_found", "node_not_found"])
    assert [edge.near for edge in answer.rejected] == [UNSET, [work["a"]]]
    assert engine.as_owner("SELECT rev FROM projects") == before


def test_hidden_nodes_are_rejected_as_unknown_ones_are(engine: Engine, work: WorkClient) -> None:
    work.plan("a\nb")
    stranger = engine.session(person("finn"))
    engine.session("finn").call("project.create", name="finn's own")

    answer = stranger.call("work.connect", edges=[work.edge("a: b"), {"from": "oooooo", "to": "b", "type": "x"}])

    assert (answer.applied, reasons(answer)) == (0, ["node_not_found", "node_not_found"])
    assert [edge.near for edge in answer.rejected] == [UNSET, UNSET]
    nobody = Session(engine.store, local_actor("mallory", access=Access.MEMBERS))
    assert error_of(lambda: nobody.call("work.connect", edges=[work.edge("a: b")])).code == "not_found"


def test_an_unknown_node_comes_with_what_was_probably_meant(work: WorkClient) -> None:
    work.plan("a\nb")
    mistyped = work["b"][:-1] + "o"

    (rejected,) = work.connect(f"a: {mistyped}").rejected

    assert (rejected.reason, rejected.near) == ("node_not_found", [work["b"]])


def test_edges_are_removed_first_and_then_added_in_order(work: WorkClient) -> None:
    work.plan("a\nb\nc: b")
    edges = [work.edge("b: c"), work.edge("a: b"), work.edge("c: b", remove=True), work.edge("b: a")]

    answer = work.call("work.connect", edges=edges)

    assert (answer.applied, reasons(answer)) == (3, ["cycle_detected"])
    assert (work.waits_for("a"), work.waits_for("b"), work.waits_for("c")) == (["b"], ["c"], [])


def test_a_connection_is_an_event_of_the_node_it_begins_at(work: WorkClient) -> None:
    work.plan("a\nb")
    work.by("ben").connect("a: b", decision="b comes first")
    work.by("ben").call("work.connect", edges=[work.edge("a: b", remove=True)], decision="or not")

    made, gone = work.history("a")[1:]

    assert (made.action, made.agent, made.decision) == ("connected", "ben", "b comes first")
    assert [(one.field, one.before, one.after) for one in made.changes] == [("depends_on", None, work["b"])]
    assert (gone.action, gone.decision) == ("disconnected", "or not")
    assert [(one.field, one.before, one.after) for one in gone.changes] == [("depends_on", work["b"], None)]
    assert (work.node("a").rev, work.node("b").rev) == (3, 1)


def test_context_shows_both_directions_of_a_dependency(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b")
    work.resolve("a")

    context = work.context("b")

    assert [(work.name(one.node.id), one.satisfied) for one in context.depends_on] == [("a", True)]
    assert [(work.name(one.node.id), one.satisfied) for one in context.depended_by] == [("c", False)]


def test_a_long_chain_is_walked_in_one_go(work: WorkClient) -> None:
    work.plan("\n".join(f"n{place}: n{place + 1}" for place in range(900)) + "\nn900")

    (rejected,) = work.connect("n900: n0").rejected

    assert rejected.reason == "cycle_detected"
    assert [work.name(one) for one in rejected.path[:2]] == ["n900", "n0"]
    assert work.name(rejected.path[-1]) == "n900"


def test_many_ways_between_two_nodes_are_not_walked_one_by_one(work: WorkClient) -> None:
    # The number of paths doubles with each layer, so the check must not enumerate them.
    layers = 40
    outline = [f"left{place}: left{place + 1}, right{place + 1}" for place in range(layers)]
    outline += [f"right{place}: left{place + 1}, right{place + 1}" for place in range(layers)]
    work.plan("\n".join([*outline, f"left{layers}", f"right{layers}"]))

    assert reasons(work.connect(f"left{layers}: left0")) == ["cycle_detected"]
    assert work.connect(f"left{layers}: right{layers}").applied == 1
