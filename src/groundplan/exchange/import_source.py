"""Import the file of another tool into a project and report the outcome; export items as files of another tool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import msgspec

from groundplan import session as sessions
from groundplan.exchange.items import BadLine, ItemNote, SourcePlan, WrittenFiles, leave_out_knowledge_tasks
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.errors import NotFound
from groundplan.kernel.operations.registry import Operation, Registry
from groundplan.work.importing.export import ExportedItem
from groundplan.work.importing.import_work import ImportCounts, ImportedWork
from groundplan.work.importing.items import SourceItem

OPERATION = "work.import"

# What no import keeps, whatever the tool.
ALWAYS_LOST = "times of events, history before the import, boards and column widths, hooks and states of agents"
NOTHING_FOUND = "there are no items in it; nothing was made"


class SourceTool(StrEnum):
    """The tools to import from."""

    BEADS = "beads"
    TASKMASTER = "taskmaster"
    BACKLOG = "backlog"
    GITHUB = "github"
    MEMORY = "memory"
    MARKDOWN = "markdown"
    SPECKIT = "speckit"


class TargetTool(StrEnum):
    """The tools to export to. `jsonl` has one line for each node, with all of its fields."""

    BEADS = "beads"
    TASKMASTER = "taskmaster"
    BACKLOG = "backlog"
    MARKDOWN = "markdown"
    JSONL = "jsonl"


# A command needs one of them, so each is imported when it is called.
READERS = {
    SourceTool.BEADS: "beads:read_beads",
    SourceTool.TASKMASTER: "taskmaster:read_taskmaster",
    SourceTool.BACKLOG: "backlog:read_backlog",
    SourceTool.GITHUB: "github:read_github",
    SourceTool.MEMORY: "memory:read_memory",
    SourceTool.MARKDOWN: "checklists:read_markdown",
    SourceTool.SPECKIT: "checklists:read_speckit",
}
WRITERS = {
    TargetTool.BEADS: "beads:write_beads",
    TargetTool.TASKMASTER: "taskmaster:write_taskmaster",
    TargetTool.BACKLOG: "write_backlog:write_backlog",
    TargetTool.MARKDOWN: "checklists:write_markdown",
    TargetTool.JSONL: "items:write_jsonl",
}


def read_source(tool: SourceTool, path: Path, *, skip_bad: bool) -> SourcePlan:
    """Read the plan of a tool from a file or folder."""
    read: Callable[..., SourcePlan] = _load(READERS[tool])
    return read(path, skip_bad=skip_bad)


def write_items(tool: TargetTool, items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the files of a tool for the items of a project."""
    if tool is not TargetTool.JSONL:
        items = leave_out_knowledge_tasks(items)
    write: Callable[..., WrittenFiles] = _load(WRITERS[tool])
    written = write(items)
    written.items = len(items)
    return written


def _load(name: str) -> Any:
    module, _, function = name.partition(":")
    return getattr(import_module(f"groundplan.exchange.{module}"), function)


class ImportReport(NamedTuple):
    """The report of an import as `--json` prints it, the number of items by status and fate, and what they become."""

    data: dict[str, Any]
    statuses: Counter[tuple[str, str]]
    kinds: list[str]  # nodes, knowledge


class Runner(Protocol):
    """The part of a session that an import needs."""

    operations: Registry

    def run(self, operation: Operation[Any, Any], arguments: Any) -> Any: ...


def import_source(
    session: Runner,
    tool: SourceTool,
    path: Path,
    project: str,
    *,
    dry_run: bool = False,
    skip_bad: bool = False,
    name_step: Callable[[str], object] = lambda step: None,
) -> ImportReport:
    """Import a file or folder and return the report. `name_step` receives the name of each step."""
    name_step("reading")
    plan = read_source(tool, path, skip_bad=skip_bad)
    name_step(f"{len(plan.items):,} items")
    statuses = Counter((_name_status(item), str(item.fate)) for item in plan.items if not item.is_group)
    kinds = ["nodes"] * bool(plan.items) + ["knowledge"] * bool(plan.molecules or plan.atoms)
    is_empty = not (plan.items or plan.molecules or plan.atoms or plan.deleted)
    if is_empty and plan.searched and not plan.skipped:
        raise _explain_nothing_found(plan, path)
    if is_empty:
        answer = ImportedWork(project, plan.tool, dry_run, ImportCounts(0, 0, 0, 0), [], [], [], [NOTHING_FOUND])
    else:
        # The items may be larger than a request, and their texts were cleaned while they were read.
        request = _build_request(plan, path, project, dry_run=dry_run)
        plan.items.clear()  # the request has them; a file of 20 MB would be in memory twice
        try:
            answer = session.run(session.operations[OPERATION], request)
        except NotFound as error:
            if not dry_run or error.details.get("thing") != "project":
                raise
            answer = _try_out(request)
    return ImportReport(build_report(plan, answer), statuses, kinds)


def _name_status(item: SourceItem) -> str:
    """Return the status word of an item; nodes of ours keep only unusual ones."""
    return item.source_status or ("usual" if item.node is not None else "none")


def _explain_nothing_found(plan: SourcePlan, path: Path) -> NotFound:
    left_out = ", ".join(f"{count} {reason}" for reason, count in plan.left_out.items())
    hint = f"looked at {plan.searched}" + (f"; left out: {left_out}" if left_out else "")
    return NotFound(f"plan of {plan.tool} in", str(path), hint=hint, left_out=dict(plan.left_out))


def _try_out(request: dict[str, Any]) -> ImportedWork:
    """Import into a temporary database, which gives the same report for a project that does not exist yet."""
    with TemporaryDirectory() as folder, sessions.open(str(Path(folder) / "plan.db"), actor="import") as session:
        cancellation = Cancellation(NO_LIMIT_S)
        request = {**request, "dry_run": False}
        answer: ImportedWork = session.execute(session.operations[OPERATION], request, cancellation).answer
    return msgspec.structs.replace(answer, dry_run=True)


def _build_request(plan: SourcePlan, path: Path, project: str, *, dry_run: bool) -> dict[str, Any]:
    return {
        "project": project,
        "tool": plan.tool,
        "file": str(path)[-500:],
        "items": msgspec.to_builtins(plan.items),
        "deleted": msgspec.to_builtins(plan.deleted),
        "molecules": msgspec.to_builtins(plan.molecules),
        "atoms": msgspec.to_builtins(plan.atoms),
        "inherits_dependencies": plan.inherits_dependencies,
        "dry_run": dry_run,
    }


def build_report(plan: SourcePlan, answer: ImportedWork) -> dict[str, Any]:
    """Return the report of an import, with counts, notes of the reader, and conflicts."""
    counts = msgspec.to_builtins(answer.counts)
    return {
        "project": answer.project,
        "tool": answer.tool,
        "dry_run": answer.dry_run,
        "counts": {name: counts[name] for name in ("created", "updated", "unchanged")}
        | {"skipped": len(plan.skipped), "conflicts": counts["conflicts"]},
        "skipped": [_describe_bad(bad) for bad in plan.skipped],
        "left_out": dict(plan.left_out),
        "lost": [*_describe_notes(plan.lost), *msgspec.to_builtins(answer.lost)],
        "placed": [*_describe_notes(plan.placed), *msgspec.to_builtins(answer.placed)],
        "conflicts": msgspec.to_builtins(answer.conflicts),
        "warnings": [*plan.warnings, *answer.warnings],
    }


def _describe_bad(bad: BadLine) -> dict[str, Any]:
    fields = {"file": bad.file, "line": bad.line, "source_id": bad.source_id, "reason": bad.reason}
    return {name: value for name, value in fields.items() if value is not None}


def _describe_notes(notes: Iterable[ItemNote]) -> list[dict[str, str]]:
    return [{"source_id": note.source_id, "what": note.what, "detail": note.detail} for note in notes]
