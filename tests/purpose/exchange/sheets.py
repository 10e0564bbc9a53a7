"""CSV sheets for tests: a sample theory, and what readers return."""

from __future__ import annotations

import csv
import io

from groundplan.purpose.exchange.readers.builder import ReadDocument
from groundplan.purpose.exchange.readers.sheets import read_csv
from groundplan.purpose.exchange.writers.sheets import write_csv
from tests.purpose.exchange.foreign_files import assert_within_limits
from tests.purpose.exchange.theory_strategies import make_published
from tests.purpose.theories import whole_theory

WHOLE = write_csv(make_published(whole_theory()))


def read(text: str) -> ReadDocument:
    reading = read_csv(text.encode())
    assert_within_limits(reading)
    return reading


def titles(reading: ReadDocument) -> dict[str, str]:
    return {one.key: one.title for one in reading.document.nodes}


def cells_of(text: str) -> list[list[str]]:
    """Return the rows as another reader of RFC 4180 sees them."""
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))
