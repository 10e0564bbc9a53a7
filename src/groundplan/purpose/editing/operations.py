"""The operations on a draft. An update keeps omitted fields, and null clears a text.

Some have other verbs in the checklist, which mean the same here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.errors import NextStep
from groundplan.purpose.model import (
    Confidence,
    EdgeType,
    IndicatorDirection,
    NodeType,
    Ref,
    RiskLevel,
    Sentence,
    Text,
    Title,
    Word,
)

# `target` is a node ref on an edge and a number on an indicator, so the schema allows both.
_TARGET = Meta(extra_json_schema={"type": ["string", "number"]})
TargetRef = Annotated[Ref, _TARGET]
TargetValue = Annotated[float, _TARGET]
# What no node has: structure is in the edges.
STRUCTURE = dict.fromkeys(
    ("parent_id", "parent", "children"), NextStep("purpose.edit", "with add_edge connects a cause to its effect")
)
# What the caller read of the item: a field that was changed since is not overwritten.
ReadFields = dict[str, Any] | UnsetType


class AddNode(Struct, tag_field="op", tag="add_node", forbid_unknown_fields=True):
    """Add a node. Other operations of the batch can refer to it by `ref`."""

    ELSEWHERE: ClassVar[Mapping[str, NextStep]] = STRUCTURE
    ALIASES: ClassVar[tuple[str, ...]] = ("create_node",)

    node_type: NodeType
    title: Title
    ref: Ref | None = None
    description: Text | None = None
    narrative: Text | None = None
    owner: Word | None = None
    metadata: dict[str, Any] | None = None


class UpdateNode(Struct, tag_field="op", tag="update_node", forbid_unknown_fields=True):
    """Change the title, type or texts of a node. Metadata is merged; null removes a key."""

    ELSEWHERE: ClassVar[Mapping[str, NextStep]] = STRUCTURE

    node: Ref
    title: Title | UnsetType = UNSET
    description: Text | UnsetType | None = UNSET
    narrative: Text | UnsetType | None = UNSET
    owner: Word | UnsetType | None = UNSET
    node_type: NodeType | UnsetType = UNSET
    metadata: dict[str, Any] | UnsetType = UNSET
    was: ReadFields = UNSET


class RemoveNode(Struct, tag_field="op", tag="remove_node", forbid_unknown_fields=True):
    """Remove a node with its edges, assumptions and indicators."""

    ALIASES: ClassVar[tuple[str, ...]] = ("delete_node",)

    node: Ref


class AddEdge(Struct, tag_field="op", tag="add_edge", forbid_unknown_fields=True):
    """Add an edge from a cause to an effect."""

    ALIASES: ClassVar[tuple[str, ...]] = ("create_edge",)

    source: Ref
    target: TargetRef
    edge_type: EdgeType | None = None
    ref: Ref | None = None
    mechanism: Sentence | None = None
    confidence: Confidence | None = None


class UpdateEdge(Struct, tag_field="op", tag="update_edge", forbid_unknown_fields=True):
    """Change an edge. `edge_type` selects the edge, and `new_edge_type` is its new type."""

    source: Ref
    target: TargetRef
    edge_type: EdgeType | None = None
    new_edge_type: EdgeType | None = None
    mechanism: Sentence | UnsetType | None = UNSET
    confidence: Confidence | UnsetType | None = UNSET
    was: ReadFields = UNSET


class RemoveEdge(Struct, tag_field="op", tag="remove_edge", forbid_unknown_fields=True):
    """Remove an edge and its assumptions."""

    ALIASES: ClassVar[tuple[str, ...]] = ("delete_edge",)

    source: Ref
    target: TargetRef
    edge_type: EdgeType | None = None


class AddAssumption(Struct, tag_field="op", tag="add_assumption", forbid_unknown_fields=True):
    """Add an assumption on a node, or on the edge from `source` to `target`."""

    ALIASES: ClassVar[tuple[str, ...]] = ("create_assumption",)

    assumption_text: Sentence
    node: Ref | None = None
    source: Ref | None = None
    target: TargetRef | None = None
    edge_type: EdgeType | None = None
    ref: Ref | None = None
    risk_level: RiskLevel | None = None
    owner: Word | None = None
    review_by: str | None = None


class UpdateAssumption(Struct, tag_field="op", tag="update_assumption", forbid_unknown_fields=True):
    """Change the text, risk, owner or review date of an assumption."""

    assumption: Ref
    assumption_text: Sentence | UnsetType = UNSET
    risk_level: RiskLevel | UnsetType | None = UNSET
    owner: Word | UnsetType | None = UNSET
    review_by: str | UnsetType | None = UNSET
    was: ReadFields = UNSET


class RemoveAssumption(Struct, tag_field="op", tag="remove_assumption", forbid_unknown_fields=True):
    """Remove an assumption."""

    ALIASES: ClassVar[tuple[str, ...]] = ("delete_assumption",)

    assumption: Ref


class AddIndicator(Struct, tag_field="op", tag="add_indicator", forbid_unknown_fields=True):
    """Add an indicator on a node."""

    ALIASES: ClassVar[tuple[str, ...]] = ("create_indicator",)

    node: Ref
    name: Title
    ref: Ref | None = None
    unit: Word | None = None
    direction: IndicatorDirection | None = None
    baseline: float | None = None
    baseline_verified: bool | None = None
    target: TargetValue | None = None
    method: Sentence | None = None
    frequency: Word | None = None
    owner: Word | None = None


class UpdateIndicator(Struct, tag_field="op", tag="update_indicator", forbid_unknown_fields=True):
    """Change the name, numbers or texts of an indicator."""

    indicator: Ref
    name: Title | UnsetType = UNSET
    unit: Word | UnsetType | None = UNSET
    direction: IndicatorDirection | UnsetType | None = UNSET
    baseline: float | UnsetType | None = UNSET
    baseline_verified: bool | UnsetType | None = UNSET
    target: TargetValue | UnsetType | None = UNSET
    method: Sentence | UnsetType | None = UNSET
    frequency: Word | UnsetType | None = UNSET
    owner: Word | UnsetType | None = UNSET
    was: ReadFields = UNSET


class RemoveIndicator(Struct, tag_field="op", tag="remove_indicator", forbid_unknown_fields=True):
    """Remove an indicator."""

    ALIASES: ClassVar[tuple[str, ...]] = ("delete_indicator",)

    indicator: Ref


# Undo puts removed items back under their keys and row ids. No request can name these operations: a caller could give
# any key to a new item.


class RestoreNode(AddNode, tag_field="op", tag="restore_node", forbid_unknown_fields=True, kw_only=True):
    """Restore a removed node. It may lack a title, if it was imported without one."""

    key: str
    id: str
    title: str


class RestoreEdge(AddEdge, tag_field="op", tag="restore_edge", forbid_unknown_fields=True, kw_only=True):
    """Restore a removed edge."""

    id: str


class RestoreAssumption(
    AddAssumption, tag_field="op", tag="restore_assumption", forbid_unknown_fields=True, kw_only=True
):
    """Restore a removed assumption."""

    key: str
    id: str


class RestoreIndicator(AddIndicator, tag_field="op", tag="restore_indicator", forbid_unknown_fields=True, kw_only=True):
    """Restore a removed indicator."""

    key: str
    id: str


RestoreOp = RestoreNode | RestoreEdge | RestoreAssumption | RestoreIndicator

PurposeOp = (
    AddNode
    | UpdateNode
    | RemoveNode
    | AddEdge
    | UpdateEdge
    | RemoveEdge
    | AddAssumption
    | UpdateAssumption
    | RemoveAssumption
    | AddIndicator
    | UpdateIndicator
    | RemoveIndicator
)
