"""Refuse dependencies between containers that would form a cycle."""

from __future__ import annotations

from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, DependencyCache
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.graph.connect import refuse_cycle

CYCLE_HINT = "; leave this dependency out, or remove another one of the cycle first"


def refuse_container_cycle(
    tx: Transaction, walked: DependencyCache, waiting: WorkNodeRow, other: WorkNodeRow, *, field: str
) -> None:
    """Raise CycleDetected if `waiting` would wait for itself through `other`."""
    try:
        refuse_cycle(tx, walked, waiting, other)
    except CycleDetected as error:
        raise CycleDetected(error.details["path"], hint=CYCLE_HINT, field=field) from None
