"""A client of sections for tests: containers and sections have names instead of ids.

    client.add("Notes", content="Low tide at nine.", to="walk")
    client.update("Notes", title="Tides")
    client.titles("walk")

A change is sent with the current version unless `version` is given.
"""

from __future__ import annotations

import json
from typing import Any

from groundplan.kernel.actors import Actor
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.work.containers.sections import change
from tests.engines import Engine

NOWHERE = "00000000-0000-4000-8000-000000000000"  # an id that does not exist
NOW = "2026-03-01T09:00:00.000Z"

OPERATIONS: dict[str, Operation[Any, Any]] = {
    one.name: one
    for one in (
        change.LIST,
        change.ADD,
        change.BULK_CREATE,
        change.UPDATE,
        change.UPDATE_TEXT,
        change.REORDER,
        change.DELETE,
        change.BULK_DELETE,
    )
}


class SectionsClient:
    """An actor at the sections of one project. Arguments that are no name are sent unchanged."""

    def __init__(
        self, engine: Engine, session: Session, project: str = "atlas", ids: dict[str, str] | None = None
    ) -> None:
        self.engine = engine
        self.session = session
        self.project = project
        self.ids = {} if ids is None else ids  # of containers and sections, shared with the clients that `by` returns

    def open(self) -> SectionsClient:
        """Create the project with two tasks and a feature."""
        self.ids[self.project] = self.session.call("project.create", name=self.project).project.id
        nodes = [{"ref": name, "summary": name} for name in ("walk", "draw", "coast")]
        for made in self.session.call("work.plan", project=self.project, nodes=nodes).created:
            self.ids[made.ref] = made.id
        self.engine.as_owner(f"UPDATE work_nodes SET kind = 'feature', rev = rev + 1 WHERE id = '{self.ids['coast']}'")
        return self

    def create_project(self, project: str) -> SectionsClient:
        """Create another project and return a client of it."""
        return SectionsClient(self.engine, self.session, project).open()

    def by(self, actor: Actor) -> SectionsClient:
        """Return a client of another actor with the same names."""
        return SectionsClient(self.engine, Session(self.session.store, actor), self.project, self.ids)

    def with_cap(self, tokens: int) -> SectionsClient:
        """Return a client of the same actor with a limit on the size of answers."""
        preferences = Preferences(answer_tokens_max=tokens)
        session = Session(self.session.store, self.session.actor, preferences=preferences)
        return SectionsClient(self.engine, session, self.project, self.ids)

    def __getitem__(self, name: str) -> str:
        return self.ids.get(name, name)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation with validated arguments, as a caller would."""
        validate_value(arguments)
        return self.session.run(OPERATIONS[f"section.{operation}"], arguments)

    def of(self, name: str) -> dict[str, str]:
        """Return the arguments that name a container."""
        kinds = {self.project: "PROJECT", "coast": "FEATURE"}
        return {"entityType": kinds.get(name, "TASK"), "entityId": self[name]}

    # --- Changes ---

    def add(self, title: str, /, *, to: str = "walk", **given: Any) -> Any:
        made = self.call("add", **self.of(to) | {"title": title} | given)
        self.ids[title] = made.id
        return made

    def bulk(self, *sections: dict[str, Any], to: str = "walk", **given: Any) -> Any:
        made = self.call("bulk_create", **self.of(to) | {"sections": list(sections)} | given)
        self.ids |= {one.title: one.id for one in made.sections}
        return made

    def update(self, name: str, **changes: Any) -> Any:
        return self.call("update", **self._at_version(name) | changes)

    def update_text(self, name: str, content: str, **given: Any) -> Any:
        return self.call("update_text", **self._at_version(name) | {"content": content} | given)

    def delete(self, name: str, **given: Any) -> Any:
        return self.call("delete", **self._at_version(name) | given)

    def bulk_delete(self, *names: str, **given: Any) -> Any:
        return self.call("bulk_delete", sectionIds=[self[name] for name in names], **given)

    def reorder(self, *names: str, of: str = "walk", **given: Any) -> Any:
        return self.call("reorder", **self.of(of), orderedIds=[self[name] for name in names], **given)

    # --- Questions ---

    def list_sections(self, of: str = "walk", **given: Any) -> Any:
        return self.call("list", **self.of(of) | given)

    def read(self, name: str, of: str = "walk") -> Any:
        """Return one section, found by its id."""
        return next(one for one in self.list_sections(of).sections if one.id == self[name])

    def titles(self, of: str = "walk", **given: Any) -> list[str]:
        return [one.title for one in self.list_sections(of, **given).sections]

    def positions(self, of: str = "walk") -> dict[str, tuple[int, int]]:
        """Return the ordinal and the version of each section."""
        return {one.title: (one.ordinal, one.version) for one in self.list_sections(of).sections}

    def history(self, of: str = "walk") -> list[tuple[str, Any, Any]]:
        """Return the section events of a container, oldest first: operation, before, after."""
        container = self[of] if of != self.project else self._root()
        rows = self.engine.as_owner(
            f"SELECT op, changes FROM events WHERE subject = '{container}' AND op LIKE 'work.section%' ORDER BY rev, n"
        )
        return [(op, one["before"], one["after"]) for op, changes in rows for one in json.loads(changes)]

    def rows(self) -> Any:
        """Return all rows that changes to sections could touch."""
        return [
            self.engine.as_owner(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
            for table in ("work_sections", "work_section_tags", "work_deleted", "work_nodes", "projects")
        ]

    def _root(self) -> str:
        query = f"SELECT id FROM work_nodes WHERE n = 1 AND project_id = '{self[self.project]}'"
        return str(self.engine.as_owner(query)[0][0])

    def _at_version(self, name: str) -> dict[str, Any]:
        query = f"SELECT version FROM work_sections WHERE id = '{self[name]}'"
        found = self.engine.as_owner(query)
        return {"sectionId": self[name], "version": found[0][0] if found else 1}
