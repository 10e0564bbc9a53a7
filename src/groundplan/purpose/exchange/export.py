"""Export a version as a file. `purpose.export` returns text, from which a workbook is made afterwards."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.dates import get_day
from groundplan.purpose.exchange.formats import FORMATS, FileFormat, require_extra
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.gates.gates import select_active_waivers
from groundplan.purpose.model import Content
from groundplan.purpose.observing.read import read_version_observations
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.versions.versions import VersionRef, find_latest_published, require_version

ExportFormat = Literal["json", "mermaid", "dot", "graphml", "canvas", "csv", "logframe", "iati", "svg", "html"]

# The module of the package and the function that write each format. Only the requested one is loaded.
_WRITERS: dict[str, tuple[str, str]] = {
    "json": ("document", "write_json"),
    "mermaid": ("writers.mermaid", "write_mermaid"),
    "dot": ("writers.dot", "write_dot"),
    "graphml": ("writers.graphml", "write_graphml"),
    "canvas": ("writers.canvas", "write_canvas"),
    "csv": ("writers.sheets", "write_csv"),
    "logframe": ("writers.logframe", "write_logframe"),
    "iati": ("writers.iati", "write_iati"),
    "svg": ("writers.picture", "write_svg"),
    "html": ("writers.html_page", "write_html"),
}

_MADE_FROM = {FileFormat.XLSX: FileFormat.JSON}  # the format of `purpose.export` that a file is made of


class ExportPurpose(Struct, forbid_unknown_fields=True):
    """The version (by default the latest published, else the draft) and the file format."""

    project: Name
    format: ExportFormat
    version: VersionRef | None = None


class ExportedPurpose(Struct):
    """The exported file, and the nodes that it leaves out."""

    format: ExportFormat
    version: int
    content: str
    warnings: list[str] | UnsetType = UNSET


class Export(NamedTuple):
    """A theory to write, and the format."""

    theory: Theory
    format: ExportFormat


def read_export(tx: Transaction, request: ExportPurpose) -> Export:
    """Read the data of an export.

    Raises:
        NotFound: there is no such version, or no version at all.
        ContentAltered: the content of a published version does not match its hash.
    """
    return Export(read_theory(tx, request.version), request.format)


def write_export(export: Export) -> ExportedPurpose:
    """Write the file. This runs outside the transaction, because a picture takes long."""
    module_name, function = _WRITERS[export.format]
    module = import_module(f"groundplan.purpose.exchange.{module_name}")
    writer: Callable[[Theory], str] = getattr(module, function)
    exported = ExportedPurpose(export.format, export.theory.number, writer(export.theory))
    if export.format == "iati" and (left_out := module.find_left_out(export.theory)):
        keys = ", ".join(left_out)
        exported.warnings = [f"left out of the file, because IATI results need an indicator: {keys}"]
    return exported


def read_theory(tx: Transaction, ref: VersionRef | None) -> Theory:
    """Read a version with its current observations, by default the latest published version, else the draft."""
    row = (find_latest_published(tx) if ref is None else None) or require_version(tx, ref)
    content = read_verified_content(tx, row)
    observed = read_version_observations(tx, content)
    return Theory(
        tx.project.name,
        row.number,
        row.label,
        row.status,
        row.profile,
        row.published_at,
        content,
        observed.get_statuses(),
        observed.get_latest_measurements(),
        select_waivers_about(content, select_active_waivers(observed.waivers, get_day(tx.now))),
    )


def select_waivers_about(content: Content, waivers: list[Waiver]) -> list[Waiver]:
    """Return the waivers that apply to some content, sorted and without duplicates, with only the refs in it."""
    existing = {*content.nodes, *content.assumptions, *content.indicators, *(str(edge.name) for edge in content.edges)}
    waiver_by_identity: dict[tuple[str, tuple[str, ...], str, str, str], Waiver] = {}
    for waiver in waivers:
        refs = sorted(ref for ref in waiver.refs if ref in existing or ref.startswith("/"))
        if refs or not waiver.refs:
            applying = waiver._replace(refs=refs)
            waiver_by_identity[applying.code, tuple(refs), applying.reason, applying.owner, applying.due] = applying
    return [waiver_by_identity[identity] for identity in sorted(waiver_by_identity)]


def prepare_export(format_: FileFormat) -> FileFormat:
    """Return the format for the call of `purpose.export` that a file needs."""
    extra = FORMATS[format_].extra
    if extra is not None:
        require_extra(extra)
    return _MADE_FROM.get(format_, format_)


def build_file(format_: FileFormat, exported: str) -> bytes:
    """Return the file made from the text that `purpose.export` returned."""
    if format_ is not FileFormat.XLSX:
        return exported.encode()
    from groundplan.purpose.exchange.document import TheoryDocument
    from groundplan.purpose.exchange.writers.workbook import build_workbook

    return build_workbook(get_decoder(TheoryDocument).decode(exported))


OPERATION = declare(
    read_export,
    name="purpose.export",
    summary="Export a version as a file: json, mermaid, dot, graphml, canvas, csv, logframe, iati, svg or html.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    finish=write_export,
    http=Route("GET", "/projects/{project}/purpose/export"),
)
