"""Rows are objects: columns are matched to fields by name, on both engines."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import pytest
from msgspec import Struct

from groundplan.kernel.store.queries import UNNAMED_COLUMNS_MAX, Query
from groundplan.kernel.store.store import Store
from tests.engines import person

ADA = person("ada")


class Colour(StrEnum):
    """A closed set of stored words."""

    RED = "red"
    BLUE = "blue"


class Thing(Struct):
    """A row class with its fields in another order than the columns."""

    name: str
    number: int
    colour: Colour | None
    is_open: bool
    note: str = "none"


class Pair(NamedTuple):
    """A row class with the fields in the order of the columns."""

    number: int
    name: str


THING = Query("thing", "SELECT 7 AS number, CAST('a' AS text) AS name, true AS is_open, CAST('red' AS text) AS colour")
NOTHING = Query("nothing", "SELECT 7 AS number, 'a' AS name, false AS is_open, NULL AS colour")
PAIRS = Query("pairs", "SELECT 1 AS number, 'a' AS name UNION ALL SELECT 2, 'b'")
WIDE = Query("wide", f"SELECT {', '.join(f'{n} AS c{n}' for n in range(UNNAMED_COLUMNS_MAX + 1))}")


def test_columns_meet_fields_by_name_and_become_their_types(store: Store) -> None:
    thing = store.read(ADA, lambda tx: tx.one(THING, Thing))

    assert thing == Thing("a", 7, Colour.RED, True, "none")
    assert (type(thing.is_open), type(thing.colour)) == (bool, Colour)


def test_null_stays_none_whatever_the_type(store: Store) -> None:
    assert store.read(ADA, lambda tx: tx.one(NOTHING, Thing)).colour is None


def test_rows_in_the_order_of_the_fields_are_built_as_they_come(store: Store) -> None:
    assert store.read(ADA, lambda tx: tx.all(PAIRS, Pair)) == [Pair(1, "a"), Pair(2, "b")]


def test_a_column_without_a_field_is_refused_by_name(store: Store) -> None:
    with pytest.raises(TypeError, match=r"thing does not match Pair: .*colour.*is_open"):
        store.read(ADA, lambda tx: tx.all(THING, Pair))


def test_a_field_without_a_column_is_refused(store: Store) -> None:
    with pytest.raises(TypeError):
        store.read(ADA, lambda tx: tx.all(PAIRS, Thing))


def test_a_wide_row_needs_names(store: Store) -> None:
    with pytest.raises(TypeError, match="query wide"):
        store.read(ADA, lambda tx: tx.all(WIDE))


def test_one_column_is_read_as_values(store: Store) -> None:
    numbers = Query("numbers", "SELECT 1 UNION ALL SELECT 2")
    none = Query("none", "SELECT 1 WHERE 1 = 2")

    assert store.read(ADA, lambda tx: (tx.scalars(numbers), tx.scalar(numbers), tx.scalar(none))) == ([1, 2], 1, None)
