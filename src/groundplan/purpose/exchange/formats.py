"""The file formats of a theory: the contents that each keeps and loses, its detection, and required extras.

The help texts and the reference of formats are generated from the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from importlib import import_module
from pathlib import PurePath
from typing import Any, Literal, NamedTuple

from groundplan.kernel.errors import Invalid, Unavailable
from groundplan.kernel.wording import quote_text


class FileFormat(StrEnum):
    """The name of a file format."""

    JSON = "json"
    MERMAID = "mermaid"
    DOT = "dot"
    GRAPHML = "graphml"
    CANVAS = "canvas"
    CSV = "csv"
    XLSX = "xlsx"
    LOGFRAME = "logframe"
    IATI = "iati"
    SVG = "svg"
    HTML = "html"
    XMPZ2 = "xmpz2"


SHEETS_AS_CSV = "save its sheets as CSV and import those files"

ImportFormat = Literal["json", "canvas", "csv", "xmpz2"]  # the same as READABLE; a test compares them


class FormatInfo(NamedTuple):
    """The description of a file format."""

    description: str
    suffix: str
    is_written: bool
    is_read: bool
    keeps: str
    loses: str
    extra: str | None = (
        None  # the package extra that writing needs; `build_file` of `export` writes it, not an operation
    )
    not_carried: tuple[str, ...] = ()  # what a theory has but an imported file cannot contain


FORMATS = {
    FileFormat.JSON: FormatInfo(
        "Native JSON",
        ".json",
        True,
        True,
        "everything in the version, and its waivers; an import restores it byte for byte",
        "measurements, reviews and decisions, because they belong to no version; number, label, publication date",
    ),
    FileFormat.MERMAID: FormatInfo(
        "Mermaid flowchart, for Markdown pages",
        ".mmd",
        True,
        False,
        "keys, types, titles, edges with type and confidence, assumptions as markers with risk and status, waivers",
        "descriptions, narratives, owners, mechanisms, texts and review dates of assumptions, indicators and"
        " measurements, metadata, publication date",
    ),
    FileFormat.DOT: FormatInfo(
        "Graphviz DOT",
        ".dot",
        True,
        False,
        "the same as Mermaid; also descriptions, mechanisms and texts of assumptions, as tooltips",
        "narratives, owners, review dates, indicators and measurements, metadata, publication date; characters that"
        " XML does not allow are replaced",
    ),
    FileFormat.GRAPHML: FormatInfo(
        "GraphML, for yEd, Gephi and networkx",
        ".graphml",
        True,
        False,
        "nodes and edges with every field, assumptions with status, indicators with the latest measurement, waivers",
        "nothing in the version; earlier measurements, reasons of reviews, decisions; characters that XML does not"
        " allow are replaced",
    ),
    FileFormat.CANVAS: FormatInfo(
        "JSON Canvas, for Obsidian",
        ".canvas",
        True,
        True,
        "keys, types, titles, descriptions, edges with type and mechanism, assumptions with risk as cards",
        "confidence, indicators and measurements, owners, review dates and reviews of assumptions, narratives,"
        " metadata, waivers, profile, number, label, publication date; an import reads a blank text as no text",
        not_carried=(
            "confidence",
            "indicators",
            "owners",
            "review dates",
            "narratives",
            "metadata",
            "waivers",
            "profile",
        ),
    ),
    FileFormat.CSV: FormatInfo(
        "CSV sheets of factors, links, assumptions and indicators",
        ".csv",
        True,
        True,
        "every field of every row",
        "waivers and profile; measurements and reviews; number, label, publication date; an import reads a blank text"
        " as no text",
        not_carried=("waivers", "profile"),
    ),
    FileFormat.XLSX: FormatInfo(
        "Workbook with the same sheets as CSV; needs groundplan[xlsx]",
        ".xlsx",
        True,
        False,
        "every field of every row; texts stay texts and numbers stay numbers",
        "waivers and profile; measurements and reviews; number, label, publication date; all line ends become line"
        " feeds, and characters that XML does not allow are replaced; to import it, save its sheets as CSV",
        "xlsx",
    ),
    FileFormat.LOGFRAME: FormatInfo(
        "Logical framework as a Markdown table",
        ".md",
        True,
        False,
        "titles, descriptions, owners, indicators with numbers, sources and the latest measurement, assumptions with"
        " risk and status, edges with mechanism, waivers",
        "narratives, metadata, times of measurements; the lines of a text are joined",
    ),
    FileFormat.IATI: FormatInfo(
        "IATI 2.03 results, XML",
        ".xml",
        True,
        False,
        "titles and descriptions of nodes that have indicators, with baseline, target and the latest measurement",
        "edges with mechanism and confidence, assumptions with review dates and reviews, waivers, nodes without"
        " indicators; narratives, owners and metadata of nodes; publication date, times of measurements. Groundplan"
        " does not know the reporting and participating organizations, status, dates, places, sectors, language, years"
        " of baselines and periods of targets: the publisher must add them to make the file valid",
    ),
    FileFormat.SVG: FormatInfo(
        "The picture; purpose render has more options",
        ".svg",
        True,
        False,
        "nodes, edges, assumptions with text, risk, status, owner and review date, waivers; descriptions and mechanisms"
        " as tooltips; the number of indicators",
        "narratives, metadata, codes of waived checks, profile, indicators with their measurements",
    ),
    FileFormat.HTML: FormatInfo(
        "One page to show, print and send: the picture, the assumptions and the list",
        ".html",
        True,
        False,
        "nodes with descriptions, edges with mechanism, assumptions with risk, status, owner and review date, "
        "indicators with baseline, target and the latest measurement, the picture",
        "narratives, owners and metadata of nodes, methods of indicators, earlier measurements, profile",
    ),
    FileFormat.XMPZ2: FormatInfo(
        "Miradi project (XMPZ2)",
        ".xmpz2",
        False,
        True,
        "factors, links with their texts, details, goals, objectives and activities as text, diagrams as views,"
        " indicators with unit, methods, future status and measurements, assumptions that name their factor",
        "boxes, stresses, other assumptions, ratings, measurements that are not numbers, comments, budgets, geometry",
        not_carried=(
            "CAUSES and DEPENDS_ON",
            "confidence other than low",
            "risk and review dates of assumptions",
            "owners",
            "narratives",
            "baselines, frequencies and owners of indicators",
            "waivers",
            "profile",
        ),
    ),
}

# Operations return text, so they cannot return a workbook; `build_file` of `export` makes it of the text.
WRITABLE = tuple(format_ for format_, info in FORMATS.items() if info.is_written and info.extra is None)
EXPORTABLE = (*WRITABLE, *(format_ for format_, info in FORMATS.items() if info.is_written and info.extra is not None))
READABLE = tuple(format_ for format_, info in FORMATS.items() if info.is_read)


class FileFormatUnclear(Invalid):
    """The format of a file is unclear or does not fit. The details name the possible formats."""

    code = "file_format"

    def __init__(self, problem: str, formats: Sequence[FileFormat] = ()) -> None:
        details: dict[str, Any] = {"formats": list(formats)} if formats else {}
        super().__init__(problem, **details)


def find_format(name: str, possible: Sequence[FileFormat]) -> FileFormat:
    """Return the format that belongs to the suffix of a file name."""
    suffix = PurePath(name).suffix.lower()
    named = next((format_ for format_, info in FORMATS.items() if info.suffix == suffix), None)
    if named is None:
        raise FileFormatUnclear(f"the name {quote_text(name)} does not show the format", possible)
    if named in possible:
        return named
    if named is FileFormat.XLSX:
        raise FileFormatUnclear(f"{quote_text(name)} is a workbook, which cannot be imported; {SHEETS_AS_CSV}")
    limit = "exported" if named in WRITABLE else "imported"
    raise FileFormatUnclear(f"{quote_text(name)} is {named}, which can only be {limit}", possible)


def require_one_format(formats: Sequence[FileFormat]) -> FileFormat:
    """Return the common format of files that are imported together."""
    if len(formats) > 1 and set(formats) != {FileFormat.CSV}:
        raise FileFormatUnclear(f"only {FileFormat.CSV} sheets may be several files; name one file")
    return formats[0]


def detect_format(raw: bytes) -> FileFormat | None:
    """Return the format that the content of a file has, or None."""
    if raw.startswith(b"PK"):
        return FileFormat.XLSX if b"xl/workbook.xml" in raw else FileFormat.XMPZ2
    if raw.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        if b'"node_type"' in raw:
            return FileFormat.JSON
        if b'"nodes"' in raw and b'"x"' in raw:
            return FileFormat.CANVAS
    return None


# The library that each extra of the package installs.
LIBRARIES = {"png": "resvg_py", "xlsx": "openpyxl"}


class ExtraMissing(Unavailable):
    """The extra for a file format is not installed."""

    code = "extra_missing"

    def __init__(self, extra: str) -> None:
        super().__init__(
            f"{extra.upper()} support is not installed; run: pip install 'groundplan[{extra}]'", extra=extra
        )


def require_extra(extra: str) -> None:
    """Raise ExtraMissing if an extra is not installed."""
    try:
        import_module(LIBRARIES[extra])
    except ImportError:
        raise ExtraMissing(extra) from None
