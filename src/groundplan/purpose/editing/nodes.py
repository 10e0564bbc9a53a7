"""Nodes of a draft: added, changed, and removed with everything that hangs on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from groundplan.kernel.audit import changed
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.wording import Path, refusal
from groundplan.purpose.editing.assumptions import remove_assumptions
from groundplan.purpose.editing.directions import refuse_downward
from groundplan.purpose.editing.drafting import EDGE, INDICATOR, NODE, Drafting, Row, as_boolean, changed_fields
from groundplan.purpose.editing.indicators import remove_indicator_row
from groundplan.purpose.editing.operations import AddNode, RemoveNode, UpdateNode
from groundplan.purpose.events import Op
from groundplan.purpose.limits import TEXT_BYTES_MAX
from groundplan.purpose.model import EdgeName, EdgeType, NodeType

sql = load_queries(__file__)


def add_node(draft: Drafting, op: AddNode, key: str, place: int) -> None:
    """A new node under a fresh key."""
    row = {
        "id": new_uuid(),
        "key": key,
        "node_type": op.node_type.value,
        "title": op.title,
        "description": op.description,
        "narrative": op.narrative,
        "owner": op.owner,
        "metadata": stored_metadata(_without_nulls(op.metadata or {}), ("operations", place, "metadata")),
    }
    draft.tx.run(sql.add_node, **draft.place, **row)
    draft.tx.record(Op.NODE_ADDED, key, *(changed(name, None, row[name]) for name in NODE if row[name] is not None))
    draft.made_node(row, op.ref, place)


def update_node(draft: Drafting, op: UpdateNode, path: Path) -> None:
    """Other values for some fields.

    Raises:
        InvalidDirection: as another type it would stand below what leads to it.
    """
    before = draft.node(op.node, (*path, "node"))
    after = dict(before)
    for name in ("title", "description", "narrative", "owner"):
        given = getattr(op, name)
        if given is not UNSET:
            after[name] = given
    if op.node_type is not UNSET:
        after["node_type"] = op.node_type.value
    if op.metadata is not UNSET:
        merged = {**msgspec.json.decode(before["metadata"]), **op.metadata}
        after["metadata"] = stored_metadata(_without_nulls(merged), (*path, "metadata"))
    fields = changed_fields(before, after)
    if not fields:
        return
    if "node_type" in fields and draft.is_ordered:
        _refuse_wrong_place(draft, after, path)
    draft.tx.run(sql.change_node, version_id=draft.version.id, **{name: after[name] for name in NODE if name != "key"})
    draft.tx.record(Op.NODE_CHANGED, before["key"], *(changed(name, before[name], after[name]) for name in fields))
    draft.nodes[before["id"]] = after


def remove_node(draft: Drafting, op: RemoveNode, path: Path) -> None:
    """A node goes, and with it its indicators, its assumptions, its edges and theirs."""
    row = draft.node(op.node, (*path, "node"))
    tx, version_id = draft.tx, draft.version.id
    for found in tx.all(sql.indicators_on_node, version_id=version_id, node_id=row["id"]):
        indicator = dict(zip(INDICATOR, found, strict=True))
        indicator["baseline_verified"] = as_boolean(indicator["baseline_verified"])
        remove_indicator_row(draft, indicator, row["key"])
    remove_assumptions(draft, on_id=row["id"], on=row["key"], is_on_node=True)
    for edge, name, _, _ in list(_edges_at(draft, row)):
        remove_edge_row(draft, edge, name)
    tx.run(sql.remove_node, version_id=version_id, id=row["id"])
    tx.record(Op.NODE_REMOVED, row["key"], *(changed(name, row[name], None) for name in NODE if row[name] is not None))
    del draft.nodes[row["id"]]


def remove_edge_row(draft: Drafting, row: Row, name: EdgeName) -> None:
    """An edge goes, with its assumptions."""
    remove_assumptions(draft, on_id=row["id"], on=str(name), is_on_node=False)
    draft.tx.run(sql.remove_edge, version_id=draft.version.id, id=row["id"])
    gone = [changed(field, row[field], None) for field in EDGE if row[field] is not None]
    draft.tx.record(Op.EDGE_REMOVED, str(name), *gone)
    draft.drop_edge(row)


def _edges_at(draft: Drafting, node: Row) -> Iterator[tuple[Row, EdgeName, NodeType, NodeType]]:
    """The edges that begin or end at a node: the row, its name, and what its ends are."""
    for found in draft.tx.all(sql.edges_at_node, version_id=draft.version.id, node_id=node["id"]):
        row = dict(zip(EDGE, found[: len(EDGE)], strict=True))
        source_key, source_type, target_key, target_type = found[len(EDGE) :]
        yield (
            row,
            EdgeName(source_key, target_key, EdgeType(row["edge_type"])),
            NodeType(source_type),
            NodeType(target_type),
        )


def _refuse_wrong_place(draft: Drafting, node: Row, path: Path) -> None:
    """No edge of a node points down once it is of another type."""
    its_type = NodeType(node["node_type"])
    for row, name, source_type, target_type in _edges_at(draft, node):
        source = its_type if row["source_node_id"] == node["id"] else source_type
        target = its_type if row["target_node_id"] == node["id"] else target_type
        refuse_downward(name, source, target, path=(*path, "node_type"))


def stored_metadata(metadata: dict[str, Any], path: Path) -> str:
    """Metadata as it is kept.

    Raises:
        Invalid: it is too large.
    """
    text = msgspec.json.encode(metadata)
    if len(text) > TEXT_BYTES_MAX:
        sentence = f"has {len(text)} bytes as JSON, the limit is {TEXT_BYTES_MAX}; shorten it"
        raise refusal(path, sentence, code="too_long", limit_bytes=TEXT_BYTES_MAX, actual_bytes=len(text))
    return text.decode()


def _without_nulls(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if value is not None}
