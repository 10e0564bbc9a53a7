"""Stored text inside Markdown of ours: on one line, short, and never taken for structure."""

from __future__ import annotations

import re

LINE_CHARS_MAX = 240  # the data beside the Markdown has the whole

_SPECIAL_CHARS = re.compile(r"([\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_BLOCK_MARKERS = re.compile(r"^([#>+=-]|\d+(?=[.)]))")
_TICKS = re.compile(r"`+")


def escape_inline(text: str, *, chars_max: int = LINE_CHARS_MAX) -> str:
    """Text that reads as it was written wherever a line of Markdown goes on."""
    marked = _SPECIAL_CHARS.sub(r"\\\1", shorten_line(text, chars_max))
    # A number is no mark; what makes a list of it is the sign behind.
    return _BLOCK_MARKERS.sub(lambda found: f"{found[1]}\\" if found[1].isdigit() else f"\\{found[1]}", marked)


def format_code_span(text: str) -> str:
    """Text as a span of code, within more ticks than it has in a row."""
    line = shorten_line(text)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    room = " " if not line or "`" in (line[0], line[-1]) else ""
    return f"{fence}{room}{line}{room}{fence}"


def shorten_line(text: str, chars_max: int = LINE_CHARS_MAX) -> str:
    """Text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"
