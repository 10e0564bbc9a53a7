"""Move the leases of claims after a jump of the clock, so that each ends after the time that it was given."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from groundplan.kernel.audit import changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import compute_lease_end
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class Lease(NamedTuple):
    """The end of a claim that is not held for ever."""

    n: int
    node_id: str
    claimed_until: str


def list_leases_after(tx: Transaction, moment: str) -> list[Lease]:
    """Return the leases of the current project that end after a moment."""
    return tx.all(sql.leases_after, Lease, project_id=tx.project.id, moment=moment)


def move_leases(tx: Transaction, by: timedelta) -> None:
    """Move the end of every lease by the jump, and to at most one duration from now.

    Without a known jump (zero) they only get that limit. A lease that was over before the jump stays over.
    """
    latest = compute_lease_end(tx)
    was_now = subtract_time(tx.now, max(by, timedelta()))
    for lease in list_leases_after(tx, was_now):
        moved = min(subtract_time(lease.claimed_until, -by), latest)
        if moved != lease.claimed_until:
            tx.run(sql.move_lease, project_id=tx.project.id, n=lease.n, claimed_until=moved)
            tx.record(WorkOp.LEASE_MOVED, lease.node_id, changed("claimed_until", lease.claimed_until, moved))
