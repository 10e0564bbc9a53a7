"""Claims: who works on a node, for how long, and how a late writer is noticed.

A claim is a lease by the store's clock. Taking one gives it a number, one higher than any before on that node; who
sends the number with a change is refused once somebody else has taken the node (a fence). A person may hold a claim,
which then never expires.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Protocol

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict, Forbidden
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.row import WorkNodeRow, is_claimed_by_another
from groundplan.work.engine.statuses import ACTIVE
from groundplan.work.events import WorkOp


class StaleClaim(Conflict):
    """The caller's claim is over."""

    code = "stale_claim"

    def __init__(self, node: WorkNodeRow, *, given: int | None = None) -> None:
        said = (
            f"claim {given} of node {node.id} is over" if given is not None else f"you hold no claim of node {node.id}"
        )
        super().__init__(
            said,
            next_steps=(
                NextStep("work.history", "shows what happened meanwhile", {"node_id": node.id}),
                NextStep("work.next", "takes it again", {"claim": True}),
            ),
            node_id=node.id,
            current=node.claim_number if node.claimed_by is not None else None,
            claimed_by=node.claimed_by,
        )


class ClaimedByAnother(Conflict):
    """Somebody else works on it, and the project enforces claims."""

    code = "claimed_by_another"

    def __init__(self, node_id: str, claimed_by: str | None, claimed_until: str | None) -> None:
        super().__init__(
            f"node {node_id} is claimed by {claimed_by!r}, and this project enforces claims; "
            "let them finish or release it",
            node_id=node_id,
            claimed_by=claimed_by,
            claimed_until=claimed_until,
        )


class HoldRequiresPerson(Forbidden):
    """An agent may die without a word, so its claims expire."""

    code = "hold_needs_person"

    def __init__(self) -> None:
        super().__init__("only a person may hold a claim without end; renew it instead")


class ClaimFlags(Protocol):
    """What an update may say about a claim."""

    renew: bool
    release: bool
    hold: bool


def lease_end(tx: Transaction) -> str:
    """The moment until which a claim taken now holds."""
    minutes = tx.project.policies.claim_ttl_minutes or tx.preferences.claim_ttl_minutes
    return subtract_time(tx.now, timedelta(minutes=-minutes))


def check_number(node: WorkNodeRow, number: int) -> None:
    """Raises StaleClaim when the number is not that of the claim on the node."""
    if node.claimed_by is None or node.claim_number != number:
        raise StaleClaim(node, given=number)


def enforce_claims(tx: Transaction, node_id: str, claimed_by: str | None, claimed_until: str | None) -> None:
    """Raises ClaimedByAnother when the project enforces claims and somebody else's holds."""
    if tx.project.policies.claims == "enforced" and is_claimed_by_another(tx, claimed_by, claimed_until):
        raise ClaimedByAnother(node_id, claimed_by, claimed_until)


def update_claim(tx: Transaction, node: WorkNodeRow, wishes: ClaimFlags, changes: list[Change]) -> WorkOp | None:
    """Bring the claim in line with what is wished and with whether the node is resolved; what to call it, if anything.

    Raises:
        StaleClaim: the caller does not hold the node.
        HoldRequiresPerson: an agent wants to hold it without end.
    """
    if wishes.renew or wishes.release or wishes.hold:
        if node.claimed_by != tx.actor.id:
            raise StaleClaim(node)
        if wishes.hold and tx.actor.kind is not ActorKind.PERSON:
            raise HoldRequiresPerson
    if node.claimed_by is None:
        return None
    if node.resolved:  # that nobody holds it any more goes without saying
        node.unclaim()
        return None
    before = node.claimed_by, node.claimed_until
    if wishes.release:
        node.unclaim()
    elif wishes.hold:
        node.claimed_until = None
    elif wishes.renew:
        node.claimed_until = lease_end(tx)
    if node.claimed_by != before[0]:
        changes.append(changed("claimed_by", before[0], None))
        if node.status == ACTIVE:  # nobody works on it now
            node.status = None
            changes.append(changed("status", ACTIVE, None))
        return WorkOp.RELEASED
    if node.claimed_until != before[1]:
        changes.append(changed("claimed_until", before[1], node.claimed_until))
        return WorkOp.RENEWED
    return None
