"""Everybody at work on one project in two dialects at once, each call told to the product and to the oracle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.next_steps import OPERATION_NAMES
from groundplan.kernel.operations.envelopes import wrap_error
from groundplan.kernel.operations.registry import Group
from tests.engines import Engine
from tests.machines.containers_calls import (
    HOLDS,
    REASONS,
    Target,
    advanceable,
    blockers_as_arguments,
    changes_as_arguments,
    held,
    made_as_arguments,
    revertible,
    some_blockers,
    some_changes,
    some_container,
    some_made,
    some_of_its_blockers,
    some_pipelines,
    unfinished,
    waiting,
)
from tests.machines.containers_oracle import FEATURE, NO_OP, RELATES_TO, TASK, Containers, Told
from tests.machines.containers_rows import ContainersRows, ContainersStored
from tests.machines.work_calls import claimed, often, rarely, sometimes, strangers
from tests.machines.work_driver import NODES_MAX, WEIGHTS, Place, Sent, WorkDriver, run_machine
from tests.machines.work_oracle import DEPENDS_ON, ROOT, Answer

CONTAINER_WEIGHTS = {
    "create": 10,
    "revise": 8,
    "advance": 34,
    "revert": 9,
    "terminate": 4,
    "block": 8,
    "unblock": 7,
    "depend": 5,
    "undepend": 3,
    "delete": 4,
    "set_pipelines": 4,
}


class ContainersDriver(WorkDriver):
    """Drives every mutation of both dialects. What must hold after each step is added by who inherits."""

    weights = WEIGHTS | {"take": 10, "claim": 8} | CONTAINER_WEIGHTS
    oracle = Containers
    work: Containers
    stored: ContainersStored

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.in_vain = 0  # how many calls in a row changed nothing

    def luck(self, seed: int) -> Random:
        """As ever, and after a call that was refused something else is tried."""
        return Random(f"{seed} at {self.stored.rev} and {self.clock.now} after {self.in_vain}")  # noqa: S311 - chance

    def perform(self, *args: Any, **given: Any) -> None:
        rev = self.stored.rev
        super().perform(*args, **given)
        self.in_vain = self.in_vain + 1 if self.stored.rev == rev else 0

    def begin_with(self, luck: Random) -> None:
        """Have a feature with something in it, and what is there anyway."""
        for kind in (FEATURE, TASK, TASK, None):
            self.create(luck, kind)
        super().begin_with(luck)

    def act(self, verb: str, luck: Random) -> None:
        match verb:
            case "create" if len(self.work.nodes) < NODES_MAX:
                self.create(luck)
            case "revise":
                self.revise(luck)
            case "claim" if not claimed(self.work):
                self.take(luck)
            case "revert" if revertible(self.work):
                self.turn(luck, verb)
            case "advance" | "revert":
                self.turn(luck, "advance")
            case "terminate":
                self.terminate(luck)
            case "unblock" if held(self.work) or waiting(self.work):
                self.unblock(luck)
            case "block" | "unblock":
                self.block(luck)
            case "depend" | "undepend":
                self.depend(luck, verb)
            case "delete":
                self.delete(luck)
            case "set_pipelines":
                self.set_pipelines(luck)
            case _:
                super().act(verb, luck)

    # --- What anybody may do in the container dialect ---

    def create(self, luck: Random, kind: str | None = None) -> None:
        made = some_made(luck, self.work, kind)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            (n,) = expected.created
            self.ids[n] = answer[made.kind]["id"]

        arguments = made_as_arguments(made, self.project, self.ids)
        self.perform(luck, "container.create", arguments, lambda work, **by: work.create(made, **by), check)

    def revise(self, luck: Random) -> None:
        target = Target(luck, self.work)
        changes = some_changes(luck, self.work, target)
        self.perform(
            luck,
            "container.update",
            target.as_arguments(self.ids) | changes_as_arguments(changes, target.kind, self.ids),
            lambda work, **by: work.revise(target.n, target.kind, target.version, changes, **by),
        )

    def turn(self, luck: Random, verb: str) -> None:
        among = advanceable(luck, self.work) if verb == "advance" else revertible(self.work)
        target = Target(luck, self.work, among)

        def expect(work: Containers, *, agent: str, now: int) -> Answer:
            act = work.advance if verb == "advance" else work.revert
            return act(target.n, target.kind, target.version, agent=agent, now=now)

        self.perform(luck, f"container.{verb}", target.as_arguments(self.ids), expect)

    def terminate(self, luck: Random) -> None:
        target = Target(luck, self.work, unfinished(self.work))
        reason = luck.choice(REASONS)
        self.perform(
            luck,
            "container.terminate",
            target.as_arguments(self.ids) | ({} if reason is None else {"reason": reason}),
            lambda work, **by: work.terminate(target.n, target.kind, target.version, reason, **by),
        )

    def block(self, luck: Random) -> None:
        target = Target(luck, self.work, unfinished(self.work))
        blockers = some_blockers(luck, self.work, target.n)
        reason = luck.choice(HOLDS) if not rarely(luck) and (NO_OP in blockers or sometimes(luck)) else None
        told: dict[str, Any] = {"blockedBy": blockers_as_arguments(luck, blockers, self.ids)}
        told |= {} if reason is None else {"blockedReason": reason}
        self.perform(
            luck,
            "container.block",
            target.as_arguments(self.ids) | told,
            lambda work, **by: work.block(target.n, target.kind, target.version, blockers, reason, **by),
        )

    def unblock(self, luck: Random) -> None:
        target = Target(luck, self.work, (held(self.work) if often(luck) else []) or waiting(self.work))
        blockers = some_of_its_blockers(luck, self.work, target.n)
        self.perform(
            luck,
            "container.unblock",
            target.as_arguments(self.ids) | {"blockedBy": blockers_as_arguments(luck, blockers, self.ids)},
            lambda work, **by: work.unblock(target.n, target.kind, target.version, blockers, **by),
        )

    def depend(self, luck: Random, verb: str) -> None:
        there = sorted(edge for edge in self.work.edges if edge.type in (DEPENDS_ON, RELATES_TO))
        if verb == "undepend" and there and not rarely(luck):
            edge = luck.choice(there)
            is_block = edge.type == DEPENDS_ON
            source, target = (edge.target, edge.source) if is_block else (edge.source, edge.target)
        else:
            is_block = often(luck)
            source = some_container(luck, self.work)
            target = some_container(luck, self.work, strangers(source, self.work))
        type_ = "BLOCKS" if is_block else "RELATES_TO"
        arguments = {"fromId": self.ids[source], "toId": self.ids[target], "type": type_}

        def expect(work: Containers, *, agent: str, now: int) -> Answer:
            act = work.depend if verb == "depend" else work.undepend
            return act(source, target, type_, agent=agent, now=now)

        self.perform(luck, f"dependency.{'create' if verb == 'depend' else 'delete'}", arguments, expect)

    def delete(self, luck: Random) -> None:
        target = Target(luck, self.work)
        cascade = often(luck)
        self.perform(
            luck,
            "container.delete",
            target.as_arguments(self.ids) | ({"cascade": True} if cascade else {}),
            lambda work, **by: work.delete(target.n, target.kind, target.version, cascade=cascade, **by),
        )

    def set_pipelines(self, luck: Random) -> None:
        pipelines = some_pipelines(luck, self.work)
        version = self.work.nodes[ROOT].rev
        arguments = {
            "containerType": "project",
            "id": self.project,
            "version": version,
            "pipeline": {kind: list(steps) for kind, steps in pipelines.items()},
        }
        self.perform(
            luck,
            "container.update",
            arguments,
            lambda work, **by: work.set_pipelines(pipelines, version, **by),
        )

    def altered(self, sent: Sent) -> dict[str, Any]:
        if sent.operation.startswith("work."):
            return super().altered(sent)
        if "version" in sent.arguments:
            return sent.arguments | {"version": sent.arguments["version"] + 1}
        if "type" in sent.arguments:
            return sent.arguments | {"type": "BLOCKS" if sent.arguments["type"] == "RELATES_TO" else "RELATES_TO"}
        return sent.arguments | {"description": "something else"}

    # --- How it is judged ---

    def check_refusal(self, error: GroundplanError, refused: frozenset[str]) -> None:
        code = wrap_error(Group.CONTAINERS, error, OPERATION_NAMES)["error"]["code"]
        super().check_refusal(error, refused | {error.code} if code in refused else refused)

    def check_outcome(self, answer: dict[str, Any], expected: Answer) -> None:
        if isinstance(expected, Told):
            self.check_told(answer, expected)
        else:
            super().check_outcome(answer, expected)

    def check_told(self, answer: dict[str, Any], expected: Told) -> None:
        """What every answer of the container dialect tells."""


def run_containers(machine: Callable[[Place], WorkDriver], engine: Engine, budget: Any) -> None:
    """Run a machine of both dialects."""
    run_machine(machine, engine, budget, reader=ContainersRows)
