"""The rules for the items of a draft, as functions of plain values.

Editing raises an error where one is broken, the checklist reports the same for an operation that is only proposed, and
the gates report it for content that was imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.errors import Invalid, RuleViolated
from groundplan.kernel.input_gate.text_limits import apply_marker
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.purpose.model import LEVELS, EdgeName, EdgeType, NodeType, Profile, orient_edge


class TypedEdge(NamedTuple):
    """An edge with the types of its ends."""

    name: EdgeName
    source_type: NodeType
    target_type: NodeType

    @property
    def ends(self) -> tuple[str, str]:
        """The keys of the cause and the effect."""
        cause, effect, _ = orient_edge(*self)
        return cause, effect

    @property
    def points_down(self) -> bool:
        """True if the edge is causal and leads down the levels (activity, output, outcome, goal)."""
        is_down = LEVELS[self.target_type] < LEVELS[self.source_type]
        return is_down and self.name.edge_type.is_causal and self.ends[0] == self.name.source


def forbids_cycles_and_downward_edges(profile: Profile) -> bool:
    """Return True if edges must not point down or close a cycle."""
    return profile is not Profile.LIGHT


def is_new_cause(before: TypedEdge | None, after: TypedEdge) -> bool:
    """Return True if an edge leads from a cause to an effect as it did not before.

    It must not point down or close a cycle. One that did so before may have been imported; that is for the gate.
    """
    if not after.name.edge_type.is_causal:
        return False
    return before is None or not before.name.edge_type.is_causal or before.ends != after.ends


def retype_node(edges: Iterable[TypedEdge], key: str, node_type: NodeType) -> Iterator[TypedEdge]:
    """Yield edges with their types after a node gets another type."""
    for name, source_type, target_type in edges:
        yield TypedEdge(
            name,
            node_type if name.source == key else source_type,
            node_type if name.target == key else target_type,
        )


def match_edge_types(types: Iterable[EdgeType], wanted: str | None) -> list[EdgeType]:
    """Return the types of the edges that an operation can refer to. The caller expects exactly one."""
    return [edge_type for edge_type in types if wanted in (None, edge_type)]


def is_on_one_item(node: str | None, source: str | None, target: str | None) -> bool:
    """Return True if an assumption names either a node, or both ends of an edge."""
    return (node is None) != (source is None) and (source is None) == (target is None)


def names_edge(source: str | None, target: str | None) -> bool:
    """Return True if an assumption names an end of an edge. Only such an assumption may give an edge type."""
    return source is not None or target is not None


def merge_metadata(before: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata of a node after an operation. A null value removes a name."""
    return {name: value for name, value in {**before, **given}.items() if value is not None}


def count_metadata_bytes(metadata: dict[str, Any]) -> int:
    """Return the stored size of metadata, which must not exceed `TEXT_BYTES_MAX`."""
    return len(msgspec.json.encode(metadata))


def fits(text: str | None, kind: Any) -> bool:
    """Return True if a text is given and within the limits of its type, such as `Title`."""
    try:
        for marker in kind.__metadata__:
            apply_marker(marker, text or "", ())
    except Invalid:
        return False
    return True


class InvalidDirection(RuleViolated):
    """The edge would point from an effect to its cause."""

    code = "invalid_direction"

    def __init__(self, edge: TypedEdge, path: ArgumentPath) -> None:
        name, source_type, target_type = edge
        super().__init__(
            f"{format_argument_path(path)}: {name.source} is {source_type} and {name.target} is {target_type}, "
            f"so {name} points "
            "down the chain ACTIVITY, OUTPUT, OUTCOME, GOAL. Swap source and target, or set edge_type to FEEDBACK",
            field=format_argument_path(path),
            edge=str(name),
            nodes=[name.source, name.target],
            source_type=source_type,
            target_type=target_type,
        )


def refuse_downward(edge: TypedEdge, path: ArgumentPath) -> None:
    """Raise InvalidDirection if the edge points down."""
    if edge.points_down:
        raise InvalidDirection(edge, path)
