"""Conversion of rows between the database, which stores JSON and doubles, and Python."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from msgspec import Struct, structs
from msgspec.json import Decoder

from groundplan.context.values import encode_json, normalize_number
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Transaction

R = TypeVar("R", bound=Struct)

_decode = Decoder().decode

# By column: how to load and how to store a value.
CONVERSIONS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "value_number": (normalize_number, float),
    **dict.fromkeys(("options", "payload", "raw_meta", "source_ids", "value_json"), (_decode, encode_json)),
}


def load_rows(tx: Transaction, query: Query, shape: type[R], /, **parameters: Any) -> list[R]:
    """Return rows with their JSON columns decoded."""
    rows = tx.all(query, shape, **parameters)
    for column, load in _list_decoders(shape):
        for row, stored in zip(rows, map(attrgetter(column), rows), strict=True):
            if stored is not None:
                setattr(row, column, load(stored))
    return rows


def load_row(tx: Transaction, query: Query, shape: type[R], /, **parameters: Any) -> R | None:
    """Return the first row, if any."""
    return next(iter(load_rows(tx, query, shape, **parameters)), None)


def encode_columns(row: Struct) -> dict[str, Any]:
    """Return the columns of a row as they are stored."""
    columns = structs.asdict(row)
    for column in columns.keys() & CONVERSIONS.keys():
        if columns[column] is not None:
            _, store = CONVERSIONS[column]
            columns[column] = store(columns[column])
    return columns


@cache
def _list_decoders(shape: type[Struct]) -> list[tuple[str, Callable[[Any], Any]]]:
    return [(column, CONVERSIONS[column][0]) for column in shape.__struct_fields__ if column in CONVERSIONS]
