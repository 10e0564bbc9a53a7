"""What would have to wait for itself is refused, with the argument that asks for it and what to do instead."""

from __future__ import annotations

from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, DependencyCache
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.graph.connect import refuse_cycle

CYCLE_HINT = "; leave this out, or take one of the others away first"


def refuse_container_cycle(
    tx: Transaction, walked: DependencyCache, waiting: WorkNodeRow, other: WorkNodeRow, *, field: str
) -> None:
    """Raises CycleDetected when one container depending on another would have to wait for itself."""
    try:
        refuse_cycle(tx, walked, waiting, other)
    except CycleDetected as error:
        raise CycleDetected(error.details["path"], hint=CYCLE_HINT, field=field) from None
