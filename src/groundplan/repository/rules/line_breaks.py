"""Line breaks are no part of what a text says. Git for Windows may check every file out with CRLF.

So texts are compared, hashed and taken into the plan with LF, and a file that has CRLF gets CRLF again.
"""

from __future__ import annotations

import re

LF, CRLF = "\n", "\r\n"

# Any number of CR, so that what has become LF is never taken for a CRLF the next time.
_BREAK = re.compile("(?<!\r)\r+\n")


def normalize_line_breaks(text: str) -> str:
    """The text with LF at the end of every line."""
    return _BREAK.sub(LF, text)


def detect_line_breaks(text: str) -> str:
    """What a file's own lines end with: CRLF where it has any."""
    return CRLF if CRLF in text else LF


def apply_line_breaks(text: str, breaks: str) -> str:
    """A text with LF, for a file whose lines end otherwise."""
    return text.replace(LF, breaks)
