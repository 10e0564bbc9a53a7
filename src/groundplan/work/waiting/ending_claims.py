"""Claims about to lapse: their holder renews them, or somebody else takes the work.

Also those that have lapsed while the node is still open, and those that a person has held for long.
"""

from __future__ import annotations

from datetime import timedelta

import msgspec

from groundplan.kernel.clock import compute_difference, subtract_time
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.claims import compute_lease_end

NOTICE_SHARE = 4  # a claim is about to lapse in the last quarter of its duration
HELD_LONG = timedelta(days=7)

sql = load_queries(__file__)


class EndingClaim(msgspec.Struct, frozen=True):
    """A claim; without `claimed_until` it is held."""

    id: str
    summary: str
    claimed_by: str
    claimed_at: str
    claimed_until: str | None

    def has_lapsed(self, now: str) -> bool:
        """Return whether somebody else may take the node."""
        return self.claimed_until is not None and self.claimed_until <= now


def list_ending_claims(tx: Transaction, *, since: str, at_most: int) -> list[EndingClaim]:
    """Return the claims taken at or after a moment that end soon, have lapsed or are held for long, oldest first."""
    notice = compute_difference(compute_lease_end(tx), tx.now) / NOTICE_SHARE
    return tx.all(
        sql.ending_claims,
        EndingClaim,
        project_id=tx.project.id,
        since=since,
        ends_before=subtract_time(tx.now, -notice),
        held_before=subtract_time(tx.now, HELD_LONG),
        at_most=at_most,
    )
