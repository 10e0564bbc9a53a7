"""The words of a search text: their comparison, their patterns for each engine, and the rows that contain them.

A row matches if it contains every word, in any order. Every character is literal, and case is ignored, also beyond
ASCII, character by character: a character whose other case has several characters only equals itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from groundplan.kernel.store.queries import to_json_array
from groundplan.kernel.wording import invalid_argument

WORDS_MAX = 16

_FINAL_SIGMA = "\u03c2"  # the only lower case letter that folds to another one
_LIKE_SPECIAL = re.compile(r"[%_\\]")
_ASCII_RUN = re.compile(r"[\x00-\x7f]+")


class SearchWords:
    """The distinct words of a search text, folded."""

    def __init__(self, text: str) -> None:
        """Split a text at white space."""
        self.text = fold(" ".join(text.split()))
        self.words = list(dict.fromkeys(self.text.split()))
        if not self.words:
            raise invalid_argument(("text",), "has no word; say what to search for")
        if len(self.words) > WORDS_MAX:
            wrong = f"has {len(self.words)} words, the limit is {WORDS_MAX}; remove some"
            raise invalid_argument(("text",), wrong, code="too_many", limit=WORDS_MAX)

    def are_in(self, text: str) -> bool:
        """Return whether a text contains every word."""
        folded = fold(text)
        return all(word in folded for word in self.words)

    def find_first(self, text: str) -> int:
        """Return the index of the first match of any word in a text; -1 if there is none."""
        folded = fold(text)
        positions = [at for word in self.words if (at := folded.find(word)) >= 0]
        return min(positions, default=-1)

    @cached_property
    def parameters(self) -> dict[str, str]:
        """The parameters of queries that compare words.

        `globs` are for SQLite and any text; `word_parts`, the longest of them, and `other_globs` for texts with ASCII
        letters in lower case; `likes`, `uppers` and `lowers` are for PostgreSQL. All of them must match.
        """
        pairs = sorted({(upper, char) for char in "".join(self.words) for upper in _list_other_cases(char)})
        parts = [part for word in self.words if (part := _get_longest_ascii_run(word))]
        return {
            "folded_text": self.text,
            "globs": to_json_array(_build_glob(word) for word in self.words),
            "word_parts": to_json_array(parts),
            "longest_part": max(parts, key=len, default=""),
            "other_globs": to_json_array(_build_glob(word) for word in self.words if not word.isascii()),
            "likes": to_json_array(_build_like(word) for word in self.words),
            "uppers": "".join(upper for upper, _ in pairs),
            "lowers": "".join(char for _, char in pairs),
        }


def fold(text: str) -> str:
    """Return a text of the same length without differences of case, for comparisons."""
    if text.isascii():
        return text.lower()
    folded = text.casefold()
    if len(folded) == len(text) and "\u0130" not in text:
        return folded
    return "".join(map(_fold_char, text))


def _fold_char(char: str) -> str:
    return next((folded for folded in (char.casefold(), char.lower()) if len(folded) == 1), char)


def _list_other_cases(char: str) -> list[str]:
    """Return the other cases of a character, without ASCII characters and cases of more than one character."""
    candidates = {char.upper(), char.title(), *(_FINAL_SIGMA if char == "\u03c3" else "")}
    return [
        candidate for candidate in candidates if len(candidate) == 1 and candidate != char and not candidate.isascii()
    ]


def _build_glob(word: str) -> str:
    return f"*{''.join(map(_build_glob_char, word))}*"


def _build_glob_char(char: str) -> str:
    cases = {char, *_list_other_cases(char), *(char.upper() if char.isascii() else "")}
    if len(cases) > 1 or char in "*?[":
        return f"[{''.join(sorted(cases))}]"
    return char


def _build_like(word: str) -> str:
    return "%" + _LIKE_SPECIAL.sub(r"\\\g<0>", word) + "%"


def _get_longest_ascii_run(word: str) -> str:
    return max(_ASCII_RUN.findall(word), key=len, default="")


# --- Trigrams, by which SQLite finds a text inside of words -----------------------------------------------------------

TRIGRAM_CHARS = 3
TRIGRAMS_MAX = 32  # of one text, spread over its whole length


class Trigram(NamedTuple):
    """A trigram of a text, and its position."""

    at: int
    chars: str


def list_trigrams(text: str) -> list[Trigram]:
    """Return the distinct trigrams of a text: some of them if it is long, and none if it is too short."""
    first = {text[at : at + TRIGRAM_CHARS]: at for at in reversed(range(len(text) - TRIGRAM_CHARS + 1))}
    trigrams = sorted(Trigram(at, chars) for chars, at in first.items())
    count = min(len(trigrams), TRIGRAMS_MAX)
    return [trigrams[at * len(trigrams) // count] for at in range(count)]


def index_term(trigram: Trigram) -> str:
    """Return the index query for a trigram."""
    return f'"{trigram.chars.replace(chr(34), chr(34) * 2)}"'


# --- Matches of a slice -----------------------------------------------------------------------------------------------

MATCHES_MAX = 200  # rows that a slice returns
PROJECT_MATCHES_MAX = 60  # rows of one project among them; more than any answer shows
PROJECT_MATCHES_MIN = 3


class TextMatch(Struct):
    """A row that contains every word of a search."""

    project_id: str
    ref: str
    kind: str
    title: str
    text: str  # the other texts of the row


def build_parameters(projects: Sequence[str], words: SearchWords) -> dict[str, Any]:
    """Return the parameters of queries for words in projects. With many projects, each yields fewer rows."""
    fair = 3 * MATCHES_MAX // max(len(projects), 1)
    return {
        **words.parameters,
        "projects": to_json_array(projects),
        "per_project": max(PROJECT_MATCHES_MIN, min(fair, PROJECT_MATCHES_MAX)),
        "at_most": MATCHES_MAX,
    }


def drop_repeated(matches: Sequence[TextMatch]) -> list[TextMatch]:
    """Return the matches, with only the first of each ref in a project."""
    best: dict[tuple[str, str], TextMatch] = {}
    for match in matches:
        best.setdefault((match.project_id, match.ref), match)
    return list(best.values())
