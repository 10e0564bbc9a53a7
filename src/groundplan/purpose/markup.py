"""Escape stored text for Markdown and for XML: it renders literally, and is never parsed as structure."""

from __future__ import annotations

import re

LINE_CHARS_MAX = 240  # the data beside the Markdown has the full text

_SPECIAL_CHARS = re.compile(r"([\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_BLOCK_MARKERS = re.compile(r"^([#>+=-]|\d+(?=[.)]))")
_TICKS = re.compile(r"`+")


def escape_inline(text: str, *, chars_max: int = LINE_CHARS_MAX) -> str:
    """Escape text so that it renders literally at any position in a line of Markdown."""
    marked = _SPECIAL_CHARS.sub(r"\\\1", shorten_line(text, chars_max))
    # After a number it is the following sign that starts a list, so escape that.
    return _BLOCK_MARKERS.sub(lambda match: f"{match[1]}\\" if match[1].isdigit() else f"\\{match[1]}", marked)


def format_code_span(text: str) -> str:
    """Format text as a code span, fenced with more backticks than its longest run."""
    line = shorten_line(text)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    room = " " if not line or "`" in (line[0], line[-1]) else ""
    return f"{fence}{room}{line}{room}{fence}"


def shorten_line(text: str, chars_max: int = LINE_CHARS_MAX) -> str:
    """Join text into one line and cut it at `chars_max`."""
    line = " ".join(text.split())
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser converts a bare carriage return to a line feed.
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def escape_xml(text: str) -> str:
    """Escape text for the content of an element."""
    return replace_invalid_xml(text).translate(_XML_ESCAPES)


def replace_invalid_xml(text: str) -> str:
    """Replace each character that XML 1.0 does not allow with U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)
