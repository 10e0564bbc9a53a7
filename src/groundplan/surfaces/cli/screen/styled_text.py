"""StyledText in parts that have styles, and its lines at a width.

A style is a text of names, such as "bold red". Stored text is escaped before it comes here; the only escape sequences
on a terminal are those that `render` adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Self

from groundplan.surfaces.cli.screen.cells import measure, measure_char

CODES: Mapping[str, int] = {
    "bold": 1,
    "dim": 2,
    "underline": 4,
    "reverse": 7,
    "strike": 9,
    "red": 31,
    "green": 32,
    "yellow": 33,
    "blue": 34,
    "magenta": 35,
    "cyan": 36,
}


class Span:
    """A part of a text with one style."""

    __slots__ = ("style", "text")

    def __init__(self, text: str, style: str) -> None:
        self.text, self.style = text, style


class StyledText:
    """A text in parts."""

    __slots__ = ("spans",)

    def __init__(self, text: str = "", style: str = "") -> None:
        self.spans: list[Span] = [Span(text, style)] if text else []

    @classmethod
    def assemble(cls, *parts: str | StyledText) -> Self:
        """Return parts as one text."""
        whole = cls()
        for part in parts:
            if isinstance(part, StyledText):
                whole.spans += part.spans
            else:
                whole.append(part)
        return whole

    def append(self, text: str, style: str = "") -> Self:
        """Add a part."""
        if text:
            self.spans.append(Span(text, style))
        return self

    def append_text(self, other: StyledText) -> Self:
        """Add the parts of another text."""
        self.spans += other.spans
        return self

    @property
    def plain(self) -> str:
        """The text without styles."""
        return "".join(span.text for span in self.spans)

    @property
    def cell_len(self) -> int:
        """The number of columns that it takes on one line."""
        return measure(self.plain)

    def __str__(self) -> str:
        return self.plain

    def split_lines(self) -> list[StyledText]:
        """Return its lines."""
        lines = [StyledText()]
        for span in self.spans:
            first, *others = span.text.split("\n")
            lines[-1].append(first, span.style)
            lines += [StyledText(other, span.style) for other in others]
        return lines

    def wrap(self, columns: int) -> list[StyledText]:
        """Return lines of at most so many columns, broken between words; a longer word is broken."""
        return [part for line in self.split_lines() for part in _wrap_line(line, columns)]

    def render(self, *, colours: bool) -> str:
        """Return the text for a terminal, with escape sequences for its styles if `colours`."""
        if not colours:
            return self.plain
        return "".join(_render_span(span) for span in self.spans)


def _render_span(span: Span) -> str:
    if not span.style:
        return span.text
    return f"\x1b[{';'.join(str(CODES[name]) for name in span.style.split())}m{span.text}\x1b[0m"


def _wrap_line(line: StyledText, columns: int) -> list[StyledText]:
    if line.cell_len <= columns:
        return [line]
    lines, used = [StyledText()], 0
    for span in line.spans:
        for word in _split_words(span.text):
            width = measure(word)
            if used + width > columns and word.isspace():
                continue  # at the end of a line
            if used + width > columns and used and width <= columns:
                lines.append(StyledText())
                used = 0
            for piece in _split_word(word, columns, columns - used):
                if used and used + measure(piece) > columns:
                    lines.append(StyledText())
                    used = 0
                lines[-1].append(piece, span.style)
                used += measure(piece)
    return lines


def _split_words(text: str) -> Iterator[str]:
    """Yield the words of a text, and the white space between them."""
    return ("".join(chars) for _, chars in groupby(text, str.isspace))


def _split_word(word: str, columns: int, room: int) -> list[str]:
    """Return a word in pieces: the first fits into the room, the others into lines."""
    if measure(word) <= room:
        return [word]
    pieces, piece, used, most = [], "", 0, room if room > 0 else columns
    for char in word:
        width = measure_char(char)
        if piece and used + width > most:
            pieces.append(piece)
            piece, used, most = "", 0, columns
        piece += char
        used += width
    return [*pieces, piece] if piece else pieces
