"""Restructure a project: move, merge and drop nodes, in separate requests or in order in one.

Moving takes a node and everything below it under another parent. Dropping resolves a node and every open node below it
as work that will not be done. Merging gives a node everything of another one, which is removed; its history stays.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Annotated, NamedTuple

from msgspec import Meta, Struct

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import MixedProjects, NextStep, RuleViolated, Steps
from groundplan.kernel.links import LINKS_MAX, LinkSource, move_links
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import NAMES_MAX, SideEffects, Warnings, add_side_effects, join_names
from groundplan.work.claims import enforce_claims, is_claimed_by_another
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import is_same_json
from groundplan.work.kinds import DROPPED, FEATURE, ROOT_N
from groundplan.work.nodes import (
    DEPENDS_ON,
    WorkNodeRow,
    add_edge,
    describe_evidence,
    fetch_node,
    list_claim_end,
    list_evidence_after,
    list_open_nodes,
    load_tags,
    remove_edge,
    replace_evidence_after,
    save_node,
    set_tags,
    touch,
)
from groundplan.work.readiness import Readiness
from groundplan.work.refs import find_node, find_node_in_project, move_aliases, resolve_node_project
from groundplan.work.removals import keep_merged
from groundplan.work.requests import SECTIONS_MAX, TAGS_MAX, Decision, EvidenceRef, NodeRef, encode_links
from groundplan.work.waiting.cycles import CycleDetected, Loop

OPERATIONS_MAX = 100
DESCRIPTION = "description"  # a property that is kept when its node is merged

sql = load_queries(__file__)


class RootNotAllowed(RuleViolated):
    """The root is the project itself. It cannot be moved or merged, and only an owner drops it."""

    code = "root_stays"
    contract_code = "INVALID_OPERATION"

    def __init__(self, verb: str, *, next_steps: Steps = ()) -> None:
        super().__init__(f"the root of a project cannot be {verb}; name a node below it", next_steps=next_steps)


def move(tx: Transaction, readiness: Readiness, node: WorkNodeRow, parent: WorkNodeRow, *, decision: str | None) -> str:
    """Move a node under another parent, and return the result in words."""
    if node.n == ROOT_N:
        raise RootNotAllowed("moved")
    if readiness.positions.is_above(node, parent):
        raise CycleDetected(Loop([node.id, parent.id, node.id]), hint=f"; {parent.id} is below {node.id}")
    if node.parent_n == parent.n:
        return f"already under {parent.id}"
    assert node.parent_n is not None  # noqa: S101 - only the root has none
    before = fetch_node(tx, node.parent_n)
    reparent(tx, readiness, [node.n], before, parent)
    tx.record(WorkOp.MOVED, node.id, changed("parent", before.id, parent.id), decision=decision)
    return f"moved under {parent.id}"


def reparent(tx: Transaction, readiness: Readiness, ns: Sequence[int], before: WorkNodeRow, after: WorkNodeRow) -> None:
    """Move children of a node, with all of their descendants, to another parent."""
    project_id = tx.project.id
    feature_left, feature_entered = (_find_feature_of_children(readiness, parent) for parent in (before, after))
    readiness.check_for_loops(ns)
    readiness.snapshot([*ns, before.n, after.n])
    open_count = len(list_open_nodes(tx, ns))
    if open_count:
        readiness.remove_open_children(before.n, open_count)
    tx.run(sql.set_parent, project_id=project_id, ns=to_json_array(ns), parent_n=after.n)
    readiness.positions.mark_stale(ns)
    if feature_left != feature_entered and feature_entered is not None:
        readiness.check_for_loops([feature_entered])  # what it waits for now blocks the moved nodes
    if open_count:
        readiness.add_open_children({after.n: open_count})
    readiness.start_entered_feature(ns, feature_entered if feature_left != feature_entered else None)


def _find_feature_of_children(readiness: Readiness, parent: WorkNodeRow) -> int | None:
    """Return the feature of a node's children: the node itself or its nearest feature above; None if there is none."""
    return parent.n if parent.kind == FEATURE else readiness.positions.get(parent).feature_n


class AlreadyResolved(RuleViolated):
    """The node is resolved, so there is nothing to end."""

    code = "already_resolved"
    contract_code = "INVALID_OPERATION"

    def __init__(self, node: WorkNodeRow) -> None:
        super().__init__(f"node {node.id} is already resolved; reopen it first", node_id=node.id)


class OpenRow(NamedTuple):
    """An open node, with what ends if it is dropped."""

    n: int
    id: str
    parent_n: int | None
    status: str | None
    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None

    def list_ends(self) -> list[Change]:
        """Return the changes of the node that are not the same for each dropped one."""
        changes = [] if self.status is None else [changed("status", self.status, None)]
        return changes + list_claim_end(self)


class ClaimRow(NamedTuple):
    """A live claim of another actor."""

    n: int
    id: str
    claimed_by: str
    claimed_until: str | None


def _load_open_rows(tx: Transaction, node: WorkNodeRow) -> list[OpenRow]:
    """Return a node and its open descendants."""
    return tx.all(sql.open_subtree, OpenRow, project_id=tx.project.id, n=node.n)


def refuse_root_drop(tx: Transaction) -> None:
    """Raise RootNotAllowed unless the actor is an owner of the project."""
    if tx.project.role is not Role.OWNER:
        archive = NextStep("project.archive", "sets the whole project aside", {"project": tx.project.name})
        raise RootNotAllowed("dropped by anybody but an owner", next_steps=archive)


def drop(tx: Transaction, readiness: Readiness, node: WorkNodeRow, reason: str, *, decision: str | None) -> list[int]:
    """Resolve a node and its open descendants with the reason as evidence, and return their numbers."""
    if node.n == ROOT_N:
        refuse_root_drop(tx)
    if node.resolved:  # and so is everything below it
        return []
    rows = _load_open_rows(tx, node)
    parents = {row.n: row.parent_n for row in rows}
    _end_claims(tx, readiness, parents)
    parameters = {"project_id": tx.project.id, "ns": to_json_array(parents)}
    readiness.snapshot(parents)
    tx.run(sql.resolve_nodes, **parameters, outcome=DROPPED)
    tx.run(sql.add_evidence_to_all, **parameters, type=DROPPED, ref=reason)
    changes = (
        changed("resolved", False, True),
        changed("outcome", None, DROPPED),
        changed("evidence", None, [{"type": DROPPED, "ref": reason}]),
    )
    ends = {row.id: row.list_ends() for row in rows if row.status is not None or row.claimed_by is not None}
    tx.record(WorkOp.DROPPED, node.id, *changes, *ends.pop(node.id, ()), decision=decision)
    # In the order of the index by subject: in any other one, most events are put on a page that is not in memory.
    below = sorted(row.id for row in rows if row.n != node.n and row.id not in ends)
    tx.record_each(WorkOp.DROPPED, below, *changes, decision=decision)
    for node_id, ended in sorted(ends.items()):
        tx.record(WorkOp.DROPPED, node_id, *changes, *ended, decision=decision)
    readiness.propagate_resolved(parents)
    return list(parents)


def _describe_drop(dropped: Sequence[int]) -> str:
    if not dropped:
        return "already resolved"
    return "dropped" if len(dropped) == 1 else f"dropped with {len(dropped) - 1} below"


def _end_claims(tx: Transaction, readiness: Readiness, ns: Container[int]) -> None:
    """Record the claims that end with these nodes. Raise ClaimedByAnother if the project enforces claims."""
    # All live claims of others are fewer than the nodes of a large drop, and an index has them.
    for claim in sorted(tx.all(sql.live_claims_of_others, ClaimRow, project_id=tx.project.id)):
        if claim.n in ns:
            enforce_claims(tx, claim.id, claim.claimed_by, claim.claimed_until)
            readiness.ended_claims[claim.id] = claim.claimed_by


class WorkEdgeRow(Struct):
    """An edge of a node, with the id of the node at its other end and whether that is open."""

    from_n: int
    type: str
    to_n: int
    other_id: str
    other_is_open: bool


class CannotMerge(RuleViolated):
    """The two nodes are the same, one is above the other and not its parent, or only one is a feature."""

    code = "cannot_merge"

    def __init__(self, source: WorkNodeRow, target: WorkNodeRow, why: str) -> None:
        super().__init__(
            f"node {source.id} cannot be merged into {target.id}: {why}", source=source.id, target=target.id
        )


class MergeLimitExceeded(RuleViolated):
    """The merged node would have more sections, tags or links than allowed."""

    code = "too_much_together"

    def __init__(self, target: WorkNodeRow, content: str, limit: int) -> None:
        super().__init__(
            f"node {target.id} would have {content}, the limit is {limit}; remove some from one of the two nodes first",
            target=target.id,
            limit=limit,
        )


def merge(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, *, decision: str | None
) -> str:
    """Merge the source into the target and return the result in words."""
    _refuse_unmergeable(readiness, source, target)
    enforce_claims(tx, source.id, source.claimed_by, source.claimed_until)
    keep_merged(tx, source, target)
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
        if source.parent_n != target.n and readiness.positions.is_above(upper, lower):
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
    """Move the edges of the source to the target, except those between the two and those that the target has."""
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
    """Move the hold of the source to the target, unless the target is on hold itself."""
    if source.held_reason is None or source.resolved or target.held_reason is not None:
        return []
    was_waiting = fetch_node(tx, target.n).waits
    target.held_reason = source.held_reason
    if not was_waiting:
        readiness.propagate_waiting(target.n, target.kind)
    return [changed("held_reason", None, target.held_reason)]


def _append_evidence(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> list[Change]:
    rows = list_evidence_after(tx, source.n)
    if not rows:
        return []
    replace_evidence_after(tx, source.n, [])
    replace_evidence_after(tx, target.n, rows, target.evidence_total)
    return [changed("evidence", None, describe_evidence(rows, is_moved=True))]


def _remove_source(
    tx: Transaction, readiness: Readiness, source: WorkNodeRow, target: WorkNodeRow, decision: str | None
) -> None:
    assert source.parent_n is not None  # noqa: S101 - it is not the root
    if not source.resolved:
        readiness.remove_open_children(source.parent_n)
    tx.run(sql.remove_feature, project_id=tx.project.id, n=source.n)
    move_aliases(tx, source.n, target.n)
    _keep_words(tx, source, target)
    tx.run(sql.remove_node, project_id=tx.project.id, n=source.n)
    tx.run(sql.record_merge, project_id=tx.project.id, id=source.id, into_id=target.id)
    changes = changed("merged_into", None, target.id), changed("summary", source.summary, None)
    tx.record(WorkOp.MERGED, source.id, *changes, decision=decision)


def _keep_words(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> None:
    """Keep the summary and the description of the source, and of what was merged into it, with the target."""
    tx.run(sql.move_merged_texts, project_id=tx.project.id, n=source.n, to_n=target.n)
    description = source.properties_value.get(DESCRIPTION)
    tx.run(
        sql.add_merged_text,
        project_id=tx.project.id,
        id=source.id,
        to_n=target.n,
        summary=source.summary,
        description=description if isinstance(description, str) else None,
    )


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
    """Move the sections and tags of `source` to `target` and return the changes of `target`."""
    changes = []
    sections = tx.all(sql.sections_of, project_id=tx.project.id, n=source.n)
    if sections:
        next_ordinal, section_count = tx.one(sql.next_ordinal, project_id=tx.project.id, n=target.n)
        if section_count + len(sections) > SECTIONS_MAX:
            raise MergeLimitExceeded(target, f"{section_count + len(sections)} sections", SECTIONS_MAX)
        tx.run(sql.move_sections, project_id=tx.project.id, n=source.n, to_n=target.n, by=next_ordinal)
        changes.append(changed("sections", None, [section_id for section_id, _ in sections]))
    tags = {tag for node_tags in load_tags(tx, [source.n, target.n]).values() for tag in node_tags}
    if len(tags) > TAGS_MAX:
        raise MergeLimitExceeded(target, f"{len(tags)} tags", TAGS_MAX)
    set_tags(tx, source.n, [])
    if (change := set_tags(tx, target.n, tags)) is not None:
        changes.append(change)
    return changes


def _move_links(tx: Transaction, source: WorkNodeRow, target: WorkNodeRow) -> Sequence[Change]:
    """Move the links of `source` to `target`, and return the changes of `target`."""
    changes = move_links(tx, LinkSource(source.id, source.n), LinkSource(target.id, target.n))
    for change in changes:
        if len(change.after) > LINKS_MAX:
            raise MergeLimitExceeded(target, f"{len(change.after)} links of type {change.field}", LINKS_MAX)
    return changes


class Move(Struct, forbid_unknown_fields=True, tag_field="op", tag="move"):
    """Move a node under another parent."""

    node_id: NodeRef
    new_parent: NodeRef


class Merge(Struct, forbid_unknown_fields=True, tag_field="op", tag="merge"):
    """Merge the source into the target."""

    source: NodeRef
    target: NodeRef


class Drop(Struct, forbid_unknown_fields=True, tag_field="op", tag="drop"):
    """Drop a node and all of its descendants."""

    node_id: NodeRef
    reason: EvidenceRef


class Restructure(Struct, forbid_unknown_fields=True):
    """Changes to the structure of one project."""

    operations: Annotated[list[Move | Merge | Drop], Meta(min_length=1, max_length=OPERATIONS_MAX)]
    lean: bool | None = None
    decision: Decision | None = None
    op_id: OpId = None


class OperationResult(Struct):
    """The result of one operation."""

    op: str
    node_id: str
    result: str


class Restructured(SideEffects, kw_only=True):
    """The operations that were applied, and their side effects."""

    applied: int
    details: list[OperationResult]


def restructure(tx: Transaction, request: Restructure) -> Restructured:
    """Move, merge and drop nodes.

    Raises:
        NotFound: the project has no such node.
        MixedProjects: the nodes are in several projects; a node never changes its project.
        CycleDetected: a node would be below itself, or wait for itself.
        CannotMerge: the nodes are the same, one is above the other and not its parent, or only one is a feature.
        ClaimedByAnother: the project enforces claims and another actor has claimed a node.
        RootNotAllowed: a node to move or merge is the root, or one to drop is and the caller is no owner.
    """
    readiness = Readiness(tx, decision=request.decision)
    warnings = Warnings()
    details = []
    dropped: list[int] = []
    first = _first_node(request)
    for operation in request.operations:
        match operation:
            case Move():
                node = _fetch_named(tx, operation.node_id, beside=first)
                parent = _fetch_destination(tx, operation.new_parent, node)
                result = move(tx, readiness, node, parent, decision=request.decision)
                details.append(OperationResult("move", node.id, result))
            case Merge():
                node = _fetch_named(tx, operation.source, beside=first)
                target = _fetch_destination(tx, operation.target, node)
                _warn_about_properties(warnings, node, target)
                if is_claimed_by_another(tx, node.claimed_by, node.claimed_until):
                    warnings.add_claims({node.id: str(node.claimed_by)}, verb="merged")
                result = merge(tx, readiness, node, target, decision=request.decision)
                details.append(OperationResult("merge", node.id, result))
            case Drop():
                node = _fetch_named(tx, operation.node_id, beside=first)
                ended = drop(tx, readiness, node, operation.reason, decision=request.decision)
                dropped += ended
                if not ended and node.n not in (*dropped, *readiness.auto_resolved):
                    warnings.add(node.id, "was resolved already, so nothing changed and the reason is not kept")
                details.append(OperationResult("drop", node.id, _describe_drop(ended)))
    if dropped:
        _warn_about_dependents(tx, warnings, [*dropped, *readiness.auto_resolved])
    return add_side_effects(Restructured(applied=len(details), details=details), tx, readiness, warnings)


def _warn_about_dependents(tx: Transaction, warnings: Warnings, dropped: Sequence[int]) -> None:
    """Warn about dropped nodes for which others wait, which are open after the whole request."""
    waiting: dict[str, list[str]] = {}
    totals: dict[str, int] = {}
    parameters = {"project_id": tx.project.id, "ns": to_json_array(dropped), "of_each": NAMES_MAX}
    for dropped_id, waiting_id, total in tx.all(sql.open_dependents, **parameters):
        waiting.setdefault(dropped_id, []).append(waiting_id)
        totals[dropped_id] = total
    for dropped_id, ids in waiting.items():
        more = f" and {totals[dropped_id] - len(ids)} more" if totals[dropped_id] > len(ids) else ""
        warnings.add(dropped_id, f"dropped while others wait for it: {', '.join(ids)}{more}")


def _warn_about_properties(warnings: Warnings, source: WorkNodeRow, target: WorkNodeRow) -> None:
    """Warn about properties of a source that the target does not get."""
    target_properties = target.properties_value
    # Sorted, because an undo may have changed their order.
    names = sorted(
        name
        for name, value in source.properties_value.items()
        if name != DESCRIPTION and not is_same_json(value, target_properties.get(name))
    )
    if names:
        warnings.add(source.id, f"its properties {join_names(names)} are not taken over by {target.id}")


def _fetch_named(tx: Transaction, ref: str, *, beside: str) -> WorkNodeRow:
    return fetch_node(tx, find_node_in_project(tx, ref, beside=beside).n)


def _fetch_destination(tx: Transaction, ref: str, node: WorkNodeRow) -> WorkNodeRow:
    """Return the node under which, or into which, a node of this project is moved."""
    destination = find_node(tx, ref)
    if destination.project_id != tx.project.id:
        raise MixedProjects(
            f"node {node.id} is in project {tx.project.id} and node {destination.id} is in project "
            f"{destination.project_id}; a node never changes its project",
            next_steps=(
                NextStep("work.plan", "plans it there", {"project": str(destination.project_id)}),
                NextStep("work.restructure", "drops it here"),
                NextStep("work.update", "resolves it here"),
            ),
            nodes=[node.id, destination.id],
            projects=[str(tx.project.id), str(destination.project_id)],  # the encoder needs plain str
        )
    return fetch_node(tx, destination.n)


def locate(tx: Transaction, request: Restructure) -> str:
    """Return the project of the first node. The other nodes must be in the same project."""
    return resolve_node_project(tx, _first_node(request))


def _first_node(request: Restructure) -> str:
    first = request.operations[0]
    return first.source if isinstance(first, Merge) else first.node_id


OPERATION = declare(
    restructure,
    name="work.restructure",
    summary="Move, merge or drop nodes with all below them.",
    permission=Permission.WORK_RESTRUCTURE,
    effect=Effect.DESTROY,
    project=locate,
    tool=Tool("graph_restructure", Group.WORK),
    http=Route("POST", "/projects/{project}/work/restructure"),
)
