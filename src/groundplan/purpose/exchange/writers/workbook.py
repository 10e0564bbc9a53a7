"""Write a theory as a workbook with the sheets of the CSV format.

Texts stay texts, whatever they begin with: nothing in a theory becomes a formula. The same theory gives the same bytes,
so the file contains no time of writing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.packaging.core import DocumentProperties
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from openpyxl.writer.excel import ExcelWriter

from groundplan.purpose.exchange.document import TheoryDocument
from groundplan.purpose.exchange.writers.sheets import COLUMNS, Cell, Row, build_sheets
from groundplan.purpose.markup import replace_invalid_xml
from groundplan.purpose.model import normalize_numbers

if TYPE_CHECKING:
    from openpyxl.cell import Cell as SheetCell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

FIRST_BELOW_HEADER = "A2"
COLUMN_CHARS_MIN = 8
COLUMN_CHARS_MAX = 60
FIXED_TIMESTAMP = datetime(1980, 1, 1)  # the earliest time in ZIP archives; a workbook must have a time

_LINE_END = re.compile("\r\n?")
# Spreadsheets read `_x0041_` as the character of that number, unless its underscore is escaped the same way.
_ESCAPE_PREFIX = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def build_workbook(document: TheoryDocument) -> bytes:
    """Return a theory as the bytes of a workbook."""
    book = Workbook(write_only=True)
    for sheet, rows in build_sheets(document).items():
        _write_rows(book.create_sheet(sheet.capitalize()), COLUMNS[sheet], rows)
    return _save(book)


def _write_rows(sheet: WriteOnlyWorksheet, header: tuple[str, ...], rows: list[Row]) -> None:
    # A write-only sheet needs its panes and column widths before its rows.
    sheet.freeze_panes = FIRST_BELOW_HEADER
    for number, cells in enumerate(zip(header, *rows, strict=True), 1):
        column = sheet.column_dimensions[get_column_letter(number)]  # type: ignore[attr-defined] # the stubs forget it
        column.width = _compute_width(cells)
    names = [WriteOnlyCell(sheet, name) for name in header]
    for name in names:
        name.font = Font(bold=True)
    sheet.append(names)
    for row in rows:
        sheet.append([_make_cell(sheet, value) for value in row])


def _compute_width(cells: Iterable[Cell]) -> int:
    """Return the width of a column in characters: the length of its longest line, within limits."""
    longest = max(len(line) for cell in cells if cell is not None for line in str(cell).split("\n"))
    return min(max(longest + 2, COLUMN_CHARS_MIN), COLUMN_CHARS_MAX)


def _make_cell(sheet: WriteOnlyWorksheet, value: Cell) -> SheetCell | float | None:
    if not isinstance(value, str):
        number: float | None = normalize_numbers(value)
        return number
    if not value:
        return None
    cell = WriteOnlyCell(sheet, _ESCAPE_PREFIX.sub("_x005F_", replace_invalid_xml(_LINE_END.sub("\n", value))))
    cell.data_type = "s"  # otherwise `=1+1` would be a formula, and `#N/A` an error
    return cell


def _save(book: Workbook) -> bytes:
    """Return the bytes of a workbook without the times of saving, so that equal content gives equal bytes."""
    book.properties = DocumentProperties(creator="Groundplan", created=FIXED_TIMESTAMP, modified=FIXED_TIMESTAMP)
    dated, undated = BytesIO(), BytesIO()
    ExcelWriter(book, ZipFile(dated, "w")).save()
    with ZipFile(dated) as parts, ZipFile(undated, "w", ZIP_DEFLATED) as packed:
        for name in parts.namelist():
            packed.writestr(ZipInfo(name), parts.read(name), ZIP_DEFLATED)
    return undated.getvalue()
