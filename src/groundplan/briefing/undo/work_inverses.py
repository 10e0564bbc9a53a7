"""Inverses of changes to work nodes: calls of `work.update`, `work.connect` and `work.restructure`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import restructuring
from groundplan.work.events import WorkOp
from groundplan.work.graph import connect, update
from groundplan.work.graph.next import CLAIM
from groundplan.work.positions import sort_from_below
from groundplan.work.removals import REMOVE, RESTORE, has_kept_contents, list_referring_nodes
from groundplan.work.unmerge import UNMERGE
from groundplan.work.waiting.cycles import HIDDEN_ID

PROPERTIES = "properties."
LINK_LISTS = ("serves", "rests_on")
# Fields that follow from resolving, reopening or the end of a claim.
IMPLIED_FIELDS = ("resolved", "outcome", "status", "claimed_until")
FLIPS = (WorkOp.RESOLVED, WorkOp.DROPPED, WorkOp.REOPENED)
UPDATES = (WorkOp.UPDATED, *FLIPS, WorkOp.CLAIMED)
EDGES = (WorkOp.CONNECTED, WorkOp.DISCONNECTED)
EDGES_NAMED_MAX = 5  # rejected edges in a message; the details list more

_STATUS = NoInverse("a status has its own way back", NextStep("container.revert", "sets the status back"))
_PLAN = NextStep("work.plan", "plans a new node")
_SECTION = NoInverse("a section has no inverse", NextStep("section.update_text", "changes its text"))
OPS: Mapping[str, NoInverse | None] = {
    **dict.fromkeys((*UPDATES, *EDGES, WorkOp.MOVED)),
    WorkOp.LEASE_MOVED: None,
    WorkOp.CREATED: None,
    WorkOp.RESTORED: None,
    WorkOp.DELETED: None,
    WorkOp.MERGED: None,
    WorkOp.UNMERGED: None,
    WorkOp.RENEWED: NoInverse("a claim cannot be shortened", NextStep("work.update", "ends it with release")),
    WorkOp.RELEASED: None,
    WorkOp.ADVANCED: None,
    WorkOp.REVERTED: NoInverse(_STATUS.reason, NextStep("container.advance", "advances it again")),
    WorkOp.HELD: NoInverse("a hold has its own way back", NextStep("container.unblock", "ends the hold")),
    WorkOp.UNHELD: NoInverse("a hold has its own way back", NextStep("container.block", "holds it again")),
    WorkOp.TAGGED: NoInverse("a tag that was renamed may stand for two", NextStep("tag.rename", "renames it again")),
    WorkOp.SECTION_ADDED: NoInverse(_SECTION.reason, NextStep("section.delete", "deletes it")),
    WorkOp.SECTION_CHANGED: _SECTION,
    WorkOp.SECTION_DELETED: NoInverse("what was deleted is gone", NextStep("section.add", "adds it anew")),
}


class EdgesRejected(Conflict):
    """An edge cannot be restored."""

    code = "edges_rejected"

    def __init__(self, rejected: Sequence[connect.RejectedEdge]) -> None:
        named = [_describe_rejected(edge) for edge in rejected[:EDGES_NAMED_MAX]]
        more = f"; and {len(rejected) - EDGES_NAMED_MAX} more" if len(rejected) > EDGES_NAMED_MAX else ""
        super().__init__(
            f"the edges cannot be set back: {'; '.join(named)}{more}",
            reasons=[f"{edge.from_} to {edge.to}: {edge.reason}" for edge in rejected],
            rejected=[_to_details(edge) for edge in rejected[: connect.EXPLAINED_MAX]],
        )


def _describe_rejected(edge: connect.RejectedEdge) -> str:
    reason = f"{edge.from_} to {edge.to}: {edge.reason}"
    if edge.path is UNSET:
        return reason
    # The edge itself is a part of the loop, and not there yet.
    dependencies = [
        f"{source} on {target}" for source, target in _list_dependencies(edge) if (source, target) != _ends(edge)
    ]
    remedy = f", remove one of these dependencies first: {', '.join(dependencies)}" if dependencies else ""
    return f"{reason} ({' -> '.join(edge.path)}){remedy}"


def _to_details(edge: connect.RejectedEdge) -> dict[str, Any]:
    details: dict[str, Any] = msgspec.to_builtins(edge)
    if dependencies := _list_dependencies(edge):
        details["depends_on"] = [list(pair) for pair in dependencies]
    return details


def _list_dependencies(edge: connect.RejectedEdge) -> list[tuple[str, str]]:
    """Return the dependencies of the loop that an edge would close; without steps of the tree, these are all steps."""
    if edge.depends_on is not UNSET:
        return [(source, target) for source, target in edge.depends_on]
    steps = pairwise(edge.path or ())
    return [step for step in steps if not any(node_id.startswith(HIDDEN_ID) for node_id in step)]


def _ends(edge: connect.RejectedEdge) -> tuple[str, str]:
    return edge.from_, edge.to


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that undoes changes of work nodes."""
    begun = [event.subject for event in events if event.op == WorkOp.ADVANCED]
    others = [event for event in events if event.op != WorkOp.ADVANCED]
    if begun and not others:
        raise CannotUndo(begun[0], _STATUS)
    call = _build_call(tx, others)
    warnings = [f"{feature} stays ACTIVE, which work below it had made it" for feature in begun]
    return replace(call, warnings=[*call.warnings, *warnings]) if warnings else call


def _build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    kinds = {event.op for event in events}
    if kinds <= {*EDGES}:
        return _build_connect(events)
    if kinds == {WorkOp.MOVED}:
        return _build_moves(events)
    if kinds == {WorkOp.RELEASED} and len(events) == 1:
        return _build_claim(tx, events[0])
    dropped = [event.subject for event in events if event.op == WorkOp.REOPENED and _was_dropped(event)]
    if dropped and kinds == {WorkOp.REOPENED}:
        return _build_drops(tx, events)
    if WorkOp.MERGED in kinds and kinds <= {*EDGES, WorkOp.MERGED, WorkOp.MOVED, WorkOp.REOPENED}:
        return _build_unmerge(tx, events)
    if WorkOp.UNMERGED in kinds:
        return _build_merges(events)
    if kinds & {WorkOp.CREATED, WorkOp.RESTORED} and kinds <= {WorkOp.CREATED, WorkOp.RESTORED, WorkOp.REOPENED}:
        return _build_removal(events)
    if WorkOp.DELETED in kinds and kinds <= {WorkOp.DELETED, WorkOp.RESOLVED, WorkOp.DROPPED}:
        return _build_restoration(tx, events)
    flipped = [event.subject for event in events if event.op in FLIPS]
    if len(set(flipped)) < len(flipped):
        raise CannotUndo(flipped[0], NoInverse("a node was resolved and reopened at once; do it step by step"))
    if dropped and kinds <= {*UPDATES}:
        raise CannotUndo(dropped[0], NoInverse("it reopened dropped nodes and changed others; do it step by step"))
    if kinds <= {*UPDATES}:
        return _build_updates(tx, events)
    raise CannotUndo(
        events[0].subject, NoInverse("it moved or connected nodes and changed others with them; undo it step by step")
    )


def _build_updates(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    items: dict[str, dict[str, Any]] = {}
    warnings: list[str] = []
    # Nodes below come first: they are opened before the nodes above them, which opens those, and resolved before them.
    for subject in sort_from_below(tx, {event.subject for event in events}):
        item = {"node_id": subject}
        for event in events:
            if event.subject == subject:
                _add_fields(item, event, warnings)
        if len(item) > 1:
            items[subject] = item
    if not items:
        raise CannotUndo(events[0].subject, NoInverse("evidence is never removed, and there is nothing else to undo"))
    updates = sorted(items.values(), key=lambda item: item.get("resolved") is True)  # what is resolved again comes last
    return InverseCall(update.OPERATION, {"updates": updates}, warnings)


def _add_fields(item: dict[str, Any], event: StoredEvent, warnings: list[str]) -> None:
    """Add the values before an event to the update of its node, unless an earlier event of the write added them."""
    if event.op in FLIPS:
        item.setdefault("resolved", event.op == WorkOp.REOPENED)
    for change in event.changes:
        if change.field in ("summary", "state"):
            item.setdefault(change.field, change.before)
        elif change.field.startswith(PROPERTIES):
            item.setdefault("properties", {}).setdefault(change.field.removeprefix(PROPERTIES), change.before)
        elif change.field == "context_links":
            item.setdefault("add_context_links", change.before)
            item["remove_context_links"] = change.after
        elif change.field in LINK_LISTS:
            item.setdefault(change.field, change.before or [])
        elif change.field == "evidence":
            warnings.append(f"{event.subject}: its evidence stays, because evidence is never removed")
        elif change.field == "claimed_by" and event.op == WorkOp.CLAIMED and change.before is None:
            item["release"] = True
        elif change.field not in IMPLIED_FIELDS or (change.field == "status" and event.op == WorkOp.UPDATED):
            raise CannotUndo(event.subject, NoInverse(f"its {change.field} cannot be set back; change it yourself"))


def _build_connect(events: Sequence[StoredEvent]) -> InverseCall:
    edges = []
    for event in reversed(events):
        for change in event.changes:
            to = change.before or change.after
            edge = {"from": event.subject, "to": to, "type": change.field, "remove": change.before is None}
            if not isinstance(to, str) or (change.before is not None and change.after is not None):
                raise CannotUndo(event.subject, NoInverse(f"its {change.field} cannot be set back"))
            edges.append(edge)
    return InverseCall(connect.OPERATION, {"edges": edges}, verify=_refuse_rejected)


def _refuse_rejected(answer: connect.Connected) -> None:
    if answer.rejected:
        raise EdgesRejected(answer.rejected)


def _build_moves(events: Sequence[StoredEvent]) -> InverseCall:
    moves = [
        {"op": "move", "node_id": event.subject, "new_parent": change.before}
        for event in reversed(events)
        for change in event.changes
    ]
    return InverseCall(restructuring.OPERATION, {"operations": moves})


def _build_removal(events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that removes nodes that a write made, and resolves what it reopened for them."""
    made = [event.subject for event in events if event.op != WorkOp.REOPENED]
    return InverseCall(REMOVE, {"nodes": made, "outcomes": _list_outcomes(events)})


def _list_outcomes(events: Sequence[StoredEvent]) -> dict[str, Any]:
    """Return the outcomes that reopened nodes had, by id."""
    return {event.subject: _get_before(event, "outcome") for event in events if event.op == WorkOp.REOPENED}


def _get_before(event: StoredEvent, field: str) -> Any:
    return next((change.before for change in event.changes if change.field == field), None)


def _build_unmerge(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that takes merged nodes apart, the last ones first."""
    targets = {
        event.subject: change.after for event in events for change in event.changes if change.field == "merged_into"
    }
    for event in events:
        if event.op == WorkOp.MOVED and any(targets.get(move.before) != move.after for move in event.changes):
            raise CannotUndo(event.subject, NoInverse("it was moved in one step with merges; move it back yourself"))
    if not has_kept_contents(tx, targets):
        raise CannotUndo(next(iter(targets)), NoInverse("what was merged then was not kept", _PLAN))
    return InverseCall(UNMERGE, {"nodes": list(targets)[::-1], "outcomes": _list_outcomes(events)})


def _build_merges(events: Sequence[StoredEvent]) -> InverseCall:
    merges = [
        {"op": "merge", "source": event.subject, "target": change.before}
        for event in reversed(events)
        for change in event.changes
        if change.field == "merged_into"
    ]
    return InverseCall(restructuring.OPERATION, {"operations": merges})


def _build_restoration(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that brings back the nodes that an undo removed."""
    removed = [event.subject for event in events if event.op == WorkOp.DELETED]
    if not has_kept_contents(tx, removed):
        raise CannotUndo(
            removed[0],
            NoInverse("what was deleted is gone", NextStep("container.create", "creates it anew", fill=("title",))),
        )
    return InverseCall(RESTORE, {"nodes": removed})


def _find_dependents(tx: Transaction, events: Sequence[StoredEvent], _rev: int) -> set[str]:
    """Return the nodes below the nodes that a write made, and those with an edge to them."""
    made = [event.subject for event in events if event.op in (WorkOp.CREATED, WorkOp.RESTORED)]
    return list_referring_nodes(tx, made) if made else set()


def _build_claim(tx: Transaction, event: StoredEvent) -> InverseCall:
    """Return the call that claims a node again, which only its last holder can."""
    if not any(change.field == "claimed_by" and change.before == tx.actor.id for change in event.changes):
        raise CannotUndo(
            event.subject, NoInverse("its claim was not yours", NextStep("work.claim", "claims the node for you"))
        )
    return InverseCall(CLAIM, {"project": tx.project.id, "node_id": event.subject, "claim": True})


def _build_drops(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    if not all(_was_dropped(event) for event in events):
        raise CannotUndo(
            events[0].subject, NoInverse("it reopened dropped and resolved nodes; resolve or drop each of them")
        )
    ids = sort_from_below(tx, {event.subject for event in events})
    drops = [{"op": "drop", "node_id": node_id, "reason": "Dropped before"} for node_id in ids]
    return InverseCall(restructuring.OPERATION, {"operations": drops}, verify=_refuse_more_drops)


def _refuse_more_drops(answer: restructuring.Restructured) -> None:
    """Refuse to drop nodes if nodes were opened below them since, or if they are resolved with their last child."""
    for detail in answer.details:
        if detail.result == "already resolved":
            raise CannotUndo(detail.node_id, NoInverse("it is resolved with its last child, so it cannot be dropped"))
        if detail.result != "dropped":
            raise CannotUndo(detail.node_id, NoInverse("other nodes below it are open now; drop each of them"))


def _was_dropped(event: StoredEvent) -> bool:
    return any(change.field == "outcome" for change in event.changes)


INVERSES = Inverses(OPS, build_call, _find_dependents)
