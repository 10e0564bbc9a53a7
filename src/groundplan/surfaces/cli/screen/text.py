"""Text on a terminal: its width in columns, its styles, and control characters escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Self


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
