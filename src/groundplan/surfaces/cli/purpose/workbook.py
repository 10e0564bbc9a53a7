"""A theory as a workbook: the sheets of CSV side by side, for people who work in a spreadsheet.

Texts are texts, whatever they begin with: nothing in a theory becomes a formula. The same theory gives the same bytes,
so the file tells nothing of when it was written.
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

from groundplan.purpose.canonical import normalize_numbers
from groundplan.purpose.exchange.formats.csv_sheets import COLUMNS, Cell, Row, build_sheets
from groundplan.purpose.exchange.formats.document import TheoryDocument
from groundplan.purpose.exchange.xml_text import replace_invalid_xml

if TYPE_CHECKING:
    from openpyxl.cell import Cell as SheetCell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

FIRST_BELOW_HEADER = "A2"
COLUMN_CHARS_MIN = 8
COLUMN_CHARS_MAX = 60
FIXED_TIMESTAMP = datetime(1980, 1, 1)  # when time begins in archives; a workbook must have been written at some time

_LINE_END = re.compile("\r\n?")
# Spreadsheets read `_x0041_` as the letter of that number, unless its first sign is itself written so.
_ESCAPE_PREFIX = re.compile("_(?=x[0-9A-Fa-f]{4}_)")


def build_workbook(document: TheoryDocument) -> bytes:
    """A theory as a workbook."""
    book = Workbook(write_only=True)
    for sheet, rows in build_sheets(document).items():
        _fill(book.create_sheet(sheet.capitalize()), COLUMNS[sheet], rows)
    return _pack(book)


def _fill(sheet: WriteOnlyWorksheet, header: tuple[str, ...], rows: list[Row]) -> None:
    # What stands above the rows in the file must be said before them.
    sheet.freeze_panes = FIRST_BELOW_HEADER
    for number, cells in enumerate(zip(header, *rows, strict=True), 1):
        column = sheet.column_dimensions[get_column_letter(number)]  # type: ignore[attr-defined] # the stubs forget it
        column.width = _width(cells)
    names = [WriteOnlyCell(sheet, name) for name in header]
    for name in names:
        name.font = Font(bold=True)
    sheet.append(names)
    for row in rows:
        sheet.append([_cell(sheet, value) for value in row])


def _width(cells: Iterable[Cell]) -> int:
    """How wide a column is, in characters: as its longest line, within reason."""
    longest = max(len(line) for cell in cells if cell is not None for line in str(cell).split("\n"))
    return min(max(longest + 2, COLUMN_CHARS_MIN), COLUMN_CHARS_MAX)


def _cell(sheet: WriteOnlyWorksheet, value: Cell) -> SheetCell | float | None:
    if not isinstance(value, str):
        number: float | None = normalize_numbers(value)
        return number
    if not value:
        return None
    cell = WriteOnlyCell(sheet, _ESCAPE_PREFIX.sub("_x005F_", replace_invalid_xml(_LINE_END.sub("\n", value))))
    cell.data_type = "s"  # else `=1+1` were a formula, and `#N/A` an error
    return cell


def _pack(book: Workbook) -> bytes:
    """The file of a workbook. Saved as usual it would tell twice when that was: of itself, and of each of its parts."""
    book.properties = DocumentProperties(creator="Groundplan", created=FIXED_TIMESTAMP, modified=FIXED_TIMESTAMP)
    dated, undated = BytesIO(), BytesIO()
    ExcelWriter(book, ZipFile(dated, "w")).save()
    with ZipFile(dated) as parts, ZipFile(undated, "w", ZIP_DEFLATED) as packed:
        for name in parts.namelist():
            packed.writestr(ZipInfo(name), parts.read(name), ZIP_DEFLATED)
    return undated.getvalue()
