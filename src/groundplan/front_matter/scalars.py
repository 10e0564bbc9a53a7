"""Texts in front matter: plain, in quotes, folded and literal."""

from __future__ import annotations

import string
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from groundplan.front_matter.errors import MalformedValue

BLANKS = " \t"

_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    " ": " ",
    '"': '"',
    "/": "/",
    "\\": "\\",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
_HEX_DIGITS = {"x": 2, "u": 4, "U": 8}
_CHOMPING = "+-"


@dataclass(frozen=True, slots=True)
class BlockHeader:
    """The sign of a text on its own lines: folded or literal, the end, and a number of blanks in front."""

    is_folded: bool
    chomping: str
    indent: int | None


def strip_comment(line: str) -> str:
    """Return a line of plain text without its comment and the blanks around it."""
    line = line.strip(BLANKS)
    if line.startswith("#"):
        return ""
    begin = min((end for sign in (" #", "\t#") if (end := line.find(sign)) >= 0), default=len(line))
    return line[:begin].rstrip(BLANKS)


def fold_lines(lines: Sequence[str]) -> str:
    """Join lines by blanks; n empty lines between two others become n line breaks."""
    parts: list[str] = []
    empty = 0
    for line in lines:
        if not line:
            empty += 1
            continue
        if parts:
            parts.append("\n" * empty or " ")
        parts.append(line)
        empty = 0
    return "".join(parts)


def parse_quoted(text: str, begin: int = 0) -> tuple[str, int]:
    """Return the text in the quotes that begin at an index, and the index behind them."""
    return _parse_single(text, begin + 1) if text[begin] == "'" else _parse_double(text, begin + 1)


def _parse_single(text: str, begin: int) -> tuple[str, int]:
    end = text.find("'", begin)
    while end >= 0 and text.startswith("''", end):
        end = text.find("'", end + 2)
    if end < 0:
        raise MalformedValue("has no closing quote '")
    return _fold_quoted(text[begin:end].replace("''", "'")), end + 1


def _parse_double(text: str, begin: int) -> tuple[str, int]:
    parts: list[str] = []
    position = begin
    while position < len(text):
        char = text[position]
        if char == '"':
            parts.append(_fold_quoted(text[begin:position]))
            return "".join(parts), position + 1
        if char != "\\":
            position += 1
            continue
        parts.append(_fold_quoted(text[begin:position]))
        escaped, position = _parse_escape(text, position + 1)
        parts.append(escaped)
        begin = position
    raise MalformedValue('has no closing quote "')


def _parse_escape(text: str, position: int) -> tuple[str, int]:
    """Return the character behind a backslash, and the index behind it; an escaped line break is nothing."""
    char = text[position : position + 1]
    if char == "\n":
        position += 1
        while text.startswith((" ", "\t"), position):
            position += 1
        return "", position
    if digits := _HEX_DIGITS.get(char):
        code = text[position + 1 : position + 1 + digits]
        if len(code) == digits and all(one in string.hexdigits for one in code) and int(code, 16) <= sys.maxunicode:
            return chr(int(code, 16)), position + 1 + digits
    if char not in _ESCAPES:
        raise MalformedValue(f"has the unknown escape \\{char}")
    return _ESCAPES[char], position + 1


def _fold_quoted(text: str) -> str:
    """Fold the line breaks of a text in quotes; blanks at its two ends stay."""
    if "\n" not in text:
        return text
    first, *inner, last = text.split("\n")
    parts = [first.rstrip(BLANKS)]
    empty = 0
    for line in inner:
        if not line.strip(BLANKS):
            empty += 1
            continue
        parts += ["\n" * empty or " ", line.strip(BLANKS)]
        empty = 0
    return "".join((*parts, "\n" * empty or " ", last.lstrip(BLANKS)))


def parse_block_header(rest: str) -> BlockHeader | None:
    """Return the sign `|` or `>` that a value consists of, or None."""
    sign = strip_comment(rest)
    if not sign or sign[0] not in "|>" or len(sign) > 3:
        return None
    chomping, indent = "", None
    for char in sign[1:]:
        if char in _CHOMPING and not chomping:
            chomping = char
        elif char in "123456789" and indent is None:
            indent = int(char)
        else:
            return None
    return BlockHeader(sign[0] == ">", chomping, indent)


def parse_block(lines: Sequence[str], header: BlockHeader, parent_indent: int) -> str:
    """Return the text on the lines below a sign `|` or `>`."""
    indent = header.indent + parent_indent if header.indent else _find_indent(lines)
    inner = [line[indent:] if line.strip(" ") or len(line) > indent else "" for line in lines]
    end = len(inner)
    while end and not inner[end - 1]:
        end -= 1
    text = (_fold_block if header.is_folded else "\n".join)(inner[:end])
    if header.chomping == "+":
        return text + "\n" * (len(inner) - end + bool(end))
    return text if header.chomping == "-" or not text else text + "\n"


def _find_indent(lines: Sequence[str]) -> int:
    return next((len(line) - len(line.lstrip(" ")) for line in lines if line.strip(BLANKS)), 0)


def _fold_block(lines: Sequence[str]) -> str:
    """Fold the lines of a text after `>`: lines that are indented deeper keep their breaks."""
    parts: list[str] = []
    empty = 0
    is_previous_deeper = False
    for line in lines:
        if not line:
            empty += 1
            continue
        is_deeper = line[0] in BLANKS
        if not parts:
            parts.append("\n" * empty)
        elif is_deeper or is_previous_deeper:
            parts.append("\n" * (empty + 1))
        else:
            parts.append("\n" * empty or " ")
        parts.append(line)
        is_previous_deeper, empty = is_deeper, 0
    return "".join(parts)
