"""Dependencies are made, listed from both ends and taken away, also by their ids; what is related is so from both."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from tests.work.containers.desk import Containers
from tests.work.desk import refused


def around(desk: Containers, name: str, **given: Any) -> tuple[list[str], list[str]]:
    """What something waits for or is related to, and what waits for it."""
    asked = {"containerType": desk.kind(name), "id": desk[name], **given}
    answer = desk.call("container.dependencies", **asked)
    return desk.names(answer.dependencies), desk.names(answer.dependents)


def test_what_blocks_is_seen_from_both_ends(desk: Containers) -> None:
    desk.feature("coast")
    desk.tasks("pay", "walk")

    made = desk.depend("pay", "walk")
    feature = desk.depend("coast", "walk", type="BLOCKS", containerType="task")

    assert (made.type, made.operation, made.from_id, made.to_id) == ("BLOCKS", "create", desk["pay"], desk["walk"])
    assert (made.blocked_by, made.target_type) == ([desk["pay"]], "task")
    assert feature.blocked_by == [desk["coast"], desk["pay"]]
    assert around(desk, "walk") == (["coast", "pay"], [])
    assert around(desk, "pay") == around(desk, "coast") == ([], ["walk"])
    (end,) = desk.call("container.dependencies", containerType="task", id=desk["pay"]).dependents
    assert (end.id, end.container_type, end.title, end.status, end.type) == (
        desk["walk"],
        "task",
        "walk",
        "NEW",
        "BLOCKS",
    )


def test_what_is_related_is_so_from_both_sides_and_blocks_nothing(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk")

    made = desk.depend("coast", "walk", type="RELATES_TO")

    assert (made.from_entity_type, made.to_entity_type, made.blocked_by) == ("feature", "task", UNSET)
    assert around(desk, "walk") == (["coast"], ["coast"])
    assert around(desk, "coast") == (["walk"], ["walk"])
    assert (desk.shown("walk").related_to, desk.shown("coast").related_to) == ([desk["coast"]], [desk["walk"]])
    assert desk.state("walk").related_entities == [desk["coast"]]
    assert desk.state("coast").related_entities == [desk["walk"]]
    assert desk.next() == ["walk"]


def test_only_the_side_that_is_asked_for_is_shown(desk: Containers) -> None:
    desk.tasks("a", "b", "c")
    desk.depend("a", "b")
    desk.depend("b", "c")

    assert around(desk, "b", direction="dependencies") == (["a"], [])
    assert around(desk, "b", direction="dependents") == ([], ["c"])
    answer = desk.call("container.dependencies", containerType="task", id=desk["b"], direction="dependents")
    assert (answer.dependencies, answer.direction) == (UNSET, "dependents")


def test_a_dependency_is_taken_away_by_its_ends_or_by_its_id(desk: Containers) -> None:
    desk.tasks("a", "b", "c")
    desk.depend("a", "c")
    made = desk.depend("b", "c")

    gone = desk.call("dependency.delete", id=made.id)
    assert (gone.operation, gone.from_id, gone.to_id, gone.blocked_by) == ("delete", desk["b"], desk["c"], [desk["a"]])
    desk.call("dependency.delete", fromId=desk["a"], toId=desk["c"], type="BLOCKS")

    assert (around(desk, "c"), sorted(desk.next())) == (([], []), ["a", "b", "c"])


def test_a_relation_is_taken_away_from_either_side(desk: Containers) -> None:
    desk.tasks("a", "b")

    for source, target in (("a", "b"), ("b", "a")):
        desk.depend("a", "b", type="RELATES_TO")
        desk.call("dependency.delete", fromId=desk[source], toId=desk[target], type="RELATES_TO")
        assert around(desk, "a") == around(desk, "b") == ([], [])


def test_what_is_there_already_is_refused(desk: Containers) -> None:
    desk.tasks("a", "b")
    desk.depend("a", "b")
    desk.depend("a", "b", type="RELATES_TO")

    assert refused(lambda: desk.depend("a", "b")).code == "already_connected"
    for source, target in (("a", "b"), ("b", "a")):
        again = refused(partial(desk.depend, source, target, type="RELATES_TO"))
        assert (again.code, again.contract_code) == ("already_connected", "INVALID_OPERATION")
    assert desk.actions("b") == ["created", "connected"]


def test_a_dependency_and_a_block_are_the_same(desk: Containers) -> None:
    desk.tasks("a", "b")
    desk.block("b", "a")

    assert refused(lambda: desk.depend("a", "b")).code == "already_connected"
    desk.call("dependency.delete", fromId=desk["a"], toId=desk["b"])

    assert desk.state("b").is_blocked is False


BAD: dict[str, tuple[str, dict[str, Any], type[Exception], str | None]] = {
    "no beginning": ("create", {"toId": "@b"}, Invalid, "fromId"),
    "no end": ("create", {"fromId": "@a"}, Invalid, "toId"),
    "an unknown beginning": ("create", {"fromId": "task-0", "toId": "@b"}, NotFound, None),
    "an unknown end": ("create", {"fromId": "@a", "toId": "task-0"}, NotFound, "toId"),
    "another type": ("create", {"fromId": "@a", "toId": "@b", "type": "FOLLOWS"}, Invalid, "type"),
    "a target of another type": (
        "create",
        {"fromId": "@a", "toId": "@b", "containerType": "feature"},
        NotFound,
        "toId",
    ),
    "a project": ("create", {"fromId": "@root", "toId": "@b"}, Invalid, "fromId"),
    "no dependency": ("delete", {"fromId": "@a", "toId": "@b"}, NotFound, None),
    "the other way round": ("delete", {"fromId": "@c", "toId": "@a"}, NotFound, None),
    "an id of nothing": ("delete", {"id": "nothing"}, Invalid, "id"),
    "an id of no type": ("delete", {"id": "a:b:FOLLOWS"}, Invalid, "id"),
}


def test_what_is_no_dependency_is_refused_with_its_field(desk: Containers) -> None:
    desk.tasks("a", "b", "c")
    desk.depend("a", "c")

    for what, (operation, asked, family, field) in BAD.items():
        call = f"dependency.{operation}"
        error = refused(partial(desk.call, call, **desk.named(asked)))
        assert isinstance(error, family), (what, error)
        assert field is None or error.details["field"] == field, what

    assert [desk.version(name) for name in "abc"] == [1, 1, 2]


def test_nothing_is_related_to_itself(desk: Containers) -> None:
    desk.task("a")

    assert refused(lambda: desk.depend("a", "a", type="RELATES_TO")).contract_code == "CIRCULAR_DEPENDENCY"


def test_the_state_of_what_is_not_there_is_not_found(desk: Containers) -> None:
    desk.task("walk")

    for operation in ("container.workflow_state", "container.dependencies"):
        for asked in ({"containerType": "task", "id": "task-0"}, {"containerType": "feature", "id": desk["walk"]}):
            assert isinstance(refused(partial(desk.call, operation, **asked)), NotFound)


# --- What used to go wrong elsewhere ---


def test_two_that_block_each_other_are_refused(desk: Containers) -> None:
    desk.tasks("a", "b")
    desk.depend("a", "b")

    error = refused(lambda: desk.depend("b", "a"))

    assert error.contract_code == "CIRCULAR_DEPENDENCY"
    assert [desk.name(one) for one in error.details["path"]] == ["a", "b", "a"]


def test_deleting_a_blocker_releases_what_it_blocked(desk: Containers) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast")
    desk.task("pay")
    desk.depend("pay", "coast")
    desk.delete("pay")

    assert (desk.state("coast").is_blocked, desk.next_task()) == (False, "walk")


@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_a_task_under_a_blocked_feature_is_never_offered(desk: Containers, how: str) -> None:
    desk.feature("coast")
    desk.task("walk", of="coast", priority="HIGH")
    desk.task("pay", priority="LOW")
    if how == "hold":
        desk.hold("coast")
    else:
        desk.depend("pay", "coast")
    desk.task("draw", of="coast", priority="HIGH")  # also what comes later

    offered = [desk.next_task(**given) for given in ({}, {"priority": "HIGH"}, {"featureId": desk["coast"]})]
    assert offered == ["pay", None, None]
    assert (desk.next(), desk.call("container.next_task").id) == (["pay"], desk["pay"])
    assert desk.names(desk.call("container.blocked_tasks", projectId="atlas").items) == ["walk", "draw"]
