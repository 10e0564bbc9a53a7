"""The neighbours of a node: its ancestors, dependencies, dependents and other relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.nodes import WorkNode, load_nodes

ANCESTORS_MAX = 50  # the root and the nearest ones
DEPENDENCIES_MAX = 20  # in each direction
RELATED_MAX = 20  # in each direction
EDGES_SCANNED_MAX = 500  # edges of one node that are read to list the open ones first

sql = load_queries(__file__)


class Ancestor(Struct):
    """An ancestor of a node."""

    id: str
    summary: str
    resolved: bool


class NodeDependency(Struct):
    """The node at the other end of a `depends_on` edge, and whether the dependency is satisfied."""

    node: WorkNode
    satisfied: bool


class Relation(Struct):
    """The node at the other end of an edge that is not a dependency."""

    type: str
    direction: Literal["out", "in"]
    id: str
    summary: str


class AncestorRow(Struct):
    """An ancestor of a node, with its depth."""

    id: str
    summary: str
    resolved: bool
    depth: int


class AncestorList(msgspec.Struct, frozen=True):
    """The listed ancestors, root first, and how many are left out between the root and the next one."""

    ancestors: list[Ancestor]
    left_out: int


class EdgeNeighbours(msgspec.Struct, frozen=True):
    """The listed neighbours along edges, and how many of each list are left out."""

    depends_on: list[NodeDependency]
    depended_by: list[NodeDependency]
    related: list[Relation]
    left_out: dict[str, int]


def load_ancestors(tx: Transaction, n: int) -> AncestorList:
    """Return the ancestors of a node; of very many, the root and the nearest."""
    *rows, node = tx.all(sql.ancestors, AncestorRow, project_id=tx.project.id, n=n, at_most=ANCESTORS_MAX)
    if node.depth > ANCESTORS_MAX:
        rows[0] = tx.one(sql.root, AncestorRow, project_id=tx.project.id)
    return AncestorList([Ancestor(row.id, row.summary, row.resolved) for row in rows], node.depth - len(rows))


def load_edge_neighbours(tx: Transaction, n: int, *, resolved: bool, lean: bool) -> EdgeNeighbours:
    """Return the dependencies, dependents and other relations of a node."""
    project_id = tx.project.id
    edges = {"project_id": project_id, "n": n, "looked_through": EDGES_SCANNED_MAX, "at_most": DEPENDENCIES_MAX + 1}
    targets = tx.scalars(sql.dependencies, **edges)
    waiting = tx.scalars(sql.dependents, **edges)
    related = [
        *_to_relations(tx.all(sql.related_out, project_id=project_id, n=n, at_most=RELATED_MAX + 1), "out"),
        *_to_relations(tx.all(sql.related_in, project_id=project_id, n=n, at_most=RELATED_MAX + 1), "in"),
    ]
    totals: Sequence[int] = (len(targets), len(waiting), len(related))
    if max(len(targets), len(waiting)) > DEPENDENCIES_MAX or len(related) > RELATED_MAX:
        totals = tx.one(sql.edge_counts, project_id=project_id, n=n)  # there may be more than were fetched
    targets, waiting = targets[:DEPENDENCIES_MAX], waiting[:DEPENDENCIES_MAX]
    related = [*_select_first(related, "out"), *_select_first(related, "in")]
    nodes = load_nodes(tx, {*targets, *waiting}, lean=lean) if targets or waiting else {}
    left_out = {
        name: total - len(listed)
        for name, total, listed in zip(
            ("depends_on", "depended_by", "related"), totals, (targets, waiting, related), strict=True
        )
    }
    return EdgeNeighbours(
        depends_on=[NodeDependency(nodes[target_n], nodes[target_n].resolved) for target_n in targets],
        depended_by=[NodeDependency(nodes[waiting_n], resolved) for waiting_n in waiting],
        related=related,
        left_out=left_out,
    )


def _to_relations(rows: Sequence[tuple[str, str, str]], direction: Literal["out", "in"]) -> list[Relation]:
    return [Relation(type_, direction, id_, summary) for id_, type_, summary in rows]


def _select_first(related: Sequence[Relation], direction: str) -> list[Relation]:
    return [relation for relation in related if relation.direction == direction][:RELATED_MAX]
