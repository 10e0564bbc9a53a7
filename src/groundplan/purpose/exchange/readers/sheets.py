"""Read a theory from CSV: all fields of exported sheets, and of other sheets the columns with common names.

Sheets may be in any order, and only the sheet of factors is required. A spreadsheet that saves an exported file pads
rows with empty cells, which are ignored.

Cells are quoted as in RFC 4180 and separated by commas, semicolons or tabs. Each block uses the separator that its
first line has most of, because several files may be concatenated. A line `sep=;`, as spreadsheets write it, sets the
separator for what follows. An empty line inside a quoted cell is part of its text. Cells may have any length; they are
shortened when they become fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from math import isfinite
from typing import Any, NamedTuple, TypeVar

import msgspec

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.purpose.dates import parse_day
from groundplan.purpose.exchange.document import ITEMS_MAX
from groundplan.purpose.exchange.readers.builder import (
    DocumentBuilder,
    ReadDocument,
    UnreadableFile,
    decode_text,
    infer_node_types,
    normalize_line,
    orient_ends,
    parse_node_type,
    too_many,
)
from groundplan.purpose.exchange.writers.sheets import COLUMNS, FORMULA_GUARD, NEEDS_GUARD, Sheet
from groundplan.purpose.model import (
    REF_CHARS_MAX,
    TEXT_BYTES_MAX,
    Confidence,
    EdgeType,
    IndicatorDirection,
    NodeType,
    RiskLevel,
)

SEPARATORS = (",", ";", "\t")
CELLS_MAX = 200 * ITEMS_MAX  # four times the maximum of the four sheets, if all were as wide as the widest
COLUMNS_MAX = 1_000
BLOCKS_MAX = 1_000

_QUOTED = re.compile('"[^"]*"')
_LINE_END = re.compile("\r\n|\r|\n")
_EMPTY_LINES = re.compile(r"[,;\s]*[\r\n]")
_SEPARATOR_LINE = re.compile(r'"?sep=([^\w\s"]|\t)"?[,;\t]*(?:\r\n|\r|\n|\Z)', re.IGNORECASE)

Row = list[str]


def parse_blocks(text: str) -> Iterator[list[Row]]:
    """Yield the rows of each block of a text. Empty lines and rows of empty cells separate blocks."""
    cells = _CellReader(text)
    separator, declared = SEPARATORS[0], ""
    for _ in range(BLOCKS_MAX + 1):
        cells.skip(_EMPTY_LINES)
        if cells.is_at_end:
            return
        match = cells.skip(_SEPARATOR_LINE)
        if match is not None:
            declared = match[1]
            continue
        separator = _choose_separator(cells.peek_line(), declared, separator)
        block: list[Row] = []
        for row in cells.read_rows(separator):
            if not any(cell and not cell.isspace() for cell in row):
                break
            block.append(row)
            if len(block) > ITEMS_MAX + 1:  # one more for the header
                raise too_many("rows of one sheet", ITEMS_MAX)
        if block:
            yield block
    raise too_many("sheets", BLOCKS_MAX)


def _choose_separator(line: str, declared: str, before: str) -> str:
    """Return the declared separator if the line has it, else its most frequent one, else the previous one."""
    bare = _QUOTED.sub("", line)
    return declared if declared and declared in bare else max((before, *SEPARATORS), key=bare.count)


class _CellReader:
    """A text and the current position in it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._cells_left = CELLS_MAX

    @property
    def is_at_end(self) -> bool:
        return self._at >= len(self._text)

    def skip(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Skip a pattern at the current position, if it matches."""
        match = pattern.match(self._text, self._at)
        if match is not None:
            self._at = match.end()
        return match

    def peek_line(self) -> str:
        """Return the text from here to the end of the line."""
        end = _LINE_END.search(self._text, self._at)
        return self._text[self._at : len(self._text) if end is None else end.start()]

    def read_rows(self, separator: str) -> Iterator[Row]:
        """Yield the rows from here, without trailing empty cells."""
        escaped = re.escape(separator)
        # Possessive: quoted text is matched once, without backtracking.
        pattern = rf' *"([^"]*+(?:""[^"]*+)*+)" *({escaped}|\r\n|\r|\n|\Z)|([^{escaped}\r\n]*)({escaped}|\r\n|\r|\n|\Z)'
        row: Row = []
        for match in re.compile(pattern).finditer(self._text, self._at):
            quoted, end, plain, plain_end = match.groups()
            if quoted is None:
                if '"' in plain and plain.lstrip(" ").startswith('"'):
                    raise self._unclosed_quote(match.start())
                row.append(plain)
                end = plain_end
            else:
                row.append(quoted.replace('""', '"') if '"' in quoted else quoted)
            self._cells_left -= 1
            if self._cells_left < 0:
                raise too_many("cells", CELLS_MAX)
            if end != separator:
                self._at = match.end()
                yield _trim_row(row)
                row = []
            if not end:
                return

    def _unclosed_quote(self, start: int) -> UnreadableFile:
        line = 1 + sum(1 for _ in _LINE_END.finditer(self._text, 0, start))
        return UnreadableFile(
            f"line {line} has a quote that is not closed at the end of its cell; double the quotes in texts",
            line=line,
        )


def _trim_row(row: Row) -> Row:
    while row and not row[-1]:
        row.pop()
    if len(row) > COLUMNS_MAX:
        raise too_many("columns", COLUMNS_MAX)
    return row


Record = dict[str, str]  # the cells of a row, by our column names
Sheets = dict[Sheet, list[Record]]
Choice = TypeVar("Choice", bound=StrEnum)

# Synonyms of the columns. A header belongs to the sheet of which it has the most columns; ties go to the first sheet
# here.
_SYNONYMS = {
    Sheet.LINKS: {
        "from": "source",
        "cause": "source",
        "to": "target",
        "effect": "target",
        "linktype": "type",
        "edgetype": "type",
        "label": "mechanism",
        "description": "mechanism",
    },
    Sheet.FACTORS: {
        "id": "key",
        "ref": "key",
        "node": "key",
        "factor": "key",
        "nodetype": "type",
        "level": "type",
        "name": "title",
        "label": "title",
        "text": "description",
        "details": "description",
    },
    Sheet.ASSUMPTIONS: {
        "id": "key",
        "ref": "key",
        "factor": "node",
        "on": "node",
        "from": "source",
        "to": "target",
        "linktype": "type",
        "edgetype": "type",
        "text": "assumption",
        "assumptiontext": "assumption",
        "risklevel": "risk",
        "review": "review_by",
    },
    Sheet.INDICATORS: {
        "id": "key",
        "ref": "key",
        "factor": "node",
        "on": "node",
        "indicator": "name",
        "title": "name",
        "label": "name",
        "verified": "baseline_verified",
        "meansofverification": "method",
    },
}
# A header belongs to a sheet only if it has one of these sets of columns.
_REQUIRED_COLUMNS = {
    Sheet.LINKS: ({"source", "target"},),
    Sheet.FACTORS: ({"title"}, {"key", "type"}),
    Sheet.ASSUMPTIONS: ({"assumption", "node"}, {"assumption", "source", "target"}),
    Sheet.INDICATORS: ({"node", "name"},),
}
_NON_LETTERS = re.compile(r"[\W_]+")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
# Before three digits a decimal comma cannot be told from a thousands separator.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,(?!\d{3}\Z)\d+", re.ASCII)
_NUMBER_CHARS_MAX = 400  # enough for the largest float without an exponent
_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
_LEVELS_ABOVE_METADATA = 3  # the document, its nodes, the node


class _Link(NamedTuple):
    source: str
    target: str
    edge_type: EdgeType
    mechanism: str
    confidence: Confidence | None


def read_csv(raw: bytes) -> ReadDocument:
    """Read the theory in a file of CSV sheets."""
    builder = DocumentBuilder()
    text = decode_text(raw)
    if "\x00" in text:
        raise UnreadableFile(
            "it contains NUL characters, such as UTF-16 or UTF-32 without a byte order mark; save it as UTF-8"
        )
    sheets = _read_sheets(text, builder)
    links = [_parse_link(row, builder) for row in sheets[Sheet.LINKS]]
    _gather_factors(sheets[Sheet.FACTORS], links, builder)
    types: dict[tuple[str, str], list[EdgeType]] = {}
    for edge in links:
        if builder.add_edge(*edge[:3], mechanism=edge.mechanism, confidence=edge.confidence):
            types.setdefault((edge.source, edge.target), []).append(edge.edge_type)
    for place, row in enumerate(sheets[Sheet.ASSUMPTIONS], 1):
        _gather_assumption(row, place, types, builder)
    for place, row in enumerate(sheets[Sheet.INDICATORS], 1):
        _gather_indicator(row, place, builder)
    return builder.build()


def _read_sheets(text: str, builder: DocumentBuilder) -> Sheets:
    """Return the rows of each sheet, under our names of the columns."""
    sheets: Sheets = {sheet: [] for sheet in Sheet}
    has_factors = False
    for header, *rows in parse_blocks(text):
        sheet, places = _recognise_sheet(header)
        if sheet is None:
            for row in (header, *rows):
                builder.skip("row", "it follows an empty line instead of a known header", _get_first_cell(row))
            continue
        has_factors |= sheet is Sheet.FACTORS
        for place, name in enumerate(header):
            if place not in places and _normalize_name(name):
                builder.skip("column", f"unknown in a sheet of {sheet}", name.strip())
        if len(sheets[sheet]) + len(rows) > ITEMS_MAX:
            raise too_many(f"{sheet}", ITEMS_MAX)
        sheets[sheet] += _read_records(header, places, rows, builder)
    if not has_factors:
        example = ",".join(COLUMNS[Sheet.FACTORS])
        raise UnreadableFile(f"it has no sheet of factors; add one with a header such as {example}")
    return sheets


def _recognise_sheet(header: Row) -> tuple[Sheet | None, dict[int, str]]:
    """Return the sheet with this header, and our names of its known columns by index."""
    best: tuple[Sheet | None, dict[int, str]] = (None, {})
    names = [_normalize_name(name) for name in header]
    for sheet, synonyms in _SYNONYMS.items():
        ours = {_normalize_name(column): column for column in COLUMNS[sheet]}
        places: dict[int, str] = {}
        columns: set[str] = set()
        for known in (ours, synonyms):  # our own column names take precedence over synonyms
            for place, name in enumerate(names):
                column = known.get(name)
                if column is not None and column not in columns and place not in places:
                    places[place] = column
                    columns.add(column)
        if any(needed <= columns for needed in _REQUIRED_COLUMNS[sheet]) and len(places) > len(best[1]):
            best = sheet, places
    return best


def _read_records(
    header: Row, column_names: dict[int, str], rows: list[Row], builder: DocumentBuilder
) -> Iterator[Record]:
    named = {place for place, name in enumerate(header) if _normalize_name(name)}
    for row in rows:
        for place, cell in enumerate(row):
            if place not in named and cell.strip():
                builder.skip("cell", "its column has no header", cell.strip())
        yield {column: _remove_guard(row[place]) if place < len(row) else "" for place, column in column_names.items()}


def _parse_link(row: Record, builder: DocumentBuilder) -> _Link:
    source, target = normalize_line(row["source"]), normalize_line(row["target"])
    edge_type = _parse_choice(EdgeType, row.get("type", ""), "type of a link", builder)
    return _Link(
        source,
        target,
        edge_type or EdgeType.CONTRIBUTES_TO,
        row.get("mechanism", ""),
        _parse_choice(Confidence, row.get("confidence", ""), "confidence", builder),
    )


def _gather_factors(rows: list[Record], links: list[_Link], builder: DocumentBuilder) -> None:
    named: list[tuple[str, Record]] = []
    declared: dict[str, NodeType | None] = {}
    for row in rows:
        title = normalize_line(row.get("title", ""))
        # Without keys, other sheets refer to factors by title.
        ref = normalize_line(row.get("key", "")) or title[:REF_CHARS_MAX].rstrip()
        if not ref:
            builder.skip("row", "it has neither a key nor a title", _get_first_cell([*row.values()]))
            continue
        named.append((ref, row))
        word = row.get("type", "").strip()
        declared[ref] = parse_node_type(word)
        if word and declared[ref] is None:
            builder.skip("type", "unknown value", word)
    causal = (orient_ends(*edge[:3]) for edge in links if edge.edge_type.is_causal)
    types = infer_node_types(builder, declared, causal)
    for ref, row in named:
        builder.add_node(
            ref,
            types[ref],
            row.get("title", ""),
            description=row.get("description"),
            narrative=row.get("narrative"),
            owner=row.get("owner"),
            metadata=_parse_metadata(row.get("metadata", ""), ref, builder),
        )


def _gather_assumption(
    row: Record, index: int, types: dict[tuple[str, str], list[EdgeType]], builder: DocumentBuilder
) -> None:
    ref = normalize_line(row.get("key", "")) or f"assumption {index}"
    node = normalize_line(row.get("node", "")) or None
    source, target = normalize_line(row.get("source", "")), normalize_line(row.get("target", ""))
    edge_type = _parse_choice(EdgeType, row.get("type", ""), "type of a link", builder)
    if node is not None and (source or target):
        builder.skip("link of an assumption", "the assumption also names a node and is kept there", ref)
    if edge_type is None:
        # A link without a type is a contribution, or the only link between the two nodes.
        there = types.get((source, target), [])
        edge_type = there[0] if len(there) == 1 else EdgeType.CONTRIBUTES_TO
    builder.add_assumption(
        ref,
        row["assumption"],
        node=node,
        edge=None if node is not None else (source, target, edge_type),
        risk_level=_parse_choice(RiskLevel, row.get("risk", ""), "risk", builder),
        owner=row.get("owner"),
        review_by=_parse_day(row.get("review_by", ""), builder),
    )


def _gather_indicator(row: Record, index: int, builder: DocumentBuilder) -> None:
    builder.add_indicator(
        normalize_line(row.get("key", "")) or f"indicator {index}",
        normalize_line(row["node"]),
        row["name"],
        unit=row.get("unit"),
        direction=_parse_choice(IndicatorDirection, row.get("direction", ""), "direction", builder),
        baseline=_parse_number(row.get("baseline", ""), "baseline", builder),
        baseline_verified=_parse_boolean(row.get("baseline_verified", ""), builder),
        target=_parse_number(row.get("target", ""), "target", builder),
        method=row.get("method"),
        frequency=row.get("frequency"),
        owner=row.get("owner"),
    )


def _parse_choice(choices: type[Choice], cell: str, column: str, builder: DocumentBuilder) -> Choice | None:
    name = _normalize_name(cell)
    match = next((choice for choice in choices if _normalize_name(choice) == name), None) if name else None
    if match is None and cell.strip():
        builder.skip(column, "unknown value", cell.strip())
    return match


def _parse_number(cell: str, column: str, builder: DocumentBuilder) -> float | None:
    text = cell.strip()
    if not text:
        return None
    if len(text) <= _NUMBER_CHARS_MAX:
        if _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
        if _NUMBER.fullmatch(text) and isfinite(number := float(text)):
            return number + 0.0  # turns -0.0 into 0.0
    builder.skip(column, "not a number that can be stored", text)
    return None


def _parse_boolean(cell: str, builder: DocumentBuilder) -> bool | None:
    text = cell.strip()
    value = _BOOLEANS.get(text.casefold())
    if value is None and text:
        builder.skip("baseline_verified", "neither true nor false", text)
    return value


def _parse_day(cell: str, builder: DocumentBuilder) -> str | None:
    text = cell.strip()
    try:
        return parse_day(text, ("review_by",)) if text else None
    except Invalid:
        builder.skip("review_by", "not a date such as 2026-11-15", text)
        return None


def _parse_metadata(cell: str, ref: str, builder: DocumentBuilder) -> dict[str, Any] | None:
    if not cell.strip():
        return None
    try:
        metadata = decode(cell.encode(), levels_above=_LEVELS_ABOVE_METADATA)
    except Invalid:
        metadata = None
    if not isinstance(metadata, dict):
        builder.skip("metadata", "not a JSON object that can be stored", ref)
        return None
    if len(msgspec.json.encode(metadata)) > TEXT_BYTES_MAX:
        builder.skip("metadata", f"longer than {TEXT_BYTES_MAX} bytes", ref)
        return None
    return metadata


def _remove_guard(cell: str) -> str:
    return cell[1:] if cell.startswith(FORMULA_GUARD) and NEEDS_GUARD.match(cell, 1) else cell


def _normalize_name(name: str) -> str:
    """Return a name in the form for comparisons, without differences of case and spaces."""
    return _NON_LETTERS.sub("", _remove_guard(name)).casefold()


def _get_first_cell(row: Row) -> str:
    return next((cell.strip() for cell in row if cell.strip()), "")
