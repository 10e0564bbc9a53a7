"""Imports of made-up files, for tests: items by source id, and what became of them."""

from __future__ import annotations

from typing import Any

from tests.work.client import WorkClient


def item(source_id: str, **given: Any) -> dict[str, Any]:
    """Return an item whose title is its id, and which is found under its id."""
    return {"source_id": source_id, "title": source_id, "aliases": [source_id], **given}


class FileImport:
    """One tool's file, imported again and again into the project of a client."""

    def __init__(self, work: WorkClient, tool: str = "beads") -> None:
        self.work = work
        self.tool = tool

    def run(self, *items: dict[str, Any], **given: Any) -> Any:
        return self.work.call(
            "work.import",
            **{"project": self.work.project, "tool": self.tool, "file": "issues.jsonl", "items": list(items), **given},
        )

    def node(self, ref: str) -> Any:
        return self.work.call("work.context", node_id=ref).node

    def ready(self) -> set[str]:
        """Return the titles of the nodes that can be started."""
        found = self.work.call("work.query", project=self.work.project, filter={"is_actionable": True}, limit=100)
        return {node.summary for node in found.nodes}

    def rev(self) -> int:
        """Return the number of writes of the project."""
        projects = self.work.call("project.list").projects
        return next(int(one.rev) for one in projects if one.name == self.work.project)


def notes(found: Any, what: str) -> dict[str, str]:
    """Return the notes about one thing, by source id."""
    return {note.source_id: note.detail for note in found if note.what == what}
