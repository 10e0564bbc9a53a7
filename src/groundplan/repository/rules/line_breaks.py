"""Conversion of line breaks. Git for Windows may check out every file with CRLF.

Texts are compared, hashed and imported with LF, and a file that has CRLF is written with CRLF again.
"""

from __future__ import annotations

import re

LF, CRLF = "\n", "\r\n"

# Any number of CR, so that the result never contains another CRLF.
_BREAK = re.compile("(?<!\r)\r+\n")


def normalize_line_breaks(text: str) -> str:
    """Return the text with LF at the end of every line."""
    return _BREAK.sub(LF, text)


def detect_line_breaks(text: str) -> str:
    """Return the line break of a file: CRLF if it contains any, else LF."""
    return CRLF if CRLF in text else LF


def apply_line_breaks(text: str, breaks: str) -> str:
    """Return a text with LF converted to the given line breaks."""
    return text.replace(LF, breaks)
