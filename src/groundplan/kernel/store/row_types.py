"""Convert the rows of a query to objects of a class with one field for each column.

The class is a msgspec Struct, a NamedTuple or a dataclass. Columns are matched to fields by name, so the order of a
SELECT list does not matter; a column without a field, or a required field without a column, is a TypeError on first
use. A field annotated with `bool` or an Enum, or one of them and None, holds that type on both engines.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from itertools import starmap
from operator import itemgetter
from typing import Any, TypeVar

R = TypeVar("R")

Row = tuple[Any, ...]
UNNAMED_COLUMNS_MAX = 3  # a row with more columns is read by name
COLUMNWISE_ROWS_MIN = 10  # from this many rows on, converting by column is faster: its loops run in C

_BOOLEANS: dict[Any, Any] = {0: False, 1: True, None: None}  # SQLite stores 0 and 1; True == 1


def make_row_converter(query: str, shape: type[R], columns: Sequence[str]) -> Callable[[Sequence[Row]], list[R]]:
    """Return a function that turns rows with these columns into objects of `shape`."""
    fields: tuple[str, ...] = shape.__match_args__  # type: ignore[attr-defined] # Struct, NamedTuple, dataclass have it
    filled = fields[: len(columns)]
    if sorted(filled) != sorted(columns):
        raise TypeError(
            f"query {query} does not match {shape.__name__}: unknown columns {sorted(set(columns) - set(fields))}, "
            f"missing columns {sorted(set(filled) - set(columns))}"
        )
    reorder = None if filled == tuple(columns) else itemgetter(*map(list(columns).index, filled))
    converted = [(index, values) for index, name in enumerate(filled) if (values := _map_stored_values(shape, name))]
    order = [columns.index(name) for name in filled]

    def make(rows: Sequence[Row]) -> list[R]:
        if len(rows) < COLUMNWISE_ROWS_MIN:
            return list(map(convert, rows))
        stored = list(zip(*rows, strict=True))
        values: list[Iterable[Any]] = [stored[index] for index in order]
        for index, by_stored in converted:
            values[index] = map(by_stored.__getitem__, values[index])
        return list(map(shape, *values))

    def convert(row: Row) -> R:
        values = list(row if reorder is None else reorder(row))
        for index, by_stored in converted:
            values[index] = by_stored[values[index]]
        return shape(*values)

    if converted:
        return make
    if reorder is None:
        return lambda rows: list(starmap(shape, rows))
    return lambda rows: list(starmap(shape, map(reorder, rows)))


def _map_stored_values(shape: type, field: str) -> dict[Any, Any] | None:
    """Return the Python value of each stored value of a field, by its annotation; None if no conversion is needed."""
    for declaring in shape.__mro__:
        # Not from vars(): since Python 3.14 a NamedTuple makes its annotations when they are asked for.
        annotation = getattr(declaring, "__annotations__", {}).get(field)
        if annotation is not None:
            # A NamedTuple stores a string annotation as a ForwardRef.
            name = str(getattr(annotation, "__forward_arg__", annotation)).removesuffix(" | None")
            known = getattr(sys.modules[declaring.__module__], name, None)
            if isinstance(known, type) and issubclass(known, Enum):
                return {None: None, **{member.value: member for member in known}}
            return _BOOLEANS if name == "bool" else None
    return None
