"""The rows of a draft as stored, and the changes recorded for them in the history."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET, Struct

from groundplan.kernel.audit import Change, changed
from groundplan.purpose.model import Confidence, EdgeName, EdgeType, IndicatorDirection, NodeType, RiskLevel


class PurposeNodeRow(Struct, frozen=True):
    """A node. Its metadata is JSON text."""

    id: str
    key: str
    node_type: NodeType
    title: str
    description: str | None
    narrative: str | None
    owner: str | None
    metadata: str


class PurposeEdgeRow(Struct, frozen=True):
    """An edge between two node rows."""

    id: str
    source_node_id: str
    target_node_id: str
    edge_type: EdgeType
    mechanism: str | None
    confidence: Confidence | None


class NamedEdge(PurposeEdgeRow, frozen=True):
    """An edge with the keys and types of its ends."""

    source: str
    source_type: NodeType
    target: str
    target_type: NodeType

    @property
    def name(self) -> EdgeName:
        return EdgeName(self.source, self.target, self.edge_type)


class AssumptionRow(Struct, frozen=True):
    """An assumption on a node row or an edge row."""

    id: str
    key: str
    on_id: str
    assumption_text: str
    risk_level: RiskLevel | None
    owner: str | None
    review_by: str | None
    is_on_node: bool


class IndicatorRow(Struct, frozen=True):
    """An indicator of a node."""

    id: str
    key: str
    node_id: str
    name: str
    unit: str | None
    direction: IndicatorDirection | None
    baseline: float | None
    baseline_verified: bool | None
    target: float | None
    method: str | None
    frequency: str | None
    owner: str | None


Row = PurposeNodeRow | PurposeEdgeRow | AssumptionRow | IndicatorRow

# The fields recorded in the history, for rows where that is not every field.
_RECORDED_FIELDS: dict[type[Struct], tuple[str, ...]] = {
    NamedEdge: PurposeEdgeRow.__struct_fields__,
    AssumptionRow: AssumptionRow.__struct_fields__[:-1],  # the recorded name shows whether it is on a node
}


def given_fields(op: Struct, shape: type[Struct]) -> dict[str, Any]:
    """Return the fields of a row that an operation sets."""
    return {name: value for name in shape.__struct_fields__ if (value := getattr(op, name, UNSET)) is not UNSET}


def additions(row: Row) -> list[Change]:
    """Return the changes that record a new row."""
    return [changed(name, None, value) for name, value in _values(row)]


def removals(row: Row) -> list[Change]:
    """Return the changes that record a removed row."""
    return [changed(name, value, None) for name, value in _values(row)]


def differences(before: Row, after: Row) -> list[Change]:
    """Return the changes between two states of a row."""
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in before.__struct_fields__)
    return [changed(name, old, new) for name, old, new in pairs if old != new]


def _values(row: Row) -> Iterator[tuple[str, Any]]:
    for name in _RECORDED_FIELDS.get(type(row), row.__struct_fields__):
        value = getattr(row, name)
        if value is not None:
            yield name, value
