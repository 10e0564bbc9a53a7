"""graph_next: which nodes can be started, in which order, and what the answer says about them."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.work.client import WorkClient
from tests.work.graph.plans import add_children


def test_only_open_leaves_whose_dependencies_are_done_are_offered(work: WorkClient) -> None:
    work.plan("""
        phase
          a
          b: a
        other: phase
        done
    """)
    work.resolve("done")

    assert work.next() == ["a"]


def test_a_parent_is_offered_when_its_last_child_is_done(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b")
    work.resolve("a")
    assert work.next() == ["b"]

    work.resolve("b")

    assert work.next() == ["phase"]


def test_after_the_only_task_of_a_phase_other_ready_work_is_offered(work: WorkClient) -> None:
    work.plan("phase 1\n  task\nphase 2: phase 1\n  later\nother")
    work.resolve("task")

    assert set(work.next()) == {"phase 1", "later", "other"}


def test_one_node_is_offered_unless_more_are_asked_for(work: WorkClient) -> None:
    work.plan("a\nb\nc")

    assert work.names([one.node for one in work.offers()]) == ["a"]
    assert work.next(count=2) == ["a", "b"]


# --- Ranking ---


def test_a_higher_priority_comes_first_and_none_comes_last(work: WorkClient) -> None:
    priorities = {"a": None, "b": -5, "c": 1e300, "d": 2, "e": 2.5, "f": 0}

    work.plan("\n".join(priorities), each={one: {"properties": {"priority": p}} for one, p in priorities.items()})

    assert work.next() == ["c", "e", "d", "f", "b", "a"]


def test_a_priority_that_is_no_number_ranks_as_absent(work: WorkClient) -> None:
    priorities: dict[str, Any] = {"a": "9", "b": True, "c": [9], "d": {"x": 9}, "e": None, "f": -1}

    work.plan("\n".join(priorities), each={one: {"properties": {"priority": p}} for one, p in priorities.items()})

    assert work.next() == ["f", "a", "b", "c", "d", "e"]


def test_among_equal_priorities_the_deeper_node_comes_first(work: WorkClient) -> None:
    work.plan("shallow\nphase\n  deep\n  step\n    deepest")

    assert work.next() == ["deepest", "deep", "shallow"]


def test_a_priority_outranks_depth(work: WorkClient) -> None:
    work.plan("phase\n  deep\nshallow", each={"shallow": {"properties": {"priority": 0}}})

    assert work.next() == ["shallow", "deep"]


def test_at_one_depth_what_was_not_touched_for_longest_comes_first(work: WorkClient, clock: ManualClock) -> None:
    work.plan("a\nb\nc")
    clock.move(minutes=1)
    work.update("a", state="looked at")
    clock.move(minutes=1)
    work.update("b", state="looked at")

    assert work.next() == ["c", "a", "b"]


def test_of_what_was_touched_by_the_same_write_the_oldest_comes_first(work: WorkClient) -> None:
    work.plan("a\nb\nc")
    work.updates({"node_id": "b", "state": 1}, {"node_id": "a", "state": 1})

    assert work.next() == ["c", "a", "b"]


def test_what_was_touched_last_comes_last_whatever_the_clock_says(work: WorkClient, clock: ManualClock) -> None:
    work.plan("a\nb")
    clock.move(days=-20 * 365)

    work.update("a", state=1)

    assert work.next() == ["b", "a"]
    found = work.call("work.query", project="atlas", sort="recent", limit=2).nodes
    assert [node.summary for node in found] == ["a", "b"]


def test_a_new_priority_moves_a_node_and_taking_it_away_moves_it_back(work: WorkClient) -> None:
    work.plan("a\nb")

    work.update("b", properties={"priority": 1})
    assert work.next() == ["b", "a"]
    work.update("b", properties={"priority": None})
    assert work.next() == ["a", "b"]


# --- Answers ---


def test_an_offer_shows_the_way_from_the_root(work: WorkClient) -> None:
    work.plan("phase\n  step\n    a")

    (offer,) = work.offers()

    assert work.names(offer.ancestors) == ["root", "phase", "step"]
    assert offer.ancestors[1].summary == "phase"


def test_an_offer_keeps_own_links_and_inherited_ones_apart(work: WorkClient) -> None:
    links = {"phase": ["docs/plan.md"], "a": ["src/a.py", "src/b.py"]}
    work.plan("phase\n  step\n    a", each={name: {"context_links": one} for name, one in links.items()})

    (offer,) = work.offers()

    assert offer.context_links.own == links["a"]
    assert [(one.node_id, one.links) for one in offer.context_links.inherited] == [(work["phase"], links["phase"])]


def test_an_offer_shows_what_was_done_for_it_and_how(work: WorkClient) -> None:
    work.plan("a\nb\nc: a, b")
    work.update("a", resolved=True, add_evidence=[{"type": "git", "ref": "0a1b2c3"}])
    work.resolve("b")

    (offer,) = work.offers()

    done = {work.name(one.id): one for one in offer.resolved_deps}
    assert done.keys() == {"a", "b"}
    (evidence,) = done["a"].evidence
    assert (evidence.type, evidence.ref, evidence.agent) == ("git", "0a1b2c3", "ada")
    assert evidence.timestamp == "2026-03-01T09:00:00.000Z"
    assert done["b"].evidence == []


def test_an_offer_without_a_claim_has_no_number_and_leaves_no_trace(engine: Engine, work: WorkClient) -> None:
    work.plan("a")
    before = engine.as_owner("SELECT rev FROM projects")

    (offer,) = work.offers()

    assert offer.claim is UNSET
    assert engine.as_owner("SELECT rev FROM projects") == before


def test_a_lean_offer_has_no_empty_and_no_bookkeeping_fields(work: WorkClient) -> None:
    work.plan("a")

    (offer,) = work.offers(lean=True)

    assert (offer.node.id, offer.node.summary, offer.node.resolved) == (work["a"], "a", False)
    empty = ("rev", "properties", "context_links", "evidence", "created_at", "updated_at", "created_by")
    assert {getattr(offer.node, name) for name in empty} == {UNSET}
    assert (offer.context_links, offer.resolved_deps) == (UNSET, UNSET)


@pytest.mark.parametrize("situation", ["nothing planned", "all done", "all claimed"])
def test_an_empty_answer_says_why(work: WorkClient, situation: str) -> None:
    if situation != "nothing planned":
        work.plan("a")
    if situation == "all done":
        work.resolve("a")
    if situation == "all claimed":
        work.by("ben").claim()

    answer = work.call("work.next", project="atlas")

    assert answer.nodes == []
    assert answer.reason


def test_the_reasons_for_an_empty_answer_differ(work: WorkClient) -> None:
    reasons = [work.call("work.next", project="atlas").reason]
    work.plan("a")
    reasons.append(work.by("ben").call("work.next", project="atlas").reason)
    work.claim()
    reasons.append(work.by("ben").call("work.next", project="atlas").reason)
    work.resolve("a")
    reasons.append(work.call("work.next", project="atlas").reason)

    assert reasons[1] is UNSET
    assert len(set(reasons)) == 4


# --- Filter ---

VALUES: dict[str, Any] = {
    "one": 1,
    "one as a fraction": 1.0,
    "one in words": "1",
    "true": True,
    "true in words": "true",
    "false": False,
    "zero": 0,
    "empty": "",
    "null in words": "null",
    "a fraction": 0.1,
    "huge": 2**53,
    "wild": "100%",
    "wilder": "1000",
    "quoted": 'say "hi"',
    "list": [1, "a"],
    "object": {"a": [True]},
    "umlaut": "Prüfung",
}
ALIKE = [{"one", "one as a fraction"}]


def only_like(name: str) -> set[str]:
    return next((group for group in ALIKE if name in group), {name})


def test_a_filter_finds_the_value_and_nothing_that_only_looks_like_it(work: WorkClient) -> None:
    work.plan("\n".join([*VALUES, "none"]), each={name: {"properties": {"v": one}} for name, one in VALUES.items()})
    alike = {wanted: only_like(wanted) for wanted in VALUES}

    assert {wanted: set(work.next(filter={"v": value})) for wanted, value in VALUES.items()} == alike
    assert {wanted: set(work.query(properties={"v": value})) for wanted, value in VALUES.items()} == alike


def test_a_filter_for_null_finds_what_does_not_have_the_property(work: WorkClient) -> None:
    work.plan("\n".join([*VALUES, "none"]), each={name: {"properties": {"v": one}} for name, one in VALUES.items()})

    assert work.next(filter={"v": None}) == ["none"]
    assert work.query(properties={"v": None}, ancestor=work["root"]) == ["none"]


KEYS = ["a.b", "$.v", "it's", 'say "v"', "$[0]", "a b", "ключ", "\\", "*", "%", "v'--", "", "#"]


def test_any_key_is_taken_literally(work: WorkClient) -> None:
    work.plan("\n".join(f"n{place}" for place in range(len(KEYS))) + "\nother")
    work.updates(*({"node_id": f"n{place}", "properties": {key: 1}} for place, key in enumerate(KEYS)))
    work.update("other", properties={"v": 1, "a": {"b": 1}})

    for place, key in enumerate(KEYS):
        assert work.next(filter={key: 1}) == work.query(properties={key: 1}) == [f"n{place}"]
        assert f"n{place}" not in work.next(filter={key: None})


def test_everything_that_a_filter_says_must_hold(work: WorkClient) -> None:
    work.plan(
        "a\nb\nc",
        each={
            "a": {"properties": {"area": "ui", "size": 1}},
            "b": {"properties": {"area": "ui", "size": 2}},
            "c": {"properties": {"area": "db", "size": 1}},
        },
    )

    assert work.next(filter={"area": "ui", "size": 1}) == ["a"]
    assert work.next(filter={"area": "ui", "size": None}) == []
    assert work.next(filter={"area": "ui"}) == ["a", "b"]


def test_a_filter_applies_to_what_is_claimed(work: WorkClient) -> None:
    work.plan("a\nb", each={"b": {"properties": {"area": "ui"}}})

    assert work.claim(count=5, filter={"area": "ui"}) == ["b"]
    assert work.query(claimed_by=None, ancestor=work["root"]) == ["a"]


# --- Scope ---


def test_a_scope_offers_only_what_lies_below_it(work: WorkClient) -> None:
    work.plan("""
        phase
          a
          step
            b
            c: b
        other
          d
    """)

    assert work.next(scope="phase") == ["b", "a"]
    assert work.next(scope="other") == ["d"]
    assert work.next(scope="root") == ["b", "a", "d"]


def test_a_scope_does_not_offer_the_node_itself(work: WorkClient) -> None:
    work.plan("a")

    assert work.next(scope="a") == []


def test_a_scope_and_a_filter_combine(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b\nc", each={name: {"properties": {"area": "ui"}} for name in ("b", "c")})

    assert work.next(scope="phase", filter={"area": "ui"}) == ["b"]


def test_an_unknown_scope_is_not_found(work: WorkClient) -> None:
    work.plan("a")

    assert isinstance(error_of(lambda: work.offers(scope="oooooo")), NotFound)


def test_a_scope_in_another_project_is_refused(work: WorkClient) -> None:
    other = work.call("work.open", project="borealis").root.id

    assert error_of(lambda: work.offers(scope=other)).code == "mixed_projects"


# SQLite allows 32,766 variables. PostgreSQL allows 65,535, and inserting that many nodes takes seconds.
CROWDS = {Dialect.SQLITE: 33_000, Dialect.POSTGRES: scaled(1_000, 66_000)}


@pytest.mark.slow
@pytest.mark.proof
def test_a_scope_over_more_nodes_than_a_statement_has_variables_is_answered(engine: Engine) -> None:
    work = WorkClient(engine.session("ada"))
    work.open()
    work.plan("phase")
    add_children(engine, "atlas", 2, CROWDS[engine.dialect])

    (offer,) = work.offers(scope="phase", filter={"area": None})

    assert work.names(offer.ancestors) == ["root", "phase"]


def test_an_unknown_argument_is_refused_with_the_one_that_was_meant(work: WorkClient) -> None:
    refusal = error_of(lambda: work.offers(scop="a"))

    assert isinstance(refusal, Invalid)
    assert (refusal.code, refusal.details["near"]) == ("unknown_argument", "scope")
