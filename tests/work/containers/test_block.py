"""A task or a feature waits for others, or is on hold for a reason, until it is unblocked; never for itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from groundplan.kernel.errors import Invalid, NotFound
from tests.errors import error_of
from tests.work.containers.client import ContainersClient


def cycle_path(client: ContainersClient, call: Callable[[], Any]) -> list[str]:
    """Return the path of the cycle for which a call is refused."""
    error = error_of(call)
    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    return [client.name(one) for one in error.details["path"]]


def test_a_task_waits_for_ids_and_says_for_which_and_why(client: ContainersClient) -> None:
    client.tasks("pay", "sign", "walk")

    answer = client.block("walk", "pay", "sign", blockedReason="the licence comes first")

    assert (answer.added_blockers, answer.total_blockers) == ([client["pay"], client["sign"]], 2)
    assert (answer.task.blocked_by, answer.task.blocked_reason, answer.task.version) == (
        [client["pay"], client["sign"]],
        "the licence comes first",
        2,
    )
    state = client.state("walk")
    assert (state.is_blocked, state.blocked_by) == (True, [client["pay"], client["sign"]])
    assert state.blocked_reason == "the licence comes first"
    assert client.waits_for("walk") == ["pay", "sign"]


def test_blockers_come_as_an_array_a_string_or_a_string_of_json(client: ContainersClient) -> None:
    client.tasks("pay", "sign", "walk")
    ids = [client["pay"], client["sign"]]

    for version, given in enumerate((ids, ",".join(ids), json.dumps(ids))):
        asked = {"containerType": "task", "id": client["walk"], "blockedBy": given}
        assert client.call("container.block", **asked, version=2 * version + 1).added_blockers == ids
        assert client.call("container.unblock", **asked, version=2 * version + 2).removed_blockers == ids


def test_what_is_there_already_is_not_added_again_and_nothing_is_written(client: ContainersClient) -> None:
    client.tasks("pay", "walk")
    client.block("walk", "pay")

    answer = client.block("walk", "pay")

    assert (answer.added_blockers, answer.total_blockers, answer.task.version) == ([], 1, 2)
    assert client.actions("walk") == ["created", "connected"]


def test_a_blocker_that_is_done_already_blocks_nothing_until_it_is_reopened(client: ContainersClient) -> None:
    client.tasks("pay", "walk")
    client.close("pay")

    answer = client.block("walk", "pay")
    assert (answer.total_blockers, client.state("walk").is_blocked) == (0, False)
    client.revert("pay")
    assert client.state("walk").blocked_by == [client["pay"]]


def test_a_hold_has_a_reason_and_ends_when_it_is_taken_away(client: ContainersClient) -> None:
    client.task("walk")

    held = client.hold("walk", "high tide")
    assert (held.added_blockers, held.total_blockers) == (["NO_OP"], 1)
    assert (held.task.blocked_by, held.task.blocked_reason) == (["NO_OP"], "high tide")
    assert client.next_task() is None

    free = client.unblock("walk", "NO_OP")
    assert (free.removed_blockers, free.remaining_blockers, free.is_fully_unblocked) == (["NO_OP"], [], True)
    assert (free.task.blocked_by, free.task.blocked_reason, client.next_task()) == ([], None, "walk")
    assert client.actions("walk") == ["created", "held", "unheld"]


def test_a_hold_can_get_another_reason(client: ContainersClient) -> None:
    client.task("walk")
    client.hold("walk", "high tide")

    answer = client.hold("walk", "fog")

    assert (answer.added_blockers, answer.task.blocked_reason, answer.task.version) == ([], "fog", 3)


def test_ids_and_a_hold_may_come_together_and_go_one_by_one(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("pay")

    assert client.block("coast", "pay", "NO_OP", blockedReason="fog").total_blockers == 2
    left = client.unblock("coast", client["pay"])
    assert (left.remaining_blockers, left.is_fully_unblocked, client.state("walk").is_blocked) == (
        ["NO_OP"],
        False,
        True,
    )
    assert client.unblock("coast", "NO_OP").is_fully_unblocked
    assert client.state("walk").is_blocked is False


def test_a_task_below_a_blocked_feature_is_never_fully_unblocked(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.hold("coast")
    client.hold("walk")

    answer = client.unblock("walk", "NO_OP")

    assert (answer.remaining_blockers, answer.is_fully_unblocked) == ([], False)


def test_a_hold_stays_with_what_is_resolved_and_counts_again_when_it_is_reopened(client: ContainersClient) -> None:
    client.task("walk")
    client.hold("walk", "fog")
    client.resolve("walk")
    assert (client.get("walk").blocked_by, client.state("walk").is_blocked) == ([], False)

    client.reopen("walk")

    assert client.state("walk").blocked_by == ["NO_OP"]
    assert client.next() == []


def test_what_it_does_not_wait_for_cannot_be_taken_away(client: ContainersClient) -> None:
    client.tasks("pay", "walk")

    for blocker in ("pay", "NO_OP"):
        error = error_of(partial(client.unblock, "walk", blocker))
        assert (error.code, error.contract_code) == ("not_blocked_by", "INVALID_OPERATION")
        assert (error.details["field"], error.details["blocker"]) == ("blockedBy", client[blocker])
    assert client.version("walk") == 1


def test_of_several_blockers_of_which_one_is_wrong_none_is_changed(client: ContainersClient) -> None:
    client.tasks("pay", "sign", "walk")
    client.block("walk", "pay")

    error_of(lambda: client.unblock("walk", "pay", "sign"))
    error_of(lambda: client.block("walk", "sign", "task-0"))

    assert (client.waits_for("walk"), client.version("walk")) == (["pay"], 2)


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "nothing": ({"blockedBy": []}, Invalid, "blockedBy"),
    "blanks": ({"blockedBy": " , "}, Invalid, "blockedBy"),
    "no word about it": ({}, Invalid, "blockedBy"),
    "a hold without a reason": ({"blockedBy": "NO_OP"}, Invalid, "blockedReason"),
    "a hold with a blank reason": ({"blockedBy": "NO_OP", "blockedReason": " "}, Invalid, "blockedReason"),
    "nobody": ({"blockedBy": "task-0"}, NotFound, "blockedBy"),
    "51 others": ({"blockedBy": [f"task-{one}" for one in range(51)]}, Invalid, "blockedBy"),
    "a reason too long": ({"blockedBy": "NO_OP", "blockedReason": "x" * 4097}, Invalid, "blockedReason"),
}


def test_what_cannot_block_is_refused_with_its_field(client: ContainersClient) -> None:
    client.task("walk")
    walk = {"containerType": "task", "id": client["walk"], "version": 1}

    for what, (asked, family, field) in BAD.items():
        error = error_of(partial(client.call, "container.block", **walk, **asked))
        assert isinstance(error, family), (what, error)
        assert error.details["field"] == field, what

    assert client.version("walk") == 1


def test_what_is_done_waits_for_nothing_more(client: ContainersClient) -> None:
    client.tasks("pay", "walk")
    client.close("walk")

    assert error_of(lambda: client.block("walk", "pay")).contract_code == "INVALID_OPERATION"
    assert error_of(lambda: client.hold("walk")).contract_code == "INVALID_OPERATION"


def test_nothing_waits_for_what_is_in_another_project(client: ContainersClient) -> None:
    other = client.create_project("shop")
    other.task("sell")
    client.task("walk")

    for call in (lambda: client.block("walk", "sell"), lambda: client.depend("sell", "walk")):
        error = error_of(call)
        assert isinstance(error, Invalid)
        assert error.code == "mixed_projects"


# --- Cycles ---


def test_nothing_waits_for_itself_directly_or_through_others(client: ContainersClient) -> None:
    client.tasks("a", "b", "c")

    assert cycle_path(client, lambda: client.block("a", "a")) == ["a", "a"]
    client.block("a", "b")
    assert cycle_path(client, lambda: client.block("b", "a")) == ["b", "a", "b"]
    client.block("b", "c")
    assert cycle_path(client, lambda: client.block("c", "a")) == ["c", "a", "b", "c"]
    assert cycle_path(client, lambda: client.depend("a", "c")) == ["c", "a", "b", "c"]


def test_nothing_waits_for_itself_through_features(client: ContainersClient) -> None:
    for name in ("coast", "hills", "plain"):
        client.feature(name)
        client.task(f"in {name}", of=name)

    assert cycle_path(client, lambda: client.block("coast", "in coast")) == ["coast", "in coast", "coast"]
    assert cycle_path(client, lambda: client.block("in coast", "coast")) == ["in coast", "coast", "in coast"]
    client.block("coast", "hills")
    assert cycle_path(client, lambda: client.block("hills", "coast"))[0] == "hills"
    assert cycle_path(client, lambda: client.block("in hills", "coast"))[0] == "in hills"
    assert cycle_path(client, lambda: client.block("in hills", "in coast"))[0] == "in hills"
    client.block("hills", "plain")
    way = cycle_path(client, lambda: client.block("in plain", "in coast"))
    assert (way[0], way[-1]) == ("in plain", "in plain")
    client.block("in coast", "in plain")  # it waits for that already


def test_nothing_waits_for_itself_through_the_tree_below_a_feature(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.plan("map\n  scale", under="walk")
    client.task("draw")
    client.block("draw", "coast")

    way = cycle_path(client, lambda: client.block("scale", "draw"))

    assert (way[0], way[-1]) == ("scale", "scale")


def test_a_loop_is_refused_in_either_dialect(client: ContainersClient) -> None:
    client.tasks("a", "b")
    client.connect("a: b")

    assert cycle_path(client, lambda: client.block("b", "a")) == ["b", "a", "b"]
    (rejected,) = client.connect("b: a").rejected
    assert (rejected.reason, [client.name(one) for one in rejected.path]) == ("cycle_detected", ["b", "a", "b"])


def test_tasks_of_two_features_may_wait_for_each_other_where_nothing_goes_round(client: ContainersClient) -> None:
    for name in ("coast", "hills"):
        client.feature(name)
        client.tasks(f"first in {name}", f"second in {name}", of=name)

    client.block("second in coast", "first in hills")
    client.block("second in hills", "first in coast")

    assert client.next() == ["first in coast", "first in hills"]
