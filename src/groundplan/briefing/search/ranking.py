"""The order of hits from several slices, and the excerpt that each shows.

A hit whose ref or title is the text comes first, then those with all words in their titles, then the rest. Among equal
ones the slices take turns, so that none hides the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from itertools import chain, zip_longest
from typing import TypeVar

from groundplan.kernel.search_words import SearchWords, TextMatch, fold

SNIPPET_CHARS_MAX = 120
BEFORE_MATCH_CHARS = 30

K = TypeVar("K")


class Rank(IntEnum):
    """How well a row matches; the lowest is the best."""

    EXACT = 0  # the ref or the title is the text
    TITLE = 1  # the title has all words
    ELSEWHERE = 2


def rank_match(match: TextMatch, words: SearchWords) -> Rank:
    """Return how well a row matches."""
    if words.text in (fold(match.ref), fold(match.title)):
        return Rank.EXACT
    return Rank.TITLE if words.are_in(match.title) else Rank.ELSEWHERE


def order_matches(found: Mapping[K, Iterable[TextMatch]], words: SearchWords) -> list[tuple[K, TextMatch]]:
    """Return the matches of all slices, the best first; within a slice and a rank they keep their order."""
    by_rank: dict[Rank, dict[K, list[TextMatch]]] = {rank: {} for rank in Rank}
    for slice_, matches in found.items():
        for match in matches:
            by_rank[rank_match(match, words)].setdefault(slice_, []).append(match)
    return list(chain.from_iterable(_take_turns(by_slice) for by_slice in by_rank.values()))


def _take_turns(by_slice: Mapping[K, list[TextMatch]]) -> Iterator[tuple[K, TextMatch]]:
    for row in zip_longest(*by_slice.values()):
        yield from ((slice_, match) for slice_, match in zip(by_slice, row, strict=True) if match is not None)


def build_snippet(match: TextMatch, words: SearchWords) -> str:
    """Return an excerpt around the first match: in the other texts of a row, else in its title."""
    texts = (" ".join(match.text.split()), " ".join(match.title.split()))
    text, at = next(((text, at) for text in texts if (at := words.find_first(text)) >= 0), (texts[0] or texts[1], 0))
    if len(text) <= SNIPPET_CHARS_MAX:
        return text
    start = min(max(at - BEFORE_MATCH_CHARS, 0), len(text) - SNIPPET_CHARS_MAX)
    end = start + SNIPPET_CHARS_MAX
    excerpt = text[start + (start > 0) : end - (end < len(text))]
    return f"{'…' if start else ''}{excerpt}{'…' if end < len(text) else ''}"
