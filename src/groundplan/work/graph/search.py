"""Search for nodes: filters, text in summaries, sort orders and pages.

A filter becomes the conditions of a query and the source that it starts from. Text is compared without the case of
ASCII letters only, because that is what both engines do in the same way; every character is literal. A position holds
the sort keys of a node: the cursor carries it, so that the next page begins after it, whatever was added, removed or
changed in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from math import inf
from typing import Annotated, Any, Protocol

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.cursors import CursorValue, InvalidCursor
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.search_words import (
    TRIGRAM_CHARS,
    SearchWords,
    TextMatch,
    Trigram,
    build_parameters,
    drop_repeated,
    index_term,
    list_trigrams,
)
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, describe_value, invalid_argument
from groundplan.work.kinds import DROPPED, PRIORITY_ABSENT, ROOT_N, Outcome
from groundplan.work.refs import find_node_in_project
from groundplan.work.requests import CLAIMANT_PROPERTY, RESERVED_PREFIX, NodeRef, ReservedProperty

TEXT_KEYS = 2**32  # how many keys of the text index belong to each project
TEXT_SAMPLE = 64  # summaries by which the frequency of a trigram is estimated
COMMON_SHARE = 8  # a text in more than one node of 8 is met soon in any order, so the nodes are read in that order

sql = load_queries(__file__)


class Filter(Struct, forbid_unknown_fields=True):
    """Conditions on a node. All given conditions must hold."""

    resolved: bool | None = None
    outcome: Outcome | None = None
    properties: dict[str, Any] | None = None
    text: str | None = None
    ancestor: NodeRef | None = None
    parent: NodeRef | None = None
    depends_on: NodeRef | None = None
    depended_by: NodeRef | None = None
    has_evidence_type: str | None = None
    is_leaf: bool | None = None
    is_actionable: bool | None = None
    is_blocked: bool | None = None
    # Null means unclaimed here, so the schema must allow it.
    claimed_by: Annotated[str | None, Meta(extra_json_schema={"type": ["string", "null"]})] | UnsetType = UNSET


class TagFilter(Filter, forbid_unknown_fields=True):
    """A filter with tags. Tools do not have tags, because each conversation pays for their parameters."""

    tag: str | None = None


class Source(StrEnum):
    """The start of a search: the nodes that one condition finds alone. The other conditions filter them."""

    BELOW = "below"
    WAITING = "waiting"
    WAITED_FOR = "waited_for"
    CLAIMED = "claimed"
    TAGGED = "tagged"
    TEXT = "text"  # the text index
    SUMMARIES = "summaries"  # every summary, for a text of frequent trigrams that few summaries have
    CHILDREN = "children"
    PROJECT = "project"  # all nodes


# The conditions that find nodes by themselves, in the order in which they are tried: those that find the fewest first.
# A search below a node always starts there; otherwise each match would have to be followed up to the root.
SOURCES: Mapping[str, Source] = {
    "ancestor_n": Source.BELOW,
    "depends_on_n": Source.WAITING,
    "depended_by_n": Source.WAITED_FOR,
    "claimed_by": Source.CLAIMED,
    "tag": Source.TAGGED,
    "text": Source.TEXT,
    "parent_n": Source.CHILDREN,
}

# Conditions that follow from another condition and need not be checked.
IMPLIED: Mapping[str, Mapping[str, bool]] = {
    "is_ready": {"resolved": False, "is_blocked": False, "is_leaf": True},
    "is_blocked": {"resolved": False, "is_ready": False},
    "outcome": {"resolved": True, "is_ready": False, "is_blocked": False, "is_leaf": True},
    "resolved": {"is_ready": False, "is_blocked": False, "is_leaf": True},
}


class SearchCountsRow(Struct):
    """The number of the project in the text index, and its numbers of nodes by state."""

    number: int
    last_n: int
    total: int
    resolved: int
    dropped: int
    blocked: int
    actionable: int


class NodeSearch(Struct, frozen=True):
    """A filter in the form that the queries take."""

    source: Source
    parameters: Mapping[str, Any]
    total: int | None  # how many nodes it finds, if that is known without counting
    last_n: int  # about how many nodes the project has
    matches_max: float | None = None  # if nothing but the text index is searched: an estimate of the most it finds


def build_search(tx: Transaction, filter_: Filter) -> NodeSearch:
    """Return the search for a filter."""
    counts = tx.one(sql.search_counts, SearchCountsRow, project_id=tx.project.id)
    conditions = _build_conditions(tx, filter_)
    keys = {"first_key": counts.number * TEXT_KEYS, "last_key": (counts.number + 1) * TEXT_KEYS - 1}
    source = next((source for name, source in SOURCES.items() if conditions[name]), Source.PROJECT)
    text = _TextSearch(source)
    if source is Source.TEXT:
        text = _plan_text_search(tx, conditions["text"], counts, keys)
        source = text.source
    if source is Source.PROJECT and conditions["parent_n"]:
        source = Source.CHILDREN
    stored_counts = {
        "resolved": counts.resolved,
        "outcome": counts.dropped if filter_.outcome == DROPPED else counts.resolved - counts.dropped,
        "is_blocked": counts.blocked,
        "is_ready": counts.actionable,
        "is_below_root": counts.total - 1,
    } | ({} if text.total is None else {"text": text.total})
    parameters = {"project_id": tx.project.id, "source": source, "match": text.match, **keys, **conditions}
    known_total: int | None
    match [(name, value) for name, value in conditions.items() if value is not None]:
        case []:
            known_total = counts.total
        case [(name, value)] if name in stored_counts:
            known_total = stored_counts[name] if value else counts.total - stored_counts[name]
        case _:
            known_total = None
    is_only_text = sum(value is not None for value in conditions.values()) == 1
    return NodeSearch(source, parameters, known_total, counts.last_n, text.matches_max if is_only_text else None)


class _TextSearch(Struct, frozen=True):
    """The start of a text search, and either the query for the index or the number of nodes with the text."""

    source: Source
    match: str | None = None
    total: int | None = None
    matches_max: float | None = None  # an estimate of the summaries with its rarest trigram


def _plan_text_search(tx: Transaction, text: str, counts: SearchCountsRow, keys: Mapping[str, int]) -> _TextSearch:
    """Return the cheapest search for a text: by its rarest trigrams, or without the index if all are frequent."""
    if len(text) < TRIGRAM_CHARS:
        return _TextSearch(Source.PROJECT)
    trigrams = list_trigrams(text)
    terms = to_json_array([index_term(trigram) for trigram in trigrams])
    complete_at = tx.scalars(sql.sample_trigrams, trigrams=terms, sample=TEXT_SAMPLE, **keys)
    if not complete_at:
        return _TextSearch(Source.TEXT)
    frequencies = [TEXT_SAMPLE * counts.last_n / (n or counts.last_n) for n in complete_at]
    if min(frequencies) * COMMON_SHARE <= max(counts.last_n, TEXT_SAMPLE * COMMON_SHARE):
        match_ = build_index_query(trigrams, frequencies)
        return _TextSearch(Source.TEXT, match=match_, matches_max=min(frequencies))
    total = int(tx.scalar(sql.count_summaries, text=text, project_id=tx.project.id, **keys))
    is_common = total * COMMON_SHARE > counts.last_n
    return _TextSearch(Source.PROJECT if is_common else Source.SUMMARIES, total=total)


def _build_conditions(tx: Transaction, filter_: Filter) -> dict[str, Any]:
    """Return each condition by its name in the queries. Conditions that are not set are None."""
    text = lower_ascii(filter_.text) if filter_.text else None
    ancestor_n = _resolve_number(tx, filter_.ancestor)
    is_below_root = ancestor_n == ROOT_N  # true for every other node, so no walk is needed
    path = ("filter", "properties")
    properties = filter_.properties or {}
    for key in properties:
        if key.startswith(RESERVED_PREFIX) and key != CLAIMANT_PROPERTY:
            raise ReservedProperty((*path, key))
    conditions: dict[str, Any] = {
        "resolved": filter_.resolved,
        "outcome": filter_.outcome,
        "is_leaf": filter_.is_leaf,
        "is_ready": filter_.is_actionable,
        "is_blocked": filter_.is_blocked,
        "is_below_root": is_below_root or None,
        "ancestor_n": None if is_below_root else ancestor_n,
        "parent_n": _resolve_number(tx, filter_.parent),
        "depends_on_n": _resolve_number(tx, filter_.depends_on),
        "depended_by_n": _resolve_number(tx, filter_.depended_by),
        "evidence_type": filter_.has_evidence_type,
        "tag": filter_.tag if isinstance(filter_, TagFilter) else None,
        "text": text,
        **build_property_conditions(properties, path, claimed_by=filter_.claimed_by),
    }
    for name, implied in IMPLIED.items():
        if conditions[name]:
            for implied_name, value in implied.items():
                if conditions[implied_name] is value:
                    conditions[implied_name] = None
    return conditions


def build_property_conditions(
    properties: Mapping[str, Any], path: ArgumentPath, *, claimed_by: str | UnsetType | None = UNSET
) -> dict[str, Any]:
    """Return the conditions on the properties of a node, among which is its claimant, and on its claim."""
    stored = {name: value for name, value in properties.items() if name != CLAIMANT_PROPERTY}
    claimant = _resolve_claimant(claimed_by, properties.get(CLAIMANT_PROPERTY, UNSET), path)
    present = {key: value for key, value in stored.items() if value is not None}
    absent = [key for key, value in stored.items() if value is None]
    return {
        "claimed_by": claimant or None,
        "is_unclaimed": True if claimant is None else None,
        "properties": msgspec.json.encode(present).decode() if present else None,
        "fragment": _build_fragment(present) if present else None,
        "absent": msgspec.json.encode(absent).decode() if absent else None,
    }


def _build_fragment(properties: Mapping[str, Any]) -> str:
    """Return a text that the stored JSON must contain if the first of these properties matches."""
    key, value = next(iter(properties.items()))
    pair = msgspec.json.encode({key: value}).decode()[1:-1]
    # A number is stored as 1 or as 1.0, and an object has its keys in any order.
    return pair if isinstance(value, str | bool) else f"{msgspec.json.encode(key).decode()}:"


def _resolve_number(tx: Transaction, ref: str | None) -> int | None:
    return None if ref is None else find_node_in_project(tx, ref).n


def _resolve_claimant(
    claimed_by: str | UnsetType | None, as_property: Any, properties_path: ArgumentPath
) -> str | UnsetType | None:
    """Return the wanted claimant; None for unclaimed nodes; UNSET for any. A filter can give it in two ways."""
    path = (*properties_path, CLAIMANT_PROPERTY) if claimed_by is UNSET else ("filter", "claimed_by")
    if claimed_by is not UNSET and as_property not in (UNSET, claimed_by):
        raise invalid_argument(path, f"contradicts filter.properties.{CLAIMANT_PROPERTY}; leave one of them out")
    claimant = as_property if claimed_by is UNSET else claimed_by
    if isinstance(claimant, str):
        return apply_marker(NormalizedName(), claimant, path)
    if claimant is not None and claimant is not UNSET:
        raise invalid_argument(path, f"must be a string or null, not {describe_value(claimant)}")
    return claimant


# --- Text -------------------------------------------------------------------------------------------------------------

MATCHED_MAX = 4  # trigrams per index query; with more, the query takes longer than rechecking the matches
MATCHED_SPREAD = 16  # a trigram that is this much more frequent than the rarest costs more than it saves


def lower_ascii(text: str) -> str:
    """Return the text with its ASCII letters in lower case."""
    return text.encode().lower().decode()


def build_index_query(trigrams: Sequence[Trigram], frequencies: Sequence[float]) -> str:
    """Return an index query for the rarest of these trigrams. It can also find summaries without the text.

    Trigrams that share characters are mostly found in the same summaries, so only one of them is used.
    """
    by_frequency = sorted(zip(frequencies, trigrams, strict=True))
    rarest, _ = by_frequency[0]
    matched: list[Trigram] = []
    for frequency, trigram in by_frequency:
        is_apart = all(abs(trigram.at - chosen.at) >= TRIGRAM_CHARS for chosen in matched)
        if is_apart and frequency <= rarest * MATCHED_SPREAD and len(matched) < MATCHED_MAX:
            matched.append(trigram)
    return " AND ".join(map(index_term, matched))


# --- Orders and pages -------------------------------------------------------------------------------------------------

Position = Mapping[str, Any]

COSTS_OF_A_MATCH = 4  # to fetch and sort a match of the text index takes as long as to look at so many nodes in order
LOOKED_AT_SPREAD = 2  # matches are not spread evenly


class Sort(StrEnum):
    """The sort orders that callers may choose."""

    READINESS = "readiness"  # actionable nodes, best first, then the rest in the same order
    DEPTH = "depth"  # from the top down
    RECENT = "recent"  # the latest change first
    CREATED = "created"  # the oldest node first


class Order(Struct, frozen=True):
    """A sort order: its start position and its queries."""

    start: Position  # before every node
    project_query: Query
    chosen_query: Query


ORDERS: Mapping[Sort, Order] = {
    Sort.READINESS: Order(
        {"after_ready": True, "after_priority": inf, "after_depth": 0, "after_changed_rev": 0, "after_n": 0},
        sql.unready_nodes,
        sql.chosen_by_rank,
    ),
    Sort.DEPTH: Order({"after_depth": -1, "after_n": 0}, sql.by_depth, sql.chosen_by_depth),
    Sort.RECENT: Order({"after_changed_rev": 2**53, "after_n": 0}, sql.by_change, sql.chosen_by_change),
    Sort.CREATED: Order({"after_n": 0}, sql.by_creation, sql.chosen_by_creation),
}


def fetch_page(
    tx: Transaction, search: NodeSearch, sort: Sort, position: Position, *, at_most: int
) -> tuple[list[int], int | None]:
    """Return the numbers of the nodes after a position, and the number of all if it needs no extra query."""
    order = ORDERS[sort]
    parameters = {**search.parameters, **position}
    if sort is Sort.READINESS and search.source is Source.PROJECT:
        return _fetch_ready_first(tx, parameters, at_most=at_most), None
    if search.source is Source.PROJECT:
        return tx.scalars(order.project_query, **parameters, at_most=at_most), None
    if sort is Sort.READINESS and search.matches_max is not None and position["after_ready"]:
        ns, total = _fetch_ready_with_text(tx, search, parameters, at_most=at_most)
        if ns:
            return ns, total
    rows = tx.all(order.chosen_query, **parameters, at_most=at_most)
    return [n for n, _ in rows], next((counted for _, counted in rows), 0)


def _fetch_ready_with_text(
    tx: Transaction, search: NodeSearch, parameters: Mapping[str, Any], *, at_most: int
) -> tuple[list[int], int | None]:
    """Return the page of a search for only a text, and the number of ready nodes with it, if ready nodes fill the page.

    For a frequent text this is faster than to fetch and sort every match.
    """
    total: int | None = None
    looked_at = _compute_looked_at(search.last_n, search.matches_max or 0, at_most=at_most)
    if looked_at is not None:
        total = count_total(tx, search)
        looked_at = _compute_looked_at(search.last_n, total, at_most=at_most)
    if looked_at is None:
        return [], total
    rows = tx.all(sql.ready_nodes_with_text, **parameters, looked_at=looked_at)
    is_full = sum(is_unclaimed for _, is_unclaimed in rows) >= at_most
    return [n for n, _ in rows[:at_most]] if is_full else [], total


def _compute_looked_at(last_n: int, matches: float, *, at_most: int) -> int | None:
    """Return the number of ready nodes to read for so many matches; None if reading every match costs less."""
    looked_at = int(LOOKED_AT_SPREAD * at_most * last_n / matches) if matches else 0
    return looked_at if 0 < looked_at <= matches * COSTS_OF_A_MATCH else None


def _fetch_ready_first(tx: Transaction, parameters: Mapping[str, Any], *, at_most: int) -> list[int]:
    ns: list[int] = []
    behind_ready: Mapping[str, Any] = parameters
    if parameters["after_ready"]:
        if not (
            parameters["resolved"]
            or parameters["outcome"]
            or parameters["is_blocked"]
            or parameters["is_ready"] is False
        ):
            ns = tx.scalars(sql.ready_nodes, **parameters, at_most=at_most)
        behind_ready = {**parameters, **ORDERS[Sort.READINESS].start}
    if len(ns) < at_most and not parameters["is_ready"]:
        ns += tx.scalars(sql.unready_nodes, **behind_ready, at_most=at_most - len(ns))
    return ns


def count_total(tx: Transaction, search: NodeSearch) -> int:
    """Return the number of nodes on all pages."""
    if search.total is not None:
        return search.total
    query = sql.count_in_project if search.source is Source.PROJECT else sql.count_of_chosen
    if search.matches_max is not None:
        query = sql.count_matches
    return int(tx.scalar(query, **search.parameters))


class SortKeys(Protocol):
    """The sort keys of a listed node."""

    @property
    def is_ready(self) -> bool: ...

    @property
    def priority(self) -> float: ...

    @property
    def depth(self) -> int: ...

    @property
    def changed_rev(self) -> int: ...

    @property
    def n(self) -> int: ...


def get_position(sort: Sort, row: SortKeys) -> Position:
    """Return the position of a node in a sort order."""
    values = {
        "after_ready": row.is_ready,
        "after_priority": row.priority,
        "after_depth": row.depth,
        "after_changed_rev": row.changed_rev,
        "after_n": row.n,
    }
    return {name: values[name] for name in ORDERS[sort].start}


def to_cursor(position: Position) -> list[CursorValue]:
    """Return a position in the form for a cursor."""
    return [None if value == PRIORITY_ABSENT else value for value in position.values()]


def from_cursor(sort: Sort, values: Sequence[CursorValue]) -> Position:
    """Return the position in the values of a cursor."""
    if len(values) != len(ORDERS[sort].start):
        raise InvalidCursor
    position = dict(zip(ORDERS[sort].start, values, strict=True))
    if sort is Sort.READINESS:
        position["after_ready"] = bool(position["after_ready"])
        position["after_priority"] = (
            PRIORITY_ABSENT if position["after_priority"] is None else position["after_priority"]
        )
    return position


# --- Search in many projects ------------------------------------------------------------------------------------------

WORD_TRIGRAMS_MAX = 2  # of each word; the other trigrams of a word hardly exclude a node
READ_MAX = 200_000  # summaries that are read for words without trigrams, in all projects together
READ_PER_PROJECT_MIN = 1_000


def find_nodes(tx: Transaction, projects: Sequence[str], words: SearchWords) -> list[TextMatch]:
    """Return matching nodes of some projects, newest first, those with the words in their summaries before the others.

    For words without trigrams, only new summaries are read.
    """
    parameters = build_parameters(projects, words)
    matches = tx.all(sql.nodes_with_id, TextMatch, **parameters)
    if match := _build_match(words):
        with_words = tx.all(sql.nodes_with_words, TextMatch, **parameters, match=match)
    else:
        read_max = max(READ_MAX // max(len(projects), 1), READ_PER_PROJECT_MIN)
        with_words = tx.all(sql.nodes_with_short_words, TextMatch, **parameters, read_max=read_max)
    if len(with_words) >= parameters["per_project"]:  # the node with exactly this summary may be older than all of them
        matches += tx.all(sql.nodes_with_summary, TextMatch, **parameters)
    matches = drop_repeated([*matches, *with_words])
    if len(matches) < parameters["per_project"]:  # texts are read whole, and their nodes come last
        matches += tx.all(sql.nodes_with_texts, TextMatch, **parameters)
    return drop_repeated(matches)


def _build_match(words: SearchWords) -> str:
    """Return an index query that every matching summary satisfies; empty if no word has a trigram."""
    terms: dict[str, None] = {}
    for word in words.words:
        # The index folds characters in its own way, so those of ASCII are preferred.
        trigrams = [trigram for trigram in list_trigrams(word) if trigram.chars.isascii()] or list_trigrams(word)
        if len(word) >= TRIGRAM_CHARS:
            terms.update(
                dict.fromkeys(index_term(trigram) for trigram in (trigrams[0], trigrams[-1])[:WORD_TRIGRAMS_MAX])
            )
    return " AND ".join(terms)
