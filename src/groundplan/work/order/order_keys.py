"""Order keys: texts that compare as their nodes are finished, with room for a new one between any two.

A key is a row of digits in base 62 and a mark that is greater than every digit. So no key begins with another one, the
keys that begin with the digits of a key are less than it, and a longer key always fits between two.
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


def make_key_below(above: str, number: int) -> str:
    """Return a key less than that of a parent; those of its other children compare by their numbers.

    Deep in a tree, where such keys would be long, it is the next lower one instead.
    """
    key = above[:-1] + _encode(number) + END
    return key if len(key) <= KEY_CHARS_MAX else make_keys_between("", above)[0]


def make_keys_between(low: str, high: str, count: int = 1, *, near_low: bool = False) -> Sequence[str]:
    """Return so many growing keys between two, near the higher one or near the lower one. The lower one may be empty.

    Keys near each other leave room for more on the same side, where the next ones are likely to go.
    """
    same = next(index for index, digit in enumerate(high) if low[index : index + 1] != digit)
    length = same
    while True:
        length += DIGITS_ADDED
        # Less by one: a key must not begin with the digits of the higher one, and behind "zzz~" there would be no room.
        first, behind = _get_value(low, length), _get_value(high, length) - 1
        if first < behind:
            digits = _write_digits(first if near_low else behind - 1, length)
            return [digits + END] if count == 1 else [digits + _encode(index) + END for index in range(count)]


def _get_value(key: str, length: int) -> int:
    """Return the first digits after a key, as a number: of the keys that are not less than the result, none is."""
    value = 0
    for index in range(length):
        digit = key[index : index + 1]
        if digit == END:
            return (value + 1) * int(BASE ** (length - index))
        value = value * BASE + _VALUES.get(digit, 0)
    return value + 1 if key else 0


def _encode(number: int) -> str:
    """Return a number as digits that compare like numbers: their count comes first."""
    digits = _write_digits(number, 0)
    return DIGITS[len(digits)] + digits


def _write_digits(number: int, length: int) -> str:
    written = ""
    while number:
        number, value = divmod(number, BASE)
        written = DIGITS[value] + written
    return written.rjust(length, DIGITS[0])
