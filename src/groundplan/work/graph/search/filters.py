"""Filters for nodes: the request, the query conditions it becomes, and the source that the search starts from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import describe_value, invalid_argument
from groundplan.work.graph.search.text import TRIGRAM_CHARS, build_index_query, index_term, list_trigrams, lower_ascii
from groundplan.work.kinds import ROOT_N
from groundplan.work.refs import find_node_in_project
from groundplan.work.requests import RESERVED_PREFIX, NodeRef, ReservedProperty

TEXT_KEYS = 2**32  # how many keys of the text index belong to each project
TEXT_SAMPLE = 64  # summaries by which the frequency of a trigram is estimated
COMMON_SHARE = 8  # a text in more than one node of 8 is met soon in any order, so the nodes are read in that order
CLAIMANT_PROPERTY = "_claimed_by"  # the property that shows a claim

sql = load_queries(__file__)


class Filter(Struct, forbid_unknown_fields=True):
    """Conditions on a node; all that are given must hold."""

    resolved: bool | None = None
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
    """A filter that also knows tags. Tools do not have it, because every conversation pays for their parameters."""

    tag: str | None = None


class Source(StrEnum):
    """Where a search starts: the nodes that one condition finds by itself. The other conditions filter them."""

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
    "resolved": {"is_ready": False, "is_blocked": False, "is_leaf": True},
}


class SearchCountsRow(Struct):
    """The project's number in the text index, and the numbers of its nodes by state."""

    number: int
    last_n: int
    total: int
    resolved: int
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
    counts = tx.one(sql.counts, SearchCountsRow, project_id=tx.project.id)
    conditions = _build_conditions(tx, filter_)
    keys = {"first_key": counts.number * TEXT_KEYS, "last_key": (counts.number + 1) * TEXT_KEYS - 1}
    source = next((source for name, source in SOURCES.items() if conditions[name]), Source.PROJECT)
    text = _TextSearch(source)
    if source is Source.TEXT:
        text = _plan_text_search(tx, conditions["text"], counts, keys)
        source = text.source
    if source is Source.PROJECT and conditions["parent_n"]:
        source = Source.CHILDREN
    known = {
        "resolved": counts.resolved,
        "is_blocked": counts.blocked,
        "is_ready": counts.actionable,
        "is_below_root": counts.total - 1,
    } | ({} if text.total is None else {"text": text.total})
    parameters = {"project_id": tx.project.id, "source": source, "match": text.match, **keys, **conditions}
    known_total: int | None
    match [(name, value) for name, value in conditions.items() if value is not None]:
        case []:
            known_total = counts.total
        case [(name, value)] if name in known:
            known_total = known[name] if value else counts.total - known[name]
        case _:
            known_total = None
    is_only_text = sum(value is not None for value in conditions.values()) == 1
    return NodeSearch(source, parameters, known_total, counts.last_n, text.matches_max if is_only_text else None)


class _TextSearch(Struct, frozen=True):
    """Where a search for a text starts, with the query for the index or the number of nodes with the text."""

    source: Source
    match: str | None = None
    total: int | None = None
    matches_max: float | None = None  # an estimate of the summaries with its rarest trigram


def _plan_text_search(tx: Transaction, text: str, counts: SearchCountsRow, keys: Mapping[str, int]) -> _TextSearch:
    """Return the cheapest search for a text: by its rarest trigrams, or without them if all are frequent."""
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
    """Return each condition by its name in the queries; None if it is not set."""
    text = lower_ascii(filter_.text) if filter_.text else None
    ancestor_n = _resolve_number(tx, filter_.ancestor)
    is_below_root = ancestor_n == ROOT_N  # true for every other node, so no walk is needed
    properties = dict(filter_.properties or {})
    claimed_by = _resolve_claimant(filter_.claimed_by, properties.pop(CLAIMANT_PROPERTY, UNSET))
    for key in properties:
        if key.startswith(RESERVED_PREFIX):
            raise ReservedProperty(("filter", "properties", key))
    present = {key: value for key, value in properties.items() if value is not None}
    absent = [key for key, value in properties.items() if value is None]
    conditions: dict[str, Any] = {
        "resolved": filter_.resolved,
        "is_leaf": filter_.is_leaf,
        "is_ready": filter_.is_actionable,
        "is_blocked": filter_.is_blocked,
        "is_below_root": is_below_root or None,
        "ancestor_n": None if is_below_root else ancestor_n,
        "parent_n": _resolve_number(tx, filter_.parent),
        "depends_on_n": _resolve_number(tx, filter_.depends_on),
        "depended_by_n": _resolve_number(tx, filter_.depended_by),
        "claimed_by": claimed_by or None,
        "is_unclaimed": True if claimed_by is None else None,
        "evidence_type": filter_.has_evidence_type,
        "tag": filter_.tag if isinstance(filter_, TagFilter) else None,
        "text": text,
        "properties": msgspec.json.encode(present).decode() if present else None,
        "fragment": _build_fragment(present) if present else None,
        "absent": msgspec.json.encode(absent).decode() if absent else None,
    }
    for name, implied in IMPLIED.items():
        if conditions[name]:
            for other, value in implied.items():
                if conditions[other] is value:
                    conditions[other] = None
    return conditions


def _build_fragment(properties: Mapping[str, Any]) -> str:
    """Return a text that the stored JSON must contain for the first of these properties to match."""
    key, value = next(iter(properties.items()))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)  # stored as 1 or as 1.0
    pair = msgspec.json.encode({key: value}).decode()[1:-1]
    return f"{msgspec.json.encode(key).decode()}:" if is_number else pair


def _resolve_number(tx: Transaction, ref: str | None) -> int | None:
    return None if ref is None else find_node_in_project(tx, ref).n


def _resolve_claimant(claimed_by: str | UnsetType | None, as_property: Any) -> str | UnsetType | None:
    """Return the wanted claimant, None for unclaimed nodes, or UNSET for any. A filter can give it in two ways."""
    path = ("filter", "properties", CLAIMANT_PROPERTY) if claimed_by is UNSET else ("filter", "claimed_by")
    if claimed_by is not UNSET and as_property not in (UNSET, claimed_by):
        raise invalid_argument(path, f"contradicts filter.properties.{CLAIMANT_PROPERTY}; leave one of them out")
    claimant = as_property if claimed_by is UNSET else claimed_by
    if isinstance(claimant, str):
        return apply_marker(NormalizedName(), claimant, path)
    if claimant is not None and claimant is not UNSET:
        raise invalid_argument(path, f"must be a string or null, not {describe_value(claimant)}")
    return claimant
