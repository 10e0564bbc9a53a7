"""The rows of a draft, and the changes recorded for them in the history.

A row is an item of the model that refers to others by row id instead of by key. The columns that hold its content are
the lists in `queries.sql`, and have the names of its fields.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Struct

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.store.queries import load_queries
from groundplan.purpose.model import Assumption, EdgeName, Indicator, NodeType, PurposeEdge, PurposeNode

_LISTS = load_queries(__file__).columns
NODE_COLUMNS, EDGE_COLUMNS = _LISTS["node"], _LISTS["edge"]
ASSUMPTION_COLUMNS, INDICATOR_COLUMNS = _LISTS["assumption"], _LISTS["indicator"]


class PurposeEdgeRow(PurposeEdge):
    """An edge whose source and target are row ids. `DraftState.edge_name` returns its name with keys."""

    @property
    def source_node_id(self) -> str:
        return self.source

    @property
    def target_node_id(self) -> str:
        return self.target


class NamedEdge(PurposeEdgeRow):
    """An edge with the keys and types of its ends."""

    source_key: str = ""  # every query for this class selects this and the next three
    source_type: NodeType = NodeType.ACTIVITY
    target_key: str = ""
    target_type: NodeType = NodeType.ACTIVITY

    @property
    def name(self) -> EdgeName:
        return EdgeName(self.source_key, self.target_key, self.edge_type)


class AssumptionRow(Assumption):
    """An assumption on a node or an edge, by row id: either `node` or `edge_id` is set."""

    edge_id: str | None = None

    @property
    def is_on_node(self) -> bool:
        return self.edge_id is None

    @property
    def on_id(self) -> str | None:
        return self.node if self.is_on_node else self.edge_id


class IndicatorRow(Indicator):
    """An indicator whose node is a row id."""

    @property
    def node_id(self) -> str:
        return self.node


Row = PurposeNode | PurposeEdgeRow | AssumptionRow | IndicatorRow

_EDGE_ROW_COLUMNS = ("id", "source_node_id", "target_node_id", *EDGE_COLUMNS)
_ROW_COLUMNS: dict[type[Struct], tuple[str, ...]] = {
    PurposeNode: ("id", "key", *NODE_COLUMNS),
    PurposeEdgeRow: _EDGE_ROW_COLUMNS,
    NamedEdge: _EDGE_ROW_COLUMNS,
    AssumptionRow: ("id", "key", "on_id", *ASSUMPTION_COLUMNS),
    IndicatorRow: ("id", "key", "node_id", *INDICATOR_COLUMNS),
}


def encode_columns(row: Row) -> dict[str, Any]:
    """Return the columns of a row as they are stored and recorded. Metadata is JSON text."""
    columns = {name: getattr(row, name) for name in _ROW_COLUMNS[type(row)]}
    if isinstance(row, PurposeNode):
        columns["metadata"] = msgspec.json.encode(row.metadata).decode()
    return columns


def get_given_fields(op: Struct, columns: tuple[str, ...]) -> dict[str, Any]:
    """Return the columns that an operation sets."""
    return {name: value for name in columns if (value := getattr(op, name, UNSET)) is not UNSET}


def build_addition_changes(row: Row) -> list[Change]:
    """Return the changes that record a new row."""
    return [changed(name, None, value) for name, value in encode_columns(row).items() if value is not None]


def build_removal_changes(row: Row) -> list[Change]:
    """Return the changes that record a removed row."""
    return [changed(name, value, None) for name, value in encode_columns(row).items() if value is not None]


def diff_rows(before: Row, after: Row) -> list[Change]:
    """Return the changes between two states of a row."""
    was = encode_columns(before)
    return [changed(name, was[name], value) for name, value in encode_columns(after).items() if was[name] != value]
