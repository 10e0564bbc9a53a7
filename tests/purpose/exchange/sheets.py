"""Sheets of CSV for tests: a theory as one, and what is read of others."""

from __future__ import annotations

import csv
import io

from groundplan.purpose.exchange.formats.csv_sheets import csv_sheets
from groundplan.purpose.exchange.readers.document_builder import ReadDocument
from groundplan.purpose.exchange.readers.read_csv import read_csv
from tests.purpose.exchange.taken_in import within_limits
from tests.purpose.exchange.written import written
from tests.purpose.theories import whole_theory

WHOLE = csv_sheets(written(whole_theory()))


def read(text: str) -> ReadDocument:
    reading = read_csv(text.encode())
    within_limits(reading)
    return reading


def titles(reading: ReadDocument) -> dict[str, str]:
    return {one.key: one.title for one in reading.document.nodes}


def cells_of(text: str) -> list[list[str]]:
    """The rows as another reader of RFC 4180 sees them."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))
