"""Text inside the picture: how wide it is, how it breaks into lines, and how it is kept from becoming markup."""

from __future__ import annotations

import re
from functools import lru_cache

from groundplan.purpose.exchange.xml_text import replace_invalid_xml
from groundplan.purpose.picture.glyph_widths import WIDTHS

ELLIPSIS = "…"

_WIDTHS_BY_CODE = {ord(character): width for width, characters in WIDTHS.items() for character in characters}
# What the table does not know is rather counted too wide: ideographs are as wide as high, pictures and capitals may be
# more, and letters of other alphabets are mostly less. Without the font nobody can tell exactly.
_IDEOGRAPH, _PICTURE, _CAPITAL, _LETTER = 1_000, 1_300, 1_350, 900
_ASCII = [_WIDTHS_BY_CODE.get(code, _LETTER) for code in range(128)]

# Not in XML, or turning the order of what follows: a title must not rearrange its neighbours.
_UNDRAWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escape_markup(text: str) -> str:
    """Text for the content of an element or of an attribute: never markup, always XML."""
    return (text if text.isprintable() else replace_invalid_xml(text)).translate(_MARKUP)


def clean_line(text: str) -> str:
    """Text as it is drawn: on one line, without signs that would rearrange it."""
    line = " ".join(text.split())
    return line if line.isprintable() else _UNDRAWABLE.sub("", line)


def measure_width(text: str, size_px: float) -> float:
    """How wide a line is in pixels: exactly, where the table has all its letters."""
    if text.isascii():
        return sum([_ASCII[code] for code in text.encode()]) * size_px / 1000
    return sum([_unit(character) for character in text]) * size_px / 1000


@lru_cache(maxsize=4096)
def _unit(character: str) -> int:
    known = _WIDTHS_BY_CODE.get(ord(character))
    if known is not None:
        return known
    import unicodedata  # tables that a text of the usual letters does not need

    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0  # stands over the letter before it, or joins and parts letters without being one
    if category[0] == "S" or category in ("Cn", "Co"):
        return _PICTURE
    if category in ("Lu", "Lt"):
        return _CAPITAL
    return _IDEOGRAPH if unicodedata.east_asian_width(character) in ("W", "F") else _LETTER


def is_exact(text: str) -> bool:
    """Whether every letter of a line is in the table."""
    return text.isascii() or all(ord(character) in _WIDTHS_BY_CODE for character in text)


def truncate_to_width(text: str, size_px: float, room: float) -> str:
    """A line that fits: as much of it as there is room for."""
    if measure_width(text, size_px) <= room:
        return text
    left = room - measure_width(ELLIPSIS, size_px)
    fitting = _count_fitting(text, size_px, left)
    return text[:fitting].rstrip() + ELLIPSIS


def wrap_to_width(text: str, size_px: float, room: float, lines_max: int) -> list[str]:
    """Text in as many lines as it needs, and no more than there may be. A word that is too long is broken."""
    lines: list[str] = []
    line = ""
    words = clean_line(text).split(" ")
    for place, word in enumerate(words):
        longer = f"{line} {word}" if line else word
        if measure_width(longer, size_px) <= room:
            line = longer
            continue
        if line:
            lines.append(line)
        while len(lines) < lines_max and measure_width(word, size_px) > room:
            fitting = max(1, _count_fitting(word, size_px, room))
            lines.append(word[:fitting])
            word = word[fitting:]  # noqa: PLW2901 - what is left of it
        line = word
        if len(lines) >= lines_max:
            rest = " ".join((line, *words[place + 1 :]))
            return [*lines[:-1], truncate_to_width(f"{lines[-1]} {rest}", size_px, room)] if rest.strip() else lines
    return [*lines, line] if line else lines


def _count_fitting(text: str, size_px: float, room: float) -> int:
    """How many characters fit; a mark stays with its letter."""
    left = room * 1000 / size_px
    for place, character in enumerate(text):
        left -= _unit(character)
        if left < 0:
            return place
    return len(text)
