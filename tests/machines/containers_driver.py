"""A driver of one project in two dialects: every call goes to the product and to the oracle."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from groundplan.kernel.errors import OPERATION_NAMES, GroundplanError
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
    new_container_as_arguments,
    revertible,
    some_blockers,
    some_changes,
    some_container,
    some_new_container,
    some_of_its_blockers,
    some_pipelines,
    unfinished,
    waiting,
)
from tests.machines.containers_oracle import FEATURE, NO_OP, RELATES_TO, TASK, ContainerAnswer, Containers
from tests.machines.containers_rows import ContainersRows, ContainersStored
from tests.machines.work_calls import claimed, often, rarely, sometimes, unrelated
from tests.machines.work_driver import (
    NODES_MAX,
    WEIGHTS,
    JumpEffect,
    MachineSetup,
    SentCall,
    WorkDriver,
    run_machine,
)
from tests.machines.work_oracle import DEPENDS_ON, PEOPLE, ROOT, Answer, Refusal

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
    """Drives every mutation of both dialects. Subclasses add what must hold after each step."""

    weights = WEIGHTS | {"take": 10, "claim": 8} | CONTAINER_WEIGHTS
    oracle = Containers
    undoes = False
    work: Containers
    stored: ContainersStored

    def __init__(self, place: MachineSetup) -> None:
        super().__init__(place)
        self.in_vain = 0  # refused or empty calls in a row

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step; after a refused call it differs."""
        return Random(f"{seed} at {self.stored.rev} and {self.clock.now} after {self.in_vain}")  # noqa: S311 - chance

    def perform(self, *args: Any, **given: Any) -> None:
        rev = self.stored.rev
        super().perform(*args, **given)
        self.in_vain = self.in_vain + 1 if self.stored.rev == rev else 0

    def begin_with(self, rng: Random) -> None:
        """Create a feature with some content."""
        for kind in (FEATURE, TASK, TASK, None):
            self.create(rng, kind)
        super().begin_with(rng)

    def act(self, verb: str, rng: Random) -> None:
        match verb:
            case "create" if len(self.work.nodes) < NODES_MAX:
                self.create(rng)
            case "revise":
                self.revise(rng)
            case "claim" if not claimed(self.work):
                self.take(rng)
            case "revert" if revertible(self.work):
                self.change_status(rng, verb)
            case "advance" | "revert":
                self.change_status(rng, "advance")
            case "terminate":
                self.terminate(rng)
            case "unblock" if held(self.work) or waiting(self.work):
                self.unblock(rng)
            case "block" | "unblock":
                self.block(rng)
            case "depend" | "undepend":
                self.depend(rng, verb)
            case "delete":
                self.delete(rng)
            case "set_pipelines":
                self.set_pipelines(rng)
            case _:
                super().act(verb, rng)

    # --- Calls of the container dialect ---

    def create(self, rng: Random, kind: str | None = None) -> None:
        made = some_new_container(rng, self.work, kind)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            (n,) = expected.created
            self.ids[n] = answer[made.kind]["id"]

        arguments = new_container_as_arguments(made, self.project, self.ids)
        self.perform(rng, "container.create", arguments, lambda work, **by: work.create(made, **by), check)

    def revise(self, rng: Random) -> None:
        target = Target(rng, self.work)
        changes = some_changes(rng, self.work, target)
        self.perform(
            rng,
            "container.update",
            target.as_arguments(self.ids) | changes_as_arguments(changes, target.kind, self.ids),
            lambda work, **by: work.revise(target.n, target.kind, target.version, changes, **by),
        )

    def change_status(self, rng: Random, verb: str) -> None:
        among = advanceable(rng, self.work) if verb == "advance" else revertible(self.work)
        target = Target(rng, self.work, among)

        def expect(work: Containers, *, agent: str, now: int) -> Answer:
            act = work.advance if verb == "advance" else work.revert
            return act(target.n, target.kind, target.version, agent=agent, now=now)

        self.perform(rng, f"container.{verb}", target.as_arguments(self.ids), expect)

    def terminate(self, rng: Random) -> None:
        target = Target(rng, self.work, unfinished(self.work))
        reason = rng.choice(REASONS)
        self.perform(
            rng,
            "container.terminate",
            target.as_arguments(self.ids) | ({} if reason is None else {"reason": reason}),
            lambda work, **by: work.terminate(target.n, target.kind, target.version, reason, **by),
        )

    def block(self, rng: Random) -> None:
        target = Target(rng, self.work, unfinished(self.work))
        blockers = some_blockers(rng, self.work, target.n)
        reason = rng.choice(HOLDS) if not rarely(rng) and (NO_OP in blockers or sometimes(rng)) else None
        told: dict[str, Any] = {"blockedBy": blockers_as_arguments(rng, blockers, self.ids)}
        told |= {} if reason is None else {"blockedReason": reason}
        self.perform(
            rng,
            "container.block",
            target.as_arguments(self.ids) | told,
            lambda work, **by: work.block(target.n, target.kind, target.version, blockers, reason, **by),
        )

    def unblock(self, rng: Random) -> None:
        target = Target(rng, self.work, (held(self.work) if often(rng) else []) or waiting(self.work))
        blockers = some_of_its_blockers(rng, self.work, target.n)
        self.perform(
            rng,
            "container.unblock",
            target.as_arguments(self.ids) | {"blockedBy": blockers_as_arguments(rng, blockers, self.ids)},
            lambda work, **by: work.unblock(target.n, target.kind, target.version, blockers, **by),
        )

    def depend(self, rng: Random, verb: str) -> None:
        there = sorted(edge for edge in self.work.edges if edge.type in (DEPENDS_ON, RELATES_TO))
        if verb == "undepend" and there and not rarely(rng):
            edge = rng.choice(there)
            is_block = edge.type == DEPENDS_ON
            source, target = (edge.target, edge.source) if is_block else (edge.source, edge.target)
        else:
            is_block = often(rng)
            source = some_container(rng, self.work)
            target = some_container(rng, self.work, unrelated(source, self.work))
        type_ = "BLOCKS" if is_block else "RELATES_TO"
        arguments = {"fromId": self.ids[source], "toId": self.ids[target], "type": type_}

        def expect(work: Containers, *, agent: str, now: int) -> Answer:
            act = work.depend if verb == "depend" else work.undepend
            return act(source, target, type_, agent=agent, now=now)

        self.perform(rng, f"dependency.{'create' if verb == 'depend' else 'delete'}", arguments, expect)

    def delete(self, rng: Random) -> None:
        target = Target(rng, self.work)
        cascade = often(rng)
        self.perform(
            rng,
            "container.delete",
            target.as_arguments(self.ids) | ({"cascade": True} if cascade else {}),
            lambda work, **by: work.delete(target.n, target.kind, target.version, cascade=cascade, **by),
        )

    def set_pipelines(self, rng: Random) -> None:
        pipelines = some_pipelines(rng, self.work)
        version = self.work.nodes[ROOT].rev
        arguments = {
            "containerType": "project",
            "id": self.project,
            "version": version,
            "pipeline": {kind: list(steps) for kind, steps in pipelines.items()},
        }

        def expect(work: Containers, *, agent: str, now: int) -> ContainerAnswer:
            if agent not in PEOPLE:
                raise Refusal("FORBIDDEN")
            return work.set_pipelines(pipelines, version, agent=agent, now=now)

        self.perform(rng, "container.update", arguments, expect)

    def change_arguments(self, sent: SentCall) -> dict[str, Any]:
        if sent.operation.startswith("work."):
            return super().change_arguments(sent)
        if "version" in sent.arguments:
            return sent.arguments | {"version": sent.arguments["version"] + 1}
        if "type" in sent.arguments:
            return sent.arguments | {"type": "BLOCKS" if sent.arguments["type"] == "RELATES_TO" else "RELATES_TO"}
        return sent.arguments | {"description": "something else"}

    # --- Checks ---

    def check_refusal(self, error: GroundplanError, refused: frozenset[str], jump: JumpEffect) -> None:
        code = wrap_error(Group.CONTAINERS, error, OPERATION_NAMES)["error"]["code"]
        super().check_refusal(error, refused | {error.code} if code in refused else refused, jump)

    def check_outcome(self, answer: dict[str, Any], expected: Answer) -> None:
        if isinstance(expected, ContainerAnswer):
            self.check_answer(answer, expected)
        else:
            super().check_outcome(answer, expected)

    def check_answer(self, answer: dict[str, Any], expected: ContainerAnswer) -> None:
        """Check the fields that every answer of the container dialect has."""


def run_containers(machine: Callable[[MachineSetup], WorkDriver], engine: Engine, budget: Any) -> None:
    """Run a machine of both dialects."""
    run_machine(machine, engine, budget, reader=ContainersRows)
