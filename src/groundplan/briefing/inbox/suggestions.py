"""Values that agents suggest in place of stronger ones; only a person accepts one."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.context.waiting.pending_suggestions import PendingSuggestion, list_pending_suggestions
from groundplan.kernel.answers import encode
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line

VALUE_CHARS_MAX = 80


def list_suggestions(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each pending suggestion, oldest first."""
    return [_to_item(tx, one) for one in list_pending_suggestions(tx, since=since, at_most=at_most)]


def _to_item(tx: Transaction, suggestion: PendingSuggestion) -> InboxItem:
    value = shorten_line(encode(suggestion.value).decode(), VALUE_CHARS_MAX)
    wanted = "to clear it" if suggestion.value is None else f"{value} ({suggestion.provenance})"
    return InboxItem(
        kind=InboxKind.SUGGESTION,
        ref=suggestion.about,
        text=f"{suggestion.created_by} suggests {wanted} for {shorten_line(suggestion.about)}: accept or reject",
        since=suggestion.created_at,
        action=make_action(tx, "context.edit", {"runId": suggestion.run_id, "accept": [suggestion.id]}),
    )
