"""Inverses of changes to work nodes: a public operation where one sets everything back, else an internal one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import UNSET

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.kernel.audit import Change
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.graph import connect, update
from groundplan.work.inverses import REVERT
from groundplan.work.kinds import CLOSED, NEW, WILL_NOT_IMPLEMENT
from groundplan.work.nodes import NOTE, RELATES_TO
from groundplan.work.positions import sort_from_below
from groundplan.work.removals import REMOVE, RESTORE, has_kept_contents, list_referring_nodes
from groundplan.work.reversal import FIELDS, LINK_LISTS, NOTES, PROPERTIES, STATUS
from groundplan.work.waiting.cycles import HIDDEN_ID

FATES = (WorkOp.RESOLVED, WorkOp.DROPPED, WorkOp.REOPENED)
CHANGES = (WorkOp.UPDATED, *FATES, WorkOp.CLAIMED, WorkOp.RENEWED, WorkOp.RELEASED, WorkOp.HELD, WorkOp.UNHELD)
STEPS = (WorkOp.ADVANCED, WorkOp.REVERTED)
EDGES = (WorkOp.CONNECTED, WorkOp.DISCONNECTED)
PLACES = (WorkOp.MOVED, WorkOp.MERGED, WorkOp.UNMERGED)
REVERTIBLE = frozenset({*CHANGES, *STEPS, *EDGES, *PLACES})
EDGES_NAMED_MAX = 5  # rejected edges in a message; the details list more
UPDATE_FIELDS = ("summary", "state")
HOLD_FIELDS = ("held_reason", "blocked_reason")  # an event of edges can have these, too
IMPLIED_STATUSES = (NEW, CLOSED, WILL_NOT_IMPLEMENT)  # those that are not stored

_PLAN = NextStep("work.plan", "plans a new node")
_SECTION = NoInverse("a section has no inverse", NextStep("section.update_text", "changes its text"))
OPS: Mapping[str, NoInverse | None] = {
    **dict.fromkeys(sorted(REVERTIBLE)),
    WorkOp.LEASE_MOVED: None,
    WorkOp.CREATED: None,
    WorkOp.RESTORED: None,
    WorkOp.DELETED: None,
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
    kinds = {event.op for event in events}
    if kinds & {WorkOp.CREATED, WorkOp.RESTORED} and kinds <= {*REVERTIBLE, WorkOp.CREATED, WorkOp.RESTORED}:
        return _build_removal(events)
    if WorkOp.DELETED in kinds and kinds <= {*REVERTIBLE, WorkOp.DELETED}:
        return _build_restoration(tx, events)
    if kinds <= {*EDGES} and not any(change.field in HOLD_FIELDS for event in events for change in event.changes):
        return _build_connect(events)
    is_each_once = len({event.subject for event in events}) == len(events)
    if kinds == {WorkOp.UPDATED} and is_each_once and (call := _build_updates(tx, events)) is not None:
        return call
    if kinds <= REVERTIBLE:
        return _build_revert(tx, events)
    raise CannotUndo(
        events[0].subject, NoInverse("it changed sections or tags with other things; change them yourself")
    )


def _build_updates(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall | None:
    """Return the update that sets fields of nodes back; None if an update cannot set one of them."""
    items: dict[str, dict[str, Any]] = {}
    for event in events:
        item = items.setdefault(event.subject, {"node_id": event.subject})
        if not event.changes or not all(_add_field(item, change) for change in event.changes):
            return None
    return InverseCall(update.OPERATION, {"updates": [items[subject] for subject in sort_from_below(tx, items)]})


def _add_field(item: dict[str, Any], change: Change) -> bool:
    """Add the value before a change to an update, unless an earlier event of the write added it."""
    if change.field in UPDATE_FIELDS:
        item.setdefault(change.field, change.before)
    elif change.field.startswith(PROPERTIES):
        item.setdefault("properties", {}).setdefault(change.field.removeprefix(PROPERTIES), change.before)
    elif change.field == "context_links":
        item.setdefault("add_context_links", change.before)
        item["remove_context_links"] = change.after
    elif change.field in LINK_LISTS:
        item.setdefault(change.field, change.before or [])
    else:
        return False
    return True


def _list_note_steps(event: StoredEvent, change: Change) -> Iterator[dict[str, Any]]:
    """Yield what takes back the notes that an event added, or brings back those that it took."""
    # Notes that an event brought back belong to the write that wrote them.
    notes = [entry for entry in change.after or () if entry["type"] == NOTE]
    yield from ({"rev": rev} for rev in sorted({entry.get("rev", event.rev) for entry in notes}))
    if change.before:
        yield {"notes": change.before}


def _warn_about_evidence(event: StoredEvent) -> list[str]:
    added = [entry for change in event.changes if change.field == "evidence" for entry in change.after or ()]
    if event.op in PLACES or all(entry["type"] == NOTE for entry in added):
        return []
    return [f"{event.subject}: its evidence stays, marked as undone"]


def _build_revert(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that sets nodes back to what they were before a write."""
    steps = [step for event in reversed(events) for step in _list_steps_back(event)]
    merged = [step["node_id"] for step in steps if len(step) == 1]
    if not has_kept_contents(tx, merged):
        raise CannotUndo(merged[-1], NoInverse("what was merged then was not kept", _PLAN))
    merges = [step for step in steps if "parent" not in step]  # they change edges, too
    edges = [] if merges else [edge for event in reversed(events) for edge in _list_edges_back(event, events)]
    arguments = {"before": _collect_fields(events), "edges": edges, "steps": steps}
    warnings = [warning for event in events for warning in _warn_about_evidence(event)]
    return InverseCall(REVERT, {name: value for name, value in arguments.items() if value}, warnings)


def _list_steps_back(event: StoredEvent) -> Iterator[dict[str, Any]]:
    """Yield the move or merge that takes back that of an event."""
    for change in event.changes:
        if event.op == WorkOp.MOVED:
            yield {"node_id": event.subject, "parent": change.before}
        elif change.field == "merged_into":
            yield {"node_id": event.subject} | ({} if change.before is None else {"into": change.before})


def _collect_fields(events: Sequence[StoredEvent]) -> dict[str, dict[str, Any]]:
    """Return the fields of nodes before a write, by id."""
    nodes: dict[str, dict[str, Any]] = {}
    for event in events:
        if event.op in PLACES:
            continue
        fields = nodes.setdefault(event.subject, {})
        for change in event.changes:
            if change.field == "evidence":
                fields[NOTES] = [*_list_note_steps(event, change), *fields.get(NOTES, ())]
            if change.field == "evidence" or _is_edge(event, change):
                continue
            if change.field not in FIELDS and not change.field.startswith(PROPERTIES):
                raise CannotUndo(event.subject, NoInverse(f"its {change.field} cannot be set back; change it yourself"))
            before = None if change.field == STATUS and change.before in IMPLIED_STATUSES else change.before
            fields.setdefault(change.field, before)
    return nodes


def _is_edge(event: StoredEvent, change: Change) -> bool:
    is_list = change.field == RELATES_TO and isinstance(change.before, list)  # of a container that was updated
    return is_list or (event.op in EDGES and change.field not in HOLD_FIELDS)


def _list_edges_back(event: StoredEvent, events: Sequence[StoredEvent]) -> list[dict[str, Any]]:
    """Return the changes of edges that undo those of an event."""
    edges = []
    for change in event.changes:
        if not _is_edge(event, change):
            continue
        before, after = _list_ends(change.before), _list_ends(change.after)
        # An edge that began at the other node has an event of its own there.
        others = [other.subject for other in events if other.op == WorkOp.DISCONNECTED and other is not event]
        edges += [_edge_back(event, change.field, to, remove=True) for to in after if to not in before]
        edges += [_edge_back(event, change.field, to) for to in before if to not in (*after, *others)]
    return edges


def _list_ends(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _edge_back(event: StoredEvent, type_: str, to: Any, *, remove: bool = False) -> dict[str, Any]:
    return {"from": event.subject, "to": to, "type": type_, **({"remove": True} if remove else {})}


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


def _build_removal(events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that removes nodes that a write made, and sets back what it changed for them."""
    made = [event.subject for event in events if event.op in (WorkOp.CREATED, WorkOp.RESTORED)]
    before = _collect_fields([event for event in events if event.subject not in made])
    return InverseCall(REMOVE, {"nodes": made} | ({"before": before} if before else {}))


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


INVERSES = Inverses(OPS, build_call, _find_dependents)
