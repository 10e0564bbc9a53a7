"""The content of a version, read whole and in order."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.kernel.errors import Conflict
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.canonical import content_hash, plain_number
from groundplan.purpose.model import (
    Assumption,
    Confidence,
    Content,
    Direction,
    Edge,
    EdgeName,
    EdgeType,
    Indicator,
    Node,
    NodeType,
    RiskLevel,
    content_of,
)
from groundplan.purpose.version import VersionRow

sql = load_queries(__file__)

_NODE_TYPES = {one.value: one for one in NodeType}
_EDGE_TYPES = {one.value: one for one in EdgeType}
# None stands for what is not said.
_CONFIDENCES: dict[str | None, Confidence | None] = {None: None, **{one.value: one for one in Confidence}}
_RISKS: dict[str | None, RiskLevel | None] = {None: None, **{one.value: one for one in RiskLevel}}
_DIRECTIONS: dict[str | None, Direction | None] = {None: None, **{one.value: one for one in Direction}}

_decoded = msgspec.json.Decoder().decode


class ContentAltered(Conflict):
    """What was published is not what lies there: somebody with power over the database changed it."""

    code = "content_altered"

    def __init__(self, row: VersionRow, actual: str) -> None:
        super().__init__(
            f"version {row.number} was published with the content hash {row.content_hash} and has {actual} now; "
            "restore a backup, and find out who changed the database",
            version=row.number,
            published=row.content_hash,
            actual=actual,
        )


def read_content(tx: Transaction, version_id: str) -> Content:
    """Everything in a version.

    The database lets nothing refer out of its version. Should somebody have got round that, what refers to nothing
    is called by the row id it has, so that the gate can name it.
    """
    nodes = [_node(row) for row in tx.all(sql.nodes_of_version, version_id=version_id)]
    keys = {node.id: node.key for node in nodes}
    edges = [_edge(row, keys) for row in tx.all(sql.edges_of_version, version_id=version_id)]
    names = {edge.id: edge.name for edge in edges}
    assumptions = [
        *(_on_node(row, keys) for row in tx.all(sql.assumptions_of_version, version_id=version_id)),
        *(_on_edge(row, names) for row in tx.all(sql.edge_assumptions_of_version, version_id=version_id)),
    ]
    indicators = [_indicator(row, keys) for row in tx.all(sql.indicators_of_version, version_id=version_id)]
    return content_of(nodes, edges, assumptions, indicators)


def checked_content(tx: Transaction, row: VersionRow) -> Content:
    """The content of a version, which still has its hash if it is published.

    Raises:
        ContentAltered: it has another one.
    """
    content = read_content(tx, row.id)
    if row.content_hash is not None:
        actual = content_hash(content)
        if row.content_hash != actual:
            raise ContentAltered(row, actual)
    return content


def _node(row: tuple[Any, ...]) -> Node:
    """A row of the queries about nodes."""
    id_, key, node_type, title, description, narrative, owner, metadata = row
    return Node(id_, key, _NODE_TYPES[node_type], title, description, narrative, owner, _decoded(metadata))


def _edge(row: tuple[Any, ...], keys: dict[str, str]) -> Edge:
    """A row of the queries about edges, of which the ends are known by key."""
    id_, source_id, target_id, edge_type, mechanism, confidence = row
    ends = keys.get(source_id, source_id), keys.get(target_id, target_id)
    return Edge(id_, *ends, _EDGE_TYPES[edge_type], mechanism, _CONFIDENCES[confidence])


def _on_node(row: tuple[Any, ...], keys: dict[str, str]) -> Assumption:
    id_, key, node_id, text, risk, owner, review_by = row
    return Assumption(id_, key, keys.get(node_id, node_id), None, text, _RISKS[risk], owner, review_by)


def _on_edge(row: tuple[Any, ...], names: dict[str, EdgeName]) -> Assumption:
    id_, key, edge_id, text, risk, owner, review_by = row
    on = names.get(edge_id) or EdgeName(edge_id, edge_id, EdgeType.CONTRIBUTES_TO)
    return Assumption(id_, key, None, on, text, _RISKS[risk], owner, review_by)


def _indicator(row: tuple[Any, ...], keys: dict[str, str]) -> Indicator:
    id_, key, node_id, name, unit, direction, baseline, verified, target, *others = row
    numbers = [None if number is None else plain_number(number) for number in (baseline, target)]
    is_verified = None if verified is None else bool(verified)
    kind = keys.get(node_id, node_id), name, unit, _DIRECTIONS[direction]
    return Indicator(id_, key, *kind, numbers[0], is_verified, numbers[1], *others)
