"""Tasks of Backlog.md: the folder with `config.yml`, or the one above it."""

from __future__ import annotations

from pathlib import Path

from groundplan.exchange.backlog.config import find_folder, read_config
from groundplan.exchange.backlog.items import TOOL, BacklogItems
from groundplan.exchange.backlog.knowledge import read_knowledge
from groundplan.exchange.backlog.task_files import list_files, read_fields, read_task_files
from groundplan.exchange.model import BadLines, SourcePlan

MILESTONES = "milestones"


def read(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the tasks, decisions and documents of a folder."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    folder = find_folder(path)
    config = read_config(folder)
    tasks = list(read_task_files(folder, config, plan, bad))
    plan.items = BacklogItems(plan, config, tasks, _read_milestones(folder)).build()
    read_knowledge(folder, plan, bad)
    plan.skipped = bad.skipped
    return plan


def _read_milestones(folder: Path) -> dict[str, str]:
    """Return the titles of milestones by id."""
    ignored = BadLines(skip_bad=True)  # a milestone is a tag; what cannot be read keeps its id
    titles = {}
    for path in list_files(folder / MILESTONES):
        if (parts := read_fields(path, ignored)) is not None and {"id", "title"} <= parts[0].keys():
            titles[parts[0]["id"].text.strip().casefold()] = parts[0]["title"].text.strip()
    return titles
