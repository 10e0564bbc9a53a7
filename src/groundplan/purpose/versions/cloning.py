"""Copy content into another version: all fields and stable keys stay the same, row ids are new.

The id of a copy is derived from its version and the id of its original, so the history needs to record only the two
versions to identify every row.
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
    """Copy content into an empty version."""
    namespace = UUID(version_id)
    ids = {"project_id": tx.project.id, "version_id": version_id}

    def copy_row(row: Any) -> dict[str, Any]:
        return {**msgspec.structs.asdict(row), **ids, "id": str(uuid5(namespace, row.id))}

    nodes = {key: copy_row(node) for key, node in content.nodes.items()}
    for row in nodes.values():
        row["metadata"] = msgspec.json.encode(row["metadata"]).decode()
    edges = {edge.name: copy_row(edge) for edge in content.edges}
    for name, row in edges.items():
        row["source_node_id"] = nodes[name.source]["id"]
        row["target_node_id"] = nodes[name.target]["id"]
    on_nodes, on_edges = [], []
    for assumption in content.assumptions.values():
        row = copy_row(assumption)
        if assumption.node is not None:
            on_nodes.append({**row, "on_id": nodes[assumption.node]["id"]})
        elif assumption.edge is not None:
            on_edges.append({**row, "on_id": edges[assumption.edge]["id"]})
    indicators = [
        {**copy_row(indicator), "node_id": nodes[indicator.node]["id"]} for indicator in content.indicators.values()
    ]
    tx.run_many(draft_sql.add_node, nodes.values())
    tx.run_many(draft_sql.add_edge, edges.values())
    tx.run_many(draft_sql.add_assumption, on_nodes)
    tx.run_many(draft_sql.add_edge_assumption, on_edges)
    tx.run_many(draft_sql.add_indicator, indicators)
