"""The failing checks that keep a draft of the purpose from being published."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line
from groundplan.purpose.waiting import BlockingCheck, list_blocking_checks

TEXT_CHARS_MAX = 400


def list_gate_blocks(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each failing check of the gates that the draft must pass."""
    found = [_to_item(tx, one) for one in list_blocking_checks(tx) if one.changed_at >= since]
    return found[:at_most]


def _to_item(tx: Transaction, blocking: BlockingCheck) -> InboxItem:
    fix = f". To mend it: {blocking.check.fix}" if blocking.check.fix else ""
    return InboxItem(
        kind=InboxKind.GATE_BLOCKS,
        ref=blocking.check.code,
        text=shorten_line(f"Gate {blocking.gate} blocks the draft: {blocking.check.message}{fix}", TEXT_CHARS_MAX),
        since=blocking.changed_at,
        # The check names every ref and what to do about it; how a draft becomes right is a person's decision.
        action=make_action(
            tx, "purpose.check", {"project": tx.project.name, "gate": blocking.gate, "version": "draft"}
        ),
    )
