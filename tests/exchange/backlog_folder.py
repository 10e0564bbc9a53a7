"""A folder of Backlog.md for tests, and the rule by which the tool itself offers tasks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

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


def compute_ready(folder: Path, *, last_status: str = "done") -> set[str]:
    """Return the ids of the tasks that the tool offers, by its own rule and from the files alone.

    A task of `tasks/` that is not finished, and each of whose dependencies is exactly one finished task of `tasks/` and
    `completed/`. Parents play no part; a parent with open parts, also drafts, counts as its parts.
    """
    finished_words = {last_status, "done", "completed", "complete", "wontfix", "won't do", "obsolete", "skipped"}
    held_words = {"draft", "parked", "on hold"}
    records: list[tuple[str, str, str, list[str], str]] = []
    for place in ("tasks", "completed", "drafts", "archive/tasks"):
        for file in sorted((folder / place).glob("*.md")) if (folder / place).is_dir() else ():
            head = file.read_text().split("---")[1]
            written = re.search(r"^id: (.*)$", head, re.MULTILINE)
            status = re.search(r"^status: (.*)$", head, re.MULTILINE)
            parent = re.search(r"^parent_task_id: (.*)$", head, re.MULTILINE)
            block = head.partition("dependencies:")[2]
            waits = re.findall(r"^  - (.*)$", block.partition("\nparent_task_id")[0], re.MULTILINE)
            assert written is not None
            assert status is not None
            records.append((place, written[1], status[1].lower(), waits, parent[1] if parent else ""))

    def is_finished(record: tuple[str, str, str, list[str], str]) -> bool:
        return record[0] in ("completed", "archive/tasks") or (record[0] != "drafts" and record[2] in finished_words)

    def find(task_id: str) -> list[tuple[str, str, str, list[str], str]]:
        return [record for record in records if record[0] in ACTIVE and _bare(record[1]) == _bare(task_id)]

    offered = [
        record
        for record in records
        if record[0] == "tasks"
        and not is_finished(record)
        and record[2] not in held_words
        and all(len(found := find(one)) == 1 and is_finished(found[0]) for one in record[3])
    ]
    first = {_bare(record[1]): record for record in reversed(records)}
    open_parents = set()
    for record in records:
        if not is_finished(record):
            above = _bare(record[4])
            while above in first and is_finished(first[above]):  # here it is below the next open one
                above = _bare(first[above][4])
            open_parents.add(above)
    return {record[1] for record in offered if _bare(record[1]) not in open_parents}


def _bare(task_id: str) -> str:
    return re.sub(r"(?<=[-.])0+(?=\d)", "", task_id.lower())
