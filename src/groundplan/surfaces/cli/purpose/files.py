"""`groundplan purpose export` and `import`: a version as a file, and a file as a new draft."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
import typer

from groundplan.kernel.errors import Forbidden, GroundplanError, Invalid, NotFound
from groundplan.kernel.input_gate.strict_json import inspect
from groundplan.kernel.wording import alternatives
from groundplan.purpose.exchange.export import Written
from groundplan.purpose.exchange.formats.table import FORMATS, READ, WRITTEN, WRITTEN_BY_EXTRAS, Format
from groundplan.purpose.exchange.incoming_keys import Keys
from groundplan.surfaces.cli.extras import require
from groundplan.surfaces.cli.failures import Usage
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    Force,
    called,
    content_of,
    print_file,
    refuse_existing,
    write_file,
)
from groundplan.surfaces.cli.invocation import Invocation, Outcome
from groundplan.surfaces.cli.meanings import meaning
from groundplan.surfaces.cli.purpose.record import OpId, Project

if TYPE_CHECKING:
    from groundplan.purpose.exchange.import_document import TakenIn
    from groundplan.purpose.exchange.readers.document_reading import Reading, Skipped
    from groundplan.purpose.gates.result import GateResult
    from groundplan.session import Session

HELP_CHARS = 78  # what a terminal of 80 has room for between the margins of a help page
WAIVERS_LEFT_OUT = "left out, as --without-waivers says"
SHEETS_AS_CSV = "save its sheets as CSV and name those files"
EXPORTED = (*WRITTEN, *WRITTEN_BY_EXTRAS)

Exportable = Literal[Written, "xlsx"]
Readable = Literal["json", "canvas", "csv", "xmpz2"]


def export_theory(
    invocation: Invocation,
    project: Project,
    file_format: Annotated[
        Exportable | None,
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
            "--version", metavar="VERSION", help=meaning(("purpose", "export"), "version"), show_default=False
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
    force: Force = False,
) -> Outcome:
    """Write a version out as a file, for other programs or for import."""
    meant = _format(file_format, out, EXPORTED)
    if meant is Format.XLSX and out == STANDARD_STREAM:
        raise Usage("a workbook does not go to standard output; name a file with --out")
    refuse_existing(out, force=force)
    if meant is Format.XLSX:
        require("xlsx")
    which = {} if version is None else {"version": version}
    asked = Format.JSON if meant is Format.XLSX else meant
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.export", project=project, format=str(asked), **which)
    if out == STANDARD_STREAM:
        return Outcome(answer, lambda: print_file(answer.content))
    content = _workbook(answer.content) if meant is Format.XLSX else answer.content.encode()
    write_file(out, content, force=force)

    def draw() -> None:
        from groundplan.surfaces.cli.drawing import say

        say(f"Wrote {out}: v{answer.version} as {meant}, {len(content)} bytes.")

    data = {"file": out, "format": str(meant), "version": answer.version, "bytes": len(content)}
    return Outcome(data, draw)


def _workbook(native: str) -> bytes:
    """A workbook of what a native file holds."""
    from groundplan.purpose.exchange.formats.document import TheoryDocument
    from groundplan.surfaces.cli.purpose.workbook import workbook

    return workbook(msgspec.json.decode(native, type=TheoryDocument))


def import_theory(
    invocation: Invocation,
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE", help="The file; - is standard input. The sheets of csv may be several.", show_default=False
        ),
    ],
    project: Project,
    file_format: Annotated[
        Readable | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="What it is: one of the formats above. Default: what the name of FILE tells.",
            show_default=False,
        ),
    ] = None,
    keys: Annotated[
        Keys | None,
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
    op_id: OpId = None,
) -> Outcome:
    """Take a file in as a new draft: all of it that a theory can hold, or nothing."""
    given = {name: value for name, value in (("keys", keys), ("op_id", op_id)) if value is not None}
    inspect({"project": project, **given})
    meant = _format_of_all(file_format, files)
    reading = _read(files, meant)
    skipped = [*reading.skipped, *(_without_waivers(reading) if without_waivers else ())]
    # What was read may be larger than a request, and has been looked at on the way.
    arguments = {"project": project, **given, "document": msgspec.to_builtins(reading.document)}
    with invocation.session(reads_only=True) as session:
        answer = _taken(session, arguments)
        gate = _gate(session, project, answer)
    skipped += answer.skipped
    data = {
        **{name: getattr(answer, name) for name in answer.__struct_fields__},
        "skipped": skipped,
        "not_carried": FORMATS[meant].not_carried,
        "gate": None if isinstance(gate, str) else _shown(gate),
    }

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.imported import draw_taken

        draw_taken(answer, files, meant, skipped, gate, project)

    return Outcome(data, draw)


def _taken(session: Session, arguments: dict[str, Any]) -> TakenIn:
    """A document as a draft.

    Raises:
        GroundplanError: it is refused, and nothing was taken in.
    """
    try:
        taken: TakenIn = session.run(session.operations["purpose.import"], arguments)
    except Forbidden as error:
        if not arguments["document"]["waivers"]:
            raise
        sentence = f"{error.message}, or leave the waivers of the file out with --without-waivers"
        raise Forbidden(sentence, code=error.code, **error.details) from None
    return taken


def _gate(session: Session, project: str, taken: TakenIn) -> GateResult | str:
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


def _shown(gate: GateResult) -> dict[str, Any]:
    """What a gate says in short."""
    return {"passed": gate.passed, "failing": [one.code for one in gate.checks if one.blocks]}


# --- Formats ----------------------------------------------------------------------------------------------------------


def _format(said: str | None, name: str, possible: tuple[Format, ...]) -> Format:
    """The format that is said, or that the name of a file tells.

    Raises:
        Usage: neither is so.
    """
    if said is not None:
        return Format(said)
    suffix = Path(name).suffix.lower()
    told = next((one for one, about in FORMATS.items() if about.suffix == suffix), None)
    if told in possible:
        return told
    if told is Format.XLSX:
        raise Usage(f"{called(name)} is named as a workbook, which is written and not read; {SHEETS_AS_CSV}")
    if told is None:
        why = "no name of a file tells it" if name == STANDARD_STREAM else f"{called(name)} does not tell it"
    else:
        way = "written and not read" if told in WRITTEN else "read and not written"
        why = f"{called(name)} is named as {told}, which is {way}"
    raise Usage(f"say --format {alternatives(possible)}; {why}", formats=list(possible))


def _format_of_all(said: str | None, files: Sequence[str]) -> Format:
    """The one format of some files.

    Raises:
        Usage: it is not known, they are of several, or it has no more than one file.
    """
    meant = {_format(said, file, READ) for file in files}
    if len(files) > 1 and meant != {Format.CSV}:
        raise Usage(f"only the sheets of {Format.CSV} may be several files; name one")
    if list(files).count(STANDARD_STREAM) > 1:
        raise Usage("standard input can be read once; name files")
    return meant.pop()


def _told(formats: Sequence[Format]) -> str:
    """What some formats are, keep and lose, for the help of a command."""
    parts = []
    for one in formats:
        about = FORMATS[one]
        lines = [f"[bold]{one}[/bold]  {_markup_free(about.what)} ({about.suffix})"]
        lines += _folded("  keeps", _markup_free(about.keeps))
        lines += _folded("  loses", _markup_free(about.loses))
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _folded(title: str, text: str) -> Iterator[str]:
    """A text beside its title. `textwrap` can do more, but takes 5 ms, and every command would wait for them."""
    line = title
    for word in text.split():
        if len(line) + 1 + len(word) > HELP_CHARS:
            yield line
            line = " " * len(title)
        line += f" {word}"
    yield line


def _markup_free(text: str) -> str:
    return text.replace("[", "\\[")


export_theory.__doc__ = f"{export_theory.__doc__}\n\n{_told(EXPORTED)}"
import_theory.__doc__ = f"{import_theory.__doc__}\n\n{_told(READ)}"


# --- What comes in ----------------------------------------------------------------------------------------------------


def _read(files: Sequence[str], format_: Format) -> Reading:
    """What is in a file, or in several that are sheets of one.

    Raises:
        Usage: one cannot be opened.
        Invalid: one is not what it is said to be.
    """
    from groundplan.purpose.exchange.readers.document_reading import FILE_BYTES_MAX, decoded
    from groundplan.purpose.exchange.readers.read_file import read_file

    contents: list[bytes] = []
    for file in files:
        bytes_left = max(0, FILE_BYTES_MAX - sum(map(len, contents)))
        raw = content_of(file, bytes_left)
        is_too_much = len(raw) > bytes_left  # and it ends anywhere; together they are refused for it
        if len(files) > 1 and not is_too_much:
            with _naming([file], raw, format_):
                raw = decoded(raw).encode()  # each may be encoded in its own way
        contents.append(raw)
        if is_too_much:
            break
    whole = b"\n\n".join(contents)
    with _naming(files, whole, format_):
        return read_file(format_, whole)


@contextmanager
def _naming(files: Sequence[str], raw: bytes, format_: Format) -> Iterator[None]:
    """Let a refusal say which file it is about, and what to do if it is of another format."""
    from groundplan.purpose.exchange.readers.document_reading import UnreadableFile

    try:
        yield
    except Invalid as error:
        sentence = f"{', '.join(map(called, files))}: {error.message}"
        if not isinstance(error, UnreadableFile):
            sentence += "; nothing was taken in"
        seems = _seems(raw)
        if seems is None:
            others = [one for one in READ if one is not format_]
            sentence += f"; if it is no {format_}, say --format {alternatives(others)}"
        elif seems is Format.XLSX:
            sentence += f"; it looks like a workbook, so {SHEETS_AS_CSV}"
        elif seems is not format_:
            sentence += f"; it looks like {seems}, so say --format {seems}"
        raise Invalid(sentence, code=error.code, **{**error.details, "file": ", ".join(files)}) from None


def _seems(raw: bytes) -> Format | None:
    """What a file is by what it begins with, as far as that tells."""
    if raw.startswith(b"PK"):
        return Format.XLSX if b"xl/workbook.xml" in raw else Format.XMPZ2
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        if b'"node_type"' in raw:
            return Format.JSON
        if b'"nodes"' in raw and b'"x"' in raw:
            return Format.CANVAS
    return None


def _without_waivers(reading: Reading) -> list[Skipped]:
    """Take the waivers out of what was read, and tell of it."""
    from groundplan.purpose.exchange.readers.document_reading import EXAMPLES_MAX, Skipped

    codes = [one.code for one in reading.document.waivers]
    reading.document.waivers = []
    return [Skipped("waiver", WAIVERS_LEFT_OUT, len(codes), codes[:EXAMPLES_MAX])] if codes else []
