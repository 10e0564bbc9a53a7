"""Claims: the actor who works on a node, the end of the claim, and the detection of late writers.

A claim is a lease by the store's clock. Each new claim of a node gets a number, one higher than the last. A change that
sends the number of an earlier claim is refused (fencing). The claim of a person does not end by itself, unless the
policy `claim_minutes_people` gives it an end; a person may then hold it, and it has none again.
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple, Protocol

import msgspec

from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict, Forbidden, NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.policies import get_policies
from groundplan.work.events import WorkOp
from groundplan.work.kinds import ACTIVE, WorkPreferences, is_claim_live
from groundplan.work.nodes import WorkNodeRow

NOTICE_SHARE = 4  # a claim is about to lapse in the last quarter of the duration that an agent's has
HELD_LONG = timedelta(days=7)

sql = load_queries(__file__)


class StaleClaim(Conflict):
    """The caller's claim has ended, or the caller has none."""

    code = "stale_claim"

    def __init__(self, node: WorkNodeRow, *, given: int | None = None) -> None:
        problem = (
            f"you hold no claim on node {node.id}" if given is None else f"claim {given} of node {node.id} has ended"
        )
        reopen = NextStep("work.update", "with resolved false reopens it", {"updates": [{"node_id": node.id}]})
        claim = NextStep("work.next", "claims it again", {"claim": True})
        super().__init__(
            f"{problem}; it is resolved" if node.resolved else problem,
            next_steps=(
                NextStep("work.history", "shows what happened since", {"node_id": node.id}),
                reopen if node.resolved else claim,
            ),
            node_id=node.id,
            current=node.claim_number if node.claimed_by is not None else None,
            claimed_by=node.claimed_by,
        )


class AlreadyClaimed(Conflict):
    """Another actor has claimed the given node."""

    code = "already_claimed"

    def __init__(self, node: WorkNodeRow, claimed_until: str | None) -> None:
        until = f" until {claimed_until}" if claimed_until else ""
        super().__init__(
            f"node {node.id} is claimed by {quote_text(str(node.claimed_by))}{until}",
            next_steps=NextStep("work.next", "offers another node without node_id"),
            node_id=node.id,
            claimed_by=node.claimed_by,
            claimed_until=claimed_until,
        )


class ClaimedByAnother(Conflict):
    """Another actor has claimed the node, and the project enforces claims."""

    code = "claimed_by_another"

    def __init__(self, node_id: str, claimed_by: str | None, claimed_until: str | None) -> None:
        super().__init__(
            f"node {node_id} is claimed by {claimed_by!r}, and this project enforces claims; "
            "wait until they finish or release it",
            node_id=node_id,
            claimed_by=claimed_by,
            claimed_until=claimed_until,
        )


class HoldRequiresPerson(Forbidden):
    """The actor of a claim without expiry is not a person. Agents may not hold one, because they can stop unnoticed."""

    code = "hold_needs_person"

    def __init__(self) -> None:
        super().__init__("only a person may hold a claim without expiry; renew it instead")


class ClaimFlags(Protocol):
    """The fields of an update that change a claim."""

    renew: bool
    release: bool
    hold: bool


class ClaimValues(NamedTuple):
    """The claim of a node; all are None if there is none."""

    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None


def get_claim(node: WorkNodeRow) -> ClaimValues:
    """Return the claim of a node."""
    return ClaimValues(node.claimed_by, node.claimed_at, node.claimed_until)


def compute_claim_end(tx: Transaction) -> str | None:
    """Return the time when a claim of the actor that begins now ends by itself; None if it does not."""
    if tx.actor.kind is not ActorKind.PERSON:
        minutes: float | None = _get_lease_minutes(tx)
    else:
        minutes = get_policies(tx).claim_minutes_people
    return None if minutes is None else _compute_end(tx, minutes)


def compute_lease_limit(tx: Transaction) -> str:
    """Return the latest time when a claim that begins now can end by itself."""
    return _compute_end(tx, max(_get_lease_minutes(tx), get_policies(tx).claim_minutes_people or 0))


def _get_lease_minutes(tx: Transaction) -> float:
    return get_policies(tx).claim_ttl_minutes or tx.preferences.of(WorkPreferences).claim_ttl_minutes


def _compute_end(tx: Transaction, minutes: float) -> str:
    return subtract_time(tx.now, timedelta(minutes=-minutes))


def limit_lease_end(tx: Transaction, claimed_until: str | None) -> str | None:
    """Return the end of a claim: the stored end, but at most one duration from now."""
    return claimed_until and min(claimed_until, compute_lease_limit(tx))


def check_claim_number(node: WorkNodeRow, number: int) -> None:
    """Raise StaleClaim when `number` is not the number of the node's current claim."""
    if node.claimed_by is None or node.claim_number != number:
        raise StaleClaim(node, given=number)


def is_claimed_by_another(tx: Transaction, claimed_by: str | None, claimed_until: str | None) -> bool:
    """Return True if another actor has a live claim on the node."""
    return claimed_by != tx.actor.id and is_claim_live(claimed_by, claimed_until, now=tx.now)


def claim_node(tx: Transaction, node: WorkNodeRow, claimed_until: str | None, *, decision: str | None) -> None:
    """Claim a node that may be claimed, and record the event. A claim that the caller holds stays held."""
    before = get_claim(node)
    is_held = (before.claimed_by, before.claimed_until) == (tx.actor.id, None)
    node.claimed_until = None if is_held else claimed_until
    if not tx.run(sql.claim_node, project_id=tx.project.id, n=node.n, claimed_until=node.claimed_until):
        raise LookupError(f"node {node.id} was claimed under the lock of its project")
    node.rev, node.claim_number = node.rev + 1, node.claim_number + 1
    node.claimed_by, node.claimed_at, node.updated_at, node.changed_rev = tx.actor.id, tx.now, tx.now, tx.rev
    tx.record(WorkOp.CLAIMED, node.id, *list_claim_changes(before, node), decision=decision)


def list_claim_changes(before: ClaimValues, node: WorkNodeRow) -> list[Change]:
    """Return the changes of a node that was claimed.

    The event itself implies the time of the claim, if there was none before, and that its number grew by one.
    """
    claimed_by, claimed_at, claimed_until = before
    changes = [changed("claimed_by", claimed_by, node.claimed_by)]
    if claimed_at is not None:
        changes.append(changed("claimed_at", claimed_at, node.claimed_at))
    return [*changes, changed("claimed_until", claimed_until, node.claimed_until)]


def enforce_claims(tx: Transaction, node_id: str, claimed_by: str | None, claimed_until: str | None) -> None:
    """Raise ClaimedByAnother when the project enforces claims and another actor's claim is live."""
    if get_policies(tx).claims == "enforced" and is_claimed_by_another(tx, claimed_by, claimed_until):
        raise ClaimedByAnother(node_id, claimed_by, limit_lease_end(tx, claimed_until))


def update_claim(tx: Transaction, node: WorkNodeRow, flags: ClaimFlags, changes: list[Change]) -> WorkOp | None:
    """Renew, hold, release or end the claim of a node, and return the operation to record, or None."""
    if flags.renew or flags.release or flags.hold:
        if node.claimed_by != tx.actor.id:
            raise StaleClaim(node)
        if flags.hold and tx.actor.kind is not ActorKind.PERSON:
            raise HoldRequiresPerson
    if node.claimed_by is None:
        return None
    if node.resolved:
        changes += node.unclaim()
        return None
    claimed_until = node.claimed_until
    if flags.release:
        changes += node.unclaim()
        if node.status == ACTIVE:  # nobody works on it any more
            node.status = None
            changes.append(changed("status", ACTIVE, None))
        return WorkOp.RELEASED
    if flags.hold:
        node.claimed_until = None
    elif flags.renew:
        node.claimed_until = compute_claim_end(tx)
    if node.claimed_until != claimed_until:
        changes.append(changed("claimed_until", claimed_until, node.claimed_until))
        return WorkOp.RENEWED
    return None


class Lease(msgspec.Struct, frozen=True, order=True):
    """The end of a claim that is not held without expiry."""

    n: int
    node_id: str
    claimed_until: str


def list_leases_after(tx: Transaction, moment: str) -> list[Lease]:
    """Return the leases of the current project that end after a moment."""
    return sorted(tx.all(sql.leases_after, Lease, project_id=tx.project.id, moment=moment))


def move_leases(tx: Transaction, by: timedelta) -> None:
    """Move the end of every lease by a jump of the clock, but to at most one duration from now.

    Without a known jump (zero) they only get that limit. A lease that was over before the jump stays over.
    """
    latest = compute_lease_limit(tx)
    was_now = subtract_time(tx.now, max(by, timedelta()))
    for lease in list_leases_after(tx, was_now):
        moved = min(subtract_time(lease.claimed_until, -by), latest)
        if moved != lease.claimed_until:
            tx.run(sql.move_lease, project_id=tx.project.id, n=lease.n, claimed_until=moved)
            tx.record(WorkOp.LEASE_MOVED, lease.node_id, changed("claimed_until", lease.claimed_until, moved))


class ClaimExpiry(msgspec.Struct, frozen=True):
    """A claim and its end; a held claim has no `claimed_until`."""

    id: str
    summary: str
    claimed_by: str
    claimed_at: str
    claimed_until: str | None

    def has_lapsed(self, now: str) -> bool:
        """Return True if another actor may take the node."""
        return self.claimed_until is not None and self.claimed_until <= now


def list_ending_claims(tx: Transaction, *, since: str, at_most: int) -> list[ClaimExpiry]:
    """Return the claims taken since a moment that end soon, have lapsed or are held for long, oldest first."""
    notice = timedelta(minutes=_get_lease_minutes(tx)) / NOTICE_SHARE
    return tx.all(
        sql.ending_claims,
        ClaimExpiry,
        project_id=tx.project.id,
        since=since,
        ends_before=subtract_time(tx.now, -notice),
        held_before=subtract_time(tx.now, HELD_LONG),
        at_most=at_most,
    )
