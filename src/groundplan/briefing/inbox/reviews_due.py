"""Assumptions past the day by which they were to be reviewed."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line
from groundplan.purpose.waiting import DueReview, list_reviews_due


def list_due_reviews(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each assumption that is due."""
    found = [_to_item(tx, one) for one in list_reviews_due(tx) if one.review_by >= since]
    return sorted(found, key=lambda item: item.since)[:at_most]


def _to_item(tx: Transaction, due: DueReview) -> InboxItem:
    owner = f" by {due.owner}" if due.owner else ""
    return InboxItem(
        kind=InboxKind.REVIEW_DUE,
        ref=due.key,
        text=f"Review was due{owner} on {due.review_by}: {shorten_line(due.text)}",
        since=due.review_by,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "reviews": [{"assumption": due.key}]},
            needs=["reviews[0].status", "reviews[0].reason"],
        ),
    )
