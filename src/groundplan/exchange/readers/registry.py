"""The tools whose files can be read, and the module that reads each."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from importlib import import_module
from pathlib import Path

from groundplan.exchange.model import SourcePlan


class SourceTool(StrEnum):
    """The tools to import from."""

    BEADS = "beads"
    TASKMASTER = "taskmaster"
    BACKLOG = "backlog"
    GITHUB = "github"
    MEMORY = "memory"
    MARKDOWN = "markdown"
    SPECKIT = "speckit"


def read_source(tool: SourceTool, path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the plan of a tool from a file or folder.

    Raises:
        UnreadableSource: it cannot be read, or is not of this tool.
        BadLineFound: a line is bad, and bad lines are not skipped.
    """
    # Imported here because a command needs one reader.
    read: Callable[..., SourcePlan] = import_module(f"groundplan.exchange.readers.{tool}").read
    return read(path, skip_bad=skip_bad)
