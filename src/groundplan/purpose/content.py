"""Read the content of a version, and reserve the keys of new items.

Keys and the revisions of drafts are counted by project, so that none is used again.
"""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.kernel.errors import Conflict
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import (
    Assumption,
    Content,
    EdgeName,
    EdgeType,
    Indicator,
    PurposeEdge,
    PurposeNode,
    build_content,
    compute_content_hash,
    normalize_number,
)
from groundplan.purpose.versions.versions import VersionRow

sql = load_queries(__file__)

_decode_json = msgspec.json.Decoder().decode


class ContentAltered(Conflict):
    """The content of a published version does not match its hash: the database was changed directly."""

    code = "content_altered"

    def __init__(self, row: VersionRow, actual: str) -> None:
        super().__init__(
            f"version {row.number} was published with the content hash {row.content_hash}, but now has {actual}. "
            "Restore a backup, and find out who changed the database",
            version=row.number,
            published=row.content_hash,
            actual=actual,
        )


def read_content(tx: Transaction, version_id: str) -> Content:
    """Read all content of a version.

    The database allows no references to other versions. If somebody bypassed that, a reference to a missing row keeps
    the row id, so that the gate can name it.
    """
    nodes = read_nodes(tx, sql.nodes_of_version, version_id=version_id)
    keys = {node.id: node.key for node in nodes}
    edges = tx.all(sql.edges_of_version, PurposeEdge, version_id=version_id)
    for edge in edges:
        edge.source, edge.target = keys.get(edge.source, edge.source), keys.get(edge.target, edge.target)
    names = {edge.id: edge.name for edge in edges}
    on_nodes = tx.all(sql.assumptions_of_version, Assumption, version_id=version_id)
    for assumption in on_nodes:
        assumption.node = keys.get(str(assumption.node), assumption.node)
    on_edges = tx.all(sql.edge_assumptions_of_version, Assumption, version_id=version_id)
    for assumption in on_edges:
        assumption.edge = _get_edge_name(assumption.edge, names)
    indicators = tx.all(sql.indicators_of_version, Indicator, version_id=version_id)
    for indicator in indicators:
        indicator.node = keys.get(indicator.node, indicator.node)
        indicator.baseline, indicator.target = (
            _normalize_optional(indicator.baseline),
            _normalize_optional(indicator.target),
        )
    return build_content(nodes, edges, on_nodes + on_edges, indicators)


def read_nodes(tx: Transaction, query: Query, **parameters: Any) -> list[PurposeNode]:
    """Read the nodes that a query returns, with their metadata decoded."""
    nodes = tx.all(query, PurposeNode, **parameters)
    for node in nodes:
        node.metadata = _decode_metadata(node.metadata)
    return nodes


def read_verified_content(tx: Transaction, row: VersionRow) -> Content:
    """Read the content of a version, and verify its hash if it is published."""
    content = read_content(tx, row.id)
    if row.content_hash is not None:
        actual = compute_content_hash(content)
        if row.content_hash != actual:
            raise ContentAltered(row, actual)
    return content


def _decode_metadata(stored: Any) -> Any:
    """Decode the JSON metadata of a row."""
    return _decode_json(stored)


def _get_edge_name(row_id: Any, names: dict[str, EdgeName]) -> EdgeName:
    return names.get(row_id) or EdgeName(row_id, row_id, EdgeType.CONTRIBUTES_TO)


def _normalize_optional(number: float | None) -> float | None:
    return None if number is None else normalize_number(number)


def reserve_keys(tx: Transaction, prefix: str, count: int) -> list[str]:
    """Reserve the next keys with a prefix."""
    if not count:
        return []
    last = tx.scalar(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=count)
    return [f"{prefix}{number}" for number in range(last - count + 1, last + 1)]


def reserve_up_to(tx: Transaction, prefix: str, number: int) -> None:
    """Reserve key numbers up to `number`, so that later items do not get the imported keys."""
    missing = number - _read_last_number(tx, prefix)
    if missing > 0:
        tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=prefix, count=missing)


_REV_PREFIX = "REV"  # counter for the highest revision of a discarded draft


def get_last_discarded_rev(tx: Transaction) -> int:
    """Return the highest revision of a discarded draft."""
    return _read_last_number(tx, _REV_PREFIX)


def store_discarded_rev(tx: Transaction, rev: int) -> None:
    """Store the revision of a discarded draft. Later drafts get higher revisions."""
    tx.one(sql.reserve_keys, project_id=tx.project.id, prefix=_REV_PREFIX, count=rev - get_last_discarded_rev(tx))


def _read_last_number(tx: Transaction, prefix: str) -> int:
    return tx.scalar(sql.last_number, project_id=tx.project.id, prefix=prefix) or 0
