"""`groundplan purpose export` and `import`: write a version to a file, and create a draft from a file."""

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

HELP_CHARS = 78  # the width of a help page in a terminal of 80 columns
WAIVERS_LEFT_OUT = "left out because of --without-waivers"
SHEETS_AS_CSV = "save its sheets as CSV and import those files"
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
            help="One of the formats above. Default: from the file name of --out.",
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
            help="The output file. Default: -, standard output (not for xlsx).",
            show_default=False,
        ),
    ] = STANDARD_STREAM,
    force: ForceOption = False,
) -> CommandResult:
    """Export a version as a file, for other programs or for import."""
    format_ = _resolve_format(file_format, out, EXPORT_FORMATS)
    if format_ is FileFormat.XLSX and out == STANDARD_STREAM:
        raise UsageError("a workbook cannot be written to standard output; name a file with --out")
    refuse_existing(out, force=force)
    if format_ is FileFormat.XLSX:
        require("xlsx")
    which = {} if version is None else {"version": version}
    asked = FileFormat.JSON if format_ is FileFormat.XLSX else format_
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.export", project=project, format=str(asked), **which)
    if out == STANDARD_STREAM:
        return CommandResult(answer, lambda: print_file(answer.content))
    content = _workbook(answer.content) if format_ is FileFormat.XLSX else answer.content.encode()
    write_file(out, content, force=force)

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo

        echo(f"Wrote {out}: v{answer.version} as {format_}, {len(content)} bytes.")

    data = {"file": out, "format": str(format_), "version": answer.version, "bytes": len(content)}
    return CommandResult(data, draw)


def _workbook(native: str) -> bytes:
    """Return a native document as a workbook."""
    from groundplan.purpose.exchange.formats.document import TheoryDocument
    from groundplan.surfaces.cli.purpose.workbook import build_workbook

    return build_workbook(msgspec.json.decode(native, type=TheoryDocument))


def import_theory(
    invocation: Invocation,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="The file; - for standard input. csv sheets may be several files.",
            show_default=False,
        ),
    ],
    project: ProjectOption,
    file_format: Annotated[
        ImportChoice | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="One of the formats above. Default: from the file name.",
            show_default=False,
        ),
    ] = None,
    keys: Annotated[
        KeyMode | None,
        typer.Option(
            "--keys",
            metavar="same|new",
            help="same: keep the keys of the file; new: assign new keys. "
            "Default: same, but a file that seems to be of another theory is refused.",
            show_default=False,
        ),
    ] = None,
    without_waivers: Annotated[
        bool,
        typer.Option(
            "--without-waivers",
            metavar="",
            help="Leave out the waivers of a native file; only an owner may import them.",
            show_default=False,
        ),
    ] = False,
    op_id: OpIdOption = None,
) -> CommandResult:
    """Import a file as a new draft, completely or not at all."""
    given = {name: value for name, value in (("keys", keys), ("op_id", op_id)) if value is not None}
    validate_value({"project": project, **given})
    format_ = _resolve_common_format(file_format, files)
    reading = _read_files(files, format_)
    skipped = [*reading.skipped, *(_remove_waivers(reading) if without_waivers else ())]
    # The document may be larger than a request, and was validated while it was read.
    arguments = {"project": project, **given, "document": msgspec.to_builtins(reading.document)}
    with invocation.session(reads_only=True) as session:
        answer = _import_document(session, arguments)
        gate = _check_gate(session, project, answer)
    skipped += answer.skipped
    data = {
        **{name: getattr(answer, name) for name in answer.__struct_fields__},
        "skipped": skipped,
        "not_carried": FORMATS[format_].not_carried,
        "gate": None if isinstance(gate, str) else _summarize_gate(gate),
    }

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.import_answer import draw_import

        draw_import(answer, files, format_, skipped, gate, project)

    return CommandResult(data, draw)


def _import_document(session: Session, arguments: dict[str, Any]) -> ImportedPurpose:
    """Import a document as a draft.

    Raises:
        GroundplanError: the document is refused, and nothing was imported.
    """
    try:
        imported: ImportedPurpose = session.run(session.operations["purpose.import"], arguments)
    except Forbidden as error:
        if not arguments["document"]["waivers"]:
            raise
        sentence = f"{error.message}, or leave out the waivers of the file with --without-waivers"
        raise Forbidden(sentence, code=error.code, **error.details) from None
    return imported


def _check_gate(session: Session, project: str, imported: ImportedPurpose) -> GateResult | str:
    """Return the result of gate A for the draft, or a sentence that says why there is none.

    A repeated request with the same op_id imported the draft earlier, so it may have changed or gone since.
    """
    number = imported.version.number
    try:
        found: GateResult = session.call("purpose.check", project=project, gate="A", version=number)
        # A rev is never reused, so an unchanged rev means that the check saw the imported draft.
        rev = session.call("purpose.open", project=project, version=number, detail="summary").rev
    except NotFound:
        return f"The draft of v{number} no longer exists."
    except GroundplanError as error:
        return f"Gate A could not be checked: {error.message}"
    return found if rev == imported.rev else f"v{number} has changed since the import; it is at rev {rev}."


def _summarize_gate(gate: GateResult) -> dict[str, Any]:
    """Return whether a gate passed and its blocking checks."""
    return {"passed": gate.passed, "failing": [one.code for one in gate.checks if one.is_blocking]}


# --- Formats ----------------------------------------------------------------------------------------------------------


def _resolve_format(given: str | None, name: str, possible: tuple[FileFormat, ...]) -> FileFormat:
    """Return the given format, or the format of the file name.

    Raises:
        UsageError: no format is given, and the file name has none of the possible formats.
    """
    if given is not None:
        return FileFormat(given)
    suffix = Path(name).suffix.lower()
    named = next((one for one, about in FORMATS.items() if about.suffix == suffix), None)
    if named in possible:
        return named
    if named is FileFormat.XLSX:
        raise UsageError(f"{describe_file(name)} is a workbook, which cannot be imported; {SHEETS_AS_CSV}")
    if named is None:
        why = (
            "standard input and output have no file name"
            if name == STANDARD_STREAM
            else (f"the name {describe_file(name)} does not show the format")
        )
    else:
        limit = "exported" if named in WRITABLE else "imported"
        why = f"{describe_file(name)} is {named}, which can only be {limit}"
    raise UsageError(f"use --format {join_alternatives(possible)}; {why}", formats=list(possible))


def _resolve_common_format(given: str | None, files: Sequence[str]) -> FileFormat:
    """Return the common format of some files.

    Raises:
        UsageError: the format is unknown, the formats differ, or the format allows only one file.
    """
    formats = {_resolve_format(given, file, READABLE) for file in files}
    if len(files) > 1 and formats != {FileFormat.CSV}:
        raise UsageError(f"only {FileFormat.CSV} sheets may be several files; name one file")
    if list(files).count(STANDARD_STREAM) > 1:
        raise UsageError("standard input can be read only once; name files")
    return formats.pop()


def _format_help(formats: Sequence[FileFormat]) -> str:
    """Return what each format is, keeps and loses, for the help of a command."""
    parts = []
    for one in formats:
        about = FORMATS[one]
        lines = [f"[bold]{one}[/bold]  {_escape_markup(about.what)} ({about.suffix})"]
        lines += _wrap("  keeps", _escape_markup(about.keeps))
        lines += _wrap("  loses", _escape_markup(about.loses))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _wrap(title: str, text: str) -> Iterator[str]:
    """Yield a text wrapped beside its title. `textwrap` would add 5 ms to the start of every command."""
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


# --- Reading files ----------------------------------------------------------------------------------------------------


def _read_files(files: Sequence[str], format_: FileFormat) -> ReadDocument:
    """Return the document in a file, or in several files that are its sheets.

    Raises:
        UsageError: a file cannot be opened.
        Invalid: a file is not of the given format.
    """
    from groundplan.purpose.exchange.readers.document_builder import FILE_BYTES_MAX, decode_text
    from groundplan.purpose.exchange.readers.read_file import read_file

    contents: list[bytes] = []
    for file in files:
        bytes_left = max(0, FILE_BYTES_MAX - sum(map(len, contents)))
        raw = read_content(file, bytes_left)
        is_too_large = len(raw) > bytes_left  # cut off anywhere, so not decoded; read_file refuses the size
        if len(files) > 1 and not is_too_large:
            with _name_files_in_errors([file], raw, format_):
                raw = decode_text(raw).encode()  # each file may have its own encoding
        contents.append(raw)
        if is_too_large:
            break
    whole = b"\n\n".join(contents)
    with _name_files_in_errors(files, whole, format_):
        return read_file(format_, whole)


@contextmanager
def _name_files_in_errors(files: Sequence[str], raw: bytes, format_: FileFormat) -> Iterator[None]:
    """Add to errors the names of the files, and what to do if they are of another format."""
    from groundplan.purpose.exchange.readers.document_builder import UnreadableFile

    try:
        yield
    except Invalid as error:
        sentence = f"{', '.join(map(describe_file, files))}: {error.message}"
        if not isinstance(error, UnreadableFile):
            sentence += "; nothing was imported"
        detected = _detect_format(raw)
        if detected is None:
            others = [one for one in READABLE if one is not format_]
            sentence += f"; if it is not {format_}, use --format {join_alternatives(others)}"
        elif detected is FileFormat.XLSX:
            sentence += f"; it looks like a workbook, so {SHEETS_AS_CSV}"
        elif detected is not format_:
            sentence += f"; it looks like {detected}, so use --format {detected}"
        raise Invalid(sentence, code=error.code, **{**error.details, "file": ", ".join(files)}) from None


def _detect_format(raw: bytes) -> FileFormat | None:
    """Return the format that the content of a file looks like, or None."""
    if raw.startswith(b"PK"):
        return FileFormat.XLSX if b"xl/workbook.xml" in raw else FileFormat.XMPZ2
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        if b'"node_type"' in raw:
            return FileFormat.JSON
        if b'"nodes"' in raw and b'"x"' in raw:
            return FileFormat.CANVAS
    return None


def _remove_waivers(reading: ReadDocument) -> list[SkippedItem]:
    """Remove the waivers from a document, and return them as a skipped item."""
    from groundplan.purpose.exchange.readers.document_builder import EXAMPLES_MAX, SkippedItem

    codes = [one.code for one in reading.document.waivers]
    reading.document.waivers = []
    return [SkippedItem("waiver", WAIVERS_LEFT_OUT, len(codes), codes[:EXAMPLES_MAX])] if codes else []
