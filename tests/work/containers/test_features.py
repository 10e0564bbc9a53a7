"""A feature begins with its first task and closes with its last, in both dialects."""

from __future__ import annotations

import pytest

from tests.work.containers.desk import Containers


def test_a_task_that_goes_active_begins_its_feature(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")

    answer = desk.advance("walk")

    moved = answer.feature_transition
    assert (desk.name(moved.id), moved.before, moved.after) == ("coast", "NEW", "ACTIVE")
    assert desk.status("coast") == "ACTIVE"
    assert desk.advance("draw").feature_transition is not moved


def test_a_claim_in_the_graph_dialect_begins_the_feature_too(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")

    assert desk.claim() == ["walk"]

    assert desk.statuses("coast", "walk") == ["ACTIVE", "ACTIVE"]


def test_the_last_task_closes_its_feature_and_releases_what_waits_for_it(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")
    desk.task("print")
    desk.depend("coast", "print")
    desk.close("walk")

    answer = desk.close("draw")

    assert answer.feature_transition.after == "CLOSED"
    assert desk.names(answer.feature_unblocked_entities) == ["print"]
    assert desk.next() == ["print"]


@pytest.mark.parametrize("last", ["resolve", "drop", "close", "terminate"])
def test_a_feature_closes_whichever_way_its_last_task_ends(desk: Containers, last: str) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")
    desk.close("walk")

    getattr(desk, last)("draw")

    assert desk.status("coast") == "CLOSED"


@pytest.mark.parametrize("last", ["drop", "terminate"])
def test_a_feature_of_which_nothing_was_done_will_not_be_implemented(desk: Containers, last: str) -> None:
    desk.feature("coast")
    desk.tasks("walk", "draw", of="coast")
    desk.terminate("walk")

    getattr(desk, last)("draw")

    assert desk.status("coast") == "WILL_NOT_IMPLEMENT"


def test_a_new_task_opens_a_closed_feature_again(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.close("walk")

    answer = desk.task("draw", of="coast")

    assert answer.feature_transition.after == "ACTIVE"
    assert desk.status("coast") == "ACTIVE"


def test_a_blocked_feature_shows_none_of_its_tasks_in_either_dialect(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("pay")
    desk.block("coast", "pay")

    assert (desk.next(), desk.next_task()) == (["pay"], "pay")

    desk.close("pay")

    assert (desk.next(), desk.next_task()) == (["walk"], "walk")


def test_a_feature_on_hold_holds_back_what_is_below_it_until_the_hold_ends(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.plan("map\n  scale", under="walk")

    desk.hold("coast", "no money")

    assert (desk.next(), desk.next_task()) == ([], None)
    desk.unblock("coast", "NO_OP")
    assert desk.next() == ["scale"]


def test_a_feature_is_never_offered(desk: Containers) -> None:
    desk.feature("coast")

    assert (desk.next(), desk.next_task()) == ([], None)


def test_a_feature_cannot_block_its_own_task_nor_a_task_its_feature(desk: Containers) -> None:
    from tests.work.desk import refused

    desk.feature("coast")
    desk.task("walk", of="coast")

    error = refused(lambda: desk.block("walk", "coast"))
    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    error = refused(lambda: desk.block("coast", "walk"))
    assert error.code == "cycle_detected"
    assert [desk.name(one) for one in error.details["path"]] == ["coast", "walk", "coast"]


def test_a_loop_through_two_features_is_refused_and_named(desk: Containers) -> None:
    from tests.work.desk import refused

    desk.feature("coast")
    desk.feature("hills")
    desk.task("walk", of="coast")
    desk.task("climb", of="hills")
    desk.block("coast", "climb")

    error = refused(lambda: desk.block("hills", "walk"))

    assert error.code == "cycle_detected"
