"""A feature starts with its first task and closes with its last, in both dialects."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from groundplan.work.positions import Positions
from tests.errors import error_of
from tests.work.containers.client import ContainersClient


def test_a_task_that_goes_active_begins_its_feature(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")

    answer = client.advance("walk")

    moved = answer.feature_transition
    assert (client.name(moved.id), moved.before, moved.after) == ("coast", "NEW", "ACTIVE")
    assert client.status("coast") == "ACTIVE"
    assert client.advance("draw").feature_transition is not moved


def test_a_claim_in_the_graph_dialect_begins_the_feature_too(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")

    assert client.claim() == ["walk"]

    assert client.statuses("coast", "walk") == ["ACTIVE", "ACTIVE"]


def test_the_last_task_closes_its_feature_and_releases_what_waits_for_it(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.task("print")
    client.depend("coast", "print")
    client.close("walk")

    answer = client.close("draw")

    assert answer.feature_transition.after == "CLOSED"
    assert client.names(answer.feature_unblocked_entities) == ["print"]
    assert client.next() == ["print"]


@pytest.mark.parametrize("last", ["resolve", "drop", "close", "terminate"])
def test_a_feature_closes_whichever_way_its_last_task_ends(client: ContainersClient, last: str) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.close("walk")

    getattr(client, last)("draw")

    assert client.status("coast") == "CLOSED"


@pytest.mark.parametrize("last", ["drop", "terminate"])
def test_a_feature_of_which_nothing_was_done_will_not_be_implemented(client: ContainersClient, last: str) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.terminate("walk")

    getattr(client, last)("draw")

    assert client.status("coast") == "WILL_NOT_IMPLEMENT"


def test_a_new_task_opens_a_closed_feature_again(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.close("walk")

    answer = client.task("draw", of="coast")

    assert answer.feature_transition.after == "ACTIVE"
    assert client.status("coast") == "ACTIVE"


def test_a_blocked_feature_shows_none_of_its_tasks_in_either_dialect(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("pay")
    client.block("coast", "pay")

    assert (client.next(), client.next_task()) == (["pay"], "pay")

    client.close("pay")

    assert (client.next(), client.next_task()) == (["walk"], "walk")


def test_a_feature_on_hold_holds_back_what_is_below_it_until_the_hold_ends(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.plan("map\n  scale", under="walk")

    client.hold("coast", "no money")

    assert (client.next(), client.next_task()) == ([], None)
    client.unblock("coast", "NO_OP")
    assert client.next() == ["scale"]


def test_a_feature_is_never_offered(client: ContainersClient) -> None:
    client.feature("coast")

    assert (client.next(), client.next_task()) == ([], None)


def test_a_feature_cannot_block_its_own_task_nor_a_task_its_feature(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")

    error = error_of(lambda: client.block("walk", "coast"))
    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    error = error_of(lambda: client.block("coast", "walk"))
    assert error.code == "cycle_detected"
    assert [client.name(one) for one in error.details["path"]] == ["coast", "walk", "coast"]


def test_a_loop_through_two_features_is_refused_and_named(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("hills")
    client.task("walk", of="coast")
    client.task("climb", of="hills")
    client.block("coast", "climb")

    error = error_of(lambda: client.block("hills", "walk"))

    assert error.code == "cycle_detected"


def test_a_started_task_starts_the_features_above_the_one_that_was_moved_in_the_same_call(
    client: ContainersClient,
) -> None:
    for name in ("coast", "cliffs", "dunes"):
        client.feature(name)
    client.task("walk")
    client.advance("walk")

    client.restructure(
        {"op": "move", "node_id": "cliffs", "new_parent": "coast"},
        {"op": "move", "node_id": "walk", "new_parent": "cliffs"},
    )

    assert client.statuses("coast", "cliffs", "dunes") == ["ACTIVE", "ACTIVE", "NEW"]


def test_a_later_change_of_a_batch_that_sees_old_positions_is_noticed(
    client: ContainersClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load_stored(positions: Positions, ns: Collection[int]) -> dict[int, Any]:
        return {n: row.stored for n, row in positions._load_upwards(ns).items()}

    monkeypatch.setattr(Positions, "compute", load_stored)

    with pytest.raises(AssertionError):
        test_a_started_task_starts_the_features_above_the_one_that_was_moved_in_the_same_call(client)


def test_a_task_that_was_not_started_starts_no_feature_however_often_it_moves(client: ContainersClient) -> None:
    client.feature("coast")
    client.feature("cliffs")
    client.tasks("draw", "walk")
    client.advance("walk")
    moves = [{"op": "move", "node_id": "draw", "new_parent": name} for name in ("coast", "cliffs", "coast")]

    client.restructure(*moves)
    assert client.statuses("coast", "cliffs") == ["NEW", "NEW"]

    client.restructure({"op": "move", "node_id": "walk", "new_parent": "draw"}, moves[1])
    assert client.statuses("coast", "cliffs") == ["ACTIVE", "ACTIVE"]


def test_a_feature_that_lost_what_was_done_to_another_in_the_same_call_will_not_be_implemented(
    client: ContainersClient,
) -> None:
    client.feature("coast")
    client.tasks("walk", "draw", of="coast")
    client.resolve("walk")

    client.restructure(
        {"op": "move", "node_id": "walk", "new_parent": "root"}, {"op": "drop", "node_id": "draw", "reason": "r"}
    )

    assert client.status("coast") == "WILL_NOT_IMPLEMENT"
