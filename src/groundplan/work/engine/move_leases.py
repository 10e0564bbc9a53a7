"""Move the leases of claims after a jump of the clock, so that each ends after the time that it was given."""

from __future__ import annotations

from datetime import timedelta

from groundplan.kernel.audit import changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import compute_lease_end
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


def move_leases(tx: Transaction, by: timedelta) -> None:
    """Move the end of every lease by the jump, and to at most one duration from now.

    Without a known jump (zero) they only get that limit. A lease that was over before the jump stays over.
    """
    latest = compute_lease_end(tx)
    was_now = subtract_time(tx.now, max(by, timedelta()))
    for n, node_id, claimed_until in tx.all(sql.leases_after, project_id=tx.project.id, moment=was_now):
        moved = min(subtract_time(claimed_until, -by), latest)
        if moved != claimed_until:
            tx.run(sql.move_lease, project_id=tx.project.id, n=n, claimed_until=moved)
            tx.record(WorkOp.LEASE_MOVED, node_id, changed("claimed_until", claimed_until, moved))
