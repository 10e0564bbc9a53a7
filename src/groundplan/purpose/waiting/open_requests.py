"""Questions that wait for a decision."""

from __future__ import annotations

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.observing.observation_rows import DecisionRequest
from groundplan.purpose.observing.read_observations import NO_CUTOFF, read_requests


def list_open_requests(tx: Transaction) -> list[DecisionRequest]:
    """Return the requests of the project that no decision has answered, oldest first."""
    return [request for request in read_requests(tx, NO_CUTOFF) if request.answered_by is None]
