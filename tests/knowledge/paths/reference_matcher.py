"""A slow reference matcher, written from the rules alone and independent of the tested code.

A text becomes units (an escape, a class, or a character), braces are expanded one pair at a time, and matching tries
everything that a star can stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

ALTERNATIVES_MAX = 64
OUTSIDE = {"", ".", ".."}

Units = tuple[str, ...]


class NotAPattern(Exception):
    """The text is not a pattern."""


def is_pattern(text: str) -> bool:
    try:
        alternatives(text)
    except NotAPattern:
        return False
    return True


def matches(text: str, path: str) -> bool:
    """Return whether a pattern matches a path."""
    names = tuple(path.split("/"))
    if OUTSIDE & set(names) or (len(names[0]) == 2 and names[0][0] in LETTERS and names[0][1] == ":"):
        return False
    while text.startswith("./"):
        text = text[2:]
    return path == text or any(_segments_match(row, names) for row in alternatives(text))


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def alternatives(text: str) -> tuple[tuple[Units, ...], ...]:
    """Return the alternatives of a pattern, each as its segments."""
    while text.startswith("./"):
        text = text[2:]
    if not text or text[0] in "!/" or text[-1] == "/" or any(sign in text for sign in "\n\r\t"):
        raise NotAPattern
    if text[0] in LETTERS and text[1:2] == ":" and text[2:3] in ("", "/"):
        raise NotAPattern
    found = tuple(_segments(row) for row in _expand_braces(_units(text)))
    if len(found) > ALTERNATIVES_MAX:
        raise NotAPattern
    return found


def _units(text: str) -> Units:
    if not text:
        return ()
    length = 1
    if text[0] == "\\":
        length = 2
        if text[1:2] in ("", "/"):
            raise NotAPattern
    if text[0] == "[":
        length = _length_of_class(text)
    return (text[:length], *_units(text[length:]))


def _length_of_class(text: str) -> int:
    first = 2 if text[1:2] in ("!", "^") else 1
    at = first
    while at == first or text[at : at + 1] != "]":
        if text[at : at + 1] in ("", "/") or (text[at] == "\\" and text[at + 1 : at + 2] in ("", "/")):
            raise NotAPattern
        name = text[at + 2 :].split(":]")[0]
        if text[at : at + 2] == "[:" and ":]" in text[at + 2 :] and name.isalpha():
            raise NotAPattern
        at += 2 if text[at] == "\\" else 1
    _ranges(text[first:at])
    return at + 1


@cache
def _ranges(inner: str) -> tuple[tuple[str, str], ...]:
    """Return the ranges of a class; a single character is a range of one."""
    if not inner:
        return ()
    members = [part[-1] for part in _members(inner)]
    raw = list(_members(inner))
    if len(raw) >= 3 and raw[1] == "-":
        if members[0] > members[2]:
            raise NotAPattern
        return ((members[0], members[2]), *_ranges("".join(raw[3:])))
    return ((members[0], members[0]), *_ranges("".join(raw[1:])))


def _members(inner: str) -> list[str]:
    if not inner:
        return []
    length = 2 if inner[0] == "\\" else 1
    return [inner[:length], *_members(inner[length:])]


def _expand_braces(units: Units) -> list[Units]:
    """Expand the first pair of braces: each branch replaces it."""
    if "{" not in units:
        return [units]
    first = units.index("{")
    depth, commas = 0, [first]
    for at in range(first, len(units)):
        depth += {"{": 1, "}": -1}.get(units[at], 0)
        if units[at] == "," and depth == 1:
            commas.append(at)
        if depth == 0:
            break
    else:
        raise NotAPattern
    before, after = units[:first], units[at + 1 :]
    if len(commas) == 1:
        return _expand_braces((*before, r"\{", *units[first + 1 : at], r"\}", *after))
    found: list[Units] = []
    for begin, end in pairwise([*commas, at]):
        found += _expand_braces((*before, *units[begin + 1 : end], *after))
        if len(found) > ALTERNATIVES_MAX:
            raise NotAPattern
    return found


def _segments(units: Units) -> tuple[Units, ...]:
    segments: list[Units] = [()]
    for unit in units:
        segments[-1:] = [segments[-1], ()] if unit == "/" else [(*segments[-1], unit)]
    for segment in segments:
        is_plain = not any(unit in "*?" or unit[0] == "[" for unit in segment)
        if is_plain and "".join(unit[-1] for unit in segment) in OUTSIDE:
            raise NotAPattern
    return tuple(segments)


def _segments_match(segments: Sequence[Units], names: tuple[str, ...]) -> bool:
    @cache
    def match_from(segment: int, name: int) -> bool:
        """Return whether the segments from one index on match all names from another on."""
        if segment == len(segments):
            return name == len(names)
        if segments[segment] == ("*", "*"):
            if segment == len(segments) - 1:
                return name < len(names)
            return match_from(segment + 1, name) or (name < len(names) and match_from(segment, name + 1))
        return name < len(names) and _units_match(segments[segment], names[name]) and match_from(segment + 1, name + 1)

    return match_from(0, 0)


@cache
def _units_match(units: Units, name: str) -> bool:
    @cache
    def match_from(unit: int, at: int) -> bool:
        """Return whether the units from one index on match all characters from another on."""
        if unit == len(units):
            return at == len(name)
        if units[unit] == "*":
            return match_from(unit + 1, at) or (at < len(name) and match_from(unit, at + 1))
        return at < len(name) and _unit_matches(units[unit], name[at]) and match_from(unit + 1, at + 1)

    return match_from(0, 0)


def _unit_matches(unit: str, character: str) -> bool:
    if unit == "?":
        return True
    if len(unit) > 1 and unit[0] == "[":
        negated = unit[1] in "!^"
        return any(low <= character <= high for low, high in _ranges(unit[1 + negated : -1])) != negated
    return unit[-1] == character
