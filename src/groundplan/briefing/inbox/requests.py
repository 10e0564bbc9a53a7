"""Questions that somebody asked and nobody has decided."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line
from groundplan.purpose.observing.records import DecisionRequest
from groundplan.purpose.waiting import list_open_requests

QUESTION_CHARS_MAX = 300


def list_requests(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each open question, oldest first."""
    found = [_to_item(tx, one) for one in list_open_requests(tx) if one.recorded_at >= since]
    return found[:at_most]


def _to_item(tx: Transaction, request: DecisionRequest) -> InboxItem:
    asked_of = f" {request.asked_of}" if request.asked_of else ""
    return InboxItem(
        kind=InboxKind.REQUEST,
        ref=request.id,
        text=f"{request.recorded_by} asks{asked_of}: {shorten_line(request.question, QUESTION_CHARS_MAX)}",
        since=request.recorded_at,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "decisions": [{"answers": request.id}]},
            needs=["decisions[0].text", "decisions[0].rationale"],
        ),
    )
