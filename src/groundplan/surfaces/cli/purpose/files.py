"""`groundplan purpose export` and `import`: a version as a file, and a file as a new draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from groundplan.kernel.errors import Forbidden, GroundplanError, Invalid, NotFound
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.wording import join_alternatives
from groundplan.purpose.exchange.export import ExportFormat
from groundplan.purpose.exchange.formats.table import FORMATS, READABLE, WRITABLE, WRITABLE_WITH_EXTRAS, FileFormat
from groundplan.purpose.exchange.incoming_keys import KeyMode
from groundplan.surfaces.cli.extras import require
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    ForceOption,
    describe_file,
    print_file,
    read_content,
    refuse_existing,
    write_file,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.option_help import find_option_help
from groundplan.surfaces.cli.purpose.record import OpIdOption, ProjectOption

if TYPE_CHECKING:
    from groundplan.purpose.exchange.import_document import ImportedPurpose
    from groundplan.purpose.exchange.readers.document_builder import ReadDocument, SkippedItem
    from groundplan.purpose.gates.result import GateResult
    from groundplan.session import Session

HELP_CHARS = 78  # what a terminal of 80 has room for between the margins of a help page
WAIVERS_LEFT_OUT = "left out, as --without-waivers says"
SHEETS_AS_CSV = "save its sheets as CSV and name those files"
EXPORT_FORMATS = (*WRITABLE, *WRITABLE_WITH_EXTRAS)

ExportChoice = Literal[ExportFormat, "xlsx"]
ImportChoice = Literal["json", "canvas", "csv", "xmpz2"]


def export_theory(
    invocation: Invocation,
    project: ProjectOption,
    file_format: Annotated[
        ExportChoice | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="As what: one of the formats above. Default: what the name of --out tells.",
            show_default=False,
        ),
    ] = None,
    version: Annotated[
        str | None,
        typer.Option(
            "--version", metavar="VERSION", help=find_option_help(("purpose", "export"), "version"), show_default=False
        ),
    ] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where to. Default: -, standard output, which is not for xlsx.",
            show_default=False,
        ),
    ] = STANDARD_STREAM,
    force: ForceOption = False,
) -> CommandResult:
    """Write a version out as a file, for other programs or for import."""
    meant = _resolve_format(file_format, out, EXPORT_FORMATS)
    if meant is FileFormat.XLSX and out == STANDARD_STREAM:
        raise UsageError("a workbook does not go to standard output; name a file with --out")
    refuse_existing(out, force=force)
    if meant is FileFormat.XLSX:
        require("xlsx")
    which = {} if version is None else {"version": version}
    asked = FileFormat.JSON if meant is FileFormat.XLSX else meant
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.export", project=project, format=str(asked), **which)
    if out == STANDARD_STREAM:
        return CommandResult(answer, lambda: print_file(answer.content))
    content = _workbook(answer.content) if meant is FileFormat.XLSX else answer.content.encode()
    write_file(out, content, force=force)

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        echo(f"Wrote {out}: v{answer.version} as {meant}, {len(content)} bytes.")

    data = {"file": out, "format": str(meant), "version": answer.version, "bytes": len(content)}
    return CommandResult(data, draw)


def _workbook(native: str) -> bytes:
    """A workbook of what a native file holds."""
    from groundplan.purpose.exchange.formats.document import TheoryDocument
    from groundplan.surfaces.cli.purpose.workbook import build_workbook

    return build_workbook(msgspec.json.decode(native, type=TheoryDocument))


def import_theory(
    invocation: Invocation,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="The file; - is standard input. The sheets of csv may be several.", show_default=False
        ),
    ],
    project: ProjectOption,
    file_format: Annotated[
        ImportChoice | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What it is: one of the formats above. Default: what the name of FILE tells.",
            show_default=False,
        ),
    ] = None,
    keys: Annotated[
        KeyMode | None,
        typer.Option(
            "--keys",
            metavar="same|new",
            help="same: keys in the file mean what they mean here; new: all get new ones. "
            "Default: same, and a file that seems to be of another theory is refused.",
            show_default=False,
        ),
    ] = None,
    without_waivers: Annotated[
        bool,
        typer.Option(
            "--without-waivers",
            metavar="",
            help="Leave out the waivers of a native file, which only an owner may bring.",
            show_default=False,
        ),
    ] = False,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Take a file in as a new draft: all of it that a theory can hold, or nothing."""
    given = {name: value for name, value in (("keys", keys), ("op_id", op_id)) if value is not None}
    validate_value({"project": project, **given})
    meant = _resolve_common_format(file_format, files)
    reading = _read_files(files, meant)
    skipped = [*reading.skipped, *(_remove_waivers(reading) if without_waivers else ())]
    # What was read may be larger than a request, and has been looked at on the way.
    arguments = {"project": project, **given, "document": msgspec.to_builtins(reading.document)}
    with invocation.session(reads_only=True) as session:
        answer = _import_document(session, arguments)
        gate = _check_gate(session, project, answer)
    skipped += answer.skipped
    data = {
        **{name: getattr(answer, name) for name in answer.__struct_fields__},
        "skipped": skipped,
        "not_carried": FORMATS[meant].not_carried,
        "gate": None if isinstance(gate, str) else _summarize_gate(gate),
    }

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.import_answer import draw_import

        draw_import(answer, files, meant, skipped, gate, project)

    return CommandResult(data, draw)


def _import_document(session: Session, arguments: dict[str, Any]) -> ImportedPurpose:
    """A document as a draft.

    Raises:
        GroundplanError: it is refused, and nothing was taken in.
    """
    try:
        taken: ImportedPurpose = session.run(session.operations["purpose.import"], arguments)
    except Forbidden as error:
        if not arguments["document"]["waivers"]:
            raise
        sentence = f"{error.message}, or leave the waivers of the file out with --without-waivers"
        raise Forbidden(sentence, code=error.code, **error.details) from None
    return taken


def _check_gate(session: Session, project: str, taken: ImportedPurpose) -> GateResult | str:
    """What the first gate says of the draft; else a sentence why it was not asked. The draft is there in any case.

    Sent again under its op_id, it was taken in before, and may have been changed or discarded since.
    """
    number = taken.version.number
    try:
        found: GateResult = session.call("purpose.check", project=project, gate="A", version=number)
        # A rev never comes again, so what is at it now was so at the check as well.
        rev = session.call("purpose.open", project=project, version=number, detail="summary").rev
    except NotFound:
        return f"The draft of v{number} is gone since."
    except GroundplanError as error:
        return f"What gate A says is not known: {error.message}"
    return found if rev == taken.rev else f"v{number} is not what was taken in any more; it is at rev {rev}."


def _summarize_gate(gate: GateResult) -> dict[str, Any]:
    """What a gate says in short."""
    return {"passed": gate.passed, "failing": [one.code for one in gate.checks if one.is_blocking]}


# --- Formats ----------------------------------------------------------------------------------------------------------


def _resolve_format(said: str | None, name: str, possible: tuple[FileFormat, ...]) -> FileFormat:
    """The format that is said, or that the name of a file tells.

    Raises:
        UsageError: neither is so.
    """
    if said is not None:
        return FileFormat(said)
    suffix = Path(name).suffix.lower()
    told = next((one for one, about in FORMATS.items() if about.suffix == suffix), None)
    if told in possible:
        return told
    if told is FileFormat.XLSX:
        raise UsageError(
            f"{describe_file(name)} is named as a workbook, which is written and not read; {SHEETS_AS_CSV}"
        )
    if told is None:
        why = "no name of a file tells it" if name == STANDARD_STREAM else f"{describe_file(name)} does not tell it"
    else:
        way = "written and not read" if told in WRITABLE else "read and not written"
        why = f"{describe_file(name)} is named as {told}, which is {way}"
    raise UsageError(f"say --format {join_alternatives(possible)}; {why}", formats=list(possible))


def _resolve_common_format(said: str | None, files: Sequence[str]) -> FileFormat:
    """The one format of some files.

    Raises:
        UsageError: it is not known, they are of several, or it has no more than one file.
    """
    meant = {_resolve_format(said, file, READABLE) for file in files}
    if len(files) > 1 and meant != {FileFormat.CSV}:
        raise UsageError(f"only the sheets of {FileFormat.CSV} may be several files; name one")
    if list(files).count(STANDARD_STREAM) > 1:
        raise UsageError("standard input can be read once; name files")
    return meant.pop()


def _format_help(formats: Sequence[FileFormat]) -> str:
    """What some formats are, keep and lose, for the help of a command."""
    parts = []
    for one in formats:
        about = FORMATS[one]
        lines = [f"[bold]{one}[/bold]  {_escape_markup(about.what)} ({about.suffix})"]
        lines += _wrap("  keeps", _escape_markup(about.keeps))
        lines += _wrap("  loses", _escape_markup(about.loses))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _wrap(title: str, text: str) -> Iterator[str]:
    """A text beside its title. `textwrap` can do more, but takes 5 ms, and every command would wait for them."""
    line = title
    for word in text.split():
        if len(line) + 1 + len(word) > HELP_CHARS:
            yield line
            line = " " * len(title)
        line += f" {word}"
    yield line


def _escape_markup(text: str) -> str:
    return text.replace("[", "\\[")


export_theory.__doc__ = f"{export_theory.__doc__}\n\n{_format_help(EXPORT_FORMATS)}"
import_theory.__doc__ = f"{import_theory.__doc__}\n\n{_format_help(READABLE)}"


# --- What comes in ----------------------------------------------------------------------------------------------------


def _read_files(files: Sequence[str], format_: FileFormat) -> ReadDocument:
    """What is in a file, or in several that are sheets of one.

    Raises:
        UsageError: one cannot be opened.
        Invalid: one is not what it is said to be.
    """
    from groundplan.purpose.exchange.readers.document_builder import FILE_BYTES_MAX, decode_text
    from groundplan.purpose.exchange.readers.read_file import read_file

    contents: list[bytes] = []
    for file in files:
        bytes_left = max(0, FILE_BYTES_MAX - sum(map(len, contents)))
        raw = read_content(file, bytes_left)
        is_too_much = len(raw) > bytes_left  # and it ends anywhere; together they are refused for it
        if len(files) > 1 and not is_too_much:
            with _name_files_in_errors([file], raw, format_):
                raw = decode_text(raw).encode()  # each may be encoded in its own way
        contents.append(raw)
        if is_too_much:
            break
    whole = b"\n\n".join(contents)
    with _name_files_in_errors(files, whole, format_):
        return read_file(format_, whole)


@contextmanager
def _name_files_in_errors(files: Sequence[str], raw: bytes, format_: FileFormat) -> Iterator[None]:
    """Let a refusal say which file it is about, and what to do if it is of another format."""
    from groundplan.purpose.exchange.readers.document_builder import UnreadableFile

    try:
        yield
    except Invalid as error:
        sentence = f"{', '.join(map(describe_file, files))}: {error.message}"
        if not isinstance(error, UnreadableFile):
            sentence += "; nothing was taken in"
        seems = _detect_format(raw)
        if seems is None:
            others = [one for one in READABLE if one is not format_]
            sentence += f"; if it is no {format_}, say --format {join_alternatives(others)}"
        elif seems is FileFormat.XLSX:
            sentence += f"; it looks like a workbook, so {SHEETS_AS_CSV}"
        elif seems is not format_:
            sentence += f"; it looks like {seems}, so say --format {seems}"
        raise Invalid(sentence, code=error.code, **{**error.details, "file": ", ".join(files)}) from None


def _detect_format(raw: bytes) -> FileFormat | None:
    """What a file is by what it begins with, as far as that tells."""
    if raw.startswith(b"PK"):
        return FileFormat.XLSX if b"xl/workbook.xml" in raw else FileFormat.XMPZ2
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        if b'"node_type"' in raw:
            return FileFormat.JSON
        if b'"nodes"' in raw and b'"x"' in raw:
            return FileFormat.CANVAS
    return None


def _remove_waivers(reading: ReadDocument) -> list[SkippedItem]:
    """Take the waivers out of what was read, and tell of it."""
    from groundplan.purpose.exchange.readers.document_builder import EXAMPLES_MAX, SkippedItem

    codes = [one.code for one in reading.document.waivers]
    reading.document.waivers = []
    return [SkippedItem("waiver", WAIVERS_LEFT_OUT, len(codes), codes[:EXAMPLES_MAX])] if codes else []
