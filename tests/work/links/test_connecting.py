"""graph_connect with links: to keys of the purpose and to facts, one by one."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from tests.engines import Engine
from tests.errors import error_of
from tests.purpose.client import PurposeClient
from tests.work.client import WorkClient
from tests.work.links.conftest import SIZE
from tests.work.links.shown import dangling, last_changes, links


def connect(work: WorkClient, *edges: tuple[str, str, str], remove: bool = False, **given: Any) -> Any:
    """Connect edges given as from, type and to."""
    rows = [
        {"from": work[from_], "type": type_, "to": work[to]} | ({"remove": True} if remove else {})
        for from_, type_, to in edges
    ]
    return work.call("work.connect", edges=rows, **given)


def reasons(answer: Any) -> list[str]:
    return [one.reason for one in answer.rejected or ()]


def test_links_of_every_type_are_added_and_removed_one_by_one(work: WorkClient) -> None:
    edges = [("a", "serves", "OC1"), ("a", "rests_on", SIZE), ("a", "supports", "AS1"), ("b", "refutes", "AS1")]

    assert connect(work, *edges).applied == 4
    assert links(work, "a") == {"serves": ["OC1"], "rests_on": [SIZE], "supports": ["AS1"]}
    assert links(work, "b") == {"refutes": ["AS1"]}
    assert last_changes(work, "b") == [("refutes", None, "AS1")]

    assert connect(work, *edges, remove=True).applied == 4
    assert (links(work, "a"), links(work, "b")) == ({}, {})
    assert last_changes(work, "b") == [("refutes", "AS1", None)]
    assert work.actions("b") == ["created", "connected", "disconnected"]


def test_each_link_gives_its_node_a_new_revision(work: WorkClient) -> None:
    before = work.node("a").rev

    connect(work, ("a", "serves", "OC1"), ("a", "serves", "OC1"))

    assert work.node("a").rev == before + 1


@pytest.mark.parametrize("type_", ["serves", "rests_on", "supports", "refutes"])
def test_between_two_work_nodes_the_type_is_a_plain_edge(work: WorkClient, type_: str) -> None:
    answer = connect(work, ("a", type_, "b"))

    assert (answer.applied, answer.warnings, links(work, "a")) == (1, UNSET, {})
    assert [(one.type, one.direction, work.name(one.id)) for one in work.context("a").related] == [(type_, "out", "b")]
    assert connect(work, ("a", type_, "b"), remove=True).applied == 1


REJECTED: dict[str, tuple[tuple[str, str, str], str, list[str] | None]] = {
    "an unknown key": (("a", "serves", "OC9"), "unknown_key", ["OC2", "OC1"]),
    "a text": (("a", "serves", "cleaner water"), "unknown_key", None),
    "an unknown pointer": (("a", "rests_on", "/site/siez"), "unknown_pointer", [SIZE]),
    "a key as a fact": (("a", "rests_on", "OC1"), "unknown_pointer", None),
    "an assumption that is served": (("a", "serves", "AS1"), "wrong_link_kind", None),
    "an outcome that is supported": (("a", "supports", "OC1"), "wrong_link_kind", None),
    "a goal that is refuted": (("a", "refutes", "G1"), "wrong_link_kind", None),
    "an unknown assumption": (("a", "supports", "AS9"), "unknown_key", ["AS1"]),
    "an unknown node": (("oooooo", "serves", "OC1"), "node_not_found", None),
    "a purpose node that serves": (("OP1", "serves", "OC1"), "node_not_found", None),
    "an unknown purpose node": (("OP9", "rests_on", SIZE), "unknown_key", ["OP1"]),
    "an assumption that rests on a fact": (("AS1", "rests_on", SIZE), "wrong_link_kind", None),
    "a dependency on a key": (("a", "depends_on", "OC1"), "node_not_found", None),
    "a link that exists": (("b", "serves", "G1"), "already_connected", None),
}


@pytest.mark.parametrize("wrong", REJECTED)
def test_a_bad_link_is_listed_with_its_reason_and_the_others_are_made(work: WorkClient, wrong: str) -> None:
    connect(work, ("b", "serves", "G1"))
    edge, reason, near = REJECTED[wrong]

    answer = connect(work, ("a", "serves", "OC1"), edge, ("a", "rests_on", SIZE))

    assert answer.applied == 2
    assert [(one.reason, one.near or None) for one in answer.rejected] == [(reason, near)]
    assert links(work, "a") == {"serves": ["OC1"], "rests_on": [SIZE]}


def test_a_link_that_is_not_there_cannot_be_removed(work: WorkClient) -> None:
    assert reasons(connect(work, ("a", "serves", "OC1"), remove=True)) == ["not_connected"]


def test_a_dangling_link_can_be_removed(work: WorkClient, purpose: PurposeClient) -> None:
    connect(work, ("a", "serves", "OC2"))
    purpose.discard()
    assert dangling(work, "a") == ["OC2"]

    assert connect(work, ("a", "serves", "OC2"), remove=True).applied == 1
    assert links(work, "a") == {}


def test_links_are_removed_before_others_are_added(work: WorkClient) -> None:
    connect(work, ("a", "serves", "OC1"))
    edge = {"from": work["a"], "type": "serves", "to": "OC1"}

    answer = work.call("work.connect", edges=[edge, edge | {"remove": True}])

    assert (answer.applied, links(work, "a")) == (2, {"serves": ["OC1"]})


def test_evidence_that_is_missing_is_warned_about(work: WorkClient) -> None:
    work.update("b", add_evidence=[{"type": "note", "ref": "the lab says so"}])

    answer = connect(work, ("a", "supports", "AS1"), ("b", "refutes", "AS1"))

    assert answer.applied == 2
    assert [line.split(":")[0] for line in answer.warnings] == [work["a"]]


def test_a_purpose_node_rests_on_a_fact_and_the_event_is_about_its_key(engine: Engine, work: WorkClient) -> None:
    answer = connect(work, ("OC1", "rests_on", SIZE), project="atlas")

    assert answer.applied == 1
    assert engine.as_owner("SELECT source, type, target, node_n FROM links") == [("OC1", "rests_on", SIZE, None)]
    assert engine.as_owner("SELECT op FROM events WHERE subject = 'OC1' AND op LIKE 'work.%'") == [("work.connected",)]
    assert connect(work, ("OC1", "rests_on", SIZE), project="atlas", remove=True).applied == 1
    assert engine.as_owner("SELECT count(*) FROM links") == [(0,)]


def test_keys_alone_need_a_project(work: WorkClient) -> None:
    error = error_of(lambda: connect(work, ("OC1", "rests_on", SIZE)))

    assert (error.code, error.details["field"]) == ("missing_argument", "project")


def test_a_node_beside_a_key_names_the_project(work: WorkClient) -> None:
    assert connect(work, ("OC1", "rests_on", SIZE), ("a", "serves", "G1")).applied == 2


def test_nodes_of_another_project_than_the_named_one_are_rejected(work: WorkClient) -> None:
    work.call("work.open", project="borealis")

    assert reasons(connect(work, ("a", "serves", "G1"), project="borealis")) == ["mixed_projects"]


def test_a_link_that_was_made_already_is_no_event(engine: Engine, work: WorkClient) -> None:
    connect(work, ("a", "serves", "OC1"))
    before = engine.as_owner("SELECT rev FROM projects")

    assert reasons(connect(work, ("a", "serves", "OC1"))) == ["already_connected"]
    assert engine.as_owner("SELECT rev FROM projects") == before


def test_the_same_op_id_connects_once(work: WorkClient) -> None:
    connect(work, ("a", "serves", "OC1"), op_id="once")
    connect(work, ("a", "serves", "OC1"), remove=True)

    assert connect(work, ("a", "serves", "OC1"), op_id="once").applied == 1
    assert links(work, "a") == {}
