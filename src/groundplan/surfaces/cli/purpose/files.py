"""`groundplan purpose export` and `import`: write a version to a file, and create a draft from a file."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from groundplan.kernel.cancellation import NO_LIMIT_S
from groundplan.kernel.errors import Forbidden, Invalid
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.wording import join_alternatives
from groundplan.purpose.exchange.export import ExportFormat, build_file, prepare_export
from groundplan.purpose.exchange.formats import (
    EXPORTABLE,
    FORMATS,
    READABLE,
    FileFormat,
    FileFormatUnclear,
    ImportFormat,
    find_format,
    require_one_format,
)
from groundplan.purpose.exchange.import_document import check_imported, summarize_gate
from groundplan.purpose.exchange.incoming_keys import KeyMode
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError, write_line
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    describe_file,
    print_file,
    read_content,
    refuse_existing,
    write_file,
)
from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.options import (
    DraftOption,
    ForceOption,
    OpIdOption,
    ProjectOption,
    TimeoutOption,
    select_version,
)
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars
from groundplan.surfaces.cli.screen.progress import show_progress

if TYPE_CHECKING:
    from groundplan.purpose.exchange.import_document import ImportedPurpose
    from groundplan.purpose.exchange.readers.builder import ReadDocument
    from groundplan.session import Session

HELP_CHARS = 78  # the width of a help page in a terminal of 80 columns
WAIVERS_LEFT_OUT = "left out because of --without-waivers"

ExportChoice = Literal[ExportFormat, "xlsx"]


def export_theory(
    invocation: Invocation,
    project: ProjectOption,
    file_format: Annotated[
        ExportChoice | None,
        option("--format", value="FORMAT", text="One of the formats above. Default: from the file name of --out."),
    ] = None,
    version: Annotated[
        str | None,
        option("--version", value="VERSION"),
    ] = None,
    draft: DraftOption = False,
    out: Annotated[
        str,
        option("--out", value="FILE", text="The output file. Default: -, standard output (not for xlsx)."),
    ] = STANDARD_STREAM,
    force: ForceOption = False,
) -> CommandResult:
    """Export a version as a file, for other programs or for import."""
    with _as_usage_error():
        format_ = _resolve_format(file_format, out, EXPORTABLE)
    if format_ is FileFormat.XLSX and out == STANDARD_STREAM:
        raise UsageError("a workbook cannot be written to standard output; name a file with --out")
    refuse_existing(out, force=force)
    requested = prepare_export(format_)
    which = select_version(version, draft=draft)
    progress = show_progress("exporting the theory", as_json=invocation.as_json)
    with invocation.session(reads_only=True) as session, progress:
        answer = session.call("purpose.export", project=project, format=str(requested), **which)
    warnings: list[str] = answer.warnings or []
    if out == STANDARD_STREAM:

        def print_content() -> None:
            print_file(answer.content)
            for warning in warnings:
                write_line(sys.stderr, f"warning: {escape_control_chars(warning)}")

        return CommandResult(answer, print_content)
    content = build_file(format_, answer.content)
    write_file(out, content, force=force)

    def draw() -> None:
        from groundplan.surfaces.cli.terminal import echo, echo_list

        echo(f"Wrote {out}: v{answer.version} as {format_}, {len(content)} bytes.")
        echo_list("Warnings:", warnings)

    data = {"file": out, "format": str(format_), "version": answer.version, "bytes": len(content)}
    data |= {"warnings": warnings} if warnings else {}
    return CommandResult(data, draw)


def import_theory(
    invocation: Invocation,
    files: Annotated[
        list[str],
        argument("FILE", "The file; - for standard input. csv sheets may be several files."),
    ],
    project: ProjectOption,
    file_format: Annotated[
        ImportFormat | None,
        option("--format", value="FORMAT", text="One of the formats above. Default: from the file name."),
    ] = None,
    keys: Annotated[
        KeyMode | None,
        option(
            "--keys",
            value="same|new",
            text="same: keep the keys of the file; new: assign new keys. "
            "Default: same, but a file that seems to be of another theory is refused.",
        ),
    ] = None,
    without_waivers: Annotated[
        bool,
        option("--without-waivers", text="Leave out the waivers of a native file; only an owner may import them."),
    ] = False,
    op_id: OpIdOption = None,
    timeout: TimeoutOption = None,
) -> CommandResult:
    """Import a file as a new draft, completely or not at all."""
    given = {name: value for name, value in (("keys", keys), ("op_id", op_id)) if value is not None}
    validate_value({"project": project, **given})
    with _as_usage_error():
        format_ = require_one_format([_resolve_format(file_format, file, READABLE) for file in files])
    if files.count(STANDARD_STREAM) > 1:
        raise UsageError("standard input can be read only once; name files")
    reading = _read_files(files, format_)
    if without_waivers:
        from groundplan.purpose.exchange.readers.files import remove_waivers

        remove_waivers(reading, WAIVERS_LEFT_OUT)
    # The document may be larger than a request, and was validated while it was read.
    arguments = {"project": project, **given, "document": msgspec.to_builtins(reading.document)}
    with (
        invocation.session(reads_only=True, limit_s=NO_LIMIT_S if timeout is None else timeout) as session,
        show_progress("importing the theory", as_json=invocation.as_json),
    ):
        answer = _import_document(session, arguments)
        gate = check_imported(session.call, project, answer)
    skipped = [*reading.skipped, *answer.skipped]
    data = {
        **{name: getattr(answer, name) for name in answer.__struct_fields__},
        "skipped": skipped,
        "not_carried": FORMATS[format_].not_carried,
        "gate": summarize_gate(gate),
    }

    def draw() -> None:
        from groundplan.surfaces.cli.purpose.import_answer import draw_import

        draw_import(answer, files, format_, skipped, gate, project)

    return CommandResult(data, draw)


def _import_document(session: Session, arguments: dict[str, Any]) -> ImportedPurpose:
    """Import a document as a draft."""
    try:
        imported: ImportedPurpose = session.run(session.operations["purpose.import"], arguments)
    except Forbidden as error:
        if not arguments["document"]["waivers"]:
            raise
        sentence = f"{error.message}, or leave out the waivers of the file with --without-waivers"
        raise Forbidden(sentence, code=error.code, **error.details) from None
    return imported


# --- Formats ----------------------------------------------------------------------------------------------------------


def _resolve_format(given: str | None, name: str, possible: Sequence[FileFormat]) -> FileFormat:
    """Return the given format, or the format of the file name."""
    if given is not None:
        return FileFormat(given)
    if name == STANDARD_STREAM:
        raise FileFormatUnclear("standard input and output have no file name", possible)
    return find_format(name, possible)


@contextmanager
def _as_usage_error() -> Iterator[None]:
    """Convert an unclear format into a usage error that names the option."""
    try:
        yield
    except FileFormatUnclear as error:
        formats = error.details.get("formats")
        option = f"use --format {join_alternatives(formats)}; " if formats else ""
        raise UsageError(f"{option}{error.problem}", **error.details) from None


def _format_help(formats: Sequence[FileFormat]) -> str:
    """Return what each format is, keeps and loses, for the help of a command."""
    parts = []
    for one in formats:
        about = FORMATS[one]
        lines = [f"{one}  {about.description} ({about.suffix})"]
        lines += _wrap("  keeps", about.keeps)
        lines += _wrap("  loses", about.loses)
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


export_theory.__doc__ = f"{export_theory.__doc__}\n\n{_format_help(EXPORTABLE)}"
import_theory.__doc__ = f"{import_theory.__doc__}\n\n{_format_help(READABLE)}"


# --- Reading files ----------------------------------------------------------------------------------------------------


def _read_files(names: Sequence[str], format_: FileFormat) -> ReadDocument:
    """Return the document in a file, or in several files that are its sheets."""
    from groundplan.purpose.exchange.readers.files import SourceFile, read_files

    try:
        return read_files(
            format_, [SourceFile(name, describe_file(name), partial(read_content, name)) for name in names]
        )
    except Invalid as error:
        formats = error.details.get("formats")
        if not formats:
            raise
        before = ", so" if len(formats) == 1 else f"; if it is not {format_},"
        sentence = f"{error.message}{before} use --format {join_alternatives(formats)}"
        raise Invalid(sentence, code=error.code, **error.details) from None
