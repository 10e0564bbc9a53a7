"""`groundplan purpose export`, `import` and `render`: a version as a file or a picture, and a draft from a file."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import UNSET

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
    require_extra,
    require_one_format,
)
from groundplan.purpose.exchange.import_document import ImportedPurpose, check_imported, summarize_gate
from groundplan.purpose.exchange.incoming_keys import KeyMapping, KeyMode
from groundplan.purpose.exchange.readers.builder import SkippedItem
from groundplan.purpose.exchange.writers.picture import SCALE, SCALE_MAX, PngTooLarge, choose_theme, rasterize
from groundplan.purpose.gates.gates import GateResult
from groundplan.surfaces.cli.command_line import argument, option
from groundplan.surfaces.cli.failures import UsageError
from groundplan.surfaces.cli.files import (
    STANDARD_STREAM,
    describe_file,
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
from groundplan.surfaces.cli.purpose.views import ARROW, format_finding
from groundplan.surfaces.cli.screen.output import GAP, Part, print_parts
from groundplan.surfaces.cli.steps import Step, join_steps, list_section, print_answer, write_answer
from groundplan.surfaces.cli.terminal import pluralize, to_one_line

if TYPE_CHECKING:
    from groundplan.purpose.exchange.import_document import ImportedPurpose
    from groundplan.purpose.exchange.readers.builder import ReadDocument
    from groundplan.purpose.exchange.render import Rendered
    from groundplan.purpose.exchange.writers.picture import Png
    from groundplan.session import Session


NAMES_SHOWN_MAX = 5
_FILE_KINDS = {FileFormat.CANVAS: "a canvas", FileFormat.CSV: "CSV sheets", FileFormat.XMPZ2: "a Miradi project"}


def list_imported(
    answer: ImportedPurpose,
    files: Sequence[str],
    format_: FileFormat,
    skipped: Sequence[SkippedItem],
    gate: GateResult | str,
    project: str,
) -> Iterator[Part]:
    """Yield a draft that was imported from files. `gate` may be a sentence that says why there is no result."""
    number, source = answer.version.number, ", ".join(map(describe_file, files))
    counts = ((name.removesuffix("s"), count) for name, count in msgspec.to_builtins(answer.counts).items())
    summary = ", ".join(pluralize(count, noun) for noun, count in counts if count)
    yield from (f"Imported {summary or 'nothing'} from {source}.", f"The draft of v{number} is at rev {answer.rev}.")
    yield from list_section("New keys:", _format_new_keys(answer.keys))
    yield from list_section("Existing keys with new titles:", _format_keys(answer.renamed))
    yield from list_section("Warnings:", map(_format_skipped, skipped))
    if format_ in _FILE_KINDS:
        yield from (GAP, f"Not included in {_FILE_KINDS[format_]}: {', '.join(FORMATS[format_].not_carried)}.")
    yield GAP
    if isinstance(gate, str):
        yield gate
    elif gate.passed:
        yield from ("Gate A would pass.", f"Next: groundplan purpose open --project {shlex.quote(project)}")
    else:
        findings = (f"  {format_finding(one)}" for one in gate.checks if one.is_blocking)
        yield from ("Gate A would not pass:", *findings)
        yield f"Next: groundplan purpose check A --project {shlex.quote(project)}"


def _format_keys(keys: Sequence[str]) -> Iterator[str]:
    if keys:
        more = len(keys) - NAMES_SHOWN_MAX
        yield ", ".join(keys[:NAMES_SHOWN_MAX]) + (f" and {more} more" if more > 0 else "")


def _format_new_keys(keys: Sequence[KeyMapping]) -> Iterator[str]:
    for one in keys[:NAMES_SHOWN_MAX]:
        yield f"{to_one_line(one.name)}{ARROW}{one.key}"
    if len(keys) > NAMES_SHOWN_MAX:
        yield f"and {len(keys) - NAMES_SHOWN_MAX} more"


def _format_skipped(one: SkippedItem) -> str:
    times = f", {one.count} times" if one.count > 1 else ""
    more = one.count - len(one.examples)
    examples = ", ".join(map(to_one_line, one.examples)) + (f" and {more} more" if more > 0 else "")
    return f"{one.what}{times}: {one.why}{f' ({examples})' if one.examples else ''}"


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
    with invocation.session(reads_only=True) as session:
        answer = session.call("purpose.export", project=project, format=str(requested), **which)
    warnings: list[str] = answer.warnings or []
    if out == STANDARD_STREAM:
        return print_answer(answer.content, answer, warnings)
    content = build_file(format_, answer.content)
    data = {"file": out, "format": str(format_), "version": answer.version, "bytes": len(content)}
    data |= {"warnings": warnings} if warnings else {}
    wrote, shown = f"v{answer.version} as {format_}, {len(content)} bytes", list_section("Warnings:", warnings)
    return write_answer(out, content, wrote, force=force, data=data, more=shown)


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
    with invocation.session(reads_only=True, limit_s=NO_LIMIT_S if timeout is None else timeout) as session:
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

        print_parts(list_imported(answer, files, format_, skipped, gate, project))

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


def render(
    invocation: Invocation,
    project: ProjectOption,
    svg: Annotated[
        str | None,
        option("--svg", value="FILE", text="The SVG file. Default: -, standard output, unless --png is given."),
    ] = None,
    png: Annotated[
        str | None,
        option("--png", value="FILE", text="The PNG file. Needs groundplan[png]."),
    ] = None,
    scale: Annotated[
        int | None,
        option(
            "--scale",
            value="NUMBER",
            text=f"Pixels of the PNG per pixel of the picture. Default: {SCALE}.",
            low=1,
            high=SCALE_MAX,
        ),
    ] = None,
    version: Annotated[
        str | None,
        option("--version", value="VERSION"),
    ] = None,
    draft: DraftOption = False,
    everything: Annotated[
        bool,
        option("--all", text="Draw every node of a large plan, not an overview."),
    ] = False,
    overview: Annotated[
        bool,
        option("--overview", text="Draw groups of nodes, as above 120 nodes."),
    ] = False,
    group: Annotated[
        str | None,
        option("--group", value="GROUP"),
    ] = None,
    view: Annotated[
        str | None,
        option("--view", value="NAME"),
    ] = None,
    pathway: Annotated[
        str | None,
        option("--pathway", value="KEY"),
    ] = None,
    compare: Annotated[
        str | None,
        option("--compare", value="VERSION"),
    ] = None,
    theme: Annotated[
        Literal["light", "dark", "auto"],
        option(
            "--theme",
            value="light|dark|auto",
            text="The colours; auto follows the reader's screen, and is light in a PNG. Default: light.",
        ),
    ] = "light",
    force: ForceOption = False,
) -> CommandResult:
    """Draw a version as SVG or PNG: all of it or an overview, a view, the paths of one node, or what changed."""
    if svg is None and png is None:
        svg = STANDARD_STREAM
    _check_outputs(svg, png, scale, force=force)
    if everything and overview:
        raise UsageError("--all and --overview cannot be combined; give one of them")
    detail = "all" if everything else "overview" if overview else None
    given = {"detail": detail, "group": group, "view": view, "pathway": pathway, "compare": compare, "theme": theme}
    options = {name: value for name, value in given.items() if value is not None} | select_version(version, draft=draft)
    with invocation.session(reads_only=True) as session:
        answer = plain = session.call("purpose.render", project=project, **options)
        if png is not None and choose_theme(theme) != theme:
            plain = session.call("purpose.render", project=project, **{**options, "theme": choose_theme(theme)})
    raster = None if png is None else _rasterize(plain, scale or SCALE)  # before anything is written: it may fail
    data: dict[str, Any] = {"version": answer.version}
    files = []
    if svg == STANDARD_STREAM:
        data = {name: value for name in answer.__struct_fields__ if (value := getattr(answer, name)) is not UNSET}
    elif svg is not None:
        files.append(_write_picture(svg, answer.svg.encode(), answer.width, answer.height, force=force))
        data |= files[0]
    if png is not None and raster is not None:
        files.append(_write_picture(png, *raster, force=force))
        data["png"] = files[-1]

    if svg == STANDARD_STREAM:
        return print_answer(answer.svg, data)
    wrote = [
        f"Wrote {one['file']}: v{answer.version}, {one['width']} x {one['height']}, {one['bytes']} bytes."
        for one in files
    ]
    if answer.groups is not UNSET:
        ids = ", ".join(f"{one.group} ({one.nodes})" for one in answer.groups)
        wrote.append(f"An overview of groups: {ids}. --group opens one of them, --all draws every node.")
    return join_steps(Step(data, wrote))


def _check_outputs(svg: str | None, png: str | None, scale: int | None, *, force: bool) -> None:
    """Check the output options before anything is drawn."""
    if png is None and scale is not None:
        raise UsageError("--scale needs --png FILE")
    if png == STANDARD_STREAM:
        raise UsageError("a PNG cannot be written to standard output; name a file with --png")
    if png is not None and png == svg:
        raise UsageError("--svg and --png name the same file; name two files")
    for out in (svg, png):
        if out is not None:
            refuse_existing(out, force=force)
    if png is not None:
        require_extra("png")


def _rasterize(picture: Rendered, scale: int) -> Png:
    """Return a picture as PNG."""
    try:
        return rasterize(picture, scale)
    except PngTooLarge as error:
        smaller = "use --scale 1, " if scale > 1 else ""
        sentence = f"{error.problem}; {smaller}show less with --pathway or --group, or use --svg"
        raise UsageError(sentence, **error.details) from None


def _write_picture(file: str, content: bytes, width: int, height: int, *, force: bool) -> dict[str, Any]:
    """Write a picture and return its name and size."""
    write_file(file, content, force=force)
    return {"file": file, "width": width, "height": height, "bytes": len(content)}
