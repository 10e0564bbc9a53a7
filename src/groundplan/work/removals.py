"""Remove nodes of the work graph, keep what they held, and bring them back under the same ids.

A container that is deleted is gone for good. What an undo removes comes back by a redo, as long as its parent is there.
What a merge joins is kept, too, so that an undo can take it apart.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict
from groundplan.kernel.links import LinkSource, LinkType, add_links, list_links_from, remove_links_of_many
from groundplan.kernel.operations.registry import Effect, declare
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.work.events import WorkOp
from groundplan.work.kinds import FEATURE, get_feature_of_children, get_priority
from groundplan.work.nodes import (
    DEPENDS_ON,
    EvidenceRow,
    WorkNodeRow,
    add_edge,
    add_evidence,
    add_tags,
    fetch_node,
    index_summary,
    list_evidence_after,
    list_open_nodes,
    load_nodes_by_id,
    load_tags,
    touch,
)
from groundplan.work.positions import blocks_descendants
from groundplan.work.readiness import Readiness
from groundplan.work.refs import fetch_node_in_project, remove_aliases
from groundplan.work.reversal import set_back
from groundplan.work.waiting.order import make_child_key

T = TypeVar("T")

sql = load_queries(__file__)


class TakenMeanwhile(Conflict):
    """Another node got what a node had when it was removed."""

    code = "taken_meanwhile"

    def __init__(self, node_id: str, what: str) -> None:
        super().__init__(f"node {node_id} cannot come back: {what} is another node's by now", node_id=node_id)


class SubtreeRow(Struct):
    """A node that is deleted."""

    n: int
    id: str
    resolved: bool
    claimed_by: str | None
    claimed_until: str | None


class IncomingEdge(NamedTuple):
    """An edge to a node that is deleted."""

    from_n: int
    id: str  # of the node at `from_n`
    type: str
    to_n: int


class EdgeRow(NamedTuple):
    """An edge from a node that is deleted."""

    from_n: int
    type: str
    to_n: int


class KeptEdge(NamedTuple):
    """An edge from a node that is removed, with the id of the node to which it leads."""

    from_n: int
    type: str
    to_n: int
    to_id: str


class KeptSection(Struct):
    """A section of a removed node."""

    id: str
    node_n: int
    ordinal: int
    version: int
    title: str
    usage_description: str
    content_format: str
    content: str
    created_at: str
    created_by: str
    modified_at: str
    modified_by: str


class KeptImport(NamedTuple):
    """An imported item that is a removed node, and what the import said about it."""

    node_n: int
    tool: str
    source_id: str
    digest: str
    base: str


class NodeContent(Struct):
    """What a removed node held. A merge moves evidence and sections to its target."""

    row: WorkNodeRow
    parent: str
    tags: list[str]
    edges: list[KeptEdge]
    links: dict[LinkType, list[str]]
    aliases: list[str]
    imports: list[KeptImport]
    evidence: list[EvidenceRow] = []
    sections: list[KeptSection] = []


class TargetContent(Struct):
    """What the target of a merge held before, of what a merge changes."""

    id: str
    context_links: str
    held_reason: str | None
    evidence_total: int
    tags: list[str]
    edges: list[EdgeRow]  # in both directions
    links: dict[LinkType, list[str]]


class MergedContent(Struct):
    """What a merged node held, and its target before."""

    node: NodeContent
    target: TargetContent
    children: list[int]
    edges_to: list[EdgeRow]
    sections: list[tuple[str, int]]  # id and ordinal
    merged: list[str]  # the ids of the nodes that had been merged into it


class RemovedContent(NamedTuple):
    """The id of a removed node, and what it held as JSON."""

    id: str
    content: str


def delete_nodes(
    tx: Transaction, readiness: Readiness, rows: Sequence[SubtreeRow], open_children: Mapping[int, int]
) -> set[int]:
    """Delete nodes with all below them, and return the other nodes that depended on them.

    `open_children` has the number of open nodes that each remaining parent loses.
    """
    ids = {row.n: row.id for row in rows}
    readiness.snapshot(ids)
    for parent_n, count in open_children.items():
        if count:
            readiness.remove_open_children(parent_n, count)
    dependents = _disconnect(tx, readiness, ids, open_ns={row.n for row in rows if not row.resolved})
    links = _remove_links(tx, ids.values())
    remove_aliases(tx, ids)
    nodes = {"project_id": tx.project.id, "ns": to_json_array(ids)}
    for query in (
        sql.record_deleted_sections,
        sql.remove_section_tags_of,
        sql.remove_sections_of,
        sql.remove_tags_of,
        sql.remove_evidence_of,
        sql.remove_features_of,
        sql.remove_merged_texts_of,
        sql.remove_nodes,
    ):
        tx.run(query, **nodes)
    tx.run_many(sql.record_deleted_nodes, [{"id": node_id, "project_id": tx.project.id} for node_id in ids.values()])
    for node_id in ids.values():
        tx.record(WorkOp.DELETED, node_id, changed("deleted", None, True), *links.get(node_id, ()))
    return dependents


def _disconnect(tx: Transaction, readiness: Readiness, ids: dict[int, str], *, open_ns: Collection[int]) -> set[int]:
    """Delete every edge of these nodes, and return the other nodes that depended on them."""
    touched: dict[int, list[tuple[str, int]]] = {}
    outside: dict[int, str] = {}
    for edge in sorted(tx.all(sql.edges_into, IncomingEdge, project_id=tx.project.id, ns=to_json_array(ids))):
        if edge.from_n not in ids:
            touched.setdefault(edge.from_n, []).append((edge.type, edge.to_n))
            outside[edge.from_n] = edge.id
    readiness.snapshot(touched)
    tx.run(sql.remove_edges_from, project_id=tx.project.id, ns=to_json_array(ids))
    tx.run(sql.remove_edges_to, project_id=tx.project.id, ns=to_json_array(ids))
    for from_n, edges in touched.items():
        touch(tx, from_n)
        tx.record(WorkOp.DISCONNECTED, outside[from_n], *(changed(type_, ids[to_n], None) for type_, to_n in edges))
        waited_for = sum(type_ == DEPENDS_ON and to_n in open_ns for type_, to_n in edges)
        if waited_for:
            readiness.adjust_open_dependencies([from_n], by=-waited_for)
    return {from_n for from_n, edges in touched.items() if any(type_ == DEPENDS_ON for type_, _ in edges)}


def _remove_links(tx: Transaction, node_ids: Collection[str]) -> dict[str, list[Change]]:
    """Delete the links of these nodes, and return the changes by node."""
    links_by_source = _list_links(tx, node_ids)
    if links_by_source:
        remove_links_of_many(tx, links_by_source)
    return {
        source: [changed(type_.value, targets, []) for type_, targets in by_type.items()]
        for source, by_type in links_by_source.items()
    }


def has_kept_contents(tx: Transaction, node_ids: Collection[str]) -> bool:
    """Return whether what all of these nodes held is kept."""
    kept = tx.all(sql.removed_contents, RemovedContent, project_id=tx.project.id, ids=to_json_array(node_ids))
    return len(kept) == len(set(node_ids))


def list_referring_nodes(tx: Transaction, node_ids: Iterable[str]) -> set[str]:
    """Return the ids of the other nodes that are below some nodes, or have an edge to them."""
    rows = load_nodes_by_id(tx, node_ids)
    ns = to_json_array(row.n for row in rows.values())
    return set(tx.scalars(sql.referring_nodes, project_id=tx.project.id, ns=ns)) - rows.keys()


# --- What an undo runs ------------------------------------------------------------------------------------------------


class RemoveNodes(Struct, forbid_unknown_fields=True):
    """Nodes that nothing refers to; and what other nodes were before the write that made these, by id."""

    nodes: list[str]
    before: dict[str, dict[str, Any]] = {}


class RestoreNodes(Struct, forbid_unknown_fields=True):
    """Nodes that an undo removed."""

    nodes: list[str]


class NodeIds(Struct):
    """The nodes that were removed or restored."""

    nodes: list[str]


def remove(tx: Transaction, request: RemoveNodes) -> NodeIds:
    """Remove nodes, and keep what they held. An item that was one of them counts as never imported."""
    rows = load_nodes_by_id(tx, request.nodes)
    readiness = Readiness(tx, decision=None)
    ns = [row.n for row in rows.values()]
    sections = _load_sections(tx, ns)
    for content in _collect_contents(tx, rows.values()):
        content.evidence = list_evidence_after(tx, content.row.n) if content.row.evidence_total else []
        content.sections = sections.get(content.row.n, [])
        _keep(tx, content.row.id, content)
    tx.run(sql.forget_imports_of, project_id=tx.project.id, ns=to_json_array(ns))
    lost: dict[int, int] = {}
    removed_ns = {row.n for row in rows.values()}
    for row in rows.values():
        assert row.parent_n is not None  # noqa: S101 - the root is never made by a write that can be undone
        if row.parent_n not in removed_ns and not row.resolved:
            lost[row.parent_n] = lost.get(row.parent_n, 0) + 1
    deleted = [SubtreeRow(row.n, row.id, row.resolved, row.claimed_by, row.claimed_until) for row in rows.values()]
    delete_nodes(tx, readiness, deleted, lost)
    set_back(tx, readiness, request.before)
    readiness.settle()
    return NodeIds(list(rows))


def keep_merged(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> None:
    """Keep what two nodes hold before the source is merged into the target."""
    (content,) = _collect_contents(tx, [source])
    of_source, of_target = {"project_id": tx.project.id, "n": source.n}, _list_links(tx, [target.id])
    _keep(
        tx,
        source.id,
        MergedContent(
            content,
            TargetContent(
                target.id,
                target.context_links,
                target.held_reason,
                target.evidence_total,
                load_tags(tx, [target.n]).get(target.n, []),
                [*_list_edges(tx, sql.edges_from, target), *_list_edges(tx, sql.edges_to, target)],
                of_target.get(target.id, {}),
            ),
            tx.scalars(sql.children, **of_source),
            _list_edges(tx, sql.edges_to, source),
            [(section.id, section.ordinal) for section in _load_sections(tx, [source.n]).get(source.n, ())],
            tx.scalars(sql.merged_into, **of_source),
        ),
    )


def _list_edges(tx: Transaction, query: Query, node: WorkNodeRow) -> list[EdgeRow]:
    return tx.all(query, EdgeRow, project_id=tx.project.id, ns=to_json_array([node.n]))


def _list_links(tx: Transaction, node_ids: Iterable[str]) -> dict[str, dict[LinkType, list[str]]]:
    """Return the targets of the links of some nodes, by node and type."""
    links: dict[str, dict[LinkType, list[str]]] = {}
    for link in list_links_from(tx, node_ids):
        links.setdefault(link.source, {}).setdefault(link.type, []).append(link.target)
    return links


def _load_sections(tx: Transaction, ns: Iterable[int]) -> dict[int, list[KeptSection]]:
    sections: dict[int, list[KeptSection]] = {}
    for section in tx.all(sql.sections_of, KeptSection, project_id=tx.project.id, ns=to_json_array(ns)):
        sections.setdefault(section.node_n, []).append(section)
    return sections


def _collect_contents(tx: Transaction, rows: Collection[WorkNodeRow]) -> list[NodeContent]:
    ns = [row.n for row in rows]
    of_nodes = {"project_id": tx.project.id, "ns": to_json_array(ns)}
    tags = load_tags(tx, ns)
    edges: dict[int, list[KeptEdge]] = {}
    for edge in tx.all(sql.edges_with_ids, KeptEdge, **of_nodes):
        edges.setdefault(edge.from_n, []).append(edge)
    aliases: dict[int, list[str]] = {}
    for n, alias in tx.all(sql.aliases_of, **of_nodes):
        aliases.setdefault(n, []).append(alias)
    imports: dict[int, list[KeptImport]] = {}
    for item in tx.all(sql.imports_of, KeptImport, **of_nodes):
        imports.setdefault(item.node_n, []).append(item)
    links = _list_links(tx, [row.id for row in rows])
    contents = []
    for row in rows:
        assert row.parent_n is not None  # noqa: S101 - it is not the root
        parent = fetch_node(tx, row.parent_n).id
        kept = msgspec.structs.replace(row, priority=0.0)  # follows from the properties; JSON has no -Infinity
        contents.append(
            NodeContent(
                kept,
                parent,
                tags.get(row.n, []),
                edges.get(row.n, []),
                links.get(row.id, {}),
                aliases.get(row.n, []),
                imports.get(row.n, []),
            )
        )
    return contents


def _keep(tx: Transaction, node_id: str, content: Struct) -> None:
    tx.run(sql.add_removed, project_id=tx.project.id, id=node_id, content=msgspec.json.encode(content).decode())


def load_kept(tx: Transaction, node_ids: Iterable[str], type_: type[T]) -> dict[str, T]:
    """Return what some nodes held when they were removed last, by id."""
    rows = tx.all(sql.removed_contents, RemovedContent, project_id=tx.project.id, ids=to_json_array(node_ids))
    return {row.id: msgspec.json.decode(row.content, type=type_) for row in rows}


def restore(tx: Transaction, request: RestoreNodes) -> NodeIds:
    """Bring removed nodes back.

    Raises:
        NotFound: the parent of a node is gone, or a node to which an edge led.
        TakenMeanwhile: another node has an alias or an imported item of one of them.
        CycleDetected: a node would wait for itself.
    """
    contents = sorted(load_kept(tx, request.nodes, NodeContent).values(), key=lambda content: content.row.depth)
    readiness = Readiness(tx, decision=None)
    for content in contents:
        insert_again(tx, readiness, content)
        add_links(tx, _iter_links(content))
        _return_belongings(tx, content)
        tx.record(WorkOp.RESTORED, content.row.id, changed("deleted", True, None))
    for content in contents:
        for edge in content.edges:  # a node to which one leads may have been merged since
            target = fetch_node_in_project(tx, edge.to_id)
            connect_again(tx, readiness, EdgeRow(edge.from_n, edge.type, target.n))
    readiness.check_for_loops([content.row.n for content in contents])
    readiness.settle()
    return NodeIds([content.row.id for content in contents])


def _return_belongings(tx: Transaction, content: NodeContent) -> None:
    """Give a restored node its evidence, sections, aliases and imported items."""
    place = {"project_id": tx.project.id, "n": content.row.n}
    add_evidence(tx, content.evidence)
    tx.run_many(sql.restore_section, [place | msgspec.structs.asdict(section) for section in content.sections])
    for alias in content.aliases:
        if not tx.run(sql.restore_alias, **place, alias=alias):
            raise TakenMeanwhile(content.row.id, f"the name {quote_text(alias)}")
    for item in content.imports:
        if not tx.run(sql.restore_import, **place, **item._asdict()):
            raise TakenMeanwhile(content.row.id, f"the item {quote_text(item.source_id)} of {item.tool}")


def _iter_links(content: NodeContent) -> Iterator[tuple[LinkSource, LinkType, str]]:
    source = LinkSource(content.row.id, content.row.n)
    return ((source, type_, target) for type_, targets in content.links.items() for target in targets)


def insert_again(tx: Transaction, readiness: Readiness, content: NodeContent) -> None:
    """Insert a removed node below its parent, with its tags. Its edges, links and children are not there yet."""
    row = content.row
    parent = fetch_node_in_project(tx, content.parent)
    if not row.resolved:
        readiness.add_open_children({parent.n: 1})
    readiness.settle_positions()  # the node follows the position of its parent
    parent = fetch_node(tx, parent.n)
    row.parent_n, row.depth, row.feature_n = parent.n, parent.depth + 1, get_feature_of_children(parent)
    row.open_children = row.open_deps = 0
    row.blocked_above = parent.blocked_above + (parent.waits and blocks_descendants(tx, parent.kind))
    row.priority = get_priority(row.properties_value)
    row.order_key = make_child_key(tx, parent.n, row.n)
    row.rev += 2  # its removal and its return
    readiness.snapshot_absent(row.n)
    tx.run_with_record(sql.restore_node, row, project_id=tx.project.id)
    index_summary(tx, row)
    if row.kind == FEATURE:
        tx.run(sql.restore_feature, project_id=tx.project.id, n=row.n)
    if content.tags:
        add_tags(tx, tx.project.id, {row.n: content.tags})


def connect_again(tx: Transaction, readiness: Readiness, edge: EdgeRow) -> None:
    """Add an edge again, unless it is there."""
    if add_edge(tx, *edge) and edge.type == DEPENDS_ON and list_open_nodes(tx, [edge.to_n]):
        readiness.adjust_open_dependencies([edge.from_n], by=1)


# An undo runs these. They have no names in the catalog: nothing else may remove a node that others know.
REMOVE = declare(
    remove,
    name="work.remove",
    summary="Remove nodes that nothing refers to.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    project=lambda _tx, _request: None,
)

RESTORE = declare(
    restore,
    name="work.restore",
    summary="Bring removed nodes back.",
    permission=Permission.WORK_PLAN,
    effect=Effect.WRITE,
    project=lambda _tx, _request: None,
)
