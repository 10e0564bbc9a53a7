"""Read the history of a node, newest event first: its actors, changes and reasons.

The newest event comes first because readers usually want to know how a node reached its current state. A node that was
merged into another or deleted keeps its history under its own id.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import CutLists, LeftOut, Trimming, take_page
from groundplan.kernel.audit import Change
from groundplan.kernel.cursors import Cursor, encode_cursor
from groundplan.kernel.events import AFTER_ALL_EVENTS, StoredEvent, decode_event_cursor, list_events_about
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import ACTIONS
from groundplan.work.refs import find_node, find_removed_node
from groundplan.work.requests import NodeRef

CLAIMANT = "claimed_by"
# Changes of a claim that the history leaves out beside who has the node: the end follows from a policy.
CLAIM_TIMES = ("claimed_at", "claimed_until")
EVENT_PREFIX = "work"  # the part of an event's name before the dot; a project has other events too
LIMIT_MAX = 100


class ReadHistory(Struct, forbid_unknown_fields=True):
    """The node, and the page of its history."""

    node_id: NodeRef
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = 20
    cursor: Cursor = None
    lean: bool | None = None


class HistoryChange(Struct):
    """One field that an event changed."""

    field: str
    before: Any = UNSET
    after: Any = UNSET


class HistoryEvent(Struct, kw_only=True):
    """An event. A lean answer leaves out null and empty fields."""

    timestamp: str
    agent: str
    agent_kind: ActorKind | UnsetType = UNSET  # as answers say it of members: not of persons
    action: str
    changes: list[HistoryChange] | UnsetType = UNSET
    decision: str | UnsetType = UNSET
    left_out: LeftOut = UNSET


class History(Struct):
    """A page of events, newest first."""

    trimming: ClassVar[Trimming] = Trimming(CutLists(("events[].changes",)))

    events: list[HistoryEvent]
    next_cursor: str | UnsetType = UNSET


def history(tx: Transaction, request: ReadHistory) -> History:
    """Return the events of a node, newest first.

    Raises:
        InvalidCursor: the cursor belongs to another node or another caller.
        AmbiguousNode: several ids begin with the given text.
    """
    lean = tx.preferences.lean if request.lean is None else request.lean
    _, node_id = locate_node(tx, request.node_id)
    before = AFTER_ALL_EVENTS
    if request.cursor is not None:
        before = decode_event_cursor(tx, OPERATION.name, node_id, request.cursor)
    past = list_events_about(tx, node_id, ops=EVENT_PREFIX, before=before, at_most=request.limit + 1)
    page = take_page(
        tx.budget.reserve(History([])),
        [(event, _format_event(event, lean=lean)) for event in past[: request.limit]],
        cursor_after=lambda row: encode_cursor(tx, OPERATION.name, node_id, row[0].rev, row[0].n),
        item=itemgetter(1),
        has_more=len(past) > request.limit,
    )
    return History([event for _, event in page.rows], page.next_cursor)


def locate_node(tx: Transaction, ref: str) -> tuple[str, str]:
    """Return the project and the id of a node, even if it was merged into another node or deleted."""
    # Removed nodes first, because the id of one may be the prefix of another node's id.
    removed = find_removed_node(tx, ref)
    if removed is not None:
        return removed.project_id, ref
    node = find_node(tx, ref)
    return node.project_id, node.id


def _format_event(event: StoredEvent, *, lean: bool) -> HistoryEvent:
    hidden = CLAIM_TIMES if any(change.field == CLAIMANT for change in event.changes) else ()
    changes = [_to_history_change(change, lean=lean) for change in event.changes if change.field not in hidden]
    return HistoryEvent(
        timestamp=event.at,
        agent=event.actor,
        agent_kind=event.actor_kind or UNSET,
        action=ACTIONS[event.op],
        changes=changes or (UNSET if lean else []),
        decision=UNSET if event.decision is None else event.decision,
    )


def _to_history_change(change: Change, *, lean: bool) -> HistoryChange:
    if not lean:
        return HistoryChange(change.field, change.before, change.after)
    return HistoryChange(
        change.field,
        UNSET if change.before is None else change.before,
        UNSET if change.after is None else change.after,
    )


OPERATION = declare(
    history,
    name="work.history",
    summary="What happened to a node, newest first.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    project=lambda tx, request: locate_node(tx, request.node_id)[0],
    tool=Tool("graph_history", Group.WORK),
    http=Route("GET", "/projects/{project}/work/nodes/{node_id}/history"),
)
