"""Measure, break and escape the texts of the picture."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from groundplan.purpose.markup import replace_invalid_xml

# Character widths in thousandths of the font size, for bold Arial and metric-compatible fonts. Regular letters are
# never wider. A few rare letters are in the next wider group, never in a narrower one.
WIDTHS = {
    278: " ',./I\\ijl\xa0ÌÍÎÏìíîïĨĩĪīĬĭĮįİıĵĺļłſΐΙΪίιϊІЇіј‘’‚‛",
    334: "!()-:;[]`ft|¡¦¨²³´·¸¹ţŧț·ї‐‑",
    390: "*r{}ªºľŕŗř•",
    500: '"z°ŀťźżžΊέεζξτгзтѓ“”„↑↓',
    549: "±÷ςкќ≈≠≤≥",
    553: "¯эє‗",
    557: "#$0123456789J_aceksvxy¢£¤¥§«¶»àáâãäåçèéêëýÿāăąćĉċčēĕėęěĳĴķĸśŝşšŷșγθλνЈаесухѐёѕў–†‡€",
    583: "ΰκυχϋύЃГч",
    584: "+<=>^~¬×я−",
    611: "?FLTZbdghnopqu¿ßðñòóôõöøùúûüþµđĝğġģĥħĹĻĽĿŁńņňŋōŏőŢŤŦũūŭůűųŹŻŽȚΓΖΤήβδηοόЌКТнопрђћџ",
    615: "άαμвийцьѝ",
    667: "EPSVXYÈÉÊËÝÞĒĔĖĘĚŚŜŞŠŶŸȘΕΞΡΣΥΧΫρЀЅЎЕЗРУХбдл",
    719: "ďŉΔΛσφЁЄЏБДИЙЛПЧЬЭж",
    723: "&ABCDHKNRUÀÁÂÃÄÅÇÐÑÙÚÛÜĀĂĄĆĈĊČĎĐĤĦĶŃŅŇŔŖŘŨŪŬŮŰŲΆΑΒΗΚΝΠЍАВНСЯ",
    778: "GOQw©®ÒÓÔÕÖØĜĞĠĢŊŌŎŐŵΘΟπψОЦмъ",
    834: "M¼½¾ĲΌΜΦΩМш",
    1000: "%WmÆæŒœŴΈΉΎΏΨωώЂЋЖФЪЫфщыюљњ—―…™←→",
    1100: "@ЉЊШЩЮ",
}
ELLIPSIS = "…"

_WIDTHS_BY_CODE = {ord(character): width for width, characters in WIDTHS.items() for character in characters}
# Unknown characters are estimated too wide rather than too narrow: ideographs are square, emoji and capitals may be
# wider, letters of other alphabets are mostly narrower. Exact widths need the font.
_IDEOGRAPH, _PICTURE, _CAPITAL, _LETTER = 1_000, 1_300, 1_350, 900
_ASCII = [_WIDTHS_BY_CODE.get(code, _LETTER) for code in range(128)]

# Not allowed in XML, or changing the text direction: a title must not reorder its neighbours.
_UNDRAWABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


def escape_markup(text: str) -> str:
    """Escape text for an element or an attribute."""
    return (text if text.isprintable() else replace_invalid_xml(text)).translate(_MARKUP)


def clean_line(text: str) -> str:
    """Return text on one line, without direction controls."""
    line = " ".join(text.split())
    return line if line.isprintable() else _UNDRAWABLE.sub("", line)


def measure_width(text: str, size_px: float) -> float:
    """Return the width of a line in pixels; exact if the table has all its letters."""
    if text.isascii():
        return sum([_ASCII[code] for code in text.encode()]) * size_px / 1000
    return sum([_get_char_width(character) for character in text]) * size_px / 1000


@lru_cache(maxsize=4096)
def _get_char_width(character: str) -> int:
    known = _WIDTHS_BY_CODE.get(ord(character))
    if known is not None:
        return known
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return 0  # a combining mark, joiner or separator without width
    if category[0] == "S" or category in ("Cn", "Co"):
        return _PICTURE
    if category in ("Lu", "Lt"):
        return _CAPITAL
    return _IDEOGRAPH if unicodedata.east_asian_width(character) in ("W", "F") else _LETTER


def is_exact(text: str) -> bool:
    """Return True if the table has the width of every letter of a line."""
    return text.isascii() or all(ord(character) in _WIDTHS_BY_CODE for character in text)


def truncate_to_width(text: str, size_px: float, room: float) -> str:
    """Return a line cut to a width."""
    if measure_width(text, size_px) <= room:
        return text
    left = room - measure_width(ELLIPSIS, size_px)
    fitting = _count_fitting(text, size_px, left)
    return text[:fitting].rstrip() + ELLIPSIS


def wrap_to_width(text: str, size_px: float, room: float, lines_max: int) -> list[str]:
    """Break text into at most the given number of lines. Words that are too long for a line are split."""
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
            word = word[fitting:]  # noqa: PLW2901 - the rest of the word
        line = word
        if len(lines) >= lines_max:
            rest = " ".join((line, *words[place + 1 :]))
            return [*lines[:-1], truncate_to_width(f"{lines[-1]} {rest}", size_px, room)] if rest.strip() else lines
    return [*lines, line] if line else lines


def _count_fitting(text: str, size_px: float, room: float) -> int:
    """Return the number of characters that fit. A combining mark stays with its letter."""
    left = room * 1000 / size_px
    for place, character in enumerate(text):
        left -= _get_char_width(character)
        if left < 0:
            return place
    return len(text)
