"""The knowledge of a project, rebuilt from its events alone.

Some things follow from the kind of an event: a new entity is at version 1 and has its creating task as the last task,
every change adds one to the version and has the time of its event, and a commit is confirmed at that time.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tests.machines.work_rows import EventRow


@dataclass
class RebuiltEntity:
    """One rebuilt atom or molecule."""

    entity_type: str = ""
    name: str = ""
    knowledge: str = ""
    related: list[dict[str, str]] = field(default_factory=list)
    molecule_id: str | None = None
    paths: list[str] | None = None
    created_by_task_id: str = ""
    last_task_id: str = ""
    confirmed_commit: str | None = None
    confirmed_at: str | None = None
    version: int = 0
    created_at: str = ""
    created_by: str = ""
    updated_at: str = ""
    updated_by: str = ""


class Replay:
    """Atoms and molecules by id, and all changelog entries, after all events so far."""

    def __init__(self, events: Iterable[EventRow]) -> None:
        self.entities: dict[str, RebuiltEntity] = {}
        self.deleted: set[tuple[str, str]] = set()
        self.entries: list[tuple[str, str, str, str, str]] = []  # parent, task, summary, moment, author
        for event in events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "knowledge" and action != "checked":
                self._apply(action, event)

    def _apply(self, action: str, event: EventRow) -> None:
        changes = {change["field"]: change for change in event.changes}
        if action == "changelog_appended":
            entry = changes["entry"]["after"]
            assert entry["parent_type"] == self.entities[event.subject].entity_type
            self.entries.append((event.subject, entry["task_id"], changes["summary"]["after"], event.at, event.actor))
            return
        if action == "created":
            assert event.subject not in self.entities
            task = changes["created_by_task_id"]["after"]
            self.entities[event.subject] = RebuiltEntity(created_at=event.at, created_by=event.actor, last_task_id=task)
        entity = self.entities[event.subject]
        for name, change in changes.items():
            self._change(entity, name, change["before"], change["after"], event.at)
        entity.version += 1
        entity.updated_at, entity.updated_by = event.at, event.actor
        if action == "deleted":
            self.deleted.add((changes["entity_type"]["before"], event.subject))
            del self.entities[event.subject]

    @staticmethod
    def _change(entity: RebuiltEntity, name: str, before: Any, after: Any, at: str) -> None:
        name = "related" if name in ("related_atoms", "related_molecules") else name
        if before is not None or entity.version:
            assert getattr(entity, name) == before, f"{name} was {getattr(entity, name)!r}, the event says {before!r}"
        setattr(entity, name, after)
        if name == "confirmed_commit":
            entity.confirmed_at = at
