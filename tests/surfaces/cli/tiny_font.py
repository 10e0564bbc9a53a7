"""A font in which every letter is a black box: it shows whether text was drawn, and is the same everywhere."""

from __future__ import annotations

from struct import pack

EM = 1000
PRINTABLE = range(0x20, 0x7F)


def tiny_font(family: str) -> bytes:
    """Return a TrueType font with this name."""
    box = pack(">hhhhh", 1, 0, 0, 500, 700) + pack(">HH4B", 3, 0, *[1] * 4)  # one outline of four points
    box += pack(">4h", 0, 500, 0, -500) + pack(">4h", 0, 0, 700, 0)
    tables = {
        b"cmap": pack(">HHHHL", 0, 1, 3, 1, 12)
        + pack(">HHHHH", 6, 10 + 2 * len(PRINTABLE), 0, PRINTABLE.start, len(PRINTABLE))
        + pack(">H", 1) * len(PRINTABLE),
        b"glyf": box,
        b"head": pack(">LLLLHHQQhhhhHHhhh", 0x10000, 0, 0, 0x5F0F3CF5, 0, EM, 0, 0, 0, 0, 500, 700, 0, 8, 2, 0, 0),
        b"hhea": pack(">Lhhh12hH", 0x10000, 800, -200, 0, 600, *[0] * 11, 1),
        b"hmtx": pack(">Hhh", 600, 0, 0),
        b"loca": pack(">HHH", 0, 0, len(box) // 2),
        b"maxp": pack(">LH13H", 0x10000, 2, *[0] * 13),
        b"name": _names({1: family, 6: family}),
    }
    offset = 12 + 16 * len(tables)
    directory, content = pack(">LHHHH", 0x10000, len(tables), 0, 0, 0), b""
    for tag, table in tables.items():
        directory += pack(">4sLLL", tag, 0, offset + len(content), len(table))
        content += table + bytes(-len(table) % 4)
    return directory + content


def _names(names: dict[int, str]) -> bytes:
    records, texts = b"", b""
    for number, name in names.items():
        text = name.encode("utf-16-be")
        records += pack(">HHHHHH", 3, 1, 0x409, number, len(text), len(texts))
        texts += text
    return pack(">HHH", 0, len(names), 6 + len(records)) + records + texts
