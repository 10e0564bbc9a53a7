"""A cursor continues its own query for its own caller, and is refused elsewhere."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.cursors import CursorValue, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Cursor, Transaction
from tests.engines import person

NOW = "2026-11-15T09:30:00.000Z"
QUERY = {"project": "atlas", "sort": "recent"}
POSITION: tuple[CursorValue, ...] = (1, None, 7, NOW, 100_000)


class NoDatabaseTransaction(Transaction):
    """A transaction without a database: cursors need none."""

    def _query(self, query: Query, parameters: dict[str, Any]) -> Cursor:
        raise AssertionError(query)

    def run(self, query: Query, /, **parameters: Any) -> int:
        raise AssertionError(query)

    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        raise AssertionError(query)


def tx_of(name: str = "ada", *, organization: str = "local") -> Transaction:
    return NoDatabaseTransaction(person(name, organization=organization), NOW, {})


moments = st.datetimes().map(format_timestamp)
values = st.one_of(
    st.none(),
    st.integers(min_value=0, max_value=2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    moments,
)


@given(st.lists(values, max_size=6))
def test_a_cursor_leads_back_to_its_position(position: list[CursorValue]) -> None:
    tx = tx_of()
    assert decode_cursor(tx, "work.query", QUERY, encode_cursor(tx, "work.query", QUERY, *position)) == position


def test_a_cursor_is_short_and_needs_no_escape_in_a_url() -> None:
    cursor = encode_cursor(tx_of(), "work.query", QUERY, *POSITION)
    assert len(cursor) <= 24
    assert set(cursor) <= {*string.ascii_letters, *string.digits, "-", "_"}
    assert len(encode_cursor(tx_of(), "work.query", QUERY, 7)) == 7


@pytest.mark.parametrize(
    ("tx", "operation", "query"),
    [
        (tx_of("ben"), "work.query", QUERY),
        (tx_of(organization="neighbours"), "work.query", QUERY),
        (tx_of(), "work.history", QUERY),
        (tx_of(), "work.query", {**QUERY, "sort": "depth"}),
    ],
    ids=["another caller", "another organization", "another operation", "another query"],
)
def test_a_cursor_from_elsewhere_is_refused(tx: Transaction, operation: str, query: object) -> None:
    cursor = encode_cursor(tx_of(), "work.query", QUERY, *POSITION)
    with pytest.raises(InvalidCursor) as refused:
        decode_cursor(tx, operation, query, cursor)
    assert (refused.value.status, refused.value.code, refused.value.details) == (
        400,
        "invalid_cursor",
        {"field": "cursor"},
    )


def test_a_query_is_the_same_whatever_the_order_of_its_keys() -> None:
    cursor = encode_cursor(tx_of(), "work.query", {"a": 1, "b": {"c": 2, "d": 3}}, 5)
    assert decode_cursor(tx_of(), "work.query", {"b": {"d": 3, "c": 2}, "a": 1}, cursor) == [5]


@pytest.mark.parametrize("position", [(), (5,), POSITION, (0.5, "ü")])
def test_a_cursor_with_any_character_altered_is_refused(position: tuple[CursorValue, ...]) -> None:
    tx = tx_of()
    cursor = encode_cursor(tx, "work.query", QUERY, *position)
    altered = {
        cursor[:at] + other + cursor[at + 1 :]
        for at, char in enumerate(cursor)
        for other in [*string.ascii_letters, *string.digits, *"-_+/= \n.ü\0", ""]
        if other != char
    }
    altered |= {cursor + more for more in ("A", "=", "==", " ", "\n", "AAAA", cursor)} | {"", "=", "A"}
    for wrong in altered:
        with pytest.raises(InvalidCursor):
            decode_cursor(tx, "work.query", QUERY, wrong)
