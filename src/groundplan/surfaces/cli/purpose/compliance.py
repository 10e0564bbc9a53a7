"""`groundplan purpose compliance`: the checklist of a proposed operation, or of code that touches toc_* tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.json_arguments import parse_json_options
from groundplan.surfaces.cli.options import MaybeProjectOption

if TYPE_CHECKING:
    from groundplan.purpose.compliance.code_scan import CodeFinding

FINDINGS_MAX = 1_000
SKIPPED_MAX = 100
REASONS_MAX = 3  # in the message of an error


class NotChecked(UsageError):
    """No file could be checked, or one that was named could not."""

    code = "not_checked"


def check_compliance(
    invocation: Invocation,
    words: Annotated[
        list[str] | None,
        argument(
            "OPERATION",
            'The proposed operation as JSON, such as \'{"kind": "publish"}\'; @FILE reads it from a file, '
            "- from standard input. After --code: more files and folders.",
        ),
    ] = None,
    project: MaybeProjectOption = None,
    lean: Annotated[bool | None, option("--lean")] = None,
    detail: Annotated[
        Literal["short", "full"] | None, option("--detail", text="short: only the items that fail.")
    ] = None,
    code: Annotated[
        list[str] | None,
        option(
            "--code",
            value="PATH…",
            text="Check files and folders instead: SQL, migrations and source code. Needs no project. "
            f"Exits with status {RuleViolated.exit_code} if something is blocked, and with "
            f"{NotChecked.exit_code} if nothing could be checked, or not a file that was named.",
        ),
    ] = None,
) -> CommandResult:
    """Return the compliance checklist for a proposed operation, or check code: APPROVED or BLOCKED, and why."""
    if code:
        if project is not None:
            raise UsageError("--code checks files and takes no --project")
        if detail is not None:
            raise UsageError("--code checks files and takes no --detail")
        return _check_code([*code, *(words or [])])
    if not words or len(words) > 1:
        raise UsageError("give an OPERATION, or files and folders with --code; see --help")
    project = invocation.find_project() if project is None else project
    return _check_operation(invocation, project, words[0], lean=lean, detail=detail)


def _check_operation(
    invocation: Invocation, project: str, operation: str, *, lean: bool | None, detail: str | None
) -> CommandResult:
    from groundplan.surfaces.cli.purpose.checks import CHECK

    name = "purpose.compliance"
    given = parse_json_options({"operation": operation}, {"operation"})
    arguments = {
        "project": project,
        "gate": "compliance",
        "operation": given["operation"],
        "detail": detail,
        "lean": lean,
    }
    with invocation.session(reads_only=True) as session:
        validate_value(arguments)
        result = session.execute(session.operations[name], arguments)
    return CommandResult(result.answer, lambda: CHECK(result.answer), encoded=result.encoded)


def _check_code(paths: list[str]) -> CommandResult:
    """Check files and folders."""
    from groundplan.purpose.compliance.code_scan import SUFFIXES, scan_text
    from groundplan.surfaces.cli.purpose.source_files import read_source_files

    findings: list[CodeFinding] = []
    skipped: list[dict[str, str]] = []
    missed: list[dict[str, str]] = []  # those of them that were named
    count = 0
    for file in read_source_files(paths, SUFFIXES):
        if file.skipped:
            skipped.append({"file": file.name, "reason": file.skipped})
            missed += skipped[-1:] if file.is_named else []
            continue
        count += 1
        findings += scan_text(file.name, file.text, SUFFIXES.get(file.suffix))
    blocked = sum(one.severity == "block" for one in findings)
    if not blocked and (missed or not count):
        raise _refuse_approval(paths, missed or skipped, count)
    findings.sort(key=lambda one: one.severity == "warn")  # stable: then by file and line
    left_out = {"findings": len(findings) - FINDINGS_MAX, "skipped": len(skipped) - SKIPPED_MAX}
    data: dict[str, Any] = {
        "status": "BLOCKED" if blocked else "APPROVED",
        "files": count,
        "blocked": blocked,
        "warnings": len(findings) - blocked,
        "findings": findings[:FINDINGS_MAX],
        "skipped": skipped[:SKIPPED_MAX],
    }
    cut = {name: number for name, number in left_out.items() if number > 0}
    if cut:
        data["left_out"] = cut
    return CommandResult(data, lambda: _draw(data), exit_code=RuleViolated.exit_code if blocked else 0)


def _refuse_approval(paths: list[str], skipped: list[dict[str, str]], count: int) -> NotChecked:
    from groundplan.repository.rules.folder import to_display_path
    from groundplan.surfaces.cli.purpose.source_files import FILE_BYTES_MAX

    reasons = [f"{one['file']} {one['reason']}" for one in skipped]
    reasons = reasons or [f"no SQL or source file in {to_display_path(path)}" for path in paths]
    action = f"save it as UTF-8 text of at most {FILE_BYTES_MAX} bytes, or leave it out"
    return NotChecked(
        f"{'not everything' if count else 'nothing'} was checked: {', '.join(reasons[:REASONS_MAX])}"
        + (f" and {len(reasons) - REASONS_MAX} more" if len(reasons) > REASONS_MAX else "")
        + f"; {action if skipped else 'name a file, or another folder'}",
        files=count,
        skipped=skipped[:SKIPPED_MAX],
    )


def _draw(data: dict[str, Any]) -> None:
    from groundplan.surfaces.cli.drawing import Lines, View, note_left_out
    from groundplan.surfaces.cli.purpose.formatting import pluralize

    counts = f"{pluralize(data['warnings'], 'warning')} in {pluralize(data['files'], 'file')}"
    View(
        Lines("findings", _format_finding),
        Lines("skipped", "{file} {reason}", title="Not checked:"),
        note_left_out,
        f"{{status}}: {{blocked}} blocked, {counts}.",
        footer=(),
    )(data)


def _format_finding(one: CodeFinding) -> Iterator[str]:
    from groundplan.surfaces.cli.terminal import INDENT

    yield f"{one.file}:{one.line}: {one.severity}: {one.message} (section {one.section}, {one.title})"
    yield f"{INDENT}{one.action}"
