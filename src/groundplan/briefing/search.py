"""Search in all slices of one project, or of all projects that the caller may see.

A hit whose ref or title is the text comes first, then those with all words in their titles, then the rest. Among equal
ones the slices take turns, so that none hides the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import IntEnum, StrEnum
from itertools import chain, zip_longest
from typing import Annotated, TypeVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.context.facts_in_force import find_facts
from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.search_words import SearchWords, TextMatch, fold
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.read import find_entities
from groundplan.purpose.search import find_items
from groundplan.work.graph.search import find_nodes

LIMIT = 20
LIMIT_MAX = 50
TEXT_CHARS_MAX = 400
TITLE_CHARS_MAX = 255  # of a longer title only the excerpt is shown


class Slice(StrEnum):
    """The slices that can be searched, in the order in which they take turns."""

    WORK = "work"
    KNOWLEDGE = "knowledge"
    PURPOSE = "purpose"
    CONTEXT = "context"


FINDERS: Mapping[Slice, Callable[[Transaction, Sequence[str], SearchWords], list[TextMatch]]] = {
    Slice.WORK: find_nodes,
    Slice.KNOWLEDGE: find_entities,
    Slice.PURPOSE: find_items,
    Slice.CONTEXT: find_facts,
}


class Search(Struct, forbid_unknown_fields=True):
    """The words to find, and the project and slices to search."""

    text: Annotated[str, Meta(min_length=1, max_length=TEXT_CHARS_MAX)]
    project: Name | None = None
    slices: Annotated[list[Slice], Meta(min_length=1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT


class Hit(Struct, kw_only=True):
    """A row that contains the words."""

    slice: Slice
    ref: str
    kind: str
    title: str | UnsetType = UNSET
    snippet: str
    project: str


class Hits(Struct):
    """The best hits, and the slices that have more."""

    hits: list[Hit]
    more: list[Slice] | UnsetType = UNSET


def search(tx: Transaction, request: Search) -> Hits:
    """Return the rows that contain every word, in any order.

    Raises:
        Invalid: the text has no word, or too many.
    """
    words = SearchWords(request.text)
    names = _find_projects(tx)
    slices = [slice_ for slice_ in Slice if request.slices is None or slice_ in request.slices]
    projects = list(names)
    matches = {slice_: FINDERS[slice_](tx, projects, words) if projects else [] for slice_ in slices}
    ordered = order_matches(matches, words)
    hits = [_to_hit(slice_, match, names, words) for slice_, match in ordered[: request.limit]]
    listed = tx.budget.reserve({"hits": [], "more": list(Slice)}).take_rows(hits)
    rest = {slice_ for slice_, _ in ordered[len(listed) :]}
    return Hits(listed, [slice_ for slice_ in slices if slice_ in rest] or UNSET)


def _find_projects(tx: Transaction) -> dict[str, str]:
    """Return the names by id of the requested project, or of all projects that the caller may see."""
    if tx.has_project:
        return {tx.project.id: tx.project.name}
    return {view.id: view.name for view in list_projects(tx, ListProjects()).projects}


def _to_hit(slice_: Slice, match: TextMatch, names: Mapping[str, str], words: SearchWords) -> Hit:
    return Hit(
        slice=slice_,
        ref=match.ref,
        kind=match.kind,
        title=match.title if len(match.title) <= TITLE_CHARS_MAX else UNSET,
        snippet=build_snippet(match, words),
        project=names[match.project_id],
    )


OPERATION = declare(
    search,
    name="briefing.search",
    summary="Find words in work, knowledge, purpose and context.",
    permission=Permission.PROJECT_READ,
    effect=Effect.READ,
    without_project=Permission.PROJECT_LIST,
    tool=Tool("search", Group.BRIEFING),
    http=Route("GET", "/projects/{project}/search"),
    other_routes=(Route("GET", "/organization/search"),),
)


# --- The order of hits from several slices, and the excerpt that each shows -------------------------------------------

SNIPPET_CHARS_MAX = 120
BEFORE_MATCH_CHARS = 30

K = TypeVar("K")


class Rank(IntEnum):
    """The quality of a match; the lowest is the best."""

    EXACT = 0  # the ref or the title is the text
    TITLE = 1  # the title has all words
    ELSEWHERE = 2


def rank_match(match: TextMatch, words: SearchWords) -> Rank:
    """Return the rank of a match."""
    if words.text in (fold(match.ref), fold(match.title)):
        return Rank.EXACT
    return Rank.TITLE if words.are_in(match.title) else Rank.ELSEWHERE


def order_matches(matches_by_slice: Mapping[K, Iterable[TextMatch]], words: SearchWords) -> list[tuple[K, TextMatch]]:
    """Return the matches of all slices, the best first; within a slice and a rank they keep their order."""
    by_rank: dict[Rank, dict[K, list[TextMatch]]] = {rank: {} for rank in Rank}
    for slice_, matches in matches_by_slice.items():
        for match in matches:
            by_rank[rank_match(match, words)].setdefault(slice_, []).append(match)
    return list(chain.from_iterable(_take_turns(by_slice) for by_slice in by_rank.values()))


def _take_turns(by_slice: Mapping[K, list[TextMatch]]) -> Iterator[tuple[K, TextMatch]]:
    for row in zip_longest(*by_slice.values()):
        yield from ((slice_, match) for slice_, match in zip(by_slice, row, strict=True) if match is not None)


def build_snippet(match: TextMatch, words: SearchWords) -> str:
    """Return an excerpt around the first word found in the text of a row, else in its title."""
    texts = (" ".join(match.text.split()), " ".join(match.title.split()))
    text, at = next(((text, at) for text in texts if (at := words.find_first(text)) >= 0), (texts[0] or texts[1], 0))
    if len(text) <= SNIPPET_CHARS_MAX:
        return text
    start = min(max(at - BEFORE_MATCH_CHARS, 0), len(text) - SNIPPET_CHARS_MAX)
    end = start + SNIPPET_CHARS_MAX
    excerpt = text[start + (start > 0) : end - (end < len(text))]
    return f"{'…' if start else ''}{excerpt}{'…' if end < len(text) else ''}"
