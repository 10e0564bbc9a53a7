"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

from groundplan.surfaces.cli.command_line import Kind, argument, option
from groundplan.surfaces.cli.failures import UsageError

TIMEOUT_S_MIN = 0.001

# --- Of long commands -------------------------------------------------------------------------------------------------

ProjectOption = Annotated[str, option("--project", "-P", value="PROJECT")]
MaybeProjectOption = Annotated[str | None, option("--project", "-P", value="PROJECT")]
OpIdOption = Annotated[str | None, option("--op-id", value="TEXT")]
ForceOption = Annotated[bool, option("--force", text="Overwrite an existing file.")]
TimeoutOption = Annotated[
    float | None,
    option(
        "--timeout",
        value="SECONDS",
        text="Give up after this time; nothing is changed then. Default: no limit. Other writers wait meanwhile.",
        low=TIMEOUT_S_MIN,
    ),
]
DraftOption = Annotated[bool, option("--draft", text="The draft: the same as --version draft.")]


def select_version(version: str | None, *, draft: bool) -> dict[str, str]:
    """Return the argument that names the version of a theory, if any option does."""
    if draft and version is not None:
        raise UsageError("--draft and --version both name a version; give one of them")
    ref = "draft" if draft else version
    return {} if ref is None else {"version": ref}


# --- Of the words of every day ----------------------------------------------------------------------------------------

TASK_HELP = "The task: its id or its first 3 characters, its title, or - for the last one."
Task = Annotated[str, argument("ID", TASK_HELP, Kind.NODE)]
MaybeTask = Annotated[str | None, argument("ID", TASK_HELP, Kind.NODE)]
Tasks = Annotated[list[str], argument("ID", TASK_HELP, Kind.NODE)]
Message = Annotated[
    str | None,
    option("--message", "-m", value="TEXT", text="The reason or a note; kept in the history.", fields=("decision",)),
]
Watch = Annotated[bool, option("--watch", "-w", text="Draw again after every change, until Ctrl-C.")]
Limit = Annotated[int | None, option("--limit", "-n", value="N", text="How many at most.", fields=("limit", "count"))]
Cursor = Annotated[
    str | None, option("--cursor", value="TEXT", text="The next page, as the page before names it.", fields=("cursor",))
]
Under = Annotated[str | None, option("--under", "-u", value="ID", text="Below this task.", kind=Kind.NODE)]
