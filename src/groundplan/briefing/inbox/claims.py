"""Claims that lapse soon, have lapsed, or are held for long."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxAction, InboxItem, InboxKind, make_action
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.markup import shorten_line
from groundplan.work.claims import EndingClaim, list_ending_claims


def list_claims(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each such claim, oldest first."""
    return [
        InboxItem(
            kind=InboxKind.CLAIM_LAPSING,
            ref=claim.id,
            text=f"{_describe_claim(claim, tx.now)}: {shorten_line(claim.summary)}",
            since=claim.claimed_at,
            action=_choose_action(tx, claim),
        )
        for claim in list_ending_claims(tx, since=since, at_most=at_most)
    ]


def _describe_claim(claim: EndingClaim, now: str) -> str:
    if claim.claimed_until is None:
        return f"{claim.claimed_by} has held it since {claim.claimed_at}"
    if claim.has_lapsed(now):
        return f"The claim of {claim.claimed_by} lapsed at {claim.claimed_until}, and the node is still open"
    return f"The claim of {claim.claimed_by} lapses at {claim.claimed_until}"


def _choose_action(tx: Transaction, claim: EndingClaim) -> InboxAction:
    """Return what the caller can do: renew or release a claim of their own, take over a lapsed one, or look."""
    if claim.claimed_by == tx.actor.id:
        change = "release" if claim.claimed_until is None else "renew"
        return make_action(tx, "work.update", {"updates": [{"node_id": claim.id, change: True}]})
    if claim.has_lapsed(tx.now):
        return make_action(tx, "work.next", {"project": tx.project.name, "node_id": claim.id, "claim": True})
    return make_action(tx, "work.history", {"node_id": claim.id})
