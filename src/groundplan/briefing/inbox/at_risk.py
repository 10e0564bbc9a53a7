"""What depends on an assumption in doubt or on a changed fact, until a decision about it is recorded."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.briefing.watch.find_marks import list_marks_since
from groundplan.briefing.watch.mark import PREDICATES, MarkOutline
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line


def list_at_risk(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each mark, oldest first. Without work, so that the time does not depend on its amount."""
    return [_to_item(tx, mark) for mark in list_marks_since(tx, since=since, at_most=at_most)]


def _to_item(tx: Transaction, mark: MarkOutline) -> InboxItem:
    path = f", on the way {' -> '.join(mark.path)}" if len(mark.path) > 1 else ""
    text = "" if mark.text is None else f": {mark.text}"
    return InboxItem(
        kind=InboxKind.AT_RISK,
        ref=mark.ref,
        text=shorten_line(f"The {mark.kind} {mark.ref} {PREDICATES[mark.status]}{path}{text}"),
        since=mark.since,
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "decisions": [{"about": [mark.ref]}]},
            needs=["decisions[0].text", "decisions[0].rationale"],
        ),
    )
