"""What patterns mean, worked out slowly: straight from the rules, with nothing in common with the code that is tested.

A text becomes units (an escape, a class, or a character), braces are written out by rewriting the first pair of them,
and matching tries everything that a star could stand for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

ALTERNATIVES_MAX = 64
OUTSIDE = {"", ".", ".."}

Units = tuple[str, ...]


class Refused(Exception):
    """The text is no pattern."""


def is_pattern(text: str) -> bool:
    try:
        rows(text)
    except Refused:
        return False
    return True


def matches(text: str, path: str) -> bool:
    """Whether a pattern matches a path."""
    names = tuple(path.split("/"))
    if OUTSIDE & set(names) or (len(names[0]) == 2 and names[0][0] in LETTERS and names[0][1] == ":"):
        return False
    while text.startswith("./"):
        text = text[2:]
    return path == text or any(_leads(row, names) for row in rows(text))


LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


@cache
def rows(text: str) -> tuple[tuple[Units, ...], ...]:
    """The alternatives of a pattern, each as its segments."""
    while text.startswith("./"):
        text = text[2:]
    if not text or text[0] in "!/" or text[-1] == "/" or any(sign in text for sign in "\n\r\t"):
        raise Refused
    if text[0] in LETTERS and text[1:2] == ":" and text[2:3] in ("", "/"):
        raise Refused
    found = tuple(_segments(row) for row in _written_out(_units(text)))
    if len(found) > ALTERNATIVES_MAX:
        raise Refused
    return found


def _units(text: str) -> Units:
    if not text:
        return ()
    length = 1
    if text[0] == "\\":
        length = 2
        if text[1:2] in ("", "/"):
            raise Refused
    if text[0] == "[":
        length = _length_of_class(text)
    return (text[:length], *_units(text[length:]))


def _length_of_class(text: str) -> int:
    first = 2 if text[1:2] in ("!", "^") else 1
    at = first
    while at == first or text[at : at + 1] != "]":
        if text[at : at + 1] in ("", "/") or (text[at] == "\\" and text[at + 1 : at + 2] in ("", "/")):
            raise Refused
        name = text[at + 2 :].split(":]")[0]
        if text[at : at + 2] == "[:" and ":]" in text[at + 2 :] and name.isalpha():
            raise Refused
        at += 2 if text[at] == "\\" else 1
    _ranges(text[first:at])
    return at + 1


@cache
def _ranges(inner: str) -> tuple[tuple[str, str], ...]:
    """The ranges of what stands in a class, a single character being the range from itself to itself."""
    if not inner:
        return ()
    members = [part[-1] for part in _members(inner)]
    raw = list(_members(inner))
    if len(raw) >= 3 and raw[1] == "-":
        if members[0] > members[2]:
            raise Refused
        return ((members[0], members[2]), *_ranges("".join(raw[3:])))
    return ((members[0], members[0]), *_ranges("".join(raw[1:])))


def _members(inner: str) -> list[str]:
    if not inner:
        return []
    length = 2 if inner[0] == "\\" else 1
    return [inner[:length], *_members(inner[length:])]


def _written_out(units: Units) -> list[Units]:
    """Take the first brace, find its partner, and put each branch in the place of both."""
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
        raise Refused
    before, after = units[:first], units[at + 1 :]
    if len(commas) == 1:
        return _written_out((*before, r"\{", *units[first + 1 : at], r"\}", *after))
    found: list[Units] = []
    for begin, end in pairwise([*commas, at]):
        found += _written_out((*before, *units[begin + 1 : end], *after))
        if len(found) > ALTERNATIVES_MAX:
            raise Refused
    return found


def _segments(units: Units) -> tuple[Units, ...]:
    segments: list[Units] = [()]
    for unit in units:
        segments[-1:] = [segments[-1], ()] if unit == "/" else [(*segments[-1], unit)]
    for segment in segments:
        is_plain = not any(unit in "*?" or unit[0] == "[" for unit in segment)
        if is_plain and "".join(unit[-1] for unit in segment) in OUTSIDE:
            raise Refused
    return tuple(segments)


def _leads(segments: Sequence[Units], names: tuple[str, ...]) -> bool:
    @cache
    def leads(segment: int, name: int) -> bool:
        """Whether the segments from one on match all names from one on."""
        if segment == len(segments):
            return name == len(names)
        if segments[segment] == ("*", "*"):
            if segment == len(segments) - 1:
                return name < len(names)
            return leads(segment + 1, name) or (name < len(names) and leads(segment, name + 1))
        return name < len(names) and _is_called(segments[segment], names[name]) and leads(segment + 1, name + 1)

    return leads(0, 0)


@cache
def _is_called(units: Units, name: str) -> bool:
    @cache
    def called(unit: int, at: int) -> bool:
        """Whether the units from one on match all characters from one on."""
        if unit == len(units):
            return at == len(name)
        if units[unit] == "*":
            return called(unit + 1, at) or (at < len(name) and called(unit, at + 1))
        return at < len(name) and _is(units[unit], name[at]) and called(unit + 1, at + 1)

    return called(0, 0)


def _is(unit: str, character: str) -> bool:
    if unit == "?":
        return True
    if len(unit) > 1 and unit[0] == "[":
        negated = unit[1] in "!^"
        return any(low <= character <= high for low, high in _ranges(unit[1 + negated : -1])) != negated
    return unit[-1] == character


def can_match_below(text: str, folder: str) -> bool:
    """Whether there is a path below a folder that a pattern matches."""
    names = tuple(folder.split("/"))
    if OUTSIDE & set(names) or (len(names[0]) == 2 and names[0][0] in LETTERS and names[0][1] == ":"):
        return False
    while text.startswith("./"):
        text = text[2:]
    return text.startswith(f"{folder}/") or any(_leads_below(row, names) for row in rows(text))


def _leads_below(segments: Sequence[Units], names: tuple[str, ...]) -> bool:
    @cache
    def leads(segment: int, name: int) -> bool:
        """Whether the segments from one on match all names from one on, and at least one more."""
        if segment == len(segments):
            return False
        if name == len(names):
            return True
        if segments[segment] == ("*", "*"):
            return leads(segment + 1, name) or leads(segment, name + 1)
        return _is_called(segments[segment], names[name]) and leads(segment + 1, name + 1)

    return all(map(_is_some_name, segments)) and leads(0, 0)


def _is_some_name(units: Units) -> bool:
    """Whether something else than `.` and `..` is called so."""
    if units == ("*", "*") or "*" in units or len(units) > 2:
        return True
    return any(_is(unit, character) for unit in units for character in (*SAMPLES, *"".join(units)) if character != ".")


SAMPLES = "a0\x01é"
