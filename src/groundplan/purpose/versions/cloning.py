"""Content put into another version: the same in every field, with stable keys kept and rows of its own.

The id of a copy follows from its version and from the id of its original, so that a history which names the two
versions tells every row.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

import msgspec

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.editing import draft_state
from groundplan.purpose.model import Content

draft_sql = draft_state.sql


def clone(tx: Transaction, content: Content, version_id: str) -> None:
    """Put content into a version that is empty."""
    namespace = UUID(version_id)
    place = {"project_id": tx.project.id, "version_id": version_id}

    def copied(row: Any) -> dict[str, Any]:
        return {**msgspec.structs.asdict(row), **place, "id": str(uuid5(namespace, row.id))}

    nodes = {key: copied(node) for key, node in content.nodes.items()}
    for row in nodes.values():
        row["metadata"] = msgspec.json.encode(row["metadata"]).decode()
    edges = {edge.name: copied(edge) for edge in content.edges}
    for name, row in edges.items():
        row["source_node_id"] = nodes[name.source]["id"]
        row["target_node_id"] = nodes[name.target]["id"]
    on_nodes, on_edges = [], []
    for assumption in content.assumptions.values():
        row = copied(assumption)
        if assumption.node is not None:
            on_nodes.append({**row, "on_id": nodes[assumption.node]["id"]})
        elif assumption.edge is not None:
            on_edges.append({**row, "on_id": edges[assumption.edge]["id"]})
    indicators = [{**copied(one), "node_id": nodes[one.node]["id"]} for one in content.indicators.values()]
    tx.many(draft_sql.add_node, nodes.values())
    tx.many(draft_sql.add_edge, edges.values())
    tx.many(draft_sql.add_assumption, on_nodes)
    tx.many(draft_sql.add_edge_assumption, on_edges)
    tx.many(draft_sql.add_indicator, indicators)
