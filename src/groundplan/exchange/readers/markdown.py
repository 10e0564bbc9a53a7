"""Checklists in Markdown files, also the task lists of Kiro and OpenSpec."""

from __future__ import annotations

from pathlib import Path

from groundplan.exchange.checklists.files import iter_checklists
from groundplan.exchange.checklists.items import TOOL, ChecklistItems
from groundplan.exchange.model import BadLines, SourcePlan


def read(path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the boxes of a file, or of all Markdown files below a folder, and the headings above them."""
    plan = SourcePlan(TOOL)
    bad = BadLines(skip_bad=skip_bad)
    items = ChecklistItems(plan, bad)
    for file in iter_checklists(path, bad, is_wanted=lambda _: True):
        items.add_file(file, group_title=file.name if path.is_dir() else None)
    plan.skipped = bad.skipped
    return plan
