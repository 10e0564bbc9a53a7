"""Read the tasks of Taskmaster.

A file has tags with a list of tasks each, or one list of tasks; values without such a list are no tags. A task is
`TAG/12` and its third subtask `TAG/12.3`. Of several tags, each is a group.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from groundplan.exchange.model import BadLines, SourcePlan, UnreadableSource
from groundplan.exchange.readers.json_lines import read_json
from groundplan.exchange.readers.taskmaster.rules import MASTER, TOOL
from groundplan.exchange.readers.taskmaster.tag_tasks import TagTasks
from groundplan.work.importing.source_items import SourceItem

PLACES = (".taskmaster/tasks/tasks.json", "tasks/tasks.json", "tasks.json")


def read(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Return the plan in a file of Taskmaster, or in a folder that has one at its usual place.

    Raises:
        UnreadableSource: there is no such file, or it is not of Taskmaster.
        BadLineFound: a task is bad, and bad tasks are not skipped.
    """
    file = _find_file(path)
    value = read_json(file)
    bad = BadLines(skip_bad=skip_bad)
    plan = SourcePlan(TOOL, inherits_dependencies=True)
    tags = _find_tags(str(file), value)
    filled = {tag: tasks for tag, tasks in tags.items() if tasks}
    for tag, tasks in filled.items():
        _refuse_other_tools(str(file), tasks)
        has_group = len(tags) > 1
        if has_group:
            plan.items.append(SourceItem(source_id=tag, title=tag, is_group=True, file=str(file)))
        has_short_ids = tag == MASTER or len(tags) == 1
        TagTasks(plan, bad, str(file), tag, has_group=has_group, has_short_ids=has_short_ids).read(tasks)
    if empty := len(tags) - len(filled):
        plan.left_out["empty tags"] = empty
    plan.skipped = bad.skipped
    return plan


def _find_file(path: Path) -> Path:
    if not path.is_dir():
        return path
    found = next((path / place for place in PLACES if (path / place).is_file()), None)
    if found is None:
        raise UnreadableSource(str(path), f"has no {PLACES[0]}; name the file")
    return found


def _find_tags(file: str, value: Any) -> dict[str, list[Any]]:
    """Return the tasks of each tag."""
    if isinstance(value, dict):
        if isinstance(value.get("tasks"), list):
            return {MASTER: value["tasks"]}
        tags = {
            tag: one["tasks"]
            for tag, one in value.items()
            if isinstance(one, dict) and isinstance(one.get("tasks"), list) and tag.strip() and not tag.startswith("_")
        }
        if tags:
            return tags
    raise UnreadableSource(file, "is not a file of Taskmaster: it has no list of tasks")


def _refuse_other_tools(file: str, tasks: list[Any]) -> None:
    """Refuse a file in which no task has a title: another tool uses the same name for its file."""
    if all(isinstance(task, dict) and "name" in task and "title" not in task for task in tasks):
        raise UnreadableSource(file, "is not a file of Taskmaster: its tasks have a name and no title")
