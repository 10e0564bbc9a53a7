"""graph_update: summaries, properties, evidence and resolution of nodes; in order, all or none."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Conflict, NotFound, RuleViolated
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.client import WorkClient

EVERYTHING = "SELECT id, rev, summary, resolved, properties, context_links, state FROM work_nodes ORDER BY n"
WRITTEN = "SELECT p.rev, (SELECT count(*) FROM events), (SELECT count(*) FROM work_evidence) FROM projects AS p"


def test_every_change_raises_the_revision_by_one(work: WorkClient) -> None:
    work.plan("a")

    revs = [work.update("a", state=state).updated[0] for state in ("x", "y", "z")]

    assert [(work.name(one.node_id), one.rev) for one in revs] == [("a", 2), ("a", 3), ("a", 4)]
    assert work.node("a").rev == 4


def test_an_update_that_changes_nothing_leaves_no_trace(engine: Engine, work: WorkClient, clock: ManualClock) -> None:
    given = {"properties": {"size": 1}, "context_links": ["src/a.py"]}
    work.plan("a", each={"a": given})
    before = engine.as_owner(WRITTEN), work.node("a")
    clock.move(minutes=1)

    answer = work.update(
        "a",
        summary="a",
        resolved=False,
        state=None,
        properties={"size": 1, "area": None},
        add_context_links=["src/a.py"],
        remove_context_links=["src/b.py"],
        add_evidence=[],
    )

    assert answer.updated[0].rev == 1
    assert (engine.as_owner(WRITTEN), work.node("a")) == before


def test_properties_are_merged_and_null_takes_one_away(work: WorkClient) -> None:
    work.plan("a", each={"a": {"properties": {"area": "ui", "size": 1, "deep": {"x": 1}}}})

    work.update("a", properties={"size": None, "risk": [1, None], "deep": {"y": 2}})

    assert work.node("a").properties == {"area": "ui", "deep": {"y": 2}, "risk": [1, None]}


@pytest.mark.parametrize(("before", "after"), [(1, True), (1, 1.0), (0, False), ("1", 1), ([], {}), (1, "1")])
def test_a_value_of_another_type_is_another_value(work: WorkClient, before: Any, after: Any) -> None:
    work.plan("a", each={"a": {"properties": {"v": before}}})

    work.update("a", properties={"v": after})

    now = work.node("a").properties["v"]
    assert (now, type(now)) == (after, type(after))
    assert work.node("a").rev == 2


@pytest.mark.parametrize("state", ["doing", 0, False, "", [], {"step": [1, None, {"x": "ü"}]}, 1.5])
def test_any_state_is_kept_as_it_is_and_means_nothing_to_the_engine(work: WorkClient, state: Any) -> None:
    work.plan("a\nb: a")

    work.update("a", state=state)

    assert work.node("a").state == state
    assert work.next() == ["a"]


def test_a_state_of_null_takes_the_state_away(work: WorkClient) -> None:
    work.plan("a")
    work.update("a", state="doing")

    work.update("a", state=None)

    assert work.node("a").state is UNSET


def test_links_are_added_once_in_order_and_removed(work: WorkClient) -> None:
    work.plan("a", each={"a": {"context_links": ["one", "two", "three"]}})

    work.update("a", add_context_links=["four", "two", "four"], remove_context_links=["one", "never there"])

    assert work.node("a").context_links == ["two", "three", "four"]


def test_evidence_tells_who_added_it_and_when(work: WorkClient, clock: ManualClock) -> None:
    work.plan("a")
    work.by("ben").update("a", add_evidence=[{"type": "test", "ref": "passed"}, {"type": "git", "ref": "0a1b2c3"}])
    clock.move(seconds=1)
    work.update("a", add_evidence=[{"type": "my own type", "ref": ""}])

    assert [(one.type, one.ref, one.agent, one.timestamp) for one in work.node("a").evidence] == [
        ("test", "passed", "ben", "2026-03-01T09:00:00.000Z"),
        ("git", "0a1b2c3", "ben", "2026-03-01T09:00:00.000Z"),
        ("my own type", "", "ada", "2026-03-01T09:00:01.000Z"),
    ]
    assert work.query(has_evidence_type="git") == ["a"]


def test_evidence_cannot_pretend_to_be_of_somebody_else(work: WorkClient) -> None:
    work.plan("a")
    forged = [{"type": "note", "ref": "x", "agent": "ben"}]

    assert error_of(lambda: work.update("a", add_evidence=forged)).code == "unknown_argument"


# --- Resolving ---


def test_resolving_tells_what_became_actionable(work: WorkClient) -> None:
    work.plan("""
        a
        b: a
        c: a
        d: a, b
        phase: a
          e
    """)

    answer = work.resolve("a")

    assert work.names(answer.newly_actionable) == ["b", "c"]
    assert [one.summary for one in answer.newly_actionable] == ["b", "c"]
    assert answer.newly_actionable_total is UNSET


def test_what_became_actionable_is_exactly_the_difference(work: WorkClient) -> None:
    work.plan("""
        phase
          a
          b: a
        after: phase
        other
    """)
    before = set(work.next())

    answer = work.resolve("a", "b")

    assert set(work.names(answer.newly_actionable)) == set(work.next()) - before == {"phase"}


def test_neither_the_root_nor_a_blocked_parent_becomes_actionable(work: WorkClient) -> None:
    work.plan("blocker\nphase: blocker\n  a\nlast\n  b")
    work.resolve("a")
    work.resolve("b", "last")

    answer = work.resolve("blocker")

    assert work.names(answer.newly_actionable) == ["phase"]
    assert work.resolve("phase").newly_actionable is UNSET


def test_what_is_unblocked_and_done_in_one_batch_is_not_listed(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b")

    answer = work.resolve("a", "b")

    assert work.names(answer.newly_actionable) == ["c"]


def test_what_was_actionable_before_the_batch_is_not_listed(work: WorkClient) -> None:
    work.plan("a")

    answer = work.updates({"node_id": "a", "resolved": True}, {"node_id": "a", "resolved": False})

    assert answer.newly_actionable is UNSET
    assert work.actions("a") == ["created", "resolved", "reopened"]


def test_a_reopened_leaf_is_actionable_anew(work: WorkClient) -> None:
    work.plan("a")
    work.resolve("a")

    assert work.names(work.reopen("a").newly_actionable) == ["a"]


def test_a_long_list_of_the_newly_actionable_is_cut_and_counted(work: WorkClient) -> None:
    work.plan("a\n" + "\n".join(f"n{place}: a" for place in range(120)))

    answer = work.resolve("a")

    assert answer.newly_actionable_total == 120
    assert 0 < len(answer.newly_actionable) < 120
    assert work.names(answer.newly_actionable) == work.next(count=len(answer.newly_actionable))


def test_a_node_with_open_children_cannot_be_resolved(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b\n  c")
    work.resolve("a")

    refusal = error_of(lambda: work.resolve("phase"))

    assert isinstance(refusal, RuleViolated)
    assert refusal.code == "unresolved_children"
    assert (refusal.details["open_children"], refusal.details["children"]) == (2, [work["b"], work["c"]])


@pytest.mark.parametrize("order", [*itertools.permutations(["phase", "step", "a", "b"])][::5])
def test_parents_and_their_children_can_be_resolved_in_one_batch_in_any_order(
    work: WorkClient, order: tuple[str, ...]
) -> None:
    work.plan("phase\n  step\n    a\n  b\nlater: phase")

    answer = work.resolve(*order)

    assert work.filter_open(order) == []
    assert [entry.node_id for entry in answer.updated] == [work[name] for name in order]
    assert [entry.rev for entry in answer.updated] == [work.node(name).rev for name in order]
    assert work.names(answer.newly_actionable) == ["later"]
    assert work.counts() == (6, 4, 2, 0, 1)


def test_open_children_are_looked_at_when_the_whole_batch_is_done(work: WorkClient) -> None:
    work.plan("phase\n  a\n  b")
    resolve_all = [{"node_id": name, "resolved": True} for name in ("phase", "a", "b")]

    refusals = [
        error_of(lambda: work.resolve("phase", "a")),
        error_of(lambda: work.updates(*resolve_all, {"node_id": "a", "resolved": False})),
    ]

    assert [(refusal.code, refusal.details["children"]) for refusal in refusals] == [
        ("unresolved_children", [work["b"]]),
        ("unresolved_children", [work["a"]]),
    ]
    assert work.filter_open(["phase", "a", "b"]) == ["phase", "a", "b"]
    work.updates(*resolve_all, {"node_id": "phase", "resolved": False})
    assert work.filter_open(["phase", "a", "b"]) == ["phase"]


def test_what_an_update_says_of_a_parent_beside_resolving_it_is_written_in_its_turn(work: WorkClient) -> None:
    work.open(policies={"evidence": "require"})
    work.plan("phase\n  a")
    note = [{"type": "note", "ref": "done"}]

    work.updates(
        {"node_id": "phase", "resolved": True, "summary": "first", "add_evidence": note, "state": "done"},
        {"node_id": "phase", "summary": "second"},
        {"node_id": "a", "resolved": True, "add_evidence": note},
    )

    phase = work.node("phase")
    assert (phase.resolved, phase.summary, phase.state, len(phase.evidence)) == (True, "second", "done", 1)
    assert work.actions("phase") == ["created", "updated", "updated", "resolved"]


def test_a_blocked_node_can_be_resolved(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b")

    assert work.names(work.resolve("b").newly_actionable) == ["c"]
    assert work.counts() == (4, 1, 3, 0, 2)


def test_resolving_what_is_resolved_changes_nothing(engine: Engine, work: WorkClient) -> None:
    work.plan("a\nb: a")
    work.resolve("a")
    before = engine.as_owner(WRITTEN)

    answer = work.resolve("a")

    assert engine.as_owner(WRITTEN) == before
    assert answer.newly_actionable is UNSET


def test_the_root_can_be_resolved_when_all_is_done_and_not_before(work: WorkClient) -> None:
    work.plan("a")
    assert error_of(lambda: work.resolve("root")).code == "unresolved_children"
    work.resolve("a", "root")

    assert work.counts() == (2, 2, 0, 0, 0)


# --- Reopening ---


def test_reopening_a_node_reopens_everything_above_it(work: WorkClient) -> None:
    work.plan("phase\n  step\n    a\n    b\nafter: phase")
    work.resolve("a", "b", "step", "phase")

    answer = work.reopen("a")

    assert work.names(answer.reopened) == ["step", "phase"]
    assert work.filter_open(["a", "b", "step", "phase"]) == ["a", "step", "phase"]
    assert work.query(is_blocked=True) == ["after"]
    assert work.actions("phase") == ["created", "resolved", "reopened"]


def test_reopening_a_parent_leaves_its_children_done(work: WorkClient) -> None:
    work.plan("phase\n  a")
    work.resolve("a", "phase")

    answer = work.reopen("phase")

    assert answer.reopened is UNSET
    assert work.next() == ["phase"]


def test_reopening_blocks_who_depends_on_it_again(work: WorkClient) -> None:
    work.plan("a\nb: a\nc: b")
    work.resolve("a", "b")
    assert work.next() == ["c"]

    work.reopen("a", "b")

    assert work.next() == ["a"]
    assert work.counts() == (4, 0, 4, 2, 1)


def test_a_dropped_node_that_is_reopened_was_not_dropped(engine: Engine, work: WorkClient) -> None:
    work.plan("a")
    work.drop("a")

    work.reopen("a")
    assert engine.as_owner("SELECT outcome FROM work_nodes WHERE n = 2") == [(None,)]
    work.resolve("a")

    assert engine.as_owner("SELECT outcome FROM work_nodes WHERE n = 2") == [(None,)]
    fields = {one.field: (one.before, one.after) for one in work.history("a")[2].changes}
    assert fields == {"resolved": (True, False), "outcome": ("dropped", None)}


# --- Batches ---


def test_items_apply_in_order(work: WorkClient) -> None:
    work.plan("a")

    answer = work.updates(
        {"node_id": "a", "summary": "first", "expected_rev": 1},
        {"node_id": "a", "summary": "second", "expected_rev": 2},
    )

    assert [one.rev for one in answer.updated] == [3, 3]  # the current state, for both
    assert work.node("a").summary == "second"


BAD_ITEMS: dict[str, dict[str, Any]] = {
    "an unknown node": {"node_id": "oooooo", "state": 1},
    "a stale revision": {"node_id": "b", "state": 1, "expected_rev": 7},
    "a stale claim": {"node_id": "b", "state": 1, "claim": 7},
    "a claim that is not theirs": {"node_id": "b", "renew": True},
    "a parent with open children": {"node_id": "phase", "resolved": True},
    "a reserved property": {"node_id": "b", "properties": {"_x": 1}},
    "properties that are too large": {"node_id": "b", "properties": {"x": "x" * 33_000}},
    "a node of another project": {"node_id": "elsewhere", "state": 1},
    "an unknown field": {"node_id": "b", "done": True},
}


@pytest.fixture
def two_projects(work: WorkClient) -> WorkClient:
    """Ada at her project with some nodes; another project exists."""
    work.ids["elsewhere"] = work.call("work.open", project="borealis").root.id
    work.plan("a\nphase\n  b\nc: a")
    return work


@try_each("wrong", BAD_ITEMS)
def test_a_batch_with_one_bad_item_changes_nothing(engine: Engine, two_projects: WorkClient, wrong: str) -> None:
    work = two_projects
    before = engine.as_owner(EVERYTHING), engine.as_owner(WRITTEN), work.counts()

    good = {"node_id": "a", "resolved": True, "add_evidence": [{"type": "note", "ref": "x"}]}
    error_of(lambda: work.updates(good, BAD_ITEMS[wrong]))

    assert (engine.as_owner(EVERYTHING), engine.as_owner(WRITTEN), work.counts()) == before
    assert work.next() == ["b", "a"]


def test_an_unknown_node_is_not_found(work: WorkClient) -> None:
    assert isinstance(error_of(lambda: work.resolve("oooooo")), NotFound)


def test_a_stale_revision_is_refused_with_the_present_one(work: WorkClient) -> None:
    work.plan("a")
    work.update("a", state=1)

    refusal = error_of(lambda: work.update("a", state=2, expected_rev=1))

    assert isinstance(refusal, Conflict)
    assert (refusal.code, refusal.details["current"], refusal.details["node_id"]) == ("stale_rev", 2, work["a"])
    assert work.node("a").state == 1


def test_a_revision_from_the_future_is_stale_too(work: WorkClient) -> None:
    work.plan("a")

    assert error_of(lambda: work.update("a", state=2, expected_rev=2)).code == "stale_rev"


# --- History ---


def test_history_shows_before_and_after_of_every_field(work: WorkClient) -> None:
    work.plan("a", each={"a": {"properties": {"size": 1}, "context_links": ["one"]}})

    work.by("ben").update(
        "a",
        summary="b",
        state={"x": 1},
        properties={"size": None, "area": "ui"},
        add_context_links=["two"],
        remove_context_links=["one"],
        add_evidence=[{"type": "note", "ref": "x"}],
        resolved=True,
        decision="it is done",
    )

    event = work.history("a")[-1]
    assert (event.action, event.agent, event.decision) == ("resolved", "ben", "it is done")
    changes = {one.field: (one.before, one.after) for one in event.changes}
    _, (evidence,) = changes.pop("evidence")
    assert (evidence["type"], evidence["ref"]) == ("note", "x")
    assert changes == {
        "resolved": (False, True),
        "summary": ("a", "b"),
        "state": (None, {"x": 1}),
        "properties.size": (1, None),
        "properties.area": (None, "ui"),
        "context_links": (["one"], ["two"]),
    }


def test_a_priority_that_is_no_number_is_taken_with_a_warning(work: WorkClient) -> None:
    work.plan("a\nb")

    answer = work.update("a", properties={"priority": "high"})

    assert len(answer.warnings) == 1
    assert work.node("a").properties == {"priority": "high"}
    assert work.next() == ["b", "a"]
    assert work.update("a", properties={"priority": 3}).warnings is UNSET
