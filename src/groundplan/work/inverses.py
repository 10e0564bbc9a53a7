"""What an undo runs to set nodes back: their fields, edges and places, and nodes that were merged.

An undo runs this only while nothing that the write touched was changed since. So the target of a merge still has all
that came with the source.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.links import LinkSource, return_links
from groundplan.kernel.operations.registry import Effect, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.graph.connect import Edge
from groundplan.work.nodes import (
    DEPENDS_ON,
    WorkNodeRow,
    add_edge,
    describe_evidence,
    fetch_node,
    list_evidence_after,
    list_open_nodes,
    load_nodes_by_id,
    remove_edge,
    replace_evidence_after,
    save_node,
    set_tags,
    touch,
)
from groundplan.work.readiness import Readiness
from groundplan.work.refs import fetch_node_in_project
from groundplan.work.removals import (
    EdgeRow,
    MergedContent,
    NodeIds,
    connect_again,
    insert_again,
    load_kept,
)
from groundplan.work.restructuring import merge, move, reparent
from groundplan.work.reversal import set_back
from groundplan.work.waiting.cycles import CycleDetected, Loop

sql = load_queries(__file__)


class Step(Struct, forbid_unknown_fields=True):
    """A move or a merge that leads back. With neither parent nor target, a merge is taken apart."""

    node_id: str
    parent: str | None = None  # to which it moves
    into: str | None = None  # into which it is merged again


class Revert(Struct, forbid_unknown_fields=True):
    """What nodes were before a write: their fields by id; and the edges and the steps that lead back, in order."""

    before: dict[str, dict[str, Any]] = {}
    edges: list[Edge] = []
    steps: list[Step] = []


def revert(tx: Transaction, request: Revert) -> NodeIds:
    """Set nodes back to what they were.

    Raises:
        NotFound: the parent of a node to move back is gone, or of one that was merged.
        UnresolvedChildren: a node to resolve again has open children by now.
        CycleDetected: a node would be below itself, or wait for itself.
        ClaimedByAnother: the project enforces claims, and another actor has claimed a node to merge again.
    """
    readiness = Readiness(tx, decision=None)
    for edge in request.edges:
        _change_edge(tx, readiness, edge)
    kept = load_kept(tx, [step.node_id for step in request.steps if step.parent is step.into is None], MergedContent)
    for step in request.steps:
        if step.parent is not None:
            _move(tx, readiness, step.node_id, step.parent)
        elif step.into is not None:
            _merge(tx, readiness, step.node_id, step.into)
        else:
            _take_apart(tx, readiness, kept[step.node_id])
    set_back(tx, readiness, request.before, is_strict=not request.steps)
    if not tx.has_events:
        changed_ids = {*request.before, *(step.node_id for step in request.steps)}
        for node in load_nodes_by_id(tx, changed_ids).values():  # an undo is a write, whatever it has to set back
            touch(tx, node.n)
            tx.record(WorkOp.UPDATED, node.id)
    readiness.settle()
    return NodeIds(list(request.before))


def _move(tx: Transaction, readiness: Readiness, node_id: str, parent: str) -> None:
    move(tx, readiness, fetch_node_in_project(tx, node_id), fetch_node_in_project(tx, parent), decision=None)


def _merge(tx: Transaction, readiness: Readiness, source: str, target: str) -> None:
    merge(tx, readiness, fetch_node_in_project(tx, source), fetch_node_in_project(tx, target), decision=None)


def _change_edge(tx: Transaction, readiness: Readiness, edge: Edge) -> None:
    source, target = fetch_node_in_project(tx, edge.from_), fetch_node_in_project(tx, edge.to)
    if source.n == target.n:
        raise CycleDetected(Loop([source.id, source.id]))
    readiness.snapshot([source.n])
    if not (remove_edge if edge.remove else add_edge)(tx, source.n, edge.type, target.n):
        return  # the other end was merged since into a node to which there is such an edge
    touch(tx, source.n)
    op, ends = (WorkOp.DISCONNECTED, (target.id, None)) if edge.remove else (WorkOp.CONNECTED, (None, target.id))
    tx.record(op, source.id, changed(edge.type, *ends))
    if edge.type == DEPENDS_ON and not target.resolved:
        readiness.adjust_open_dependencies([source.n], by=-1 if edge.remove else 1)
    if not edge.remove:
        readiness.check_for_loops([source.n])


def _take_apart(tx: Transaction, readiness: Readiness, content: MergedContent) -> None:
    source, target = content.node.row, fetch_node_in_project(tx, content.target.id)
    readiness.snapshot([target.n])
    _refuse_parent_below(tx, readiness, content)
    insert_again(tx, readiness, content.node)
    changes = [changed("merged_from", source.id, None)]
    changes += _return_edges(tx, readiness, content, target)
    changes += _return_evidence(tx, content, target)
    changes += _return_belongings(tx, content, target)
    if content.children:
        reparent(tx, readiness, content.children, target, fetch_node(tx, source.n))
        for child in sorted(content.children):
            tx.record(WorkOp.MOVED, fetch_node(tx, child).id, changed("parent", target.id, source.id))
    _write_target(tx, readiness, content, target, changes)
    tx.record(
        WorkOp.UNMERGED,
        source.id,
        changed("merged_into", target.id, None),
        changed("summary", None, source.summary),
    )
    readiness.check_for_loops([source.n, target.n])


def _refuse_parent_below(tx: Transaction, readiness: Readiness, content: MergedContent) -> None:
    """Raise CycleDetected if the parent of the source was moved below a child of the source."""
    parent = fetch_node_in_project(tx, content.node.parent)
    for n in content.children:
        child = fetch_node(tx, n)
        if readiness.positions.is_above(child, parent):
            path = [child.id, parent.id, content.node.row.id, child.id]
            raise CycleDetected(Loop(path), hint=f"; {parent.id} is below {child.id}")


def _return_edges(tx: Transaction, readiness: Readiness, content: MergedContent, target: WorkNodeRow) -> list[Change]:
    """Remove the edges that the target got, and add those of the source; return the changes of the target."""
    source = content.node.row
    had, changes = set(content.target.edges), []
    own = [EdgeRow(edge.from_n, edge.type, edge.to_n) for edge in content.node.edges]
    for edge in own:
        copy = edge._replace(from_n=target.n)
        if copy.to_n != target.n and copy not in had:
            _disconnect(tx, readiness, copy)
            changes.append(changed(edge.type, fetch_node(tx, edge.to_n).id, None))
    for edge in content.edges_to:
        copy = edge._replace(to_n=target.n)
        if edge.from_n == target.n:
            changes.append(changed(edge.type, None, source.id))
            continue
        readiness.snapshot([edge.from_n])
        is_moved = copy not in had
        if is_moved:
            _disconnect(tx, readiness, copy)
        touch(tx, edge.from_n)
        before = target.id if is_moved else None
        tx.record(WorkOp.CONNECTED, fetch_node(tx, edge.from_n).id, changed(edge.type, before, source.id))
    for edge in (*own, *content.edges_to):
        connect_again(tx, readiness, edge)
    return changes


def _disconnect(tx: Transaction, readiness: Readiness, edge: EdgeRow) -> None:
    remove_edge(tx, *edge)
    if edge.type == DEPENDS_ON and list_open_nodes(tx, [edge.to_n]):
        readiness.adjust_open_dependencies([edge.from_n], by=-1)


def _return_evidence(tx: Transaction, content: MergedContent, target: WorkNodeRow) -> list[Change]:
    """Give the evidence that the target got back to the source, and return the change of the target."""
    source, own_total = content.node.row, content.target.evidence_total
    if not source.evidence_total:
        return []
    rows = list_evidence_after(tx, target.n, own_total)
    returned, later = rows[: source.evidence_total], rows[source.evidence_total :]
    replace_evidence_after(tx, target.n, later, own_total)
    replace_evidence_after(tx, source.n, returned)
    return [changed("evidence", describe_evidence(returned, is_moved=True), None)]


def _return_belongings(tx: Transaction, content: MergedContent, target: WorkNodeRow) -> list[Change]:
    """Return sections, tags, links, words and names to the source; return the changes of the target."""
    source, changes, project_id = content.node.row, [], tx.project.id
    if content.sections:
        rows = [{"project_id": project_id, "n": source.n, "id": id_, "ordinal": at} for id_, at in content.sections]
        tx.run_many(sql.return_section, rows)
        changes.append(changed("sections", [section_id for section_id, _ in content.sections], None))
    if (change := set_tags(tx, target.n, content.target.tags)) is not None:
        changes.append(change)
    ends = LinkSource(target.id, target.n), LinkSource(source.id, source.n)
    changes += return_links(tx, *ends, kept=content.target.links, returned=content.node.links)
    words = {"project_id": project_id, "n": source.n}
    tx.run(sql.return_merged_texts, **words, ids=to_json_array(content.merged))
    tx.run(sql.remove_merged_text, project_id=project_id, id=source.id)
    tx.run(sql.remove_merge, project_id=project_id, id=source.id)
    tx.run(sql.return_aliases, **words, aliases=to_json_array(content.node.aliases))
    for item in content.node.imports:
        tx.run(sql.attach_import, **words, tool=item.tool, source_id=item.source_id)
    return changes


def _write_target(
    tx: Transaction, readiness: Readiness, content: MergedContent, target: WorkNodeRow, changes: list[Change]
) -> None:
    current, before = fetch_node(tx, target.n), content.target
    if current.context_links != before.context_links:
        after = msgspec.json.decode(before.context_links)
        changes.append(changed("context_links", current.links_value, after))
    if current.held_reason != before.held_reason:
        changes.append(changed("held_reason", current.held_reason, before.held_reason))
        if not current.open_deps:
            readiness.propagate_waiting(target.n, target.kind)
    current.context_links, current.held_reason = before.context_links, before.held_reason
    save_node(tx, current)
    tx.record(WorkOp.UNMERGED, target.id, *changes)


# It has no name in the catalog.
REVERT = declare(
    revert,
    name="work.revert",
    summary="Set nodes back.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.WRITE,
    project=lambda _tx, _request: None,
)
