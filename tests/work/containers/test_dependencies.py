"""Dependencies are created, listed from both ends and deleted, also by id; "relates to" has no direction."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from tests.errors import error_of
from tests.work.containers.client import ContainersClient


def neighbours(client: ContainersClient, name: str, **given: Any) -> tuple[list[str], list[str]]:
    """Return what a node waits for or relates to, and what waits for it."""
    asked = {"containerType": client.kind(name), "id": client[name], **given}
    answer = client.call("container.dependencies", **asked)
    return client.names(answer.dependencies), client.names(answer.dependents)


def test_what_blocks_is_seen_from_both_ends(client: ContainersClient) -> None:
    client.feature("coast")
    client.tasks("pay", "walk")

    made = client.depend("pay", "walk")
    feature = client.depend("coast", "walk", type="BLOCKS", containerType="task")

    assert (made.type, made.operation, made.from_id, made.to_id) == ("BLOCKS", "create", client["pay"], client["walk"])
    assert (made.blocked_by, made.target_type) == ([client["pay"]], "task")
    assert feature.blocked_by == [client["coast"], client["pay"]]
    assert neighbours(client, "walk") == (["coast", "pay"], [])
    assert neighbours(client, "pay") == neighbours(client, "coast") == ([], ["walk"])
    (end,) = client.call("container.dependencies", containerType="task", id=client["pay"]).dependents
    assert (end.id, end.container_type, end.title, end.status, end.type) == (
        client["walk"],
        "task",
        "walk",
        "NEW",
        "BLOCKS",
    )


def test_what_is_related_is_so_from_both_sides_and_blocks_nothing(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk")

    made = client.depend("coast", "walk", type="RELATES_TO")

    assert (made.from_entity_type, made.to_entity_type, made.blocked_by) == ("feature", "task", UNSET)
    assert neighbours(client, "walk") == (["coast"], ["coast"])
    assert neighbours(client, "coast") == (["walk"], ["walk"])
    assert (client.get("walk").related_to, client.get("coast").related_to) == ([client["coast"]], [client["walk"]])
    assert client.state("walk").related_entities == [client["coast"]]
    assert client.state("coast").related_entities == [client["walk"]]
    assert client.next() == ["walk"]


def test_only_the_side_that_is_asked_for_is_shown(client: ContainersClient) -> None:
    client.tasks("a", "b", "c")
    client.depend("a", "b")
    client.depend("b", "c")

    assert neighbours(client, "b", direction="dependencies") == (["a"], [])
    assert neighbours(client, "b", direction="dependents") == ([], ["c"])
    answer = client.call("container.dependencies", containerType="task", id=client["b"], direction="dependents")
    assert (answer.dependencies, answer.direction) == (UNSET, "dependents")


def test_a_dependency_is_taken_away_by_its_ends_or_by_its_id(client: ContainersClient) -> None:
    client.tasks("a", "b", "c")
    client.depend("a", "c")
    made = client.depend("b", "c")

    gone = client.call("dependency.delete", id=made.id)
    assert (gone.operation, gone.from_id, gone.to_id, gone.blocked_by) == (
        "delete",
        client["b"],
        client["c"],
        [client["a"]],
    )
    client.call("dependency.delete", fromId=client["a"], toId=client["c"], type="BLOCKS")

    assert (neighbours(client, "c"), sorted(client.next())) == (([], []), ["a", "b", "c"])


def test_a_relation_is_taken_away_from_either_side(client: ContainersClient) -> None:
    client.tasks("a", "b")

    for source, target in (("a", "b"), ("b", "a")):
        client.depend("a", "b", type="RELATES_TO")
        client.call("dependency.delete", fromId=client[source], toId=client[target], type="RELATES_TO")
        assert neighbours(client, "a") == neighbours(client, "b") == ([], [])


def test_what_is_there_already_is_refused(client: ContainersClient) -> None:
    client.tasks("a", "b")
    client.depend("a", "b")
    client.depend("a", "b", type="RELATES_TO")

    assert error_of(lambda: client.depend("a", "b")).code == "already_connected"
    for source, target in (("a", "b"), ("b", "a")):
        again = error_of(partial(client.depend, source, target, type="RELATES_TO"))
        assert (again.code, again.contract_code) == ("already_connected", "INVALID_OPERATION")
    assert client.actions("b") == ["created", "connected"]


def test_a_dependency_and_a_block_are_the_same(client: ContainersClient) -> None:
    client.tasks("a", "b")
    client.block("b", "a")

    assert error_of(lambda: client.depend("a", "b")).code == "already_connected"
    client.call("dependency.delete", fromId=client["a"], toId=client["b"])

    assert client.state("b").is_blocked is False


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


def test_what_is_no_dependency_is_refused_with_its_field(client: ContainersClient) -> None:
    client.tasks("a", "b", "c")
    client.depend("a", "c")

    for what, (operation, asked, family, field) in BAD.items():
        call = f"dependency.{operation}"
        error = error_of(partial(client.call, call, **client.insert_ids(asked)))
        assert isinstance(error, family), (what, error)
        assert field is None or error.details["field"] == field, what

    assert [client.version(name) for name in "abc"] == [1, 1, 2]


def test_nothing_is_related_to_itself(client: ContainersClient) -> None:
    client.task("a")

    assert error_of(lambda: client.depend("a", "a", type="RELATES_TO")).contract_code == "CIRCULAR_DEPENDENCY"


def test_the_state_of_what_is_not_there_is_not_found(client: ContainersClient) -> None:
    client.task("walk")

    for operation in ("container.workflow_state", "container.dependencies"):
        for asked in ({"containerType": "task", "id": "task-0"}, {"containerType": "feature", "id": client["walk"]}):
            assert isinstance(error_of(partial(client.call, operation, **asked)), NotFound)


# --- Bugs of other implementations ---


def test_two_that_block_each_other_are_refused(client: ContainersClient) -> None:
    client.tasks("a", "b")
    client.depend("a", "b")

    error = error_of(lambda: client.depend("b", "a"))

    assert error.contract_code == "CIRCULAR_DEPENDENCY"
    assert [client.name(one) for one in error.details["path"]] == ["a", "b", "a"]


def test_deleting_a_blocker_releases_what_it_blocked(client: ContainersClient) -> None:
    client.feature("coast")
    client.task("walk", of="coast")
    client.task("pay")
    client.depend("pay", "coast")
    client.delete("pay")

    assert (client.state("coast").is_blocked, client.next_task()) == (False, "walk")


@pytest.mark.parametrize("how", ["dependency", "hold"])
def test_a_task_under_a_blocked_feature_is_never_offered(client: ContainersClient, how: str) -> None:
    client.feature("coast")
    client.task("walk", of="coast", priority="HIGH")
    client.task("pay", priority="LOW")
    if how == "hold":
        client.hold("coast")
    else:
        client.depend("pay", "coast")
    client.task("draw", of="coast", priority="HIGH")  # also those that are added later

    offered = [client.next_task(**given) for given in ({}, {"priority": "HIGH"}, {"featureId": client["coast"]})]
    assert offered == ["pay", None, None]
    assert (client.next(), client.call("container.next_task").id) == (["pay"], client["pay"])
    assert client.names(client.call("container.blocked_tasks", projectId="atlas").items) == ["walk", "draw"]
