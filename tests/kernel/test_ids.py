"""Ids are short enough to type and long enough not to collide."""

from __future__ import annotations

import pytest

from groundplan.kernel.ids import ALPHABET, SHORT_ID_CHARS_MIN, new_short_id, new_short_ids, new_uuid, parse_uuid

UUID = "0b5b7a52-4c7c-4b0e-9a51-3f0a7c1d2e90"


def test_short_ids_use_letters_that_nobody_misreads() -> None:
    assert set(new_short_id()) <= set(ALPHABET)
    assert not set("ilou") & set(ALPHABET)


@pytest.mark.parametrize(("population", "chars"), [(0, 6), (1_000_000, 6), (1_048_576, 6), (1_048_577, 7), (10**9, 8)])
def test_short_ids_grow_with_what_they_name(population: int, chars: int) -> None:
    assert len(new_short_id(population)) == chars
    assert 32**chars >= population * 1024


def test_short_ids_do_not_repeat_in_practice() -> None:
    # 2,000 of 32^6: the chance of one collision is 0.2 %, of three below one in a billion.
    assert len({new_short_id() for _ in range(2_000)}) > 1_997
    assert SHORT_ID_CHARS_MIN == 6


def test_many_short_ids_at_once_are_like_as_many_single_ones() -> None:
    made = new_short_ids(2_000, population=1_048_577)

    assert len(made) == 2_000
    assert len(set(made)) > 1_997
    assert {len(one) for one in made} == {7}
    # Every letter at every position: 2,000 draws miss one of 32 letters with a chance below 10^-25.
    assert all({one[place] for one in made} == set(ALPHABET) for place in range(7))
    assert new_short_ids(0) == []


@pytest.mark.parametrize("dashes", [True, False])
def test_a_uuid_is_understood_with_and_without_dashes(dashes: bool) -> None:
    canonical = new_uuid()

    assert parse_uuid(canonical if dashes else canonical.replace("-", "")) == canonical
    assert parse_uuid(canonical.upper()) == canonical


@pytest.mark.parametrize("text", ["", "atlas", "1234", "g" * 32, "{" + UUID + "}", "urn:uuid:" + UUID])
def test_what_is_not_a_uuid_is_none(text: str) -> None:
    assert parse_uuid(text) is None
