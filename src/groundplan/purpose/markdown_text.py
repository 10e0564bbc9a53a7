"""Stored text inside Markdown of ours: on one line, short, and never taken for structure."""

from __future__ import annotations

import re

SHOWN_CHARS_MAX = 240  # the data beside the Markdown has the whole

_MARKS = re.compile(r"([\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_AT_THE_START = re.compile(r"^([#>+=-]|\d+(?=[.)]))")
_TICKS = re.compile(r"`+")


def in_line(text: str, *, chars_max: int = SHOWN_CHARS_MAX) -> str:
    """Text that reads as it was written wherever a line of Markdown goes on."""
    marked = _MARKS.sub(r"\\\1", folded(text, chars_max))
    # A number is no mark; what makes a list of it is the sign behind.
    return _AT_THE_START.sub(lambda found: f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}", marked)


def in_code(text: str) -> str:
    """Text as a span of code, within more ticks than it has in a row."""
    line = folded(text)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    room = " " if not line or "`" in (line[0], line[-1]) else ""
    return f"{fence}{room}{line}{room}{fence}"


def folded(text: str, chars_max: int = SHOWN_CHARS_MAX) -> str:
    """Text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"
