r"""One segment of a pattern, which matches the name of a file or a directory.

    **            any directories, none or several     Skip.DIRECTORIES
    readme.md     this name                            a string
    *.test.ts     a beginning and an end               Wild, without tokens
    [a-c]?x*y*    anything else                        Wild, with a token for each character and each star

The literal beginning and end of a name are always stored, because an index can look them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias

from groundplan.knowledge.paths import malformed

SEGMENTS_CACHED_MAX = 4_096  # segments such as `*` and `*.ts` are in many patterns and share one object


class DoubleStar(Enum):
    """The segment `**`."""

    DIRECTORIES = "**"


class Star(Enum):
    """A `*` within a segment."""

    STAR = "*"


class CharacterClass(NamedTuple):
    """A character in one of the ranges or, if negated, in none of them."""

    ranges: tuple[tuple[str, str], ...]  # ascending and disjoint
    negated: bool = False


Token: TypeAlias = str | CharacterClass | Star  # a string is a single literal character


class Wildcard(NamedTuple):
    """A segment with wildcards, of which the literal beginning and end are known."""

    head: str
    tail: str
    tokens: tuple[Token, ...] = ()  # empty if the segment is head, star and tail
    middle: tuple[str, ...] = ()  # other literal texts it must contain, including empty ones

    def accepts(self, name: str) -> bool:
        """Return whether a name has this head and tail. This decides a match unless there are tokens."""
        head, tail = self.head, self.tail
        return len(name) >= len(head) + len(tail) and name.startswith(head) and name.endswith(tail)


Segment: TypeAlias = str | Wildcard | DoubleStar

STAR: Final = Star.STAR
DIRECTORIES: Final = DoubleStar.DIRECTORIES
ANY_CHARACTER: Final = CharacterClass((), negated=True)
ANY_NAME: Final = Wildcard("", "")
ONLY_DOT: Final = CharacterClass(((".", "."),))


def parse_segment(text: str) -> Segment:
    """Parse the text between two slashes, after brace expansion."""
    if "*" in text or "?" in text or "[" in text or "\\" in text:
        return _parse_wildcard(text)
    return text


@lru_cache(SEGMENTS_CACHED_MAX)
def _parse_wildcard(text: str) -> Segment:
    if text == "**":
        return DIRECTORIES
    head, _, tail = text.partition("*")
    if "?" in text or "[" in text or "\\" in text or "*" in tail:
        return _from_tokens(list(_tokenize(text)))
    return Wildcard(head, tail)


def _from_tokens(tokens: list[Token]) -> Segment:
    head, *middle, tail = _collect_literal_runs(tokens)
    if not middle and len(head) == len(tokens):
        return head
    is_one_star = STAR in tokens and len(head) + len(tail) == len(tokens) - 1
    return Wildcard(head, tail) if is_one_star else Wildcard(head, tail, tuple(tokens), tuple(middle))


def _tokenize(text: str) -> Iterator[Token]:
    at = 0
    while at < len(text):
        match text[at]:
            case "*":
                at += 1
                if not text.startswith("*", at):  # `a**b` is `a*b`
                    yield STAR
            case "?":
                yield ANY_CHARACTER
                at += 1
            case "[":
                symbol, at = read_class(text, at)
                yield symbol
            case "\\":
                character, at = read_character(text, at)
                yield character
            case character:
                yield character
                at += 1


def _collect_literal_runs(tokens: Iterable[Token]) -> list[str]:
    """Return the literal texts before, between and after wildcards, including empty ones; always at least two."""
    runs = [""]
    for token in tokens:
        if isinstance(token, str):
            runs[-1] += token
        else:
            runs.append("")
    return runs if len(runs) > 1 else [*runs, ""]


def can_match_a_name(segment: Segment) -> bool:
    """Return whether some name matches: `[.]` stands only for `.`, which is not a name, and `[.].` for `..`."""
    if not isinstance(segment, Wildcard) or STAR in segment.tokens or len(segment.tokens) not in (1, 2):
        return True
    return any(token not in (".", ONLY_DOT) for token in segment.tokens)


def get_tokens(segment: str | Wildcard) -> Iterable[Token]:
    """Return the tokens of a segment."""
    if isinstance(segment, str):
        return segment
    return segment.tokens or (*segment.head, STAR, *segment.tail)


def read_character(text: str, index: int) -> tuple[str, int]:
    r"""Return the character at an index, after `\` the next one, and the index after it."""
    if text[index] != "\\":
        return text[index], index + 1
    if index + 1 == len(text) or text[index + 1] == "/":
        raise malformed.lone_escape()
    return text[index + 1], index + 2


def read_class(text: str, start: int) -> tuple[CharacterClass, int]:
    """Return the class that begins at an index, and the index after it."""
    start += 1
    negated = text.startswith(("!", "^"), start)
    start += negated
    first = start
    ranges: list[tuple[str, str]] = []
    while True:
        if start >= len(text) or text[start] == "/":
            raise malformed.unclosed_class()
        if text[start] == "]" and start > first:
            return CharacterClass(_merge_ranges(ranges), negated), start + 1
        if name := _parse_class_name(text, start):
            raise malformed.posix_class(name)
        low, start = read_character(text, start)
        high = low
        if text.startswith("-", start) and not text.startswith(("-]", "-/"), start) and start + 1 < len(text):
            high, start = read_character(text, start + 1)
            if high < low:
                raise malformed.backward_range(low, high)
        ranges.append((low, high))


def _parse_class_name(text: str, index: int) -> str:
    """Return `alpha` if `[:alpha:]` is at this index of a class, else the empty text."""
    if not text.startswith("[:", index):
        return ""
    name, closed, _ = text[index + 2 :].partition(":]")
    return name if closed and name.isalpha() else ""


def _merge_ranges(ranges: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Return ranges of the same characters that do not overlap."""
    merged: list[tuple[str, str]] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)
