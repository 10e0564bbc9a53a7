"""A cursor continues its own query for its own caller, and is refused elsewhere."""

from __future__ import annotations

import random
import string
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from groundplan.kernel.access import Role
from groundplan.kernel.clock import format_timestamp
from groundplan.kernel.cursors import (
    CURSOR_CHARS_MAX,
    START_BYTES_MAX,
    CursorValue,
    InvalidCursor,
    decode_cursor,
    encode_cursor,
    locate_text,
)
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.transaction import Project, Transaction
from tests.engines import person
from tests.proof import scaled

NOW = "2026-11-15T09:30:00.000Z"
QUERY = {"project": "atlas", "sort": "recent"}
POSITION: tuple[CursorValue, ...] = (1, None, 7, NOW, 100_000)


KEY = bytes(range(32))
ATLAS = Project("p1", "atlas", 1, Role.OWNER, None, "{}", NOW, None)


class NoDatabaseTransaction(Transaction):
    """A transaction without a database: cursors need only a key from it."""

    @cached_property
    def cursor_key(self) -> bytes:
        return KEY

    def _fetch(self, query: Query, shape: type | None, parameters: dict[str, Any]) -> list[Any]:
        raise AssertionError(query)

    def run(self, query: Query, /, **parameters: Any) -> int:
        raise AssertionError(query)

    def run_many(self, query: Query, rows: Iterable[Mapping[str, Any]], /) -> None:
        raise AssertionError(query)


def tx_of(name: str = "ada", *, organization: str = "local", project: Project = ATLAS, key: bytes = KEY) -> Transaction:
    tx = NoDatabaseTransaction(person(name, organization=organization), NOW, {})
    tx.set_project(project)
    tx.__dict__["cursor_key"] = key
    return tx


moments = st.datetimes().map(format_timestamp)
values = st.one_of(
    st.none(),
    st.integers(min_value=0, max_value=2**53),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=40),
    st.binary(max_size=60),
    st.uuids().map(str),
    st.sampled_from(["0" * 36, "A" * 36, str(UUID(int=7)).upper()]),  # text of the length of a UUID
    moments,
)


@given(st.lists(values, max_size=6))
def test_a_cursor_leads_back_to_its_position(position: list[CursorValue]) -> None:
    tx = tx_of()
    assert decode_cursor(tx, "work.query", QUERY, encode_cursor(tx, "work.query", QUERY, *position)) == position


def test_a_cursor_is_short_and_needs_no_escape_in_a_url() -> None:
    cursor = encode_cursor(tx_of(), "work.query", QUERY, *POSITION)
    assert len(cursor) <= 36
    assert set(cursor) <= {*string.ascii_letters, *string.digits, "-", "_"}
    assert len(encode_cursor(tx_of(), "work.query", QUERY, 7)) == 18


def test_the_same_position_always_has_the_same_cursor() -> None:
    assert encode_cursor(tx_of(), "work.query", QUERY, *POSITION) == encode_cursor(
        tx_of(), "work.query", QUERY, *POSITION
    )


@pytest.mark.parametrize("text", ["a" * 255, "ü" * 255, "\U0001f600" * 255, "a" + "\U0001f600" * 254])
@pytest.mark.parametrize("tie_breaker", [str(UUID(int=2**128 - 1)), "f" * 64])
def test_a_position_of_the_longest_names_fits_into_a_cursor(text: str, tie_breaker: str) -> None:
    position = locate_text(text, tie_breaker)
    assert len(position.start) <= START_BYTES_MAX
    cursor = encode_cursor(tx_of(), "work.query", QUERY, *position)
    assert len(cursor) <= CURSOR_CHARS_MAX
    assert decode_cursor(tx_of(), "work.query", QUERY, cursor) == [*position]


def test_a_position_that_does_not_fit_is_a_mistake_of_the_list() -> None:
    with pytest.raises(ValueError, match=r"work\.query needs a cursor of \d+ characters"):
        encode_cursor(tx_of(), "work.query", QUERY, "a" * 400)


@pytest.mark.parametrize(
    ("tx", "operation", "query"),
    [
        (tx_of("ben"), "work.query", QUERY),
        (tx_of(organization="neighbours"), "work.query", QUERY),
        (tx_of(project=replace(ATLAS, id="p2")), "work.query", QUERY),
        (tx_of(key=bytes(32)), "work.query", QUERY),
        (tx_of(), "work.history", QUERY),
        (tx_of(), "work.query", {**QUERY, "sort": "depth"}),
    ],
    ids=[
        "another caller",
        "another organization",
        "another project",
        "another key",
        "another operation",
        "another query",
    ],
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


ALPHABET = string.ascii_letters + string.digits + "-_"
FUZZED = scaled(2_000, 1_000_000)


def mutations(pick: random.Random, cursors: list[str], count: int) -> Iterator[str]:
    """Yield texts that are nearly cursors; none is one of them."""
    valid = set(cursors)

    def alter(cursor: str) -> str:
        at = pick.randrange(len(cursor))
        return cursor[:at] + pick.choice(ALPHABET) + cursor[at + 1 :]

    def alter_position(cursor: str) -> str:
        raw = bytearray(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        raw[pick.randrange(12, len(raw))] ^= 1 << pick.randrange(8)
        return urlsafe_b64encode(raw).rstrip(b"=").decode()

    def splice(cursor: str) -> str:
        other, at = pick.choice(cursors), pick.randrange(len(cursor))
        return cursor[:at] + other[at:]

    def extend(cursor: str) -> str:
        return cursor + "".join(pick.choices(ALPHABET, k=pick.randrange(1, 9)))

    def shorten(cursor: str) -> str:
        first, last = sorted(pick.sample(range(len(cursor) + 1), 2))
        return cursor[first:last] if pick.random() < 0.5 else cursor[:first] + cursor[last:]

    def invent(cursor: str) -> str:
        return "".join(pick.choices(ALPHABET, k=len(cursor)))

    ways: list[Callable[[str], str]] = [alter, alter_position, splice, extend, shorten, invent]
    made = 0
    while made < count:
        wrong = pick.choice(ways)(pick.choice(cursors))
        if wrong not in valid:
            made += 1
            yield wrong


def find_accepted(count: int) -> list[str]:
    """Return the mutations that are not refused as invalid cursors."""
    tx, accepted = tx_of(), []
    cursors = [encode_cursor(tx, "work.query", QUERY, n, None, 0.5, NOW, f"n{n}") for n in range(50)]
    for wrong in mutations(random.Random(54), cursors, count):  # noqa: S311 - not a secret
        try:
            decode_cursor(tx, "work.query", QUERY, wrong)
            accepted.append(wrong)
        except InvalidCursor:
            pass
    return accepted


@pytest.mark.proof
def test_no_mutation_of_cursors_is_accepted() -> None:
    assert find_accepted(FUZZED) == []


@pytest.mark.teeth
def test_without_the_check_of_the_signature_mutations_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hmac.compare_digest", lambda *_: True)
    assert len(find_accepted(FUZZED)) > FUZZED // 10
