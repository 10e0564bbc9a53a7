"""Two agents at the knowledge of two projects, each with a store of their own on one database.

Every call is told to the product and to the oracle, and must end alike. A call that the oracle refuses must be refused
with one of its codes and leave every row as it was. Any other must give the oracle's answer, raise the revision of its
project by one, and add its events behind all others.
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
from tests.machines.knowledge_calls import (
    Ids,
    as_arguments,
    sight_as_arguments,
    some_changes,
    some_creation,
    some_doomed,
    some_entity,
    some_sight,
    some_task,
    some_version,
)
from tests.machines.knowledge_oracle import NO_TASK, PROJECTS, TASKS, By, Entity, Kind, Library, Part, Refused, Task
from tests.machines.knowledge_rows import KnowledgeRows
from tests.machines.work_calls import often, sometimes
from tests.machines.work_driver import SEEDS, Hand

AGENTS = ("ada", "ben")
ATOMS_MAX = 8
MOLECULES_MAX = 4
CLOCK_STEPS = (1, 1000, 60_000, -5_000)  # the last: a clock put right

# How often something is done, where it can be.
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


class Place(NamedTuple):
    """Where machines run: one database for all their projects."""

    stores: dict[str, Store]
    clock: Hand
    rows: KnowledgeRows
    serial: count[int]


class Sent(NamedTuple):
    """A call with an op_id that was answered."""

    agent: str
    operation: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


class KnowledgeDriver(RuleBasedStateMachine):
    """Drives every change there is. What must hold after each step is added by who inherits."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.clock = place.clock
        self.clock.now = 0
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
        self.project = 0  # which the last call was about
        self.touched: set[int] = set()  # by the last call
        self.reader = "ada"
        self.op_ids = count(1)
        self.steps = 0
        self.sent: list[Sent] = []

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        luck = self.luck(seed)
        for project in PROJECTS:
            self.create(luck, "molecule", project)
            self.create(luck, "atom", project)

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """One of them all. Rules of their own would not do: hypothesis leaves out some of them in each run."""
        luck = self.luck(seed)
        self.reader = luck.choice(AGENTS)
        (verb,) = luck.choices(list(WEIGHTS), list(WEIGHTS.values()))
        entity = some_entity(luck, self.library)
        match verb:
            case "atom" | "molecule":
                self.create(luck, verb, luck.choice(PROJECTS))
            case "log" if entity:
                self.log(luck, entity)
            case "delete" | "cascade" if doomed := some_doomed(luck, self.library):
                self.delete(luck, doomed, cascade=verb == "cascade")
            case "check":
                self.check(luck)
            case "send again" if self.sent:
                self.send_again(luck)
            case "wait":
                self.clock.now += luck.choice(CLOCK_STEPS)
                self.touched = set()
            case wish if entity:
                self.update(luck, entity, wish)

    def luck(self, seed: int) -> Random:
        """What decides about one step. Hypothesis likes to draw a seed again; it shall not say the same again."""
        self.steps += 1
        return Random(f"{seed} at {self.steps} and {self.clock.now}")  # noqa: S311 - chance, not secrets

    # --- What anybody may do ---

    def create(self, luck: Random, kind: Kind, project: int) -> None:
        if len(self.library.of(project, kind)) >= (ATOMS_MAX if kind == "atom" else MOLECULES_MAX):
            return
        given = some_creation(luck, self.library, kind, project)
        arguments = {"entityType": kind, "projectId": luck.choice((self.names, self.ids.projects))[project]}
        arguments |= as_arguments(kind, given, self.ids, task_field="createdByTaskId")

        def expect(library: Library, by: By) -> Callable[[], Any]:
            n = library.create(kind, project, given, by=by)
            return lambda: {kind: self.shown(n)}

        self.perform(luck, project, "knowledge.create", arguments, expect)

    def update(self, luck: Random, entity: Entity, wish: str) -> None:
        given = some_changes(luck, self.library, entity, wish)
        version = some_version(luck, entity)
        arguments = {"entityType": entity.kind, "id": self.ids.entities[entity.n], "version": version}
        arguments |= as_arguments(entity.kind, given, self.ids, task_field="lastTaskId")

        def expect(library: Library, by: By) -> Callable[[], Any]:
            library.update(entity.n, version, given, by=by)
            return lambda: {entity.kind: self.shown(entity.n)}

        self.perform(luck, entity.project, "knowledge.update", arguments, expect)

    def delete(self, luck: Random, entity: Entity, *, cascade: bool) -> None:
        version = some_version(luck, entity)
        task = some_task(luck, entity.project) if often(luck) else None
        id_ = self.ids.entities[entity.n]
        arguments = {"entityType": entity.kind, "id": id_, "version": version, "cascade": cascade}
        arguments |= {} if task is None else {"lastTaskId": self.ids.tasks[task]}

        def expect(library: Library, by: By) -> Callable[[], Any]:
            members = library.delete(entity.n, version, cascade=cascade, task=task, by=by)
            return lambda: {"deleted": id_} | ({} if members is None else {members[0]: members[1]})

        self.perform(luck, entity.project, "knowledge.delete", arguments, expect)

    def log(self, luck: Random, entity: Entity) -> None:
        task, summary = some_task(luck, entity.project), f"what changed, {luck.randrange(100)}"
        arguments = {"parentType": entity.kind, "parentId": self.ids.entities[entity.n], "summary": f" {summary}\n"}
        arguments |= {"taskId": self.ids.tasks[task]}

        def expect(library: Library, by: By) -> Callable[[], Any]:
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

        self.perform(luck, entity.project, "knowledge.append_changelog", arguments, expect)

    def check(self, luck: Random) -> None:
        project = luck.choice(PROJECTS)
        self.clock.now += luck.choice((1, 0))
        seen = some_sight(luck, self.library, project, self.clock.now)
        arguments = {"projectId": self.names[project], "commit": "abcdef0", "atoms": sight_as_arguments(seen, self.ids)}

        def expect(library: Library, by: By) -> Callable[[], Any]:
            skipped = library.check(project, seen)
            ids = [self.ids.entities[n] for n in skipped]
            return lambda: {"recorded": len(seen) - len(skipped), "skipped": ids}

        self.perform(luck, project, "knowledge.record_check", arguments, expect)

    def send_again(self, luck: Random) -> None:
        """A call that comes a second time has no second effect; another call under its op_id has none at all."""
        sent = luck.choice(self.sent)
        self.touched = set()
        if sometimes(luck):
            other = {"entityType": "molecule", "projectId": self.names[0], "name": "another"}
            other |= {"createdByTaskId": self.ids.tasks[Task(0, "plan")], "op_id": sent.arguments["op_id"]}
            with pytest.raises(GroundplanError) as refused:
                self.call(sent.agent, "knowledge.create", **other)
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.agent, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_ids) == self.stored

    # --- How it is told and judged ---

    def perform(
        self,
        luck: Random,
        project: int,
        operation: str,
        arguments: dict[str, Any],
        expect: Callable[[Library, By], Callable[[], Any]],
    ) -> None:
        """Tell a call to the product and to the oracle."""
        agent = luck.choice(AGENTS)
        if sometimes(luck):
            arguments |= {"op_id": f"{self.names[0]}, {next(self.op_ids)}"}
        self.told(agent, operation, arguments)
        tried = self.library.copy()
        answer_of: Callable[[], Any] | None = None
        refused: set[str] = set()
        try:
            answer_of = expect(tried, By(agent, self.clock.now))
        except Refused as refusal:
            refused = refusal.codes
        try:
            answer = self.call(agent, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refused, arguments)
            return
        assert answer_of is not None, f"{answer} instead of {' or '.join(refused)}"
        if "op_id" in arguments:
            self.sent.append(Sent(agent, operation, arguments, msgspec.json.decode(msgspec.json.encode(answer))))
        self.project = project
        before, self.library = self.library, tried
        for kind in ("atom", "molecule"):
            if operation == "knowledge.create" and kind in answer:
                self.ids.entities[tried.last_n] = answer[kind]["id"]
        self.touched = {n for n, one in tried.entities.items() if one != before.entities.get(n)}
        if "entry" in answer:
            del answer["entry"]["id"]
        assert answer == answer_of()
        # A check in which no atom was still what was looked at changed nothing.
        self.check_events(agent, None if answer.get("recorded") == 0 else project)

    def check_refusal(self, error: GroundplanError, refused: set[str], arguments: dict[str, Any]) -> None:
        """What is refused is refused for a good reason, and leaves no trace."""
        assert error.code in refused, f"{error.code}: {error.message}"
        if error.code == "stale_version":
            assert error.details["currentVersion"] == self.current(arguments["id"])
        assert self.rows.of(self.project_ids) == self.stored
        self.touched = set()

    def check_events(self, agent: str, project: int | None) -> None:
        """Events are only added, and all that one write adds have its revision, its moment and its author."""
        before, self.stored = self.stored, self.rows.of(self.project_ids)
        for place, id_ in self.ids.projects.items():
            told = len(before.events[id_])
            kept, added = self.stored.events[id_][:told], self.stored.events[id_][told:]
            assert kept == before.events[id_]
            assert bool(added) == (place == project)
            assert self.stored.revs[id_] == before.revs[id_] + bool(added)
            at = self.clock.stamp(self.clock.now)
            assert [event[:4] for event in added] == [(self.stored.revs[id_], n, at, agent) for n in range(len(added))]

    def current(self, id_: str) -> int:
        """The version of what has this id."""
        return next(one.version for n, one in self.library.entities.items() if self.ids.entities[n] == id_)

    # --- How the oracle's facts are shown ---

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
        """What was seen of its files, if anything was."""
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
        """An atom or a molecule as callers see it."""
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

    def by_name(self, entities: list[Entity]) -> list[Entity]:
        return sorted(entities, key=lambda one: (one.name, self.ids.entities[one.n]))

    def call(self, agent: str, operation: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(self.sessions[agent].call(operation, **arguments))
        return answer

    def told(self, agent: str, operation: str, arguments: dict[str, Any]) -> None:
        """Write a call into the report of a failing run, with atoms and molecules by their numbers."""
        written = repr(arguments)
        for n, id_ in self.ids.entities.items():
            written = written.replace(repr(id_), f"#{n}")
        note(f"at {self.clock.now} {agent}: {operation} {written}")


def run_machine(machine: Callable[[Place], KnowledgeDriver], engine: Engine, budget: settings) -> None:
    """Run a machine on two stores with a clock of our own."""
    clock = Hand()
    with KnowledgeRows(engine) as rows:
        stores: dict[str, Store] = {agent: engine.another_store(clock=clock) for agent in AGENTS}
        place = Place(stores, clock, rows, count(1))
        # It says that it wants a class, and only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(place))
        run_state_machine_as_test(factory, settings=budget)
