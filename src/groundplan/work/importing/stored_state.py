"""What is stored about a project and its imports: read when an import begins, and saved when it ends."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.importing.item_fields import ImportBase
from groundplan.work.importing.plan_graph import DerivedColumns, PlanGraph, PlanNodeState
from groundplan.work.nodes import WorkNodeRow

T = TypeVar("T")

ROWS_MAX = 2_000  # in one statement, so that its text takes a few MB

sql = load_queries(__file__)


class LastImport(NamedTuple):
    """An item that was imported before: its node, unless that was removed here, and the digest of what it said."""

    node_n: int | None
    digest: str


class PlanNodeRow(Struct):
    """A stored node of the graph."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    resolved: bool
    is_dropped: bool
    is_held: bool
    status: str | None
    depth: int
    feature_n: int | None
    open_children: int
    open_deps: int
    blocked_above: int


class StoredSection(NamedTuple):
    """A section of a node."""

    node_n: int
    id: str
    ordinal: int
    title: str
    content: str


class StoredNode(NamedTuple):
    """A node with its edges, tags and sections."""

    row: WorkNodeRow
    edges: set[tuple[str, int]]
    tags: list[str]
    sections: list[StoredSection]


def load_last_imports(tx: Transaction, project_id: str, tool: str) -> dict[str, LastImport]:
    """Return the items of a tool that were imported into a project before."""
    rows = tx.all(sql.last_imports, project_id=project_id, tool=tool)
    return {source_id: LastImport(node_n, digest) for source_id, node_n, digest in rows}


def load_bases(tx: Transaction, project_id: str, tool: str, source_ids: Collection[str]) -> dict[str, ImportBase]:
    """Return what the last import said about some items."""
    found: dict[str, ImportBase] = {}
    for chunk in split_rows(source_ids):
        rows = tx.all(sql.bases, project_id=project_id, tool=tool, source_ids=to_json_array(chunk))
        found |= {source_id: msgspec.json.decode(base, type=ImportBase) for source_id, base in rows}
    return found


def load_differing(tx: Transaction, project_id: str, tool: str) -> dict[str, ImportBase]:
    """Return the bases of the items for which the last import wrote something else than the file says."""
    rows = tx.all(sql.differing_bases, project_id=project_id, tool=tool)
    return {source_id: msgspec.json.decode(base, type=ImportBase) for source_id, base in rows}


def load_graph(tx: Transaction, project_id: str) -> PlanGraph:
    """Return the graph of a project as it is stored."""
    graph = PlanGraph({})
    for row in tx.all(sql.graph_nodes, PlanNodeRow, project_id=project_id):
        derived = DerivedColumns(row.depth, row.feature_n, row.open_children, row.open_deps, row.blocked_above)
        graph.nodes[row.n] = PlanNodeState(
            row.n,
            row.id,
            row.parent_n,
            row.kind,
            bool(row.resolved),
            bool(row.is_dropped),
            bool(row.is_held),
            row.status,
            stored=derived,
        )
    for from_n, to_n in tx.all(sql.graph_dependencies, project_id=project_id):
        graph.waits.setdefault(from_n, []).append(to_n)
    return graph


def load_nodes(tx: Transaction, project_id: str, ns: Sequence[int]) -> dict[int, StoredNode]:
    """Return nodes with everything that an import may change."""
    found: dict[int, StoredNode] = {}
    for chunk in split_rows(ns):
        place: dict[str, Any] = {"project_id": project_id, "ns": to_json_array(chunk)}
        for row in tx.all(sql.nodes, WorkNodeRow, **place):
            found[row.n] = StoredNode(row, set(), [], [])
        for n, type_, to_n in tx.all(sql.edges_from, **place):
            found[n].edges.add((type_, to_n))
        for n, tag in tx.all(sql.tags_of, **place):
            found[n].tags.append(tag)
        for section in tx.all(sql.sections_of, StoredSection, **place):
            found[section.node_n].sections.append(section)
    return found


def run_in_chunks(tx: Transaction, query: Query, rows: Iterable[dict[str, Any]]) -> None:
    """Run a change with many sets of parameters, some thousands at a time."""
    for chunk in split_rows(rows):
        tx.run_many(query, chunk)


def split_rows(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows in lists of a few thousand."""
    ahead = iter(rows)
    while chunk := list(islice(ahead, ROWS_MAX)):
        yield chunk
