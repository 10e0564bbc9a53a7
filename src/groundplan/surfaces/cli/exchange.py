"""`groundplan import` and `export`: switch from another tool, and back."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from groundplan.exchange.import_source import ALWAYS_LOST, ImportReport
from groundplan.kernel.cancellation import NO_LIMIT_S
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.operations.progress import count_progress
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.drawing import GAP, Lines, Rows, View
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import STANDARD_STREAM, refuse_existing, write_file
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import ForceOption, TimeoutOption
from groundplan.surfaces.cli.screen.progress import show_progress
from groundplan.surfaces.cli.steps import Step, join_steps, print_answer
from groundplan.surfaces.cli.terminal import format_value, to_one_line

if TYPE_CHECKING:
    from groundplan.exchange.items import WrittenFiles


SHOWN_MAX = 12  # of each list; --json has all of them
VALUE_CHARS_MAX = 60
FATES = {
    "open": "open",
    "done": "resolved",
    "dropped": "resolved, as dropped",
    "held": "open, on hold until somebody releases it",
}


def draw_report(report: ImportReport, path: str) -> None:
    """Print what became of a file."""
    statuses = [
        {"status": status, "items": count, "becomes": FATES[fate]}
        for (status, fate), count in report.statuses.most_common()
    ]
    REPORT({**report.data, "path": path, "statuses": statuses, "kinds": report.kinds})


def _describe_outcome(report: Mapping[str, Any]) -> Iterator[str]:
    verb = "Would import" if report["dry_run"] else "Imported"
    yield f"{verb} {report['path']} ({report['tool']}) into project {report['project']}."


def _list_counts(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    counts = report["counts"]
    will = "would be " if report["dry_run"] else ""
    rows = [
        ("new items", counts["created"], f"{will}made as {' and '.join(report['kinds'])}"),
        ("changed items", counts["updated"], f"{will}taken over where only the file changed"),
        ("unchanged items", counts["unchanged"], "left as they are"),
        ("fields changed here and there", counts["conflicts"], "ours stays; see Conflicts"),
        ("bad lines", counts["skipped"], "left out; see Bad lines"),
        *((reason, count, "left out") for reason, count in report["left_out"].items()),
    ]
    return [{"what": what, "count": count, "becomes": becomes} for what, count, becomes in rows if count]


def _list_changes(report: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    """Return how often each thing happened, with an example: the list itself can be long."""
    notes: Sequence[Mapping[str, str]] = report[kind]
    counts = Counter(note["what"] for note in notes)
    first = {note["what"]: note for note in reversed(notes)}
    return [
        {"what": what, "count": count, "example": _shorten(f"{first[what]['source_id']}: {first[what]['detail']}")}
        for what, count in counts.most_common()
    ]


def _list_conflicts(report: Mapping[str, Any]) -> Iterator[str]:
    for one in report["conflicts"][:SHOWN_MAX]:
        here, there = _shorten(format_value(one["here"])), _shorten(format_value(one["there"]))
        yield f"{one['source_id']} {one['field']}: here {here}, in the file {there}"
    yield from _count_more(report["conflicts"])


def _list_bad(report: Mapping[str, Any]) -> Iterator[str]:
    for one in report["skipped"][:SHOWN_MAX]:
        where = one["file"] + (f", line {one['line']}" if "line" in one else "")
        yield f"{where}: {one['reason']}"
    yield from _count_more(report["skipped"])


def _count_more(items: Sequence[Any]) -> Iterator[str]:
    if len(items) > SHOWN_MAX:
        yield f"and {len(items) - SHOWN_MAX:,} more; --json lists all"


def _list_next(report: Mapping[str, Any]) -> Iterator[str]:
    if report["dry_run"]:
        yield "Nothing was written. Run it again without --dry-run to import."
    else:
        command = "knowledge search --type molecule" if report["kinds"] == ["knowledge"] else "work next"
        yield f"Next: groundplan {command} --project {shlex.quote(report['project'])}"


def _shorten(text: str) -> str:
    line = to_one_line(text)
    return line if len(line) <= VALUE_CHARS_MAX else f"{line[: VALUE_CHARS_MAX - 1]}…"


REPORT = View(
    _describe_outcome,
    Rows(_list_counts, "what, count, becomes"),
    Rows("statuses", "status, items, becomes", title="Statuses:"),
    Rows(lambda report: _list_changes(report, "placed"), "what, count, example", title="Changed on the way:"),
    Rows(lambda report: _list_changes(report, "lost"), "what, count, example", title="Lost:"),
    Lines(lambda report: [*_list_conflicts(report)], title="Conflicts:"),
    Lines(lambda report: [*_list_bad(report)], title="Bad lines:"),
    Lines("warnings", title="Warnings:"),
    GAP,
    lambda _: [f"Never kept: {ALWAYS_LOST}."],
    _list_next,
    footer=(),
)


EXPORT = View(Rows(lambda report: _list_changes(report, "lost"), "what, count, example", title="Lost:"), footer=())


# As the enums of groundplan.exchange, which a command imports only if it runs; a test compares them.
SourceChoice = Literal["beads", "taskmaster", "backlog", "github", "memory", "markdown", "speckit"]
TargetChoice = Literal["beads", "taskmaster", "backlog", "markdown", "jsonl"]

OptionalProjectOption = Annotated[
    str | None,
    option(
        "--project",
        "-P",
        value="PROJECT",
        text="The project, by name or id; created if it does not exist. Default: the only one.",
    ),
]


def import_plan(
    invocation: Invocation,
    path: Annotated[str, argument("PATH", "The file of the tool, or its folder.")],
    tool: Annotated[SourceChoice, option("--from", value="TOOL", text="The tool, as below.")],
    project: OptionalProjectOption = None,
    dry_run: Annotated[
        bool,
        option("--dry-run", text="Show what would become of it; write nothing."),
    ] = False,
    skip_bad: Annotated[
        bool,
        option("--skip-bad", text="Leave out bad lines and list them, instead of refusing the file; exit status 6."),
    ] = False,
    timeout: TimeoutOption = None,
) -> CommandResult:
    """Import the plan of another tool, completely or not at all. Again: take over what changed in it.

    beads       .beads/issues.jsonl, or the folder of a backup
    taskmaster  .taskmaster/tasks/tasks.json
    backlog     the folder of Backlog.md
    github      issues as gh issue list --json or REST return them
    memory      the file of the MCP memory server
    markdown    checklists in a file or folder, also of Kiro and OpenSpec
    speckit     specs/*/tasks.md of spec-kit

    Old ids keep working: groundplan work context bd-a1b2 finds its node.
    """
    from groundplan.exchange.import_source import SourceTool, import_source

    name = project or invocation.suggest_project()
    if name is None:
        raise UsageError("give --project NAME: the project to import into; it is created if there is none of that name")
    limit_s = NO_LIMIT_S if timeout is None else timeout
    with (
        show_progress(f"importing from {tool}", as_json=invocation.as_json) as progress,
        invocation.session(reads_only=dry_run, limit_s=limit_s) as session,
    ):
        source = (SourceTool(tool), Path(path), name)
        report = import_source(session, *source, dry_run=dry_run, skip_bad=skip_bad, name_step=progress.name_step)

    exit_code = RuleViolated.exit_code if report.data["skipped"] else 0
    return CommandResult(report.data, lambda: draw_report(report, path), exit_code)


def export_plan(
    invocation: Invocation,
    tool: Annotated[
        TargetChoice,
        option("--to", value="TOOL", text="beads, taskmaster, backlog, markdown or jsonl."),
    ],
    project: Annotated[str, option("--project", "-P", value="PROJECT", text="The project to export.")],
    out: Annotated[
        str,
        option(
            "--out",
            value="PATH",
            text="The output file, or folder for backlog. Default: -, standard output (not for backlog).",
        ),
    ] = STANDARD_STREAM,
    force: ForceOption = False,
) -> CommandResult:
    """Export the work of a project as the file of another tool, and say what it cannot hold."""
    from groundplan.exchange.import_source import TargetTool, write_items

    with show_progress(f"exporting to {tool}", as_json=invocation.as_json) as progress:
        progress.name_step("reading the plan")
        with invocation.session(reads_only=True) as session:
            answer = session.call("work.export", project=project)
        progress.name_step("writing the items")
        written = write_items(TargetTool(tool), answer.items)
        if out != STANDARD_STREAM:
            progress.name_step("writing the files")
            _write_files(written, out, force=force)
    lost = [{"source_id": one.source_id, "what": one.what, "detail": one.detail} for one in written.lost]
    data: dict[str, Any] = {"project": answer.project, "tool": tool, "items": written.items, "lost": lost}
    if out == STANDARD_STREAM:
        if not written.is_single:
            raise UsageError(f"{tool} has several files; name a folder with --out")
        warnings = [f"{one.source_id}: {one.what}: {one.detail}" for one in written.lost]
        return print_answer(written.files[""], data | {"content": written.files[""]}, warnings)
    wrote = f"Wrote {out}: {data['items']} nodes of {data['project']} for {data['tool']}."
    return join_steps(Step(data | {"file": out}, [wrote, *EXPORT.list_parts(data)]))


def _write_files(written: WrittenFiles, out: str, *, force: bool) -> None:
    """Write all files. Those that exist are checked before the first one is written."""
    paths = {str(Path(out) / name) if name else out: text for name, text in written.files.items()}
    for path in paths:
        refuse_existing(path, force=force)
    for path, text in count_progress(paths.items(), len(paths)):
        if not written.is_single:
            _make_folder(Path(path).parent, Path(out))
        write_file(path, text.encode(), force=force)


def _make_folder(folder: Path, out: Path) -> None:
    """Make a folder of the export. The one around all of it must exist: it is easily misspelt."""
    try:
        out.mkdir(exist_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {str(folder)!r}: {error.strerror}", file=str(folder)) from None
