"""Escape stored text for Markdown and for XML, so that it is shown literally and not parsed as markup."""

from __future__ import annotations

import re

LINE_CHARS_MAX = 240  # the data beside the Markdown has the full text

_SPECIAL_CHARS = re.compile(r"([\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;))")
_BLOCK_MARKERS = re.compile(r"^([#>+=-]|\d+(?=[.)]))")
_TICKS = re.compile(r"`+")


def escape_inline(text: str, *, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text with all Markdown escaped, for any position in a line."""
    marked = _SPECIAL_CHARS.sub(r"\\\1", shorten_line(text, chars_max))
    # After a number it is the following sign that starts a list, so escape that.
    return _BLOCK_MARKERS.sub(lambda match: f"{match[1]}\\" if match[1].isdigit() else f"\\{match[1]}", marked)


def format_code_span(text: str) -> str:
    """Return text as a code span. Its fence is longer than any run of backticks in the text."""
    line = shorten_line(text)
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    room = " " if not line or "`" in (line[0], line[-1]) else ""
    return f"{fence}{room}{line}{room}{fence}"


def shorten_line(text: str, chars_max: int = LINE_CHARS_MAX) -> str:
    """Return text on one line, cut at `chars_max` characters."""
    line = " ".join(text.split())
    return line if len(line) <= chars_max else f"{line[: chars_max - 1]}…"


_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser converts a bare carriage return to a line feed.
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def escape_xml(text: str) -> str:
    """Return text escaped for the content of an element."""
    return replace_invalid_xml(text).translate(_XML_ESCAPES)


def replace_invalid_xml(text: str) -> str:
    """Return text with U+FFFD in place of characters that XML 1.0 does not allow."""
    return _NOT_XML.sub("\ufffd", text)
