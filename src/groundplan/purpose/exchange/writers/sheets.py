"""Write a theory as CSV: four sheets in one text, separated by empty lines.

    key,type,title,description,narrative,owner,metadata
    AC1,ACTIVITY,Dig a well,…

    source,target,type,mechanism,confidence
    AC1,OP1,CONTRIBUTES_TO,…

Line ends and quotes follow RFC 4180: CR LF, which every spreadsheet accepts and which tells the end of a row from
line ends inside texts. No text can become a formula: a cell that begins like one gets a `'` in front, and the reader
removes it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum

import msgspec

from groundplan.purpose.exchange.document import TheoryDocument, build_document
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.model import normalize_numbers


class Sheet(StrEnum):
    """The sheets."""

    FACTORS = "factors"
    LINKS = "links"
    ASSUMPTIONS = "assumptions"
    INDICATORS = "indicators"


COLUMNS = {
    Sheet.FACTORS: ("key", "type", "title", "description", "narrative", "owner", "metadata"),
    Sheet.LINKS: ("source", "target", "type", "mechanism", "confidence"),
    Sheet.ASSUMPTIONS: ("key", "node", "source", "target", "type", "assumption", "risk", "owner", "review_by"),
    Sheet.INDICATORS: (
        "key",
        "node",
        "name",
        "unit",
        "direction",
        "baseline",
        "baseline_verified",
        "target",
        "method",
        "frequency",
        "owner",
    ),
}

LINE_END = "\r\n"
FORMULA_GUARD = "'"
# Characters that begin a formula in some spreadsheet, also in full width and after spaces, or that it skips before one.
# The guard is one of them, so that a text that begins with it is read back exactly.
NEEDS_GUARD = re.compile(rf"\s*[=+\-@\uff1d\uff0b\uff0d\uff20{FORMULA_GUARD}]|[\t\r\n]")

_NEEDS_QUOTES = re.compile('[",;\t\r\n]|^ | $')  # more than required, because readers guess separators

Cell = str | float | bool | None
Row = tuple[Cell, ...]


def write_csv(theory: Theory) -> str:
    """Write a theory as CSV sheets."""
    sheets = build_sheets(build_document(theory))
    return LINE_END.join("".join(_format_lines(COLUMNS[sheet], rows)) for sheet, rows in sheets.items())


def build_sheets(document: TheoryDocument) -> dict[Sheet, list[Row]]:
    """Return the rows of every sheet, with cells in column order."""
    return {
        Sheet.FACTORS: [*_build_factor_rows(document)],
        Sheet.LINKS: [*_build_link_rows(document)],
        Sheet.ASSUMPTIONS: [*_build_assumption_rows(document)],
        Sheet.INDICATORS: [*_build_indicator_rows(document)],
    }


def _build_factor_rows(document: TheoryDocument) -> Iterator[Row]:
    for node in document.nodes:
        metadata = (
            msgspec.json.encode(normalize_numbers(node.metadata), order="sorted").decode() if node.metadata else None
        )
        yield node.key, node.node_type, node.title, node.description, node.narrative, node.owner, metadata


def _build_link_rows(document: TheoryDocument) -> Iterator[Row]:
    for edge in document.edges:
        yield edge.source, edge.target, edge.edge_type, edge.mechanism, edge.confidence


def _build_assumption_rows(document: TheoryDocument) -> Iterator[Row]:
    for assumption in document.assumptions:
        on = (assumption.node, assumption.source, assumption.target, assumption.edge_type)
        yield (
            assumption.key,
            *on,
            assumption.assumption_text,
            assumption.risk_level,
            assumption.owner,
            assumption.review_by,
        )


def _build_indicator_rows(document: TheoryDocument) -> Iterator[Row]:
    for indicator in document.indicators:
        numbers = (indicator.baseline, indicator.baseline_verified, indicator.target)
        yield (
            indicator.key,
            indicator.node,
            indicator.name,
            indicator.unit,
            indicator.direction,
            *numbers,
            indicator.method,
            indicator.frequency,
            indicator.owner,
        )


def _format_lines(header: Iterable[Cell], rows: Iterable[Iterable[Cell]]) -> Iterator[str]:
    for row in (header, *rows):
        yield ",".join(map(_format_cell, row)) + LINE_END


def _format_cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return str(normalize_numbers(value))  # a minus before digits is not a formula
    text = FORMULA_GUARD + value if NEEDS_GUARD.match(value) else str(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
