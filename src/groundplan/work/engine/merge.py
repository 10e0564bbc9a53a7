"""Merge two nodes: the target takes over everything of the source. The source is removed, its history stays."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import RuleViolated
from groundplan.kernel.links import LINKS_MAX, LinkSource, move_links
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import enforce_claims
from groundplan.work.engine.edges import DEPENDS_ON, add_edge, remove_edge, touch
from groundplan.work.engine.move import RootNotAllowed, reparent
from groundplan.work.engine.node import EvidenceRow, add_evidence
from groundplan.work.engine.readiness import Readiness
from groundplan.work.engine.row import WorkNodeRow, fetch_node, save_node
from groundplan.work.events import WorkOp
from groundplan.work.importing.removed_nodes import move_aliases
from groundplan.work.kinds import FEATURE, ROOT_N
from groundplan.work.requests import SECTIONS_MAX, TAGS_MAX, encode_links

sql = load_queries(__file__)


class WorkEdgeRow(Struct):
    """An edge of a node, with the id of the node at its other end and whether that node is open."""

    from_n: int
    type: str
    to_n: int
    other_id: str
    other_is_open: bool


class CannotMerge(RuleViolated):
    """The two nodes are the same, one is above the other, or only one is a feature."""

    code = "cannot_merge"

    def __init__(self, source: WorkNodeRow, target: WorkNodeRow, why: str) -> None:
        super().__init__(
            f"node {source.id} cannot be merged into {target.id}: {why}", source=source.id, target=target.id
        )


class MergeLimitExceeded(RuleViolated):
    """The merged node would have more sections, tags or links than one node may have."""

    code = "too_much_together"

    def __init__(self, target: WorkNodeRow, what: str, limit: int) -> None:
        super().__init__(
            f"node {target.id} would have {what}, the limit is {limit}; remove some from one of the two nodes first",
            target=target.id,
            limit=limit,
        )


def merge(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, *, decision: str | None
) -> str:
    """Merge the source into the target and return the result in words.

    Raises:
        RootNotAllowed: one of the nodes is the root.
        CannotMerge: the nodes are the same, one is above the other, or only one is a feature.
        ClaimedByAnother: the project enforces claims and another actor has claimed the source.
        MergeLimitExceeded: together they have more sections, tags or links than one node may have.
    """
    _refuse_unmergeable(readiness, source, target)
    enforce_claims(tx, source.id, source.claimed_by, source.claimed_until)
    readiness.snapshot([source.n, target.n])
    changes = [changed("merged_from", None, source.id)]
    children = _move_children(tx, readiness, source, target, decision)
    changes += _move_edges(tx, readiness, source, target, decision)
    changes += _append_evidence(tx, source, target)
    changes += _move_hold(tx, readiness, source, target)
    changes += _merge_sections_and_tags(tx, source, target)
    changes += _move_links(tx, source, target)
    links = target.links_value + [link for link in source.links_value if link not in target.links_value]
    if links != target.links_value:
        changes.append(changed("context_links", target.links_value, links))
        target.context_links = encode_links(links, ("operations",))
    _remove_source(tx, readiness, fetch_node(tx, source.n), target, decision)
    _write_target(tx, readiness, source, target, changes, decision)
    readiness.check_for_loops([target.n])
    return f"merged into {target.id}" + (f" with {children} children" if children else "")


def _refuse_unmergeable(readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow) -> None:
    if ROOT_N in (source.n, target.n):
        raise RootNotAllowed("merged")
    if source.n == target.n:
        raise CannotMerge(source, target, "they are the same node")
    if FEATURE in (source.kind, target.kind) and source.kind != target.kind:
        raise CannotMerge(source, target, "only one of them is a feature; move its tasks instead")
    for upper, lower in ((source, target), (target, source)):
        if readiness.positions.is_above(upper, lower):
            why = f"{upper.id} is an ancestor of {lower.id}; move or drop one of them instead"
            raise CannotMerge(source, target, why)


def _move_children(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, decision: str | None
) -> int:
    children = tx.all(sql.children, project_id=tx.project.id, n=source.n)
    if children:
        reparent(tx, readiness, [n for n, _ in children], source, target)
    for _, child_id in children:
        tx.record(WorkOp.MOVED, child_id, changed("parent", source.id, target.id), decision=decision)
    return len(children)


def _move_edges(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, decision: str | None
) -> list[Change]:
    """Move every edge of the source to the target, except edges between the two and those the target already has."""
    changes = []
    for edge in tx.all(sql.edges_of_node, WorkEdgeRow, project_id=tx.project.id, n=source.n):
        remove_edge(tx, edge.from_n, edge.type, edge.to_n)
        leaves = edge.from_n == source.n
        waits = edge.type == DEPENDS_ON
        if leaves and waits and edge.other_is_open:
            readiness.adjust_open_dependencies([source.n], by=-1)
        if not leaves and waits and not source.resolved:
            readiness.adjust_open_dependencies([edge.from_n], by=-1)
        joins = target.n in (edge.from_n, edge.to_n)
        new = (target.n if leaves else edge.from_n), edge.type, (edge.to_n if leaves else target.n)
        is_added = not joins and add_edge(tx, *new)
        if leaves and is_added:
            changes.append(changed(edge.type, None, edge.other_id))
            if waits and edge.other_is_open:
                readiness.adjust_open_dependencies([target.n], by=1)
        elif not leaves:
            readiness.snapshot([edge.from_n])
            if joins:  # an edge from the target to the source: the event of the target records it
                changes.append(changed(edge.type, source.id, None))
                continue
            touch(tx, edge.from_n)
            op = WorkOp.CONNECTED if is_added else WorkOp.DISCONNECTED
            after = target.id if is_added else None
            tx.record(op, edge.other_id, changed(edge.type, source.id, after), decision=decision)
            if waits and is_added and not fetch_node(tx, target.n).resolved:
                readiness.adjust_open_dependencies([edge.from_n], by=1)
    return changes


def _move_hold(tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    """Move the hold of the source to the target, unless the target has a hold of its own."""
    if source.held_reason is None or source.resolved or target.held_reason is not None:
        return []
    was_waiting = fetch_node(tx, target.n).waits
    target.held_reason = source.held_reason
    if not was_waiting:
        readiness.propagate_waiting(target.n, target.kind)
    return [changed("held_reason", None, target.held_reason)]


def _append_evidence(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    rows = tx.all(sql.evidence_of_node, EvidenceRow, project_id=tx.project.id, n=source.n)
    if not rows:
        return []
    tx.run(sql.remove_evidence, project_id=tx.project.id, n=source.n)
    numbered = enumerate(rows, target.evidence_total + 1)
    add_evidence(tx, [msgspec.structs.replace(row, node_n=target.n, k=k) for k, row in numbered])
    added = [{"type": row.type, "ref": row.ref, "agent": row.agent, "timestamp": row.at} for row in rows]
    return [changed("evidence", None, added)]


def _remove_source(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, decision: str | None
) -> None:
    assert source.parent_n is not None  # noqa: S101 - it is not the root
    if not source.resolved:
        readiness.remove_open_children(source.parent_n)
    tx.run(sql.remove_feature, project_id=tx.project.id, n=source.n)
    move_aliases(tx, source.n, target.n)
    tx.run(sql.remove_node, project_id=tx.project.id, n=source.n)
    tx.run(sql.record_merge, project_id=tx.project.id, id=source.id, into_id=target.id)
    tx.record(WorkOp.MERGED, source.id, changed("merged_into", None, target.id), decision=decision)


def _write_target(
    tx: Transaction,
    readiness: Readiness,
    source: WorkNodeRow,
    target: WorkNodeRow,
    changes: list[Change],
    decision: str | None,
) -> None:
    links, held_reason = target.context_links, target.held_reason
    current = fetch_node(tx, target.n)  # the children that moved may have reopened it
    current.context_links, current.held_reason = links, held_reason
    save_node(tx, current)
    tx.record(WorkOp.MERGED, target.id, *changes, decision=decision)
    if current.resolved and not source.resolved:  # the source was open, so the merged node is open
        readiness.reopen(target.n)


def _merge_sections_and_tags(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    """Move the sections and tags of `source` to `target` and return the changes of `target`.

    Raises:
        MergeLimitExceeded: together they are more than one node may have.
    """
    changes = []
    sections = tx.all(sql.sections_of, project_id=tx.project.id, n=source.n)
    if sections:
        next_ordinal, section_count = tx.one(sql.next_ordinal, project_id=tx.project.id, n=target.n)
        if section_count + len(sections) > SECTIONS_MAX:
            raise MergeLimitExceeded(target, f"{section_count + len(sections)} sections", SECTIONS_MAX)
        tx.run(sql.move_sections, project_id=tx.project.id, n=source.n, to_n=target.n, by=next_ordinal)
        changes.append(changed("sections", None, [section_id for section_id, _ in sections]))
    before = _tags(tx, target)
    gained = [tag for tag in _tags(tx, source) if tag not in before]
    if len(before) + len(gained) > TAGS_MAX:
        raise MergeLimitExceeded(target, f"{len(before) + len(gained)} tags", TAGS_MAX)
    tx.run(sql.remove_tags, project_id=tx.project.id, n=source.n)
    for tag in gained:
        tx.run(sql.add_tag, project_id=tx.project.id, n=target.n, tag=tag)
    if gained:
        changes.append(changed("tags", before, sorted([*before, *gained])))
    return changes


def _move_links(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> Sequence[Change]:
    """Move what `source` serves and rests on to `target`, and return the changes of `target`.

    Raises:
        MergeLimitExceeded: together they are more links than one node may have.
    """
    changes = move_links(tx, LinkSource(source.id, source.n), LinkSource(target.id, target.n))
    for change in changes:
        if len(change.after) > LINKS_MAX:
            raise MergeLimitExceeded(target, f"{len(change.after)} links of type {change.field}", LINKS_MAX)
    return changes


def _tags(tx: Transaction, node: WorkNodeRow) -> list[str]:
    return tx.scalars(sql.tags_of_node, project_id=tx.project.id, n=node.n)
