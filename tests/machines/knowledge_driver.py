"""A driver of two agents at the knowledge of two projects, each with its own store on one database.

Every call goes to the product and to the oracle, and both must end alike. A call that the oracle refuses must fail with
one of its codes and change no row. Any other must give the oracle's answer, add one to the revision of its project, and
append its events.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from hypothesis import note, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.budget import SteppingMachine
from tests.machines.knowledge_calls import (
    Ids,
    as_arguments,
    check_as_arguments,
    some_changes,
    some_check,
    some_creation,
    some_deletion,
    some_entity,
    some_task,
    some_version,
)
from tests.machines.knowledge_oracle import NO_TASK, PROJECTS, TASKS, Author, Entity, Kind, Library, Part, Refusal, Task
from tests.machines.knowledge_rows import KnowledgeRows
from tests.machines.store_clock import MillisecondClock
from tests.machines.work_calls import often, sometimes
from tests.machines.work_driver import SEEDS

AGENTS = ("ada", "ben")
ATOMS_MAX = 8
MOLECULES_MAX = 4
CLOCK_STEPS = (1, 1000, 60_000, -5_000)  # the last one: a corrected clock

# Weights of the calls.
WEIGHTS = {
    "atom": 11,
    "molecule": 6,
    "knowledge": 3,
    "append": 5,
    "paths": 6,
    "move": 8,
    "relate": 7,
    "confirm": 4,
    "delete": 4,
    "cascade": 2,
    "log": 5,
    "check": 4,
    "send again": 2,
    "wait": 4,
}


class MachineSetup(NamedTuple):
    """One database for all projects of the machines."""

    stores: dict[str, Store]
    clock: MillisecondClock
    rows: KnowledgeRows
    serial: count[int]


class SentCall(NamedTuple):
    """An answered call with an op_id."""

    agent: str
    operation: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


class KnowledgeDriver(SteppingMachine):
    """Drives every change. Subclasses add what must hold after each step."""

    def __init__(self, place: MachineSetup) -> None:
        super().__init__()
        self.clock = place.clock
        self.clock.reset()
        self.rows = place.rows
        self.sessions = {agent: Session(store, local_actor(agent)) for agent, store in place.stores.items()}
        self.library = Library()
        self.ids = Ids()
        self.names: dict[int, str] = {}
        for project in PROJECTS:
            self.names[project] = f"project {next(place.serial)}"
            made = self.call("ada", "project.create", name=self.names[project])
            self.ids.projects[project] = made["project"]["id"]
            nodes = [{"ref": task, "summary": task} for task in TASKS]
            for one in self.call("ada", "work.plan", project=self.names[project], nodes=nodes)["created"]:
                self.ids.tasks[Task(project, one["ref"])] = one["id"]
            self.ids.tasks[Task(project, NO_TASK)] = "nowhere"
        self.project_ids = list(self.ids.projects.values())
        self.stored = self.rows.of(self.project_ids)
        self.project = 0  # of the last call
        self.touched: set[int] = set()  # by the last call
        self.reader = "ada"
        self.op_ids = count(1)
        self.steps = 0
        self.sent: list[SentCall] = []

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.first_question = seed
        rng = self.make_rng(seed)
        for project in PROJECTS:
            self.create(rng, "molecule", project)
            self.create(rng, "atom", project)

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """Take one random step. Separate rules would not do: Hypothesis disables some of them in each run."""
        self.step_number += 1
        rng = self.make_rng(seed)
        self.reader = rng.choice(AGENTS)
        (verb,) = rng.choices(list(WEIGHTS), list(WEIGHTS.values()))
        entity = some_entity(rng, self.library)
        match verb:
            case "atom" | "molecule":
                self.create(rng, verb, rng.choice(PROJECTS))
            case "log" if entity:
                self.log(rng, entity)
            case "delete" | "cascade" if doomed := some_deletion(rng, self.library):
                self.delete(rng, doomed, cascade=verb == "cascade")
            case "check":
                self.check(rng)
            case "send again" if self.sent:
                self.send_again(rng)
            case "wait":
                self.clock.now += rng.choice(CLOCK_STEPS)
                self.touched = set()
            case wish if entity:
                self.update(rng, entity, wish)

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step. Hypothesis repeats seeds, so the number of the step counts too."""
        self.steps += 1
        return Random(f"{seed} at {self.steps} and {self.clock.now}")  # noqa: S311 - chance, not secrets

    # --- Calls ---

    def create(self, rng: Random, kind: Kind, project: int) -> None:
        if len(self.library.of(project, kind)) >= (ATOMS_MAX if kind == "atom" else MOLECULES_MAX):
            return
        given = some_creation(rng, self.library, kind, project)
        arguments = {"entityType": kind, "projectId": rng.choice((self.names, self.ids.projects))[project]}
        arguments |= as_arguments(kind, given, self.ids, task_field="createdByTaskId")

        def expect(library: Library, by: Author) -> Callable[[], Any]:
            n = library.create(kind, project, given, by=by)
            return lambda: {kind: self.shown(n)}

        self.perform(rng, project, "knowledge.create", arguments, expect)

    def update(self, rng: Random, entity: Entity, wish: str) -> None:
        given = some_changes(rng, self.library, entity, wish)
        version = some_version(rng, entity)
        arguments = {"entityType": entity.kind, "id": self.ids.entities[entity.n], "version": version}
        arguments |= as_arguments(entity.kind, given, self.ids, task_field="lastTaskId")

        def expect(library: Library, by: Author) -> Callable[[], Any]:
            library.update(entity.n, version, given, by=by)
            return lambda: {entity.kind: self.shown(entity.n)} | (self.missing(entity.n) if "related" in given else {})

        self.perform(rng, entity.project, "knowledge.update", arguments, expect)

    def delete(self, rng: Random, entity: Entity, *, cascade: bool) -> None:
        version = some_version(rng, entity)
        task = some_task(rng, entity.project) if often(rng) else None
        id_ = self.ids.entities[entity.n]
        arguments = {"entityType": entity.kind, "id": id_, "version": version, "cascade": cascade}
        arguments |= {} if task is None else {"lastTaskId": self.ids.tasks[task]}

        def expect(library: Library, by: Author) -> Callable[[], Any]:
            members = library.delete(entity.n, version, cascade=cascade, task=task, by=by)
            return lambda: {"deleted": id_} | ({} if members is None else {members[0]: members[1]})

        self.perform(rng, entity.project, "knowledge.delete", arguments, expect)

    def log(self, rng: Random, entity: Entity) -> None:
        task, summary = some_task(rng, entity.project), f"what changed, {rng.randrange(100)}"
        arguments = {"parentType": entity.kind, "parentId": self.ids.entities[entity.n], "summary": f" {summary}\n"}
        arguments |= {"taskId": self.ids.tasks[task]}

        def expect(library: Library, by: Author) -> Callable[[], Any]:
            library.log(entity.n, task, summary, by=by)
            return lambda: {
                "entry": {
                    "parentType": entity.kind,
                    "parentId": self.ids.entities[entity.n],
                    "taskId": self.ids.tasks[task],
                    "summary": summary,
                    "createdAt": self.clock.stamp(by.at),
                    "createdBy": by.agent,
                }
            }

        self.perform(rng, entity.project, "knowledge.append_changelog", arguments, expect)

    def check(self, rng: Random) -> None:
        project = rng.choice(PROJECTS)
        self.clock.now += rng.choice((1, 0))
        seen = some_check(rng, self.library, project, self.time_of(project))
        arguments = {"projectId": self.names[project], "commit": "abcdef0", "atoms": check_as_arguments(seen, self.ids)}

        def expect(library: Library, by: Author) -> Callable[[], Any]:
            skipped = library.check(project, seen)
            ids = [self.ids.entities[n] for n in skipped]
            return lambda: {"recorded": len(seen) - len(skipped), "skipped": ids}

        self.perform(rng, project, "knowledge.record_check", arguments, expect)

    def send_again(self, rng: Random) -> None:
        """Repeat a call: it has no second effect; another call with its op_id has none at all."""
        sent = rng.choice(self.sent)
        self.touched = set()
        if sometimes(rng):
            other = {"entityType": "molecule", "projectId": self.names[0], "name": "another"}
            other |= {"createdByTaskId": self.ids.tasks[Task(0, "plan")], "op_id": sent.arguments["op_id"]}
            with pytest.raises(GroundplanError) as refused:
                self.call(sent.agent, "knowledge.create", **other)
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.agent, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_ids) == self.stored

    # --- Sending and checking ---

    def perform(
        self,
        rng: Random,
        project: int,
        operation: str,
        arguments: dict[str, Any],
        expect: Callable[[Library, Author], Callable[[], Any]],
    ) -> None:
        """Send a call to the product and to the oracle."""
        agent = rng.choice(AGENTS)
        if sometimes(rng):
            arguments |= {"op_id": f"{self.names[0]}, {next(self.op_ids)}"}
        self.note_call(agent, operation, arguments)
        tried = self.library.copy()
        answer_of: Callable[[], Any] | None = None
        refused: set[str] = set()
        try:
            answer_of = expect(tried, Author(agent, self.time_of(project)))
        except Refusal as refusal:
            refused = refusal.codes
        try:
            answer = self.call(agent, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refused, arguments)
            return
        assert answer_of is not None, f"{answer} instead of {' or '.join(refused)}"
        if "op_id" in arguments:
            self.sent.append(SentCall(agent, operation, arguments, msgspec.json.decode(msgspec.json.encode(answer))))
        self.project = project
        before, self.library = self.library, tried
        for kind in ("atom", "molecule"):
            if operation == "knowledge.create" and kind in answer:
                self.ids.entities[tried.last_n] = answer[kind]["id"]
        self.touched = {n for n, one in tried.entities.items() if one != before.entities.get(n)}
        if "entry" in answer:
            del answer["entry"]["id"]
        assert answer == answer_of()
        # A check without an unchanged atom changes nothing.
        self.check_events(agent, None if answer.get("recorded") == 0 else project)

    def check_refusal(self, error: GroundplanError, refused: set[str], arguments: dict[str, Any]) -> None:
        """Check that an error has an expected code and that nothing changed."""
        assert error.code in refused, f"{error.code}: {error.message}"
        if error.code == "stale_version":
            assert error.details["currentVersion"] == self.current(arguments["id"])
        assert self.rows.of(self.project_ids) == self.stored
        self.touched = set()

    def check_events(self, agent: str, project: int | None) -> None:
        """Check that events are only appended, with the revision, time and author of their write."""
        before, self.stored = self.stored, self.rows.of(self.project_ids)
        for place, id_ in self.ids.projects.items():
            told = len(before.events[id_])
            kept, added = self.stored.events[id_][:told], self.stored.events[id_][told:]
            assert kept == before.events[id_]
            assert bool(added) == (place == project)
            assert self.stored.revs[id_] == before.revs[id_] + bool(added)
            at = self.clock.stamp(self.clock.time_after(before.events[id_]))
            assert [event[:4] for event in added] == [(self.stored.revs[id_], n, at, agent) for n in range(len(added))]

    def time_of(self, project: int) -> int:
        """Return the time of the next write of a project."""
        return self.clock.time_after(self.stored.events[self.ids.projects[project]])

    def current(self, id_: str) -> int:
        """Return the version of an id."""
        return next(one.version for n, one in self.library.entities.items() if self.ids.entities[n] == id_)

    # --- The oracle's facts as answers ---

    def knowledge(self, parts: list[Part]) -> str:
        return "\n\n".join(
            part.text
            if part.at is None or part.task is None
            else f"---[{self.clock.stamp(part.at)} task:{self.ids.tasks[part.task]}]---\n{part.text}"
            for part in parts
        )

    def relations(self, entity: Entity) -> list[dict[str, Any]]:
        there = self.library.entities
        return [
            {
                f"{entity.kind}Id": self.ids.entities[n],
                "name": there[n].name if n in there else None,
                "reason": reason,
                **({} if n in there else {"missing": True}),
            }
            for n, reason in entity.related
        ]

    def freshness(self, entity: Entity) -> dict[str, Any]:
        """Return the recorded freshness of its files, if any."""
        if (seen := entity.freshness) is None:
            return {}
        told: dict[str, Any] = {"state": seen.state, "commit": seen.commit, "checkedAt": self.clock.stamp(seen.at)}
        return {"freshness": told | ({"files": list(seen.files)} if seen.files else {})}

    def changelog(self, entity: Entity) -> list[dict[str, str]]:
        return [
            {"taskId": self.ids.tasks[one.task], "summary": one.summary, "createdAt": self.clock.stamp(one.at)}
            for one in entity.latest
        ]

    def shown(self, n: int) -> dict[str, Any]:
        """Return an atom or a molecule as callers see it."""
        one = self.library.entities[n]
        told: dict[str, Any] = {
            "entityType": one.kind,
            "id": self.ids.entities[n],
            "projectId": self.ids.projects[one.project],
            "name": one.name,
            "knowledge": self.knowledge(one.knowledge),
            "createdByTaskId": self.ids.tasks[one.first_task],
            "lastTaskId": self.ids.tasks[one.last_task],
            "version": one.version,
            "createdAt": self.clock.stamp(one.created_at),
            "createdBy": one.created_by,
            "updatedAt": self.clock.stamp(one.updated_at),
            "updatedBy": one.updated_by,
        }
        if one.kind == "molecule":
            return told | {"relatedMolecules": self.relations(one)}
        molecule = None if one.molecule is None else self.ids.entities[one.molecule]
        told |= {"moleculeId": molecule, "paths": one.paths, "relatedAtoms": self.relations(one)}
        told |= {"confirmed": one.confirmed[0]} if one.confirmed else {}
        return told | self.freshness(one)

    def missing(self, n: int) -> dict[str, list[str]]:
        """Return the warning about relations of an atom or a molecule that were written and lead to what is deleted."""
        name = "relatedAtoms" if self.library.entities[n].kind == "atom" else "relatedMolecules"
        related = self.shown(n)[name]
        places = ", ".join(f"{name}[{index}]" for index, one in enumerate(related) if one.get("missing"))
        kept = "deleted since, and kept as related; leave out what is no longer needed"
        return {"warnings": [f"{places}: {kept}"]} if places else {}

    def by_name(self, entities: list[Entity]) -> list[Entity]:
        return sorted(entities, key=lambda one: (one.name, self.ids.entities[one.n]))

    def call(self, agent: str, operation: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(self.sessions[agent].call(operation, **arguments))
        return answer

    def note_call(self, agent: str, operation: str, arguments: dict[str, Any]) -> None:
        """Note a call in the report of a failing run, with numbers for ids."""
        written = repr(arguments)
        for n, id_ in self.ids.entities.items():
            written = written.replace(repr(id_), f"#{n}")
        note(f"at {self.clock.now} {agent}: {operation} {written}")


def run_machine(machine: Callable[[MachineSetup], KnowledgeDriver], engine: Engine, budget: settings) -> None:
    """Run a machine on two stores with a manual clock."""
    clock = MillisecondClock()
    with KnowledgeRows(engine) as rows:
        stores: dict[str, Store] = {agent: engine.another_store(clock=clock) for agent in AGENTS}
        place = MachineSetup(stores, clock, rows, count(1))
        # It is typed to take a class, but only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(place))
        run_state_machine_as_test(factory, settings=budget)
