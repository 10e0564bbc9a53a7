"""Import files of other tools into a new project, for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundplan.exchange.import_source import SourceTool, import_source
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine

PROJECT = "isle"


class Switch:
    """Somebody who imports files of one tool into a project."""

    def __init__(self, engine: Engine, tool: str, project: str = PROJECT) -> None:
        self.session = Session(engine.store, local_actor("ada", kind=ActorKind.PERSON))
        self.tool = SourceTool(tool)
        self.project = project

    def run(self, path: Path, **given: Any) -> dict[str, Any]:
        return import_source(self.session, self.tool, path, self.project, **given).data

    def query(self, **filters: Any) -> list[Any]:
        found = self.session.call("work.query", project=self.project, filter=filters, limit=100)
        return list(found.nodes)

    def ready(self) -> set[str]:
        """Return the source ids of the nodes that can be started."""
        return {node.properties["source_id"] for node in self.query(is_actionable=True)}

    def node(self, ref: str) -> Any:
        return self.session.call("work.context", node_id=ref)

    def export(self) -> list[Any]:
        return list(self.session.call("work.export", project=self.project).items)


def details(report: dict[str, Any], kind: str, what: str) -> dict[str, str]:
    """Return the notes of a report about one thing, by source id."""
    return {note["source_id"]: note["detail"] for note in report[kind] if note["what"] == what}
