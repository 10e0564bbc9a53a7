"""`groundplan purpose compliance`: the checklist of a proposed operation, or of code that touches toc_* tables."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.wording import quote_text
from groundplan.repository.rules.folder import to_display_path
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import parse_json_options
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import MaybeProjectOption

if TYPE_CHECKING:
    from groundplan.purpose.compliance.checklist import CodeFinding


FILES_MAX = 20_000
FILE_BYTES_MAX = 8 << 20
PROBE_BYTES = 8_192  # a NUL byte in them means that a file is binary
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})  # the code of others

UTF_8 = "utf-8-sig"  # drops a byte order mark
_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    *((mark, "utf-32") for mark in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    *((mark, "utf-16") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)

# O_NONBLOCK: opening a pipe in place of a file must not block.
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class CodeFile(NamedTuple):
    """A file: its text, or the reason why it was not read; and whether the user named it, or a folder above it."""

    name: str
    text: str = ""
    skipped: str = ""
    is_named: bool = False


def read_source_files(paths: Sequence[str], suffixes: Collection[str]) -> Iterator[CodeFile]:
    """Yield the named files, and those below the named folders that have one of the suffixes."""
    named = {os.path.normpath(path) for path in paths}
    files = {os.path.normpath(file): file for path in paths for file in _list_files(path, suffixes)}
    if len(files) > FILES_MAX:
        raise UsageError(f"--code takes at most {FILES_MAX} files; name fewer folders", limit=FILES_MAX)
    yield from (_read(file, is_named=name in named) for name, file in files.items())


def _list_files(path: str, suffixes: Collection[str]) -> Iterator[str]:
    """Yield the files of a path, in a fixed order."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a path with a NUL raises only here
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UsageError(f"cannot read {quote_text(path)}: {reason}", file=to_display_path(path)) from None
    if not stat.S_ISDIR(mode):
        yield path
        return
    for above, folders, files in os.walk(path):
        folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS and not one.startswith("."))
        yield from (str(Path(above, one)) for one in sorted(files) if Path(one).suffix in suffixes)


def _read(path: str, *, is_named: bool) -> CodeFile:
    """Read a file. Only a link that the user named is followed."""
    file = CodeFile(to_display_path(path), is_named=is_named)
    try:
        descriptor = os.open(path, _READ_FLAGS | (0 if is_named else os.O_NOFOLLOW))
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file._replace(skipped="is not a regular file")
            raw = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        is_link = not is_named and Path(path).is_symlink()
        reason = "is a symbolic link, which is not followed" if is_link else f"cannot be read: {error.strerror}"
        return file._replace(skipped=reason)
    encoding = _find_encoding(raw)
    if encoding == UTF_8 and b"\0" in raw[:PROBE_BYTES]:
        return file._replace(skipped="is binary")
    if len(raw) > FILE_BYTES_MAX:
        return file._replace(skipped=f"is larger than {FILE_BYTES_MAX} bytes")
    return file._replace(text=raw.decode(encoding, "replace"))


def _find_encoding(raw: bytes) -> str:
    """Return the encoding that the byte order mark of a file names, else UTF-8."""
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if raw.startswith(mark)), UTF_8)


def check_commit(folder: str, commit_id: str) -> list[CodeFinding]:
    """Return the findings in the files that a commit added or changed, what is blocked first."""
    from groundplan.purpose.compliance.code_check import SUFFIXES, check_code
    from groundplan.repository.git import Repository

    repository = Repository(folder)
    commit = repository.resolve_commit(commit_id)
    files = repository.read_changed_files(commit, SUFFIXES, bytes_max=COMMITTED_BYTES_MAX)
    findings = [one for name, raw in files for one in check_code(name, raw.decode(_find_encoding(raw), "replace"))]
    return sorted(findings, key=lambda finding: finding.verdict)


COMMITTED_BYTES_MAX = 1 << 18  # the author of a commit waits
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
    strict: Annotated[
        bool, option("--strict", text=f"With --code: exit with status {RuleViolated.exit_code} for a LOOK, too.")
    ] = False,
) -> CommandResult:
    """Return the compliance checklist for a proposed operation, or check code: APPROVED, LOOK or BLOCKED, and why."""
    if code:
        if project is not None or detail is not None:
            raise UsageError("--code checks files and takes neither --project nor --detail")
        return _check_code([*code, *(words or [])], strict=strict)
    if strict:
        raise UsageError("--strict is for --code; omit it")
    if not words or len(words) > 1:
        raise UsageError("give an OPERATION, or files and folders with --code; see --help")
    project = invocation.find_project() if project is None else project
    return _check_operation(invocation, project, words[0], lean=lean, detail=detail)


def _check_operation(
    invocation: Invocation, project: str, operation: str, *, lean: bool | None, detail: str | None
) -> CommandResult:
    from groundplan.surfaces.cli.purpose.views import CHECK

    name = "purpose.compliance"
    given = parse_json_options({"operation": operation}, {"operation"})
    arguments = {"project": project, "gate": "compliance", **given, "detail": detail, "lean": lean}
    with invocation.session(reads_only=True) as session:
        validate_value(arguments)
        result = session.execute(session.operations[name], arguments)
    return CommandResult(result.answer, lambda: CHECK(result.answer), encoded=result.encoded)


def _check_code(paths: list[str], *, strict: bool) -> CommandResult:
    """Check files and folders."""
    from groundplan.purpose.compliance.code_check import SUFFIXES, check_code, decide

    findings: list[CodeFinding] = []
    skipped: list[CodeFile] = []
    count = 0
    for file in read_source_files(paths, SUFFIXES):
        if file.skipped:
            skipped.append(file)
        else:
            count += 1
            findings += check_code(file.name, file.text)
    status = decide(findings)
    missed = [file for file in skipped if file.is_named]
    if status != "BLOCKED" and (missed or not count):
        raise _refuse_approval(paths, missed or skipped, count)
    findings.sort(key=lambda finding: finding.verdict)  # BLOCKED first; stable: then by file and line
    blocked = sum(finding.verdict == "BLOCKED" for finding in findings)
    left_out = {"findings": len(findings) - FINDINGS_MAX, "skipped": len(skipped) - SKIPPED_MAX}
    data: dict[str, Any] = {
        "status": status,
        "files": count,
        "blocked": blocked,
        "look": len(findings) - blocked,
        "findings": findings[:FINDINGS_MAX],
        "skipped": _list_skipped(skipped),
    }
    cut = {name: number for name, number in left_out.items() if number > 0}
    if cut:
        data["left_out"] = cut
    is_refused = status == "BLOCKED" or (strict and status == "LOOK")
    return CommandResult(data, lambda: _draw(data), exit_code=RuleViolated.exit_code if is_refused else 0)


def _list_skipped(skipped: list[CodeFile]) -> list[dict[str, str]]:
    return [{"file": file.name, "reason": file.skipped} for file in skipped[:SKIPPED_MAX]]


def _refuse_approval(paths: list[str], skipped: list[CodeFile], count: int) -> NotChecked:
    reasons = [f"{file.name} {file.skipped}" for file in skipped]
    reasons = reasons or [f"no SQL or source file in {to_display_path(path)}" for path in paths]
    action = f"save it as UTF-8 text of at most {FILE_BYTES_MAX} bytes, or leave it out"
    return NotChecked(
        f"{'not everything' if count else 'nothing'} was checked: {', '.join(reasons[:REASONS_MAX])}"
        + (f" and {len(reasons) - REASONS_MAX} more" if len(reasons) > REASONS_MAX else "")
        + f"; {action if skipped else 'name a file, or another folder'}",
        files=count,
        skipped=_list_skipped(skipped),
    )


def _draw(data: dict[str, Any]) -> None:
    from groundplan.surfaces.cli.drawing import Lines, View, note_left_out
    from groundplan.surfaces.cli.terminal import pluralize

    View(
        Lines("findings", "{path}:{line}: {verdict}: {text}"),
        Lines("skipped", "{file} {reason}", title="Not checked:"),
        note_left_out,
        f"{{status}}: {{blocked}} blocked, {{look}} to look at, in {pluralize(data['files'], 'file')}.",
        footer=(),
    )(data)
