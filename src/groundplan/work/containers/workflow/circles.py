"""What would have to wait for itself is refused, with the argument that asks for it and what to do instead."""

from __future__ import annotations

from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.cycles import CycleDetected, Walked
from groundplan.work.engine.row import NodeRow
from groundplan.work.graph.connect import refuse_waiting_for_itself

ADVICE = "; leave this out, or take one of the others away first"


def refuse_circle(tx: Transaction, walked: Walked, waiting: NodeRow, other: NodeRow, *, field: str) -> None:
    """Raises CycleDetected when one container depending on another would have to wait for itself."""
    try:
        refuse_waiting_for_itself(tx, walked, waiting, other)
    except CycleDetected as error:
        raise CycleDetected(error.details["path"], hint=ADVICE, field=field) from None
