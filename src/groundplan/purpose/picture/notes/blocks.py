"""A block of text below the picture, in as many columns as the picture is wide enough for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.shapes import format_number
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import escape_markup, wrap_to_width

LINE_HEIGHT = 1.4  # of the text size
ENTRY_GAP = 0.7  # of the text size
COLUMN_WIDTH = 46  # in text sizes: about eighty letters
COLUMN_GAP = 3
LINES_MAX = 1_000  # more than the longest text needs, so nothing is cut


class NoteBlock(NamedTuple):
    """A block below the picture, and its lower end."""

    svg: str
    bottom: float


class Note(NamedTuple):
    """An entry of a block: a heading in bold, its text, and a symbol before it."""

    heading: str
    text: str
    symbol: str = ""  # SVG around the middle of the first line, from 0
    symbol_width: float = 0.0


def draw_block(
    title: str, notes: Sequence[Note], place: tuple[float, float, float], scale: float, paint: Paint, css_class: str
) -> NoteBlock:
    """Draw a block with a title; `place` is its left and upper end and its width. Nothing is drawn without notes."""
    left, top, width = place
    if not notes:
        return NoteBlock("", top)
    size = tokens.LEGEND_PX * scale
    columns = max(1, min(int(width // (COLUMN_WIDTH * size)), len(notes)))
    room = (width - (columns - 1) * COLUMN_GAP * size) / columns
    texts = [_break_note(note, size, room) for note in notes]
    heights = [(len(lines) * LINE_HEIGHT + ENTRY_GAP) * size for lines in texts]
    first = top + size * (2 + LINE_HEIGHT)
    parts = [_draw_line(left, top + size * 2, title, size * 1.1, paint("heading"), is_bold=True)]
    share = sum(heights) / columns
    x, y, bottom = left, first, first
    for note, lines, height in zip(notes, texts, heights, strict=True):
        if y > first and y - first + height / 2 > share and x + room + COLUMN_GAP * size < left + width:
            x, y = x + room + COLUMN_GAP * size, first
        parts.append(_draw_note(note, lines, x, y + size, size, paint))
        y += height
        bottom = max(bottom, y)
    return NoteBlock(f'<g class="{css_class}">{"".join(parts)}</g>', bottom)


def _break_note(note: Note, size: float, room: float) -> list[str]:
    inner = room - note.symbol_width * size / tokens.LEGEND_PX
    return [note.heading, *wrap_to_width(note.text, size, inner, LINES_MAX)]


def _draw_note(note: Note, lines: list[str], x: float, y: float, size: float, paint: Paint) -> str:
    scale = size / tokens.LEGEND_PX
    parts = []
    if note.symbol:
        where = f"translate({format_number(x)} {format_number(y - size * 0.36)})"
        parts.append(f'<g transform="{where} scale({format_number(round(scale, 2))})">{note.symbol}</g>')
        x += note.symbol_width * scale
    for place, line in enumerate(lines):
        base = y + place * LINE_HEIGHT * size
        colour = paint("heading") if not place else paint("subtext")
        parts.append(_draw_line(x, base, line, size, colour, is_bold=not place))
    return "".join(parts)


def _draw_line(x: float, y: float, text: str, size: float, fill: str, *, is_bold: bool) -> str:
    weight = ' font-weight="700"' if is_bold else ""
    return (
        f'<text x="{format_number(x)}" y="{format_number(y)}" font-size="{format_number(size)}" fill="{fill}"{weight}>'
        f"{escape_markup(text)}</text>"
    )
