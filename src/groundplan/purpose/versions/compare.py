"""Compare two versions by stable key: items that were added, removed, changed or reconnected.

An edge has no key and is identified by its ends and its type. If exactly one edge between two ends was removed and one
added, it counts as the same edge with another type, and it keeps its assumptions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.purpose.model import (
    Assumption,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    NodeType,
    PurposeEdge,
    PurposeNode,
    RiskLevel,
    convert_row,
    edge_order,
    sort_keys,
)

T = TypeVar("T")
Listed = TypeVar("Listed")

# The fields to compare: all except those that identify the item.
NODE_FIELDS = PurposeNode.__struct_fields__[2:]
EDGE_FIELDS = PurposeEdge.__struct_fields__[3:]
ASSUMPTION_FIELDS = Assumption.__struct_fields__[4:]
INDICATOR_FIELDS = Indicator.__struct_fields__[2:]


class FieldDifference(Struct):
    """A field with different values. A value that is too long for the answer is left out."""

    field: str
    before: Any = UNSET
    after: Any = UNSET


class Changed(Struct, frozen=True):
    """An item that both versions have, with different fields."""

    key: str
    fields: list[FieldDifference]


class ListedNode(Struct, frozen=True):
    """A node that only one version has."""

    key: str
    node_type: NodeType
    title: str


class ListedEdge(Struct, frozen=True):
    """An edge that only one version has. Its key is its name."""

    key: str
    source: str
    target: str
    edge_type: EdgeType


class ListedAssumption(Struct, frozen=True):
    """An assumption that only one version has, and the node or edge it is on."""

    key: str
    on: str
    assumption_text: str
    risk_level: RiskLevel | UnsetType = UNSET


class ListedIndicator(Struct, frozen=True):
    """An indicator that only one version has."""

    key: str
    node: str
    name: str


class NodeChanges(Struct, frozen=True):
    """The added, removed and changed nodes."""

    added: list[ListedNode]
    removed: list[ListedNode]
    changed: list[Changed]


class EdgeChanges(Struct, frozen=True):
    """The added, removed and changed edges."""

    added: list[ListedEdge]
    removed: list[ListedEdge]
    changed: list[Changed]


class AssumptionChanges(Struct, frozen=True):
    """The added, removed and changed assumptions."""

    added: list[ListedAssumption]
    removed: list[ListedAssumption]
    changed: list[Changed]


class IndicatorChanges(Struct, frozen=True):
    """The added, removed and changed indicators."""

    added: list[ListedIndicator]
    removed: list[ListedIndicator]
    changed: list[Changed]


class NeighbourChanges(Struct):
    """The neighbours that a node gained and lost."""

    added: list[str]
    removed: list[str]


class RewiredNode(Struct, frozen=True):
    """A node that both versions have, with different causes or effects."""

    key: str
    causes: NeighbourChanges
    effects: NeighbourChanges


class Comparison(Struct):
    """The differences between two versions."""

    nodes: NodeChanges
    edges: EdgeChanges
    assumptions: AssumptionChanges
    indicators: IndicatorChanges
    rewired: list[RewiredNode]

    @property
    def is_empty(self) -> bool:
        """True if the two versions are equal."""
        return not any(changes.added or changes.removed or changes.changed for _, changes in self.changes_by_kind)

    @property
    def changes_by_kind(self) -> Iterator[tuple[str, NodeChanges | EdgeChanges | AssumptionChanges | IndicatorChanges]]:
        """The changes by kind of item, each with the name of the kind."""
        yield "Nodes", self.nodes
        yield "Edges", self.edges
        yield "Assumptions", self.assumptions
        yield "Indicators", self.indicators


def compare(before: Content, after: Content) -> Comparison:
    """Return the differences between two contents. Row ids are ignored."""
    edges, renamed = _compare_edges(before.edges, after.edges)
    return Comparison(
        NodeChanges(
            *_list_added_and_removed(before.nodes, after.nodes, lambda node: convert_row(node, ListedNode)),
            _find_changed(before.nodes, after.nodes, NODE_FIELDS),
        ),
        edges,
        AssumptionChanges(
            *_list_added_and_removed(before.assumptions, after.assumptions, _to_listed_assumption),
            _find_changed_assumptions(before.assumptions, after.assumptions, renamed),
        ),
        IndicatorChanges(
            *_list_added_and_removed(
                before.indicators, after.indicators, lambda indicator: convert_row(indicator, ListedIndicator)
            ),
            _find_changed(before.indicators, after.indicators, INDICATOR_FIELDS),
        ),
        _find_rewired(before, after),
    )


def _list_added_and_removed(
    before: Mapping[str, T], after: Mapping[str, T], to_listed: Callable[[T], Listed]
) -> tuple[list[Listed], list[Listed]]:
    added, removed = sort_keys(after.keys() - before.keys()), sort_keys(before.keys() - after.keys())
    return [to_listed(after[key]) for key in added], [to_listed(before[key]) for key in removed]


def _find_changed(before: Mapping[str, Any], after: Mapping[str, Any], names: Iterable[str]) -> list[Changed]:
    both = sort_keys(before.keys() & after.keys())
    differences = ((key, _compare_fields(before[key], after[key], names)) for key in both)
    return [Changed(key, fields) for key, fields in differences if fields]


def _compare_fields(before: Any, after: Any, names: Iterable[str]) -> list[FieldDifference]:
    differences = []
    for name in names:
        old, new = getattr(before, name), getattr(after, name)
        if old is not new and (old != new or not _have_same_booleans(old, new)):
            differences.append(FieldDifference(name, old, new))
    return differences


def _have_same_booleans(before: Any, after: Any) -> bool:
    """Return True if two equal values have booleans in the same places; in Python, True equals 1."""
    if isinstance(before, dict):
        return all(_have_same_booleans(before[name], after[name]) for name in before)
    if isinstance(before, list):
        return all(map(_have_same_booleans, before, after))
    return isinstance(before, bool) is isinstance(after, bool)


def _compare_edges(before: list[PurposeEdge], after: list[PurposeEdge]) -> tuple[EdgeChanges, dict[EdgeName, EdgeName]]:
    """Return the changes of the edges, and the new names of edges with another type."""
    olds, news = {edge.name: edge for edge in before}, {edge.name: edge for edge in after}
    lost, gained = _group_by_ends(olds.keys() - news.keys()), _group_by_ends(news.keys() - olds.keys())
    renamed = {
        lost[ends][0]: gained[ends][0]
        for ends in lost.keys() & gained.keys()
        if len(lost[ends]) == 1 and len(gained[ends]) == 1
    }
    kept = {name: name for name in olds.keys() & news.keys()} | renamed
    changed = [
        Changed(str(new), fields)
        for old, new in sorted(kept.items(), key=lambda names: edge_order(names[1]))
        if (fields := _compare_fields(olds[old], news[new], EDGE_FIELDS))
    ]
    added = sorted(news.keys() - set(kept.values()), key=edge_order)
    removed = sorted(olds.keys() - kept.keys(), key=edge_order)
    return EdgeChanges(
        [_to_listed_edge(name) for name in added], [_to_listed_edge(name) for name in removed], changed
    ), renamed


def _group_by_ends(names: Iterable[EdgeName]) -> dict[tuple[str, str], list[EdgeName]]:
    by_ends: dict[tuple[str, str], list[EdgeName]] = defaultdict(list)
    for name in names:
        by_ends[name.source, name.target].append(name)
    return by_ends


def _find_changed_assumptions(
    before: Mapping[str, Assumption], after: Mapping[str, Assumption], renamed: Mapping[EdgeName, EdgeName]
) -> list[Changed]:
    changes = []
    for key in sort_keys(before.keys() & after.keys()):
        old, new = before[key], after[key]
        fields = _compare_fields(old, new, ASSUMPTION_FIELDS)
        # An assumption stays with an edge that only changed its type.
        followed = old.edge if old.edge is None else renamed.get(old.edge, old.edge)
        if (old.node, followed) != (new.node, new.edge):
            fields.insert(0, FieldDifference("on", _name_subject(old), _name_subject(new)))
        if fields:
            changes.append(Changed(key, fields))
    return changes


def _find_rewired(before: Content, after: Content) -> list[RewiredNode]:
    old_causes, old_effects = _find_neighbours(before)
    new_causes, new_effects = _find_neighbours(after)
    rewired = []
    for key in sort_keys(before.nodes.keys() & after.nodes.keys()):
        causes = _diff_neighbours(old_causes.get(key, set()), new_causes.get(key, set()))
        effects = _diff_neighbours(old_effects.get(key, set()), new_effects.get(key, set()))
        if causes.added or causes.removed or effects.added or effects.removed:
            rewired.append(RewiredNode(key, causes, effects))
    return rewired


def _find_neighbours(content: Content) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    causes: dict[str, set[str]] = defaultdict(set)
    effects: dict[str, set[str]] = defaultdict(set)
    for edge in content.causal_edges:
        cause, effect, _ = content.orient(edge.name)
        causes[effect].add(cause)
        effects[cause].add(effect)
    return causes, effects


def _diff_neighbours(old: set[str], new: set[str]) -> NeighbourChanges:
    return NeighbourChanges(sort_keys(new - old), sort_keys(old - new))


def _to_listed_edge(name: EdgeName) -> ListedEdge:
    return convert_row(name, ListedEdge, key=str(name))


def _to_listed_assumption(assumption: Assumption) -> ListedAssumption:
    return ListedAssumption(
        assumption.key, _name_subject(assumption), assumption.assumption_text, assumption.risk_level or UNSET
    )


def _name_subject(assumption: Assumption) -> str:
    return str(assumption.edge) if assumption.node is None else assumption.node
