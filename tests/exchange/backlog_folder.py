"""A folder of Backlog.md for tests, and the rule by which the tool itself offers tasks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CONFIG = 'project_name: "Shop"\nstatuses: ["To Do", "In Progress", "Review", "Done"]\nlabels: []\n'
ACTIVE = ("tasks", "completed")


class BacklogFolder:
    """The folder `backlog` of a repository."""

    def __init__(self, root: Path, config: str | None = CONFIG) -> None:
        self.root = root
        self.folder = root / "backlog"
        (self.folder / "tasks").mkdir(parents=True, exist_ok=True)
        if config is not None:
            (self.folder / "config.yml").write_text(config)

    def write(self, path: str, text: str) -> Path:
        """Write any file."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def task(
        self, task_id: str, *, place: str = "tasks", body: str = "", name: str | None = None, **fields: Any
    ) -> Path:
        """Write a task file; fields are lines of YAML, or lists."""
        given = {"id": task_id, "title": f"Title of {task_id}", "status": "To Do", "dependencies": [], **fields}
        lines = [f"{key}: {_to_yaml(value)}" for key, value in given.items()]
        text = "\n".join(("---", *lines, "---", "", body))
        return self.write(f"{place}/{name or f'{task_id} - Title.md'}", text)


def _to_yaml(value: Any) -> str:
    if isinstance(value, list):
        return "[]" if not value else "".join(f"\n  - {item}" for item in value)
    return str(value)


# --- What the tool offers, from its files alone ----------------------------------------------------------------------

# The first of them that has an id owns it.
FOLDERS = ("tasks", "completed", "drafts", "archive/tasks", "archive/drafts")
DEFAULT_STATUSES = ("To Do", "In Progress", "Done")
FINISHED = ("done", "completed", "complete")
GIVEN_UP = ("won't do", "wontfix", "obsolete", "skipped")


@dataclass(frozen=True)
class Record:
    """A task file: its folder, what it says about itself, and the words that the configuration knows."""

    folder: str
    id: str
    status: str
    waits: tuple[str, ...]
    parent: str | None
    statuses: tuple[str, ...]

    @property
    def is_finished(self) -> bool:
        """Done or given up, and so nothing that anybody waits for, or could do."""
        if self.folder in ("completed", "archive/tasks", "archive/drafts"):
            return True
        return self.folder == "tasks" and (self.status in (self.statuses[-1], *FINISHED, *GIVEN_UP))

    @property
    def is_offered(self) -> bool:
        """In `tasks/`, with a configured status that is no end and no draft."""
        return self.folder == "tasks" and not self.is_finished and self.status in self.statuses


def compute_ready(folder: Path) -> set[str]:
    """Return the titles of the tasks that the tool offers: those without open parts, else their parts.

    A task is offered if each of its dependencies is the id of exactly one record of `tasks/` and `completed/`, and that
    is finished. Parents play no part in that.
    """
    records = _read_records(folder)
    owners: dict[str | None, Record] = {}
    for record, _ in sorted(records, key=lambda one: FOLDERS.index(one[0].folder)):
        owners.setdefault(record.id, record)

    def is_free(record: Record) -> bool:
        claims = [[one for one, _ in records if one.id == wanted and one.folder in ACTIVE] for wanted in record.waits]
        return all(len(found) == 1 and found[0].is_finished for found in claims)

    with_open_parts = set()
    for record, _ in records:
        above = record.parent
        while not record.is_finished and above in owners:
            with_open_parts.add(above)
            above = owners[above].parent
    return {
        title
        for record, title in records
        if record.is_offered and is_free(record) and not (owners[record.id] is record and record.id in with_open_parts)
    }


def _read_records(folder: Path) -> list[tuple[Record, str]]:
    """Return the records of a folder with their titles."""
    config = yaml.safe_load((folder / "config.yml").read_text()) if (folder / "config.yml").is_file() else {}
    statuses = tuple(map(str.lower, config.get("statuses", DEFAULT_STATUSES)))
    found = []
    for place in FOLDERS:
        for file in sorted((folder / place).glob("*.md")):
            head = yaml.safe_load(file.read_text().split("---\n")[1])
            parent = head.get("parent_task_id")
            record = Record(
                place,
                _normalize_id(head["id"]),
                head["status"].lower(),
                tuple(map(_normalize_id, head["dependencies"])),
                _normalize_id(parent) if parent else None,
                statuses,
            )
            found.append((record, head["title"]))
    return found


def _normalize_id(task_id: str) -> str:
    """Return an id for comparisons: case and leading zeros do not count."""
    prefix, _, numbers = task_id.lower().rpartition("-")
    return f"{prefix}-{'.'.join(str(int(number)) for number in numbers.split('.'))}"
