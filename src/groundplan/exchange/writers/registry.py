"""The tools whose files can be written, and the module that writes each.

A writer is a module `writers/TOOL.py` with a function `write(items) -> WrittenFiles`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from importlib import import_module

from groundplan.exchange.writers.written_files import WrittenFiles
from groundplan.work.importing.export_items import ExportedItem


class TargetTool(StrEnum):
    """The tools to export to. `jsonl` has one line for each node, with everything that it has."""

    BEADS = "beads"
    TASKMASTER = "taskmaster"
    BACKLOG = "backlog"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


def write_items(tool: TargetTool, items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the files of a tool for the items of a project."""
    # Imported here because a command needs one writer.
    write: Callable[..., WrittenFiles] = import_module(f"groundplan.exchange.writers.{tool}").write
    return write(items)
