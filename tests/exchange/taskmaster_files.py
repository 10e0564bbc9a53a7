"""Files of Taskmaster, and its own rule of what is ready, written down apart from the reader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

DONE = ("done", "completed", "cancelled")  # what waits for a cancelled task is free here, on purpose
WORK = ("pending", "in-progress")


def task(id_: Any, status: str = "pending", **given: Any) -> dict[str, Any]:
    return {
        "id": id_,
        "title": f"Task {id_}",
        "description": f"About {id_}",
        "status": status,
        "dependencies": [],
        "priority": "medium",
        "details": "",
        "testStrategy": None,
        "subtasks": [],
        **given,
    }


def subtask(id_: Any, status: str = "pending", **given: Any) -> dict[str, Any]:
    return {"id": id_, "title": f"Part {id_}", "description": "", "status": status, "dependencies": [], **given}


def write_tasks(folder: Path, value: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "tasks.json"
    path.write_text(json.dumps(value, indent=2), encoding="utf-8")  # without a line break at the end
    return path


def find_ready(tasks: list[dict[str, Any]], tag: str = "master") -> set[str]:
    """Return the tasks without open subtasks, and the subtasks, that Taskmaster offers. Ids are whole numbers."""
    statuses = {str(one["id"]): one["status"] for one in tasks}
    for one in tasks:
        is_over = one["status"] in DONE
        statuses |= {
            f"{one['id']}.{part['id']}": one["status"] if is_over else part["status"] for part in one["subtasks"]
        }
    ready = set()
    for one in tasks:
        if one["status"] not in WORK or any(statuses.get(str(dep)) not in DONE for dep in one["dependencies"]):
            continue
        open_parts = [part for part in one["subtasks"] if part["status"] not in DONE]
        if not open_parts:
            ready.add(f"{tag}/{one['id']}")
        for part in open_parts:
            whole = [dep if "." in str(dep) else f"{one['id']}.{dep}" for dep in part["dependencies"]]
            if part["status"] in WORK and all(statuses.get(dep) in DONE for dep in whole):
                ready.add(f"{tag}/{one['id']}.{part['id']}")
    return ready
