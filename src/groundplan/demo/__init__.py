"""The example data: projects of an organization that brings clean water to a valley, filled from example.yaml.

One project has a theory of change, its work graph, the facts they depend on, and links between them. Another has
knowledge, a third is archived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, convert

from groundplan.catalog import build_schema
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.clock import system_clock
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session

OWNER = "ada"
PROJECT = "clean-water"
SOFTWARE_PROJECT = "pump-monitor"  # the one with knowledge
PATH = "totals/day.py"  # a path to query that knowledge with
EXAMPLE_FILE = Path(__file__).with_name("example.yaml")
HISTORY_DAYS = 56


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One write of the example: its actor, its operation, and the number of days before the fill."""

    days_ago: float
    operation: str
    arguments: dict[str, Any]
    actor: str = OWNER


class ExampleClock:
    """A clock that starts some weeks ago and moves only on request."""

    def __init__(self, filled_at: datetime) -> None:
        self.filled_at = filled_at
        self.restart()

    def __call__(self) -> datetime:
        return self._now

    def restart(self) -> None:
        """Return to a minute before the first step, because each project has a separate history."""
        self._now = self.filled_at - timedelta(days=HISTORY_DAYS, minutes=1)

    def move_to(self, days_ago: float) -> None:
        """Move to a number of days before the fill, but at least one minute forward."""
        self._now = max(self._now + timedelta(minutes=1), self.filled_at - timedelta(days=days_ago))


class References:
    """The ids and dates for the `$` references of a step, read from a project of the example."""

    def __init__(self, session: Session, project: str, steps: list[Step], filled_on: date) -> None:
        self._session = session
        self._project = project
        self._steps = steps
        self._filled_on = filled_on
        self._readers: dict[str, Callable[[str], str]] = {
            "$node": lambda ref: self.nodes[ref],
            "$atom": lambda name: self._load_entities("atom")[name],
            "$molecule": lambda name: self._load_entities("molecule")[name],
            "$decision": self._find_decision,
            "$run": self._find_run,
            "$day": lambda days: (self._filled_on + timedelta(days=int(days))).isoformat(),
        }

    def resolve(self, value: Any) -> Any:
        """Return an argument with all references replaced."""
        if isinstance(value, dict):
            return {name: self.resolve(item) for name, item in value.items()}
        if isinstance(value, list):
            return [self.resolve(item) for item in value]
        if isinstance(value, str) and value.startswith("$"):
            kind, _, name = value.partition(" ")
            return self._readers[kind](name)
        return value

    @cached_property
    def nodes(self) -> Mapping[str, str]:
        """The ids of the nodes of the example by ref."""
        refs = {node["summary"]: node["ref"] for node in list_planned_nodes(self._steps)}
        nodes = self._session.call("work.query", project=self._project, limit=100, sort="created").nodes
        return {refs[node.summary]: node.id for node in nodes if node.summary in refs}

    def _load_entities(self, entity_type: str) -> dict[str, str]:
        page = self._session.call("knowledge.search", entityType=entity_type, projectId=self._project, limit=100)
        return {entity.name: entity.id for entity in page.items}

    def _find_decision(self, text: str) -> str:
        decisions = self._session.call("purpose.observations", project=self._project).decisions
        return next(str(decision.id) for decision in decisions if decision.text == text)

    def _find_run(self, status: str) -> str:
        return str(self._session.call("context.list", scopeId=self._project, status=status, limit=1).runs[0].id)


def load_example() -> dict[str, list[Step]]:
    """Return the steps of the example by project."""
    import yaml  # 15 ms, which only the example pays

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times faster, where PyYAML has its C part
    return convert(yaml.load(EXAMPLE_FILE.read_bytes(), loader), dict[str, list[Step]])  # noqa: S506 - both are safe


def list_planned_nodes(steps: list[Step]) -> list[dict[str, Any]]:
    """Return the nodes that the steps of a project plan."""
    return [node for step in steps if step.operation == "work.plan" for node in step.arguments["nodes"]]


def fill_database(db: str) -> list[str]:
    """Write the example into a database. If none of its projects exist yet, their history begins some weeks ago."""
    owner = local_actor(OWNER, kind=ActorKind.PERSON)
    with Session(open_store(db, build_schema), owner) as session:
        names = {project.name for project in session.call("project.list", archived=True).projects}
        if not names.isdisjoint(load_example()):
            return fill(session)
    clock = ExampleClock(system_clock())
    with Session(open_store(db, build_schema, clock=clock), owner) as session:
        return fill(session, clock)


def fill(session: Session, clock: ExampleClock | None = None) -> list[str]:
    """Write the example into a store and return the names of the projects that were created or completed.

    A project goes on behind its last step, which its revision tells, so a second fill changes nothing and an
    interrupted fill is completed. A project that somebody else wrote to stays as it is. `clock` is that of the store,
    if the example is to have a history.
    """
    filled_at = session.store.read(session.actor, lambda tx: tx.now) if clock is None else clock.filled_at.isoformat()
    filled_on = date.fromisoformat(filled_at[:10])
    revisions = {project.name: project.rev for project in session.call("project.list", archived=True).projects}
    filled = []
    for project, steps in load_example().items():
        done = revisions.get(project, 0)
        if done >= len(steps) or (done and not _wrote_last(session, project, done, steps[done - 1])):
            continue
        if clock is not None:
            clock.restart()
        for step in steps[done:]:
            if clock is not None:
                clock.move_to(step.days_ago)
            arguments = References(session, project, steps, filled_on).resolve(step.arguments)
            _open_session(session, step.actor).call(step.operation, **arguments)
        filled.append(project)
    return filled


def _wrote_last(session: Session, project: str, rev: int, step: Step) -> bool:
    """Return True if the last write of a project has the actor of a step and belongs to the slice of its operation."""
    event = session.call("event.list", project=project, until=f"{rev}.0", limit=1).events[0]
    slices = (step.operation.partition(".")[0], "project")  # policies belong to the project, whatever sets them
    return event.actor == step.actor and event.op.partition(".")[0] in slices


def _open_session(session: Session, actor: str) -> Session:
    if actor == OWNER:
        return session
    return Session(session.store, local_actor(actor, kind=ActorKind.AGENT), session.operations)
