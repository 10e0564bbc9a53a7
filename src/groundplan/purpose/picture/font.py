"""The font of exported pictures: Arimo, with the letter widths of Arial, reduced to the letters in use.

The files in `fonts` (SIL Open Font License) have the same glyphs as the page serves, as TrueType: renderers of PNG read
nothing else, and a subset of it can be written without a library. In a subset glyphs keep their numbers; the outlines
of those that are not used are left out, with the tables for kerning and features, which the widths of a picture do not
count on either. Equal characters give equal bytes.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from html import unescape
from importlib.resources import files
from itertools import pairwise
from struct import calcsize, pack, unpack_from

FAMILY = "Arimo"
WEIGHTS = (400, 700)
FONTS = files(__package__).joinpath("fonts")
_TEXT = re.compile(r"<text([^>]*)>([^<]*)</text>")
_BOLD = 'font-weight="700"'

_KEPT_TABLES = ("OS/2", "cmap", "glyf", "head", "hhea", "hmtx", "loca", "maxp", "name", "post")
_HEADER, _RECORD = ">4sHHHH", ">4sIII"
_POST_WITHOUT_NAMES = 0x00030000
_POST_BYTES = 32
_CMAP_FORMAT = 4
_UINT32 = 0x100000000

# Flags of a component of a composite glyph.
_ARGS_ARE_WORDS, _HAS_SCALE, _HAS_MORE, _HAS_TWO_SCALES, _HAS_MATRIX = 0x1, 0x8, 0x20, 0x40, 0x80

Tables = dict[str, bytes]


def build_font_rules(svg: str) -> str:
    """Return the style rules that embed the letters of a picture's texts, in each weight."""
    used: dict[int, set[str]] = {weight: set() for weight in WEIGHTS}
    for attributes, text in _TEXT.findall(svg):
        used[700 if _BOLD in attributes else 400].update(unescape(text))
    rules = []
    for weight, characters in used.items():
        if characters:
            data = b64encode(cut_font(read_font(weight), sorted(characters))).decode()
            rules.append(
                f"@font-face{{font-family:{FAMILY};font-weight:{weight};src:url(data:font/ttf;base64,{data})}}"
            )
    return "".join(rules)


@cache
def read_font(weight: int) -> bytes:
    """Return the shipped font in one weight."""
    return FONTS.joinpath(f"{FAMILY.lower()}-{weight}.ttf").read_bytes()


def list_characters(font: bytes) -> dict[int, int]:
    """Return the glyph of every character that a font has, by code point."""
    return _read_cmap(_read_tables(font)["cmap"])


def cut_font(font: bytes, characters: Iterable[str]) -> bytes:
    """Return a font that contains only the outlines of some characters."""
    tables = _read_tables(font)
    glyph_of = list_characters(font)
    offsets = _read_offsets(tables)
    glyphs = [tables["glyf"][start:end] for start, end in pairwise(offsets)]
    used = {0, *(glyph_of[ord(character)] for character in characters if ord(character) in glyph_of)}
    waiting = list(used)
    while waiting:
        for component in _list_components(glyphs[waiting.pop()]):
            if component not in used:
                used.add(component)
                waiting.append(component)
    kept = [glyph if number in used else b"" for number, glyph in enumerate(glyphs)]
    places = [0]
    for glyph in kept:
        places.append(places[-1] + len(glyph))
    new = {name: tables[name] for name in _KEPT_TABLES}
    new["glyf"] = b"".join(kept)
    new["loca"] = pack(f">{len(places)}I", *places)
    new["head"] = tables["head"][:50] + pack(">H", 1) + tables["head"][52:]  # the offsets of glyphs have 32 bits
    new["post"] = pack(">I", _POST_WITHOUT_NAMES) + tables["post"][4:_POST_BYTES]
    return _write_tables(font[:4], new)


def _read_tables(font: bytes) -> Tables:
    count = unpack_from(_HEADER, font)[1]
    records = (unpack_from(_RECORD, font, calcsize(_HEADER) + place * calcsize(_RECORD)) for place in range(count))
    return {name.decode(): font[start : start + length] for name, _, start, length in records}


def _write_tables(version: bytes, tables: Tables) -> bytes:
    power = len(tables).bit_length() - 1
    searched = 16 << power
    head = pack(_HEADER, version, len(tables), searched, power, 16 * len(tables) - searched)
    place = len(head) + calcsize(_RECORD) * len(tables)
    records, bodies = [], []
    for name, body in sorted(tables.items()):
        padded = body + bytes(-len(body) % 4)
        total = sum(unpack_from(f">{len(padded) // 4}I", padded)) % _UINT32
        records.append(pack(_RECORD, name.encode(), total, place, len(body)))
        bodies.append(padded)
        place += len(padded)
    return head + b"".join(records) + b"".join(bodies)


def _read_offsets(tables: Tables) -> list[int]:
    count = unpack_from(">H", tables["maxp"], 4)[0] + 1
    if unpack_from(">H", tables["head"], 50)[0]:
        return list(unpack_from(f">{count}I", tables["loca"]))
    return [2 * half for half in unpack_from(f">{count}H", tables["loca"])]


def _read_cmap(table: bytes) -> dict[int, int]:
    """Return the glyphs by code point, from a subtable of format 4, which covers the basic plane by ranges."""
    count = unpack_from(">H", table, 2)[0]
    starts = [unpack_from(">HHI", table, 4 + 8 * place)[2] for place in range(count)]
    at = next(start for start in starts if unpack_from(">H", table, start)[0] == _CMAP_FORMAT)
    ranges = unpack_from(">H", table, at + 6)[0] // 2
    lasts, firsts, deltas, range_offsets = (
        unpack_from(f">{ranges}H", table, at + 14 + place * 2 * ranges + (2 if place else 0)) for place in range(4)
    )
    glyph_of: dict[int, int] = {}
    for place in range(ranges):
        for code in range(firsts[place], min(lasts[place] + 1, 0xFFFF)):
            glyph = code
            if range_offsets[place]:
                here = at + 16 + 6 * ranges + 2 * place
                glyph = unpack_from(">H", table, here + range_offsets[place] + 2 * (code - firsts[place]))[0]
                if not glyph:
                    continue
            glyph_of[code] = (glyph + deltas[place]) % 0x10000
    return glyph_of


def _list_components(glyph: bytes) -> list[int]:
    """Return the glyphs that make up a composite glyph."""
    if not glyph or unpack_from(">h", glyph)[0] >= 0:
        return []
    components: list[int] = []
    at, flags = 10, _HAS_MORE
    while flags & _HAS_MORE:
        flags, number = unpack_from(">HH", glyph, at)
        components.append(number)
        at += 8 if flags & _ARGS_ARE_WORDS else 6
        at += 2 if flags & _HAS_SCALE else 4 if flags & _HAS_TWO_SCALES else 8 if flags & _HAS_MATRIX else 0
    return components
