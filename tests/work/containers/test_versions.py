"""An update at an old version is refused and writes nothing; a repeated request has one effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Conflict
from tests.engines import Engine
from tests.errors import error_of
from tests.work.containers.client import ContainersClient

# Each applies to an ACTIVE task "walk" that waits for "pay", and all but advance to the feature "coast" too.
CALLS: dict[str, dict[str, Any]] = {
    "container.update": {"description": "new"},
    "container.delete": {"cascade": True},
    "container.advance": {},
    "container.revert": {},
    "container.terminate": {"reason": "no money"},
    "container.block": {"blockedBy": "NO_OP", "blockedReason": "tide"},
    "container.unblock": {"blockedBy": "@pay"},
}


@pytest.fixture
def active_containers(client: ContainersClient) -> ContainersClient:
    """An active task and an active feature; the task waits for another unless it is to be advanced."""
    client.feature("coast")
    client.task("inside", of="coast")
    client.tasks("pay", "walk")
    client.advance("walk")
    client.advance("coast")
    return client


def request_of(client: ContainersClient, operation: str, name: str) -> dict[str, Any]:
    if operation == "container.unblock" and not client.get(name).blocked_by:
        client.depend("pay", name)
    given = {key: client["pay"] if value == "@pay" else value for key, value in CALLS[operation].items()}
    return {"containerType": client.kind(name), "id": client[name], "version": client.version(name), **given}


def revisions(engine: Engine) -> list[Any]:
    """Return the revisions and counts that every change moves."""
    rows = [f"(SELECT count(*) FROM {table})" for table in ("events", "work_edges", "work_deleted", "work_evidence")]
    return engine.as_owner(f"SELECT p.rev, n.id, n.rev, {', '.join(rows)} FROM projects p, work_nodes n ORDER BY n.id")


def test_a_stale_version_is_a_conflict_that_says_the_present_one(
    active_containers: ContainersClient, engine: Engine
) -> None:
    for operation in CALLS:
        for name in ("walk", "coast"):
            request = request_of(active_containers, operation, name)
            version = request["version"]
            before = revisions(engine)
            for given in (version - 1, version + 1):
                sent = request | {"version": given}
                error = error_of(partial(active_containers.call, operation, **sent))
                assert isinstance(error, Conflict)
                assert (error.code, error.details["currentVersion"]) == ("stale_version", version), operation
                assert error.details["version"] == given
            assert revisions(engine) == before


def test_a_change_that_is_sent_again_is_made_once_and_gets_the_same_answer(
    client: ContainersClient, engine: Engine
) -> None:
    client.task("pay")
    for operation in CALLS:
        task, feature = f"task to {operation}", f"feature to {operation}"
        client.task(task)
        client.feature(feature)
        for name in (task, feature):
            client.advance(name)
            request = request_of(client, operation, name) | {"op_id": name}
            first = client.call(operation, **request)
            after = revisions(engine)
            again = client.call(operation, **request)
            assert encode(again) == encode(first)
            assert revisions(engine) == after


def test_a_project_has_versions_too(client: ContainersClient, engine: Engine) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: client.change_project(description="d", version=2),
        lambda: client.call("container.delete", containerType="project", id="atlas", version=2),
    ]
    before = revisions(engine)

    for one in calls:
        error = error_of(one)
        assert (error.code, error.details["currentVersion"]) == ("stale_version", 1)
    assert revisions(engine) == before


def test_what_is_sent_again_to_a_project_is_done_once(client: ContainersClient) -> None:
    change = {"containerType": "project", "id": "atlas", "version": 1, "description": "d", "op_id": "one"}
    gone = {"containerType": "project", "id": "atlas", "version": 2, "op_id": "two"}
    made = {"containerType": "project", "name": "shop", "op_id": "three"}

    for operation, request in (("update", change), ("delete", gone), ("create", made)):
        first = client.call(f"container.{operation}", **request)
        assert encode(client.call(f"container.{operation}", **request)) == encode(first)


def test_a_dependency_that_is_sent_again_is_made_and_taken_away_once(client: ContainersClient) -> None:
    client.tasks("pay", "walk")

    made = client.depend("pay", "walk", op_id="one")
    assert encode(client.depend("pay", "walk", op_id="one")) == encode(made)
    gone = {"fromId": client["pay"], "toId": client["walk"], "op_id": "two"}
    first = client.call("dependency.delete", **gone)
    assert encode(client.call("dependency.delete", **gone)) == encode(first)
    assert client.actions("walk") == ["created", "connected", "disconnected"]


def test_one_op_id_is_for_one_request(active_containers: ContainersClient) -> None:
    active_containers.change("walk", description="a", op_id="once")

    error = error_of(lambda: active_containers.change("walk", description="b", op_id="once"))

    assert isinstance(error, Conflict)
