"""Control and bidirectional formatting characters, which a terminal would obey instead of showing them."""

from __future__ import annotations


def escape_control_chars(text: str) -> str:
    """Return text for a terminal, with control and bidirectional formatting characters escaped."""
    if text.isprintable():
        return text
    return "".join(_escape_char(char) if _is_control(char) else char for char in text)


def _is_control(char: str) -> bool:
    return char not in "\n\t" and (
        ord(char) < 32 or 127 <= ord(char) < 160 or char in _BIDI_CONTROLS or _is_surrogate(char)
    )


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _escape_char(char: str) -> str:
    return f"\\u{ord(char):04x}"


_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
