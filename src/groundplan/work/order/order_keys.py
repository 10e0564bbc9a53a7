"""Order keys: texts that compare as their nodes are finished, with room for a new one between any two.

A key is a row of digits in base 62 and a mark that is greater than every digit. So no key begins with another one, and
the keys that begin with the digits of a key are less than it. No key ends in the greatest digit: behind `1z`, nothing
would be left below `1`.
"""

from __future__ import annotations

from collections.abc import Sequence

DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BASE = len(DIGITS)
END = "~"
ROOT_KEY = END  # greater than all others
KEY_CHARS_MAX = 120
DIGITS_ADDED = 3  # after the first different digit: room for 62² further keys in a row

_VALUES = {digit: value for value, digit in enumerate(DIGITS)}


def make_numbered_key(number: int) -> str:
    """Return a key below that of the root; such keys compare by their numbers."""
    return _encode(number) + END


def make_key_below(above: str, number: int) -> str | None:
    """Return a key less than that of a parent; those of its other children compare by their numbers.

    Deep in a tree, where such keys would be long, it is the next lower one instead, or None if that is long, too.
    """
    key = above[:-1] + make_numbered_key(number)
    if len(key) <= KEY_CHARS_MAX:
        return key
    keys = make_keys_between("", above)
    return keys[0] if keys else None


def make_keys_between(low: str, high: str, count: int = 1, *, near_low: bool = False) -> Sequence[str]:
    """Return so many growing keys between two, near the higher one or near the lower one. The lower one may be empty.

    Keys near each other leave room for more on the same side, where the next ones are likely to go. Returns nothing if
    the keys would be too long.
    """
    same = next(index for index, digit in enumerate(high) if low[index : index + 1] != digit)
    for length in range(same + DIGITS_ADDED, KEY_CHARS_MAX, DIGITS_ADDED):
        # Less by one: a key must not begin with the digits of the higher one.
        first, last = _get_first_behind(low, length), _get_first_behind(high, length) - 2
        aside = min(BASE, (last - first) // 2)  # most of the room is left on the far side
        value = first + aside if near_low else last - aside
        if value % BASE == BASE - 1:
            value += 1 if near_low else -1
        if first <= value <= last:
            digits = _write_digits(value, BASE).rjust(length, DIGITS[0])
            keys = [digits + END] if count == 1 else [digits + make_numbered_key(index) for index in range(count)]
            return keys if len(keys[-1]) <= KEY_CHARS_MAX else []
    return []


def _get_first_behind(key: str, length: int) -> int:
    """Return the least number of `length` digits such that every key that begins with it is greater than `key`."""
    value = 0
    for index in range(length):
        digit = key[index : index + 1]
        if digit == END:
            return (value + 1) * int(BASE ** (length - index))
        value = value * BASE + _VALUES.get(digit, 0)
    return value + 1 if key else 0


def _encode(number: int) -> str:
    """Return a number as digits that compare like numbers: their count comes first. The greatest digit is not used."""
    digits = _write_digits(number, BASE - 1)
    return DIGITS[len(digits)] + digits


def _write_digits(number: int, base: int) -> str:
    written = ""
    while number:
        number, value = divmod(number, base)
        written = DIGITS[value] + written
    return written
