"""Text search in summaries: how text is compared, and the query for the text index.

The comparison ignores the case of ASCII letters only, because that is what both engines do in the same way. Every
character is literal; there are no wildcards.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

TRIGRAM_CHARS = 3  # the index stores trigrams; a shorter text is searched in every summary
COMPARED_MAX = 32  # trigrams of a text whose frequencies are compared, spread over its whole length
MATCHED_MAX = 4  # trigrams per index query; with more, the query takes longer than rechecking the matches
MATCHED_SPREAD = 16  # a trigram that is this much more frequent than the rarest costs more than it saves


class Trigram(NamedTuple):
    """A trigram of a text, and where it is."""

    at: int
    chars: str


def lower_ascii(text: str) -> str:
    """Return the text with its ASCII letters in lower case."""
    return text.encode().lower().decode()


def list_trigrams(text: str) -> list[Trigram]:
    """Return the distinct trigrams of a text, some of them if it is long, none if it is too short."""
    first = {text[at : at + TRIGRAM_CHARS]: at for at in reversed(range(len(text) - TRIGRAM_CHARS + 1))}
    trigrams = sorted(Trigram(at, chars) for chars, at in first.items())
    count = min(len(trigrams), COMPARED_MAX)
    return [trigrams[at * len(trigrams) // count] for at in range(count)]


def index_term(trigram: Trigram) -> str:
    """Return the index query for a trigram."""
    return f'"{trigram.chars.replace(chr(34), chr(34) * 2)}"'


def build_index_query(trigrams: Sequence[Trigram], frequencies: Sequence[float]) -> str:
    """Return an index query for the rarest of these trigrams. It also finds summaries without the text.

    Trigrams that share characters are mostly found in the same summaries, so only one of them is used.
    """
    by_frequency = sorted(zip(frequencies, trigrams, strict=True))
    rarest, _ = by_frequency[0]
    matched: list[Trigram] = []
    for frequency, trigram in by_frequency:
        is_apart = all(abs(trigram.at - other.at) >= TRIGRAM_CHARS for other in matched)
        if is_apart and frequency <= rarest * MATCHED_SPREAD and len(matched) < MATCHED_MAX:
            matched.append(trigram)
    return " AND ".join(map(index_term, matched))
