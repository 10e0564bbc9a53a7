"""A task or a feature waits for others, or on hold for a reason, until that ends or is taken away; never for itself."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from groundplan.kernel.errors import Invalid, NotFound
from tests.work.containers.desk import Containers
from tests.work.desk import refused


def path(desk: Containers, call: Callable[[], Any]) -> list[str]:
    """The way round for which a call is refused."""
    error = refused(call)
    assert (error.code, error.contract_code) == ("cycle_detected", "CIRCULAR_DEPENDENCY")
    return [desk.name(one) for one in error.details["path"]]


def test_a_task_waits_for_ids_and_says_for_which_and_why(desk: Containers) -> None:
    desk.tasks("pay", "sign", "walk")

    answer = desk.block("walk", "pay", "sign", blockedReason="the licence comes first")

    assert (answer.added_blockers, answer.total_blockers) == ([desk["pay"], desk["sign"]], 2)
    assert (answer.task.blocked_by, answer.task.blocked_reason, answer.task.version) == (
        [desk["pay"], desk["sign"]],
        "the licence comes first",
        2,
    )
    state = desk.state("walk")
    assert (state.is_blocked, state.blocked_by) == (True, [desk["pay"], desk["sign"]])
    assert state.blocked_reason == "the licence comes first"
    assert desk.waits_for("walk") == ["pay", "sign"]


def test_blockers_come_as_an_array_a_string_or_a_string_of_json(desk: Containers) -> None:
    desk.tasks("pay", "sign", "walk")
    ids = [desk["pay"], desk["sign"]]

    for version, given in enumerate((ids, ",".join(ids), json.dumps(ids))):
        asked = {"containerType": "task", "id": desk["walk"], "blockedBy": given}
        assert desk.call("container.block", **asked, version=2 * version + 1).added_blockers == ids
        assert desk.call("container.unblock", **asked, version=2 * version + 2).removed_blockers == ids


def test_what_is_there_already_is_not_added_again_and_nothing_is_written(desk: Containers) -> None:
    desk.tasks("pay", "walk")
    desk.block("walk", "pay")

    answer = desk.block("walk", "pay")

    assert (answer.added_blockers, answer.total_blockers, answer.task.version) == ([], 1, 2)
    assert desk.actions("walk") == ["created", "connected"]


def test_a_blocker_that_is_done_already_blocks_nothing_until_it_is_reopened(desk: Containers) -> None:
    desk.tasks("pay", "walk")
    desk.close("pay")

    answer = desk.block("walk", "pay")
    assert (answer.total_blockers, desk.state("walk").is_blocked) == (0, False)
    desk.revert("pay")
    assert desk.state("walk").blocked_by == [desk["pay"]]


def test_a_hold_has_a_reason_and_ends_when_it_is_taken_away(desk: Containers) -> None:
    desk.task("walk")

    held = desk.hold("walk", "high tide")
    assert (held.added_blockers, held.total_blockers) == (["NO_OP"], 1)
    assert (held.task.blocked_by, held.task.blocked_reason) == (["NO_OP"], "high tide")
    assert desk.next_task() is None

    free = desk.unblock("walk", "NO_OP")
    assert (free.removed_blockers, free.remaining_blockers, free.is_fully_unblocked) == (["NO_OP"], [], True)
    assert (free.task.blocked_by, free.task.blocked_reason, desk.next_task()) == ([], None, "walk")
    assert desk.actions("walk") == ["created", "held", "unheld"]


def test_a_hold_can_get_another_reason(desk: Containers) -> None:
    desk.task("walk")
    desk.hold("walk", "high tide")

    answer = desk.hold("walk", "fog")

    assert (answer.added_blockers, answer.task.blocked_reason, answer.task.version) == ([], "fog", 3)


def test_ids_and_a_hold_may_come_together_and_go_one_by_one(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("pay")

    assert desk.block("coast", "pay", "NO_OP", blockedReason="fog").total_blockers == 2
    left = desk.unblock("coast", desk["pay"])
    assert (left.remaining_blockers, left.is_fully_unblocked, desk.state("walk").is_blocked) == (["NO_OP"], False, True)
    assert desk.unblock("coast", "NO_OP").is_fully_unblocked
    assert desk.state("walk").is_blocked is False


def test_a_task_below_a_blocked_feature_is_never_fully_unblocked(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.hold("coast")
    desk.hold("walk")

    answer = desk.unblock("walk", "NO_OP")

    assert (answer.remaining_blockers, answer.is_fully_unblocked) == ([], False)


def test_a_hold_stays_with_what_is_resolved_and_counts_again_when_it_is_reopened(desk: Containers) -> None:
    desk.task("walk")
    desk.hold("walk", "fog")
    desk.resolve("walk")
    assert (desk.shown("walk").blocked_by, desk.state("walk").is_blocked) == ([], False)

    desk.reopen("walk")

    assert desk.state("walk").blocked_by == ["NO_OP"]
    assert desk.next() == []


def test_what_it_does_not_wait_for_cannot_be_taken_away(desk: Containers) -> None:
    desk.tasks("pay", "walk")

    for blocker in ("pay", "NO_OP"):
        error = refused(partial(desk.unblock, "walk", blocker))
        assert (error.code, error.contract_code) == ("not_blocked_by", "INVALID_OPERATION")
        assert (error.details["field"], error.details["blocker"]) == ("blockedBy", desk[blocker])
    assert desk.version("walk") == 1


def test_of_several_blockers_of_which_one_is_wrong_none_is_changed(desk: Containers) -> None:
    desk.tasks("pay", "sign", "walk")
    desk.block("walk", "pay")

    refused(lambda: desk.unblock("walk", "pay", "sign"))
    refused(lambda: desk.block("walk", "sign", "task-0"))

    assert (desk.waits_for("walk"), desk.version("walk")) == (["pay"], 2)


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


def test_what_cannot_block_is_refused_with_its_field(desk: Containers) -> None:
    desk.task("walk")
    walk = {"containerType": "task", "id": desk["walk"], "version": 1}

    for what, (asked, family, field) in BAD.items():
        error = refused(partial(desk.call, "container.block", **walk, **asked))
        assert isinstance(error, family), (what, error)
        assert error.details["field"] == field, what

    assert desk.version("walk") == 1


def test_what_is_done_waits_for_nothing_more(desk: Containers) -> None:
    desk.tasks("pay", "walk")
    desk.close("walk")

    assert refused(lambda: desk.block("walk", "pay")).contract_code == "INVALID_OPERATION"
    assert refused(lambda: desk.hold("walk")).contract_code == "INVALID_OPERATION"


def test_nothing_waits_for_what_is_in_another_project(desk: Containers) -> None:
    other = desk.elsewhere("shop")
    other.task("sell")
    desk.task("walk")

    for call in (lambda: desk.block("walk", "sell"), lambda: desk.depend("sell", "walk")):
        error = refused(call)
        assert isinstance(error, Invalid)
        assert error.code == "mixed_projects"


# --- Cycles ---


def test_nothing_waits_for_itself_directly_or_through_others(desk: Containers) -> None:
    desk.tasks("a", "b", "c")

    assert path(desk, lambda: desk.block("a", "a")) == ["a", "a"]
    desk.block("a", "b")
    assert path(desk, lambda: desk.block("b", "a")) == ["b", "a", "b"]
    desk.block("b", "c")
    assert path(desk, lambda: desk.block("c", "a")) == ["c", "a", "b", "c"]
    assert path(desk, lambda: desk.depend("a", "c")) == ["c", "a", "b", "c"]


def test_nothing_waits_for_itself_through_features(desk: Containers) -> None:
    for name in ("coast", "hills", "plain"):
        desk.feature(name)
        desk.task(f"in {name}", of=name)

    assert path(desk, lambda: desk.block("coast", "in coast")) == ["coast", "in coast", "coast"]
    assert path(desk, lambda: desk.block("in coast", "coast")) == ["in coast", "coast", "in coast"]
    desk.block("coast", "hills")
    assert path(desk, lambda: desk.block("hills", "coast"))[0] == "hills"
    assert path(desk, lambda: desk.block("in hills", "coast"))[0] == "in hills"
    assert path(desk, lambda: desk.block("in hills", "in coast"))[0] == "in hills"
    desk.block("hills", "plain")
    way = path(desk, lambda: desk.block("in plain", "in coast"))
    assert (way[0], way[-1]) == ("in plain", "in plain")
    desk.block("in coast", "in plain")  # it waits for that anyway


def test_nothing_waits_for_itself_through_the_tree_below_a_feature(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.plan("map\n  scale", under="walk")
    desk.task("draw")
    desk.block("draw", "coast")

    way = path(desk, lambda: desk.block("scale", "draw"))

    assert (way[0], way[-1]) == ("scale", "scale")


def test_a_loop_is_refused_in_either_dialect(desk: Containers) -> None:
    desk.tasks("a", "b")
    desk.connect("a: b")

    assert path(desk, lambda: desk.block("b", "a")) == ["b", "a", "b"]
    (rejected,) = desk.connect("b: a").rejected
    assert (rejected.reason, [desk.name(one) for one in rejected.path]) == ("cycle_detected", ["b", "a", "b"])


def test_tasks_of_two_features_may_wait_for_each_other_where_nothing_goes_round(desk: Containers) -> None:
    for name in ("coast", "hills"):
        desk.feature(name)
        desk.tasks(f"first in {name}", f"second in {name}", of=name)

    desk.block("second in coast", "first in hills")
    desk.block("second in hills", "first in coast")

    assert desk.next() == ["first in coast", "first in hills"]
