"""Errors of malformed patterns: what is wrong, and what to write instead."""

from __future__ import annotations

from collections.abc import Sequence

ALTERNATIVES_MAX = 64
EXPANDED_CHARS_MAX = 8_192  # over all alternatives, because the cost of a match grows with them

# POSIX character classes that can be written as ranges.
_WRITTEN_OUT = {
    "alnum": "[A-Za-z0-9]",
    "alpha": "[A-Za-z]",
    "digit": "[0-9]",
    "lower": "[a-z]",
    "upper": "[A-Z]",
    "word": "[A-Za-z0-9_]",
    "xdigit": "[0-9A-Fa-f]",
}


class MalformedPattern(Exception):
    """The text is not a valid pattern."""

    def __init__(self, problem: str, hint: str | None = None) -> None:
        super().__init__(f"{problem}; {hint}" if hint else problem)
        self.problem = problem  # reads on after the pattern: "has an unclosed '['"
        self.hint = hint


class AbsolutePattern(MalformedPattern):
    """The text is an absolute path; `rest` is the path after its start."""

    def __init__(self, start: str, rest: str) -> None:
        super().__init__(f"begins with {start!r}", f"write {rest}, without what is above the root of the repository")
        self.rest = rest


def empty() -> MalformedPattern:
    return MalformedPattern("is empty", "write ** for every file")


def more_than_a_line() -> MalformedPattern:
    return MalformedPattern("has a line break or a tab", "send each pattern as an element of its own")


def negation() -> MalformedPattern:
    return MalformedPattern("begins with '!'", r"patterns only include; write \! for a name that begins so")


def absolute(text: str, start: str) -> AbsolutePattern:
    return AbsolutePattern(start, text.removeprefix(start).lstrip("/") or "**")


def bare_directory(text: str) -> MalformedPattern:
    return MalformedPattern("ends with '/'", f"write {text.rstrip('/')}/** for everything below it")


def segment(segments: Sequence[object], alternative: str, text: str) -> MalformedPattern:
    """Return the error of a segment that no path has: an empty one, `.` or `..`."""
    name = next(name for name in ("", ".", "..") if name in segments)
    what = f"has a {name!r} segment" if name else "has an empty segment ('//')"
    if alternative != text:
        what = f"has the alternative {alternative!r}, which {what}"
    if name == "..":
        return MalformedPattern(what, "a pattern does not leave its folder; write the path without '..'")
    return MalformedPattern(what, "leave it out; ** means every file" if name else "write a single '/'")


def unclosed_class() -> MalformedPattern:
    return MalformedPattern("has an unclosed '['", r"close it with ']' in the same segment, or write \[ for a bracket")


def backward_range(low: str, high: str) -> MalformedPattern:
    return MalformedPattern(
        f"has the range '{low}-{high}', which runs backwards",
        rf"write [{high}-{low}], or \[ and \] for brackets that belong to a name",
    )


def posix_class(name: str) -> MalformedPattern:
    instead = _WRITTEN_OUT.get(name, "the characters themselves, like [a-z]")
    return MalformedPattern(f"has the class '[:{name}:]'", f"write {instead}")


def unclosed_braces() -> MalformedPattern:
    return MalformedPattern("has an unclosed '{'", r"close it with '}', or write \{ for a brace")


def too_many() -> MalformedPattern:
    return MalformedPattern(
        f"stands for more than {ALTERNATIVES_MAX} alternatives", "use fewer braces, or * in their place"
    )


def too_long() -> MalformedPattern:
    return MalformedPattern(
        f"has more than {EXPANDED_CHARS_MAX:,} characters when its braces are written out",
        "use several shorter patterns",
    )


def lone_escape() -> MalformedPattern:
    return MalformedPattern(r"has a lone '\'", r"write / alone between directories, and \\ for a backslash in a name")
