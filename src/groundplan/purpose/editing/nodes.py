"""Add and update the nodes of a draft, and remove them with their edges, assumptions and indicators."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET
from msgspec.structs import replace

from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import ArgumentPath, invalid_argument
from groundplan.purpose.editing.assumptions import remove_assumptions
from groundplan.purpose.editing.directions import refuse_downward
from groundplan.purpose.editing.draft_state import DraftState
from groundplan.purpose.editing.indicators import remove_indicator_row
from groundplan.purpose.editing.operations import AddNode, RemoveNode, UpdateNode
from groundplan.purpose.editing.rows import (
    NODE_COLUMNS,
    IndicatorRow,
    NamedEdge,
    PurposeEdgeRow,
    build_addition_changes,
    build_removal_changes,
    diff_rows,
    get_given_fields,
)
from groundplan.purpose.editing.rules import TypedEdge, count_metadata_bytes, merge_metadata, retype_node
from groundplan.purpose.events import Op
from groundplan.purpose.limits import TEXT_BYTES_MAX
from groundplan.purpose.model import EdgeName, PurposeNode

sql = load_queries(__file__)


def add_node(draft: DraftState, op: AddNode, key: str, index: int) -> None:
    metadata = merge_metadata({}, op.metadata or {})
    refuse_long_metadata(metadata, ("operations", index, "metadata"))
    row = PurposeNode(new_uuid(), key, **get_given_fields(op, NODE_COLUMNS) | {"metadata": metadata})
    draft.add(sql.add_node, row)
    draft.tx.record(Op.NODE_ADDED, key, *build_addition_changes(row))
    draft.register_node(row, op.ref, index)


def update_node(draft: DraftState, op: UpdateNode, path: ArgumentPath) -> None:
    """Change some fields of a node.

    Raises:
        InvalidDirection: the new type makes an edge point down the chain.
    """
    before = draft.find_node(op.node, (*path, "node"))
    given = get_given_fields(op, NODE_COLUMNS)
    if op.metadata is not UNSET:
        given["metadata"] = merge_metadata(before.metadata, op.metadata)
        refuse_long_metadata(given["metadata"], (*path, "metadata"))
    after = replace(before, **given)
    changes = diff_rows(before, after)
    if not changes:
        return
    if after.node_type is not before.node_type and draft.is_ordered:
        _refuse_downward_edges(draft, after, path)
    draft.change(sql.change_node, after)
    draft.tx.record(Op.NODE_CHANGED, before.key, *changes)
    draft.nodes[before.id] = after


def remove_node(draft: DraftState, op: RemoveNode, path: ArgumentPath) -> None:
    """Remove a node with its indicators, assumptions and edges, and the assumptions on those edges."""
    row = draft.find_node(op.node, (*path, "node"))
    tx, version_id = draft.tx, draft.version.id
    for indicator in tx.all(sql.indicators_on_node, IndicatorRow, version_id=version_id, node_id=row.id):
        remove_indicator_row(draft, indicator, row.key)
    remove_assumptions(draft, on_id=row.id, on=row.key, is_on_node=True)
    for edge in _load_edges_at(draft, row):
        remove_edge_row(draft, edge, edge.name)
    tx.run(sql.remove_node, version_id=version_id, id=row.id)
    tx.record(Op.NODE_REMOVED, row.key, *build_removal_changes(row))
    del draft.nodes[row.id]


def remove_edge_row(draft: DraftState, row: PurposeEdgeRow, name: EdgeName) -> None:
    """Remove an edge and its assumptions."""
    remove_assumptions(draft, on_id=row.id, on=str(name), is_on_node=False)
    draft.tx.run(sql.remove_edge, version_id=draft.version.id, id=row.id)
    draft.tx.record(Op.EDGE_REMOVED, str(name), *build_removal_changes(row))
    draft.drop_edge(row)


def _load_edges_at(draft: DraftState, node: PurposeNode) -> list[NamedEdge]:
    """Return the edges that begin or end at a node."""
    return draft.tx.all(sql.edges_at_node, NamedEdge, version_id=draft.version.id, node_id=node.id)


def _refuse_downward_edges(draft: DraftState, node: PurposeNode, path: ArgumentPath) -> None:
    """Raise InvalidDirection if the new type of a node makes one of its edges point down."""
    edges = (TypedEdge(edge.name, edge.source_type, edge.target_type) for edge in _load_edges_at(draft, node))
    for edge in retype_node(edges, node.key, node.node_type):
        refuse_downward(edge, (*path, "node_type"))


def refuse_long_metadata(metadata: dict[str, Any], path: ArgumentPath) -> None:
    """Reject metadata that is too long to be stored.

    Raises:
        Invalid: the JSON is too long.
    """
    size = count_metadata_bytes(metadata)
    if size > TEXT_BYTES_MAX:
        sentence = f"has {size} bytes as JSON, the limit is {TEXT_BYTES_MAX}; shorten it"
        raise invalid_argument(path, sentence, code="too_long", limit_bytes=TEXT_BYTES_MAX, actual_bytes=size)
