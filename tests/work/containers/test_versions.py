"""A change from an old version is refused and nothing is written; a change that is sent again is made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict
from groundplan.kernel.output_gate import encode
from tests.engines import Engine
from tests.work.containers.desk import Containers
from tests.work.desk import refused

# Each can be made to a task "walk" that is ACTIVE and waits for "pay", and all but advance to the feature "coast" too.
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
def begun(desk: Containers) -> Containers:
    """A task and a feature that are active; the first waits for another unless it is to be advanced."""
    desk.feature("coast")
    desk.task("inside", of="coast")
    desk.tasks("pay", "walk")
    desk.advance("walk")
    desk.advance("coast")
    return desk


def asked(desk: Containers, operation: str, name: str) -> dict[str, Any]:
    if operation == "container.unblock" and not desk.shown(name).blocked_by:
        desk.depend("pay", name)
    given = {key: desk["pay"] if value == "@pay" else value for key, value in CALLS[operation].items()}
    return {"containerType": desk.kind(name), "id": desk[name], "version": desk.version(name), **given}


def everything(engine: Engine) -> list[Any]:
    """What moves with any change: the revision of the project, of its nodes, and how much there is."""
    rows = [f"(SELECT count(*) FROM {table})" for table in ("events", "work_edges", "work_deleted", "work_evidence")]
    return engine.as_owner(f"SELECT p.rev, n.id, n.rev, {', '.join(rows)} FROM projects p, work_nodes n ORDER BY n.id")


def test_a_stale_version_is_a_conflict_that_says_the_present_one(begun: Containers, engine: Engine) -> None:
    for operation in CALLS:
        for name in ("walk", "coast"):
            request = asked(begun, operation, name)
            version = request["version"]
            before = everything(engine)
            for given in (version - 1, version + 1):
                sent = request | {"version": given}
                error = refused(partial(begun.call, operation, **sent))
                assert isinstance(error, Conflict)
                assert (error.code, error.details["currentVersion"]) == ("stale_version", version), operation
                assert error.details["version"] == given
            assert everything(engine) == before


def test_a_change_that_is_sent_again_is_made_once_and_gets_the_same_answer(desk: Containers, engine: Engine) -> None:
    desk.task("pay")
    for operation in CALLS:
        task, feature = f"task to {operation}", f"feature to {operation}"
        desk.task(task)
        desk.feature(feature)
        for name in (task, feature):
            desk.advance(name)
            request = asked(desk, operation, name) | {"op_id": name}
            first = desk.call(operation, **request)
            after = everything(engine)
            again = desk.call(operation, **request)
            assert encode(again) == encode(first)
            assert everything(engine) == after


def test_a_project_has_versions_too(desk: Containers, engine: Engine) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: desk.change_project(description="d", version=2),
        lambda: desk.call("container.delete", containerType="project", id="atlas", version=2),
    ]
    before = everything(engine)

    for one in calls:
        error = refused(one)
        assert (error.code, error.details["currentVersion"]) == ("stale_version", 1)
    assert everything(engine) == before


def test_what_is_sent_again_to_a_project_is_done_once(desk: Containers) -> None:
    change = {"containerType": "project", "id": "atlas", "version": 1, "description": "d", "op_id": "one"}
    gone = {"containerType": "project", "id": "atlas", "version": 2, "op_id": "two"}
    made = {"containerType": "project", "name": "shop", "op_id": "three"}

    for operation, request in (("update", change), ("delete", gone), ("create", made)):
        first = desk.call(f"container.{operation}", **request)
        assert encode(desk.call(f"container.{operation}", **request)) == encode(first)


def test_a_dependency_that_is_sent_again_is_made_and_taken_away_once(desk: Containers) -> None:
    desk.tasks("pay", "walk")

    made = desk.depend("pay", "walk", op_id="one")
    assert encode(desk.depend("pay", "walk", op_id="one")) == encode(made)
    gone = {"fromId": desk["pay"], "toId": desk["walk"], "op_id": "two"}
    first = desk.call("dependency.delete", **gone)
    assert encode(desk.call("dependency.delete", **gone)) == encode(first)
    assert desk.actions("walk") == ["created", "connected", "disconnected"]


def test_one_op_id_is_for_one_request(begun: Containers) -> None:
    begun.change("walk", description="a", op_id="once")

    error = refused(lambda: begun.change("walk", description="b", op_id="once"))

    assert isinstance(error, Conflict)
