"""How many columns of a terminal a text takes: wide characters take two, marks that join the one before take none."""

from __future__ import annotations

_EMOJI_STYLE = "\ufe0f"  # asks for the wide form of the character before it
_JOINING = frozenset({"Mn", "Me", "Cf"})


def measure(text: str) -> int:
    """Return the number of columns of a text."""
    if text.isascii():
        return len(text)
    columns, last = 0, 0
    for char in text:
        if char == _EMOJI_STYLE and last == 1:
            columns, last = columns + 1, 2
            continue
        width = measure_char(char)
        columns, last = columns + width, width or last
    return columns


def measure_char(char: str) -> int:
    """Return the number of columns of one character."""
    if char.isascii():
        return 1
    from unicodedata import category, east_asian_width  # most texts are ASCII

    if category(char) in _JOINING:
        return 0
    return 2 if east_asian_width(char) in "WF" else 1


def cut(text: str, columns: int, ellipsis: str = "…") -> str:
    """Return a text that takes at most so many columns; one that is cut ends in an ellipsis."""
    if measure(text) <= columns:
        return text
    room = columns - measure(ellipsis)
    if room < 0:
        return ""
    kept, used = [], 0
    for char in text:
        used += measure_char(char)
        if used > room:
            break
        kept.append(char)
    return "".join(kept).rstrip() + ellipsis
