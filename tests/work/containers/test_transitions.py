"""A task or a feature moves one step forward or back in its pipeline, and claims follow."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import pytest
from msgspec import UNSET

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import GroundplanError
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.containers.client import ContainersClient

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
def test_a_pipeline_is_walked_step_by_step_to_its_end_and_back(
    client: ContainersClient, name: str, steps: list[str]
) -> None:
    client.feature("coast")
    client.task("walk")

    for place, (before, after) in enumerate(pairwise(steps), 2):
        version = client.version(name)
        answer = client.advance(name)
        assert (answer.transition.before, answer.transition.after) == (before, after)
        assert answer.pipeline_position == f"{place}/4"
        shown = answer.task if name == "walk" else answer.feature
        assert (shown.status, shown.version) == (after, version + 1)
        state = client.state(name)
        following = steps[place] if place < 4 else None
        assert (state.current_status, state.prev_status, state.next_status) == (after, before, following)
        assert (state.pipeline, state.pipeline_position) == (steps, f"{place}/4")
        assert state.is_terminal == (after == "CLOSED")
    assert codes(error_of(lambda: client.advance(name))) == ("no_such_step", "INVALID_OPERATION")

    for before, after in pairwise(steps[::-1]):
        answer = client.revert(name)
        assert (answer.transition.before, answer.transition.after) == (before, after)
        assert answer.pipeline_position == f"{steps.index(after) + 1}/4"
    assert codes(error_of(lambda: client.revert(name))) == ("no_such_step", "INVALID_OPERATION")
    assert client.state(name).prev_status is None


@pytest.mark.parametrize("name", ["walk", "coast"])
def test_what_was_terminated_goes_nowhere_any_more(client: ContainersClient, name: str) -> None:
    client.feature("coast")
    client.task("walk")

    answer = client.terminate(name, reason="no money")

    assert (answer.transition.before, answer.transition.after) == ("NEW", "WILL_NOT_IMPLEMENT")
    assert (answer.reason, answer.pipeline_position) == ("no money", None)
    state = client.state(name)
    assert (state.is_terminal, state.next_status, state.prev_status, state.pipeline_position) == (
        True,
        None,
        None,
        None,
    )
    (evidence,) = client.node(name).evidence
    assert (evidence.type, evidence.ref) == ("dropped", "no money")
    for move in (client.advance, client.revert, client.terminate, client.hold):
        assert error_of(partial(move, name)).contract_code == "INVALID_OPERATION"


def test_terminating_takes_everything_open_below_along_and_leaves_what_was_done(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.plan("map", under="draw")
    client.close("walk")

    client.terminate("coast")

    assert client.statuses("coast", "walk", "draw", "map") == [
        "WILL_NOT_IMPLEMENT",
        "CLOSED",
        *["WILL_NOT_IMPLEMENT"] * 2,
    ]
    assert client.count_by_status("coast") == {"CLOSED": 1, "WILL_NOT_IMPLEMENT": 2}


def test_terminating_releases_what_waited_and_names_it(client: ContainersClient) -> None:
    client.tasks("pay", "walk", "draw")
    client.depend("pay", "walk")
    client.depend("pay", "draw")
    client.hold("draw")

    answer = client.terminate("pay")

    assert client.names(answer.affected_dependents) == ["walk", "draw"]
    assert client.names(answer.unblocked_entities) == ["walk"]


def test_what_waited_for_something_below_a_terminated_feature_is_named_too(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("print")
    client.depend("walk", "print")

    answer = client.terminate("coast")

    assert client.next() == ["print"]
    assert client.names(answer.unblocked_entities) == ["print"]


def test_closing_releases_what_waited_and_names_it(client: ContainersClient) -> None:
    client.tasks("pay", "walk")
    client.depend("pay", "walk")
    client.advance("pay")
    client.advance("pay")

    answer = client.advance("pay")

    (freed,) = answer.unblocked_entities
    assert (freed.id, freed.type, freed.title) == (client["walk"], "task", "walk")


def test_reverting_what_was_closed_lets_those_wait_again_who_waited(client: ContainersClient) -> None:
    client.tasks("pay", "walk")
    client.depend("pay", "walk")
    client.close("pay")
    assert client.next_task() == "walk"

    client.revert("pay")

    assert client.status("pay") == "TO_BE_TESTED"
    assert (client.next_task(), client.next()) == (None, [])
    assert client.get("walk").blocked_by == [client["pay"]]


def test_reverting_the_task_of_a_closed_feature_opens_the_feature(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.close("walk")

    moved = client.revert("walk").feature_transition

    assert (client.name(moved.id), moved.before, moved.after) == ("coast", "CLOSED", "ACTIVE")
    assert client.statuses("coast", "walk") == ["ACTIVE", "TO_BE_TESTED"]


# --- Claims ---


def test_going_active_claims_and_every_other_step_lets_go(client: ContainersClient) -> None:
    client.task("walk")
    ben = client.by("ben")

    task = ben.advance("walk").task
    assert task.claimed_by == "ben"
    assert client.node("walk").properties["_claimed_by"] == "ben"
    assert ben.advance("walk").task.claimed_by is UNSET
    assert "_claimed_by" not in client.node("walk").properties
    assert client.revert("walk").task.claimed_by == "ada"
    assert client.revert("walk").task.claimed_by is UNSET
    assert client.next_task() == "walk"


def test_a_task_that_somebody_works_on_is_offered_to_nobody_else_in_either_dialect(client: ContainersClient) -> None:
    client.tasks("walk", "draw")
    client.by("ben").advance("walk")

    assert (client.next_task(), client.next()) == ("draw", ["draw"])
    assert client.claim(count=2) == ["draw"]


def test_a_task_that_is_to_be_tested_is_offered_to_nobody(client: ContainersClient, clock: ManualClock) -> None:
    client.task("walk")
    client.advance("walk")
    client.advance("walk")
    clock.move(days=3)

    assert (client.next_task(), client.next()) == (None, [])
    assert client.counts()[-1] == 0


def test_an_active_task_whose_claim_is_over_is_offered_again_in_both_dialects(
    client: ContainersClient, clock: ManualClock
) -> None:
    client.task("walk")
    client.by("ben").advance("walk")
    clock.move(hours=1)

    assert (client.next_task(), client.next()) == ("walk", ["walk"])
    assert client.get("walk").claimed_by is UNSET


def test_whoever_takes_over_an_active_task_whose_claim_is_over_holds_it(
    client: ContainersClient, clock: ManualClock
) -> None:
    client.task("walk")
    client.by("ben").advance("walk")
    clock.move(hours=1)

    assert client.by("cleo").claim() == ["walk"]

    task = client.get("walk")
    assert (task.status, task.claimed_by) == ("ACTIVE", "cleo")


def test_a_claim_lasts_as_long_as_the_project_says(client: ContainersClient, clock: ManualClock) -> None:
    client.open(policies={"claim_ttl_minutes": 5})
    client.task("walk")
    client.by("ben").advance("walk")

    clock.move(minutes=4)
    assert client.next_task() is None
    clock.move(minutes=1)
    assert client.next_task() == "walk"


def test_releasing_an_active_task_in_the_graph_dialect_makes_it_new(client: ContainersClient) -> None:
    client.task("walk")
    ben = client.by("ben")
    ben.advance("walk")

    ben.update("walk", release=True)

    assert (client.status("walk"), client.next_task()) == ("NEW", "walk")


def test_a_late_holder_is_told_that_somebody_else_took_the_task(client: ContainersClient, clock: ManualClock) -> None:
    client.task("walk")
    ben, cleo = client.by("ben"), client.by("cleo")
    (offer,) = ben.offers(claim=True)
    clock.move(hours=1)
    cleo.advance("walk")

    assert error_of(lambda: ben.update("walk", resolved=True, claim=offer.claim)).code == "stale_claim"


# --- Blocked ---


def test_what_waits_for_another_is_not_advanced(client: ContainersClient) -> None:
    client.tasks("pay", "sign", "walk")
    client.block("walk", "pay", "sign", blockedReason="the licence comes first")

    error = error_of(lambda: client.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert error.details["blockedBy"] == [client["pay"], client["sign"]]
    assert error.details["blockedReason"] == "the licence comes first"
    assert client.status("walk") == "NEW"


def test_what_is_on_hold_is_not_advanced(client: ContainersClient) -> None:
    client.task("walk")
    client.hold("walk", "high tide")

    error = error_of(lambda: client.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert (error.details["blockedBy"], error.details["blockedReason"]) == (["NO_OP"], "high tide")


@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_what_is_below_a_blocked_feature_is_not_advanced(client: ContainersClient, how: str) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("pay")
    if how == "hold":
        client.hold("coast", "no money")
    else:
        client.depend("pay", "coast")

    error = error_of(lambda: client.advance("walk"))

    assert codes(error) == ("blocked", "BLOCKED")
    assert (error.details["blockedBy"], error.details["blockedAbove"]) == ([], [client["coast"]])
    state = client.state("walk")
    assert (state.is_blocked, state.blocked_by, state.blocked_above) == (True, [], [client["coast"]])
    assert error_of(lambda: client.advance("coast")).contract_code == "BLOCKED"


def test_nothing_is_closed_before_what_is_below_it(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.plan("map", under="walk")
    for name in ("walk", "walk", "coast"):
        client.advance(name)

    for name, child in {"coast": "walk", "walk": "map"}.items():
        error = error_of(partial(client.advance, name))
        assert codes(error) == ("unresolved_children", "INVALID_OPERATION")
        assert error.details["children"] == [client[child]]


# --- Policies ---


def test_a_task_without_evidence_is_not_closed_where_evidence_is_required_but_its_feature_is(
    client: ContainersClient,
) -> None:
    client.open(policies={"evidence": "require"})
    client.feature("coast")
    client.task("walk", of="coast")
    client.advance("walk")
    client.advance("walk")

    assert error_of(lambda: client.advance("walk")).code == "evidence_required"
    client.update("walk", add_evidence=[{"type": "commit", "ref": "abc"}])

    assert client.advance("walk").feature_transition.after == "CLOSED"


def test_where_claims_are_enforced_only_their_holder_moves_a_task(client: ContainersClient) -> None:
    client.open(policies={"claims": "enforced"})
    ben = client.by("ben")

    for move in ("advance", "revert", "terminate", "delete"):
        name = f"task to {move}"
        client.task(name)
        ben.advance(name)
        assert error_of(partial(getattr(client, move), name)).code == "claimed_by_another"
        assert client.get(name).claimed_by == "ben"
        getattr(ben, move)(name)


def test_where_claims_are_soft_anybody_moves_a_task(client: ContainersClient) -> None:
    client.task("walk")
    client.by("ben").advance("walk")

    assert client.advance("walk").task.status == "TO_BE_TESTED"


# --- Hints ---


def test_the_hints_are_the_seeds_and_come_with_the_end_of_a_task_alone(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")

    assert [client.advance("walk").graph_hints for _ in range(2)] == [UNSET, UNSET]
    assert encode(client.advance("walk").graph_hints) == HINTS
    assert [client.advance("coast").graph_hints for _ in range(3)] == [UNSET] * 3


def test_every_move_is_told_with_what_changed(client: ContainersClient) -> None:
    client.task("walk")
    client.close("walk")
    client.revert("walk")
    client.revert("walk")
    client.terminate("walk")

    told = client.history("walk")

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
    client: ContainersClient, clock: ManualClock
) -> None:
    client.task("walk")
    client.by("scout").advance("walk")
    clock.move(hours=2)
    taker = client.by("ranger")
    assert taker.next_task() == "walk"

    taken = taker.advance("walk")

    assert (taken.transition.before, taken.transition.after) == ("ACTIVE", "ACTIVE")
    assert taken.task.claimed_by == "ranger"
    assert taker.advance("walk").transition.after == "TO_BE_TESTED"


def test_whoever_began_a_task_may_finish_it_late(client: ContainersClient, clock: ManualClock) -> None:
    client.task("walk")
    client.advance("walk")
    clock.move(hours=2)

    assert client.advance("walk").transition.after == "TO_BE_TESTED"


def test_an_answer_about_a_step_keeps_the_cap_and_counts_what_it_left_out(client: ContainersClient) -> None:
    client.task("walk", description="d" * 4_000)
    waiting = [f"{n:x>200}" for n in range(30)]
    client.plan("\n".join(f"{name}: walk" for name in waiting))

    answer = client.with_cap(1_000).terminate("walk")

    assert count_tokens(encode({"success": True, "data": answer})) <= 1_000
    assert answer.task.left_out == {"description": 1}
    assert 0 < len(answer.affected_dependents) == 30 - answer.left_out["affectedDependents"]
    assert 0 < len(answer.unblocked_entities) == 30 - answer.left_out["unblockedEntities"]


def test_moving_on_what_somebody_else_has_claimed_names_them(client: ContainersClient) -> None:
    client.tasks("walk", "swim")
    for name in ("walk", "swim"):
        client.by("ben").advance(name)

    assert client.advance("walk").warnings == [f"{client['walk']}: moved on while 'ben' holds its claim"]
    assert client.revert("swim").warnings == [f"{client['swim']}: moved on while 'ben' holds its claim"]
    assert client.advance("swim").warnings is UNSET  # nobody holds it now


def test_closing_what_somebody_else_has_claimed_names_them(client: ContainersClient, clock: ManualClock) -> None:
    client.change_project(pipeline={"task": ["NEW", "ACTIVE", "CLOSED"]})
    client.tasks("walk", "swim", "row")
    for name in ("walk", "swim"):
        client.by("ben").advance(name)
    client.advance("row")

    assert client.advance("walk").warnings == [f"{client['walk']}: resolved while 'ben' holds its claim"]
    assert client.advance("row").warnings is UNSET  # her own
    clock.move(hours=2)
    taken_over = client.advance("swim")
    assert (taken_over.transition.after, taken_over.warnings) == ("ACTIVE", UNSET)
    assert client.advance("swim").warnings is UNSET


def test_terminating_what_others_have_claimed_names_them_for_everything_below(
    client: ContainersClient, clock: ManualClock
) -> None:
    for feature, tasks in {"coast": ("walk", "swim", "row"), "hills": ("climb",)}.items():
        client.feature(feature)
        client.tasks(*tasks, of=feature)
    for who, name in {"ben": "walk", "cleo": "row"}.items():
        client.by(who).advance(name)
    for name in ("swim", "climb"):
        client.by("ben").advance(name)

    assert client.terminate("coast").warnings == [
        f"{client['walk']} and 1 more: resolved while 'ben' holds its claim",
        f"{client['row']}: resolved while 'cleo' holds its claim",
    ]
    clock.move(hours=2)
    assert client.terminate("hills").warnings is UNSET


def test_enforced_claims_refuse_to_close_or_terminate_what_somebody_else_has(client: ContainersClient) -> None:
    client.open(policies={"claims": "enforced"})
    client.change_project(pipeline={"task": ["NEW", "ACTIVE", "CLOSED"]})
    client.task("walk")
    client.by("ben").advance("walk")

    for refused in (client.advance, client.terminate):
        assert error_of(partial(refused, "walk")).code == "claimed_by_another"
    assert client.status("walk") == "ACTIVE"
