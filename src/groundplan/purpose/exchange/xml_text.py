"""Stored text as the content of an XML element: never markup, and the same text when it is read back."""

from __future__ import annotations

import re

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A parser gives out every bare carriage return as a line feed.
_XML_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"})


def escape_xml(text: str) -> str:
    """Text between two tags."""
    return replace_invalid_xml(text).translate(_XML_ESCAPES)


def replace_invalid_xml(text: str) -> str:
    """Text in which a sign stands for each character that XML 1.0 has no place for."""
    return _NOT_XML.sub("\ufffd", text)
