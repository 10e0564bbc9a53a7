"""Order keys: there is always room for another one, and they stay short where plans usually grow."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundplan.work.waiting.moments import sort_last_steps_first
from groundplan.work.waiting.order import (
    KEY_CHARS_MAX,
    ROOT_KEY,
    make_key_below,
    make_keys_between,
    make_numbered_key,
)

Insertions = list[tuple[int, int, bool]]  # where, how many, near the lower one

insertions = st.lists(st.tuples(st.integers(0, 2**31), st.integers(1, 4), st.booleans()), max_size=60)


@given(insertions)
def test_keys_between_two_are_between_them_and_grow(steps: Insertions) -> None:
    keys = [ROOT_KEY]
    for at, count, near_low in steps:
        index = at % len(keys)
        low = keys[index - 1] if index else ""
        keys[index:index] = make_keys_between(low, keys[index], count, near_low=near_low)

    assert keys == sorted(set(keys))


@pytest.mark.parametrize("seed", range(20))
def test_there_is_room_after_a_thousand_keys_of_all_kinds(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - the same every time
    keys = sorted({ROOT_KEY, *(make_numbered_key(n) for n in random.sample(range(4_000), 60))})
    for _ in range(1_000):
        index = random.randrange(len(keys)) if random.random() < 0.9 else 3
        low = keys[index - 1] if index else ""
        below = make_key_below(keys[index], random.randrange(130))
        if below is not None and low < below and len(below) < KEY_CHARS_MAX // 2:
            keys.insert(index, below)
        else:
            added = make_keys_between(low, keys[index], random.choice((1, 1, 3)), near_low=random.random() < 0.5)
            assert added, f"no room between {low} and {keys[index]}"
            keys[index:index] = added

    assert keys == sorted(set(keys))


def test_where_there_is_no_room_there_is_no_key() -> None:
    assert make_keys_between("13z~", "13~") == []


def test_the_keys_of_children_are_below_the_parent_and_compare_by_number() -> None:
    parent = make_numbered_key(7)
    children = [make_key_below(parent, n) or "" for n in (1, 60, 61, 62, 63, 4_000, 1_000_000)]

    assert children == sorted(children)
    assert make_numbered_key(6) < children[0]
    assert children[-1] < parent < ROOT_KEY


def test_a_chain_of_20_000_levels_keeps_its_keys_short() -> None:
    key = ROOT_KEY
    for n in range(20_000):
        below = make_key_below(key, n)
        assert below is not None
        assert below < key
        assert len(below) <= KEY_CHARS_MAX
        key = below


def test_thousands_of_keys_on_one_side_of_another_one_stay_short() -> None:
    low, high = make_numbered_key(1), make_numbered_key(2)
    below, behind = high, low
    for _ in range(5_000):
        (below,) = make_keys_between(low, below)
        (behind,) = make_keys_between(behind, high, near_low=True)

    assert max(len(below), len(behind)) <= 12


@given(st.dictionaries(st.integers(0, 12), st.lists(st.integers(0, 12), max_size=4), max_size=13))
def test_a_sort_puts_each_after_all_that_its_steps_lead_to_or_finds_a_cycle(steps: dict[int, list[int]]) -> None:
    order = sort_last_steps_first(steps)

    if order is not None:
        place = {one: index for index, one in enumerate(order)}
        assert len(place) == len(order)
        assert all(place[after] < place[one] for one, ahead in steps.items() for after in ahead)
    else:
        assert any(_leads_back(steps, one) for one in steps)


def _leads_back(steps: dict[int, list[int]], first: int) -> bool:
    seen: set[int] = set()
    todo = list(steps[first])
    while todo:
        one = todo.pop()
        if one not in seen:
            seen.add(one)
            todo += steps.get(one, ())
    return first in seen
