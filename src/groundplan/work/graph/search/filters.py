"""Which nodes are wanted: what a caller asks for, as conditions that the queries take, and where to begin looking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import describe_value, invalid_argument
from groundplan.work.engine.refs import find_node_in_project
from groundplan.work.engine.root import ROOT_N
from groundplan.work.graph.search.text import index_match, lower_ascii
from groundplan.work.requests import RESERVED_PREFIX, NodeRef, ReservedProperty

TEXT_KEYS = 2**32  # how many keys of the text index belong to each project
CLAIMANT_PROPERTY = "_claimed_by"  # the property as which a claim is shown

sql = load_queries(__file__)


class Filter(Struct, forbid_unknown_fields=True):
    """What must hold for a node: all that is given."""

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
    # Null says something here, so the schema must not leave it out.
    claimed_by: Annotated[str | None, Meta(extra_json_schema={"type": ["string", "null"]})] | UnsetType = UNSET


class Source(StrEnum):
    """Where to begin: at the nodes that one condition finds by itself. The other conditions are then looked at."""

    BELOW = "below"
    WAITING = "waiting"
    WAITED_FOR = "waited_for"
    CLAIMED = "claimed"
    TEXT = "text"
    CHILDREN = "children"
    PROJECT = "project"  # all nodes


# Which condition finds nodes by itself, in the order in which they are tried: those that find the fewest come first.
# Below a node is always searched from there: the other way, each node found would be followed up to the root.
SOURCES: Mapping[str, Source] = {
    "ancestor_n": Source.BELOW,
    "depends_on_n": Source.WAITING,
    "depended_by_n": Source.WAITED_FOR,
    "claimed_by": Source.CLAIMED,
    "match": Source.TEXT,
    "parent_n": Source.CHILDREN,
}

# What holds for every node for which something else does, and need not be asked.
IMPLIED: Mapping[str, Mapping[str, bool]] = {
    "is_ready": {"resolved": False, "is_blocked": False, "is_leaf": True},
    "is_blocked": {"resolved": False, "is_ready": False},
    "resolved": {"is_ready": False, "is_blocked": False, "is_leaf": True},
}


class SearchCountsRow(Struct):
    """The project's place in the text index, and how many nodes of each kind it has."""

    number: int
    total: int
    resolved: int
    blocked: int
    actionable: int


@dataclass(frozen=True, slots=True)
class NodeSearch:
    """A filter as the queries take it."""

    source: Source
    parameters: Mapping[str, Any]
    total: int | None  # how many nodes it finds, where that is known without counting


def build_search(tx: Transaction, given: Filter) -> NodeSearch:
    """What to ask the database for.

    Raises:
        NotFound: a node that the filter names is not there.
        MixedProjects: it is in another project.
        ReservedProperty: it asks for a property that only the engine sets.
        Invalid: it cannot be about a claim.
    """
    counts = tx.one(sql.counts, SearchCountsRow, project_id=tx.project.id)
    conditions = _conditions(tx, given)
    keys = {"first_key": counts.number * TEXT_KEYS, "last_key": (counts.number + 1) * TEXT_KEYS - 1}
    source = next((source for name, source in SOURCES.items() if conditions[name]), Source.PROJECT)
    known = {
        "resolved": counts.resolved,
        "is_blocked": counts.blocked,
        "is_ready": counts.actionable,
        "is_below_root": counts.total - 1,
    }
    known_total: int | None
    match [(name, value) for name, value in conditions.items() if value is not None]:
        case []:
            known_total = counts.total
        case [(name, value)] if name in known:
            known_total = known[name] if value else counts.total - known[name]
        case _:
            known_total = None
    return NodeSearch(source, {"project_id": tx.project.id, "source": source, **keys, **conditions}, known_total)


def _conditions(tx: Transaction, given: Filter) -> dict[str, Any]:
    """Each condition by its name in the queries; None where it was not set."""
    text = lower_ascii(given.text) if given.text else None
    ancestor_n = _number(tx, given.ancestor)
    is_below_root = ancestor_n == ROOT_N  # as all others are, which need not be looked for
    properties = dict(given.properties or {})
    claimed_by = _claimant(given.claimed_by, properties.pop(CLAIMANT_PROPERTY, UNSET))
    for key in properties:
        if key.startswith(RESERVED_PREFIX):
            raise ReservedProperty(("filter", "properties", key))
    present = {key: value for key, value in properties.items() if value is not None}
    absent = [key for key, value in properties.items() if value is None]
    conditions: dict[str, Any] = {
        "resolved": given.resolved,
        "is_leaf": given.is_leaf,
        "is_ready": given.is_actionable,
        "is_blocked": given.is_blocked,
        "is_below_root": is_below_root or None,
        "ancestor_n": None if is_below_root else ancestor_n,
        "parent_n": _number(tx, given.parent),
        "depends_on_n": _number(tx, given.depends_on),
        "depended_by_n": _number(tx, given.depended_by),
        "claimed_by": claimed_by or None,
        "is_unclaimed": True if claimed_by is None else None,
        "evidence_type": given.has_evidence_type,
        "text": text,
        "match": index_match(text) if text else None,
        "properties": msgspec.json.encode(present).decode() if present else None,
        "fragment": _fragment(present) if present else None,
        "absent": msgspec.json.encode(absent).decode() if absent else None,
    }
    for name, implied in IMPLIED.items():
        if conditions[name]:
            for other, value in implied.items():
                if conditions[other] is value:
                    conditions[other] = None
    return conditions


def _fragment(properties: Mapping[str, Any]) -> str:
    """A piece of text that stored properties must have to be equal to these, as far as the first of them says."""
    key, value = next(iter(properties.items()))
    is_number = isinstance(value, int | float) and not isinstance(value, bool)  # which may be written 1 or 1.0
    pair = msgspec.json.encode({key: value}).decode()[1:-1]
    return f"{msgspec.json.encode(key).decode()}:" if is_number else pair


def _number(tx: Transaction, ref: str | None) -> int | None:
    return None if ref is None else find_node_in_project(tx, ref).n


def _claimant(claimed_by: str | UnsetType | None, as_property: Any) -> str | UnsetType | None:
    """Whose claims are asked for; None for those of nobody, UNSET for any. It may be said in two ways."""
    place = ("filter", "properties", CLAIMANT_PROPERTY) if claimed_by is UNSET else ("filter", "claimed_by")
    if claimed_by is not UNSET and as_property not in (UNSET, claimed_by):
        raise invalid_argument(
            place, f"is contradicted by filter.properties.{CLAIMANT_PROPERTY}; leave one of them out"
        )
    claimant = as_property if claimed_by is UNSET else claimed_by
    if isinstance(claimant, str):
        return apply_marker(NormalizedName(), claimant, place)
    if claimant is not None and claimant is not UNSET:
        raise invalid_argument(place, f"must be a string or null, not {describe_value(claimant)}")
    return claimant
