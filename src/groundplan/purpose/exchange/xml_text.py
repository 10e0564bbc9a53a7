"""Escape stored text for XML elements, so that a parser returns the same text."""

from __future__ import annotations

import re

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser converts a bare carriage return to a line feed.
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def escape_xml(text: str) -> str:
    """Escape text for the content of an element."""
    return replace_invalid_xml(text).translate(_XML_ESCAPES)


def replace_invalid_xml(text: str) -> str:
    """Replace each character that XML 1.0 does not allow with U+FFFD."""
    return _NOT_XML.sub("\ufffd", text)
