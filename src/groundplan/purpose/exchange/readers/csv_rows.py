"""Parse CSV text into rows of cells, in blocks separated by empty lines.

Cells are quoted as in RFC 4180 and separated by commas, semicolons or tabs. Each block uses the separator that its
first line has most of, because several files may be concatenated. A line `sep=;`, as spreadsheets write it, sets the
separator for what follows. An empty line inside a quoted cell is part of its text. Cells may have any length; the
caller shortens them.

The `csv` module cannot do this. Its limit on the length of a cell is one for the whole process, so raising it for one
file is a race between threads. It returns a row only when all its cells are in memory, too late for a limit. In strict
mode it refuses spaces after a closing quote, and otherwise it keeps them and accepts a quote that is left open.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from groundplan.purpose.exchange.formats.document import ITEMS_MAX
from groundplan.purpose.exchange.readers.document_builder import UnreadableFile, too_many

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
    """Yield the rows of a text by block; no block is empty. Empty lines and rows of empty cells end a block."""
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
    """Return the declared separator if the line has it, else the most frequent one, else the previous one."""
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
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def peek_line(self) -> str:
        """Return the text from here to the end of the line."""
        end = _LINE_END.search(self._text, self._at)
        return self._text[self._at : len(self._text) if end is None else end.start()]

    def read_rows(self, separator: str) -> Iterator[Row]:
        """Yield the rows from here, without trailing empty cells."""
        one = re.escape(separator)
        # Possessive: quoted text is matched once, without backtracking.
        pattern = rf' *"([^"]*+(?:""[^"]*+)*+)" *({one}|\r\n|\r|\n|\Z)|([^{one}\r\n]*)({one}|\r\n|\r|\n|\Z)'
        row: Row = []
        for found in re.compile(pattern).finditer(self._text, self._at):
            quoted, end, plain, plain_end = found.groups()
            if quoted is None:
                if '"' in plain and plain.lstrip(" ").startswith('"'):
                    raise self._unclosed_quote(found.start())
                row.append(plain)
                end = plain_end
            else:
                row.append(quoted.replace('""', '"') if '"' in quoted else quoted)
            self._cells_left -= 1
            if self._cells_left < 0:
                raise too_many("cells", CELLS_MAX)
            if end != separator:
                self._at = found.end()
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
