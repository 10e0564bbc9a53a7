"""A task and a feature take the steps of their pipeline, one at a time, forth and back; claims follow the steps."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.output_gate import count_tokens, encode
from tests.work.containers.desk import Containers
from tests.work.desk import ManualClock, refused

HINTS = (
    b'{"message":"Task completed. Consider updating the knowledge graph.","suggestedActions":['
    b'"Update atom knowledge for areas affected by this task",'
    b'"Update atom paths if files were moved or new directories created",'
    b'"Append changelog entries for significant changes"]}'
)
TASK_STEPS = ["NEW", "ACTIVE", "TO_BE_TESTED", "CLOSED"]
FEATURE_STEPS = ["NEW", "ACTIVE", "READY_TO_PROD", "CLOSED"]


def codes(error: GroundplanError) -> tuple[str, str | None]:
    return error.code, error.contract_code


@pytest.mark.parametrize(("name", "steps"), [("walk", TASK_STEPS), ("coast", FEATURE_STEPS)])
def test_a_pipeline_is_walked_step_by_step_to_its_end_and_back(desk: Containers, name: str, steps: list[str]) -> None:
    desk.feature("coast")
    desk.task("walk")

    for place, (before, after) in enumerate(pairwise(steps), 2):
        version = desk.version(name)
        answer = desk.advance(name)
        assert (answer.transition.before, answer.transition.after) == (before, after)
        assert answer.pipeline_position == f"{place}/4"
        shown = answer.task if name == "walk" else answer.feature
        assert (shown.status, shown.version) == (after, version + 1)
        state = desk.state(name)
        following = steps[place] if place < 4 else None
        assert (state.current_status, state.prev_status, state.next_status) == (after, before, following)
        assert (state.pipeline, state.pipeline_position) == (steps, f"{place}/4")
        assert state.is_terminal == (after == "CLOSED")
    assert codes(refused(lambda: desk.advance(name))) == ("no_such_step", "INVALID_OPERATION")

    for before, after in pairwise(steps[::-1]):
        answer = desk.revert(name)
        assert (answer.transition.before, answer.transition.after) == (before, after)
        assert answer.pipeline_position == f"{steps.index(after) + 1}/4"
    assert codes(refused(lambda: desk.revert(name))) == ("no_such_step", "INVALID_OPERATION")
    assert desk.state(name).prev_status is None


@pytest.mark.parametrize("name", ["walk", "coast"])
def test_what_was_terminated_goes_nowhere_any_more(desk: Containers, name: str) -> None:
    desk.feature("coast")
    desk.task("walk")

    answer = desk.terminate(name, reason="no money")

    assert (answer.transition.before, answer.transition.after) == ("NEW", "WILL_NOT_IMPLEMENT")
    assert (answer.reason, answer.pipeline_position) == ("no money", None)
    state = desk.state(name)
    assert (state.is_terminal, state.next_status, state.prev_status, state.pipeline_position) == (
        True,
        None,
        None,
        None,
    )
    (evidence,) = desk.node(name).evidence
    assert (evidence.type, evidence.ref) == ("dropped", "no money")
    for move in (desk.advance, desk.revert, desk.terminate, desk.hold):
        assert refused(partial(move, name)).contract_code == "INVALID_OPERATION"


def test_terminating_takes_everything_open_below_along_and_leaves_what_was_done(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")
    desk.plan("map", under="draw")
    desk.close("walk")

    desk.terminate("coast")

    assert desk.statuses("coast", "walk", "draw", "map") == [
        "WILL_NOT_IMPLEMENT",
        "CLOSED",
        *["WILL_NOT_IMPLEMENT"] * 2,
    ]
    assert desk.counted("coast") == {"CLOSED": 1, "WILL_NOT_IMPLEMENT": 2}


def test_terminating_releases_what_waited_and_names_it(desk: Containers) -> None:
    desk.tasks("pay", "walk", "draw")
    desk.depend("pay", "walk")
    desk.depend("pay", "draw")
    desk.hold("draw")

    answer = desk.terminate("pay")

    assert desk.names(answer.affected_dependents) == ["walk", "draw"]
    assert desk.names(answer.unblocked_entities) == ["walk"]


def test_what_waited_for_something_below_a_terminated_feature_is_named_too(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("print")
    desk.depend("walk", "print")

    answer = desk.terminate("coast")

    assert desk.next() == ["print"]
    assert desk.names(answer.unblocked_entities) == ["print"]


def test_closing_releases_what_waited_and_names_it(desk: Containers) -> None:
    desk.tasks("pay", "walk")
    desk.depend("pay", "walk")
    desk.advance("pay")
    desk.advance("pay")

    answer = desk.advance("pay")

    (freed,) = answer.unblocked_entities
    assert (freed.id, freed.type, freed.title) == (desk["walk"], "task", "walk")


def test_reverting_what_was_closed_lets_those_wait_again_who_waited(desk: Containers) -> None:
    desk.tasks("pay", "walk")
    desk.depend("pay", "walk")
    desk.close("pay")
    assert desk.next_task() == "walk"

    desk.revert("pay")

    assert desk.status("pay") == "TO_BE_TESTED"
    assert (desk.next_task(), desk.next()) == (None, [])
    assert desk.shown("walk").blocked_by == [desk["pay"]]


def test_reverting_the_task_of_a_closed_feature_opens_the_feature(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.close("walk")

    moved = desk.revert("walk").feature_transition

    assert (desk.name(moved.id), moved.before, moved.after) == ("coast", "CLOSED", "ACTIVE")
    assert desk.statuses("coast", "walk") == ["ACTIVE", "TO_BE_TESTED"]


# --- Claims ---


def test_going_active_claims_and_every_other_step_lets_go(desk: Containers) -> None:
    desk.task("walk")
    ben = desk.by("ben")

    task = ben.advance("walk").task
    assert task.claimed_by == "ben"
    assert desk.node("walk").properties["_claimed_by"] == "ben"
    assert ben.advance("walk").task.claimed_by is UNSET
    assert "_claimed_by" not in desk.node("walk").properties
    assert desk.revert("walk").task.claimed_by == "ada"
    assert desk.revert("walk").task.claimed_by is UNSET
    assert desk.next_task() == "walk"


def test_a_task_that_somebody_works_on_is_offered_to_nobody_else_in_either_dialect(desk: Containers) -> None:
    desk.tasks("walk", "draw")
    desk.by("ben").advance("walk")

    assert (desk.next_task(), desk.next()) == ("draw", ["draw"])
    assert desk.claim(count=2) == ["draw"]


def test_a_task_that_is_to_be_tested_is_offered_to_nobody(desk: Containers, clock: ManualClock) -> None:
    desk.task("walk")
    desk.advance("walk")
    desk.advance("walk")
    clock.move(days=3)

    assert (desk.next_task(), desk.next()) == (None, [])
    assert desk.counts()[-1] == 0


def test_an_active_task_whose_claim_is_over_is_offered_again_in_both_dialects(
    desk: Containers, clock: ManualClock
) -> None:
    desk.task("walk")
    desk.by("ben").advance("walk")
    clock.move(hours=1)

    assert (desk.next_task(), desk.next()) == ("walk", ["walk"])
    assert desk.shown("walk").claimed_by is UNSET


def test_whoever_takes_over_an_active_task_whose_claim_is_over_holds_it(desk: Containers, clock: ManualClock) -> None:
    desk.task("walk")
    desk.by("ben").advance("walk")
    clock.move(hours=1)

    assert desk.by("cleo").claim() == ["walk"]

    task = desk.shown("walk")
    assert (task.status, task.claimed_by) == ("ACTIVE", "cleo")


def test_a_claim_lasts_as_long_as_the_project_says(desk: Containers, clock: ManualClock) -> None:
    desk.open(policies={"claim_ttl_minutes": 5})
    desk.task("walk")
    desk.by("ben").advance("walk")

    clock.move(minutes=4)
    assert desk.next_task() is None
    clock.move(minutes=1)
    assert desk.next_task() == "walk"


def test_releasing_an_active_task_in_the_graph_dialect_makes_it_new(desk: Containers) -> None:
    desk.task("walk")
    ben = desk.by("ben")
    ben.advance("walk")

    ben.update("walk", release=True)

    assert (desk.status("walk"), desk.next_task()) == ("NEW", "walk")


def test_a_late_holder_is_told_that_somebody_else_took_the_task(desk: Containers, clock: ManualClock) -> None:
    desk.task("walk")
    ben, cleo = desk.by("ben"), desk.by("cleo")
    (offer,) = ben.offers(claim=True)
    clock.move(hours=1)
    cleo.advance("walk")

    assert refused(lambda: ben.update("walk", resolved=True, claim=offer.claim)).code == "stale_claim"


# --- Blocked ---


def test_what_waits_for_another_is_not_advanced(desk: Containers) -> None:
    desk.tasks("pay", "sign", "walk")
    desk.block("walk", "pay", "sign", blockedReason="the licence comes first")

    error = refused(lambda: desk.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert error.details["blockedBy"] == [desk["pay"], desk["sign"]]
    assert error.details["blockedReason"] == "the licence comes first"
    assert desk.status("walk") == "NEW"


def test_what_is_on_hold_is_not_advanced(desk: Containers) -> None:
    desk.task("walk")
    desk.hold("walk", "high tide")

    error = refused(lambda: desk.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert (error.details["blockedBy"], error.details["blockedReason"]) == (["NO_OP"], "high tide")


@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_what_is_below_a_blocked_feature_is_not_advanced(desk: Containers, how: str) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("pay")
    if how == "hold":
        desk.hold("coast", "no money")
    else:
        desk.depend("pay", "coast")

    error = refused(lambda: desk.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert (error.details["blockedBy"], error.details["blockedAbove"]) == ([], [desk["coast"]])
    state = desk.state("walk")
    assert (state.is_blocked, state.blocked_by, state.blocked_above) == (True, [], [desk["coast"]])
    assert refused(lambda: desk.advance("coast")).contract_code == "BLOCKED"


def test_nothing_is_closed_before_what_is_below_it(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.plan("map", under="walk")
    for name in ("walk", "walk", "coast"):
        desk.advance(name)

    for name, child in {"coast": "walk", "walk": "map"}.items():
        error = refused(partial(desk.advance, name))
        assert codes(error) == ("unresolved_children", "INVALID_OPERATION")
        assert error.details["children"] == [desk[child]]


# --- Policies ---


def test_a_task_without_evidence_is_not_closed_where_evidence_is_required_but_its_feature_is(desk: Containers) -> None:
    desk.open(policies={"evidence": "require"})
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.advance("walk")
    desk.advance("walk")

    assert refused(lambda: desk.advance("walk")).code == "evidence_required"
    desk.update("walk", add_evidence=[{"type": "commit", "ref": "abc"}])

    assert desk.advance("walk").feature_transition.after == "CLOSED"


def test_where_claims_are_enforced_only_their_holder_moves_a_task(desk: Containers) -> None:
    desk.open(policies={"claims": "enforced"})
    ben = desk.by("ben")

    for move in ("advance", "revert", "terminate", "delete"):
        name = f"task to {move}"
        desk.task(name)
        ben.advance(name)
        assert refused(partial(getattr(desk, move), name)).code == "claimed_by_another"
        assert desk.shown(name).claimed_by == "ben"
        getattr(ben, move)(name)


def test_where_claims_are_soft_anybody_moves_a_task(desk: Containers) -> None:
    desk.task("walk")
    desk.by("ben").advance("walk")

    assert desk.advance("walk").task.status == "TO_BE_TESTED"


# --- Hints ---


def test_the_hints_are_the_seeds_and_come_with_the_end_of_a_task_alone(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")

    assert [desk.advance("walk").graph_hints for _ in range(2)] == [UNSET, UNSET]
    assert encode(desk.advance("walk").graph_hints) == HINTS
    assert [desk.advance("coast").graph_hints for _ in range(3)] == [UNSET] * 3


def test_every_move_is_told_with_what_changed(desk: Containers) -> None:
    desk.task("walk")
    desk.close("walk")
    desk.revert("walk")
    desk.revert("walk")
    desk.terminate("walk")

    told = desk.history("walk")

    assert [one.action for one in told] == [
        "created",
        "advanced",
        "advanced",
        "resolved",
        "reopened",
        "reverted",
        "dropped",
    ]
    moves = [{one.field: (one.before, one.after) for one in event.changes}.get("status") for event in told]
    assert moves[1:6] == [
        ("NEW", "ACTIVE"),
        ("ACTIVE", "TO_BE_TESTED"),
        ("TO_BE_TESTED", "CLOSED"),
        ("CLOSED", "TO_BE_TESTED"),
        ("TO_BE_TESTED", "ACTIVE"),
    ]


def test_what_somebody_began_and_left_is_taken_over_by_the_next_who_advances_it(
    desk: Containers, clock: ManualClock
) -> None:
    desk.task("walk")
    desk.by("scout").advance("walk")
    clock.move(hours=2)
    taker = desk.by("ranger")
    assert taker.next_task() == "walk"

    taken = taker.advance("walk")

    assert (taken.transition.before, taken.transition.after) == ("ACTIVE", "ACTIVE")
    assert taken.task.claimed_by == "ranger"
    assert taker.advance("walk").transition.after == "TO_BE_TESTED"


def test_whoever_began_a_task_may_finish_it_late(desk: Containers, clock: ManualClock) -> None:
    desk.task("walk")
    desk.advance("walk")
    clock.move(hours=2)

    assert desk.advance("walk").transition.after == "TO_BE_TESTED"


def test_an_answer_about_a_step_keeps_the_cap_and_counts_what_it_left_out(desk: Containers) -> None:
    desk.task("walk", description="d" * 4_000)
    waiting = [f"{n:x>200}" for n in range(30)]
    desk.plan("\n".join(f"{name}: walk" for name in waiting))

    answer = desk.capped(1_000).terminate("walk")

    assert count_tokens(encode({"success": True, "data": answer})) <= 1_000
    assert answer.task.left_out == {"description": 1}
    assert 0 < len(answer.affected_dependents) == 30 - answer.left_out["affectedDependents"]
    assert 0 < len(answer.unblocked_entities) == 30 - answer.left_out["unblockedEntities"]
