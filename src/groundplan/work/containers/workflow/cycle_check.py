"""Refuse dependencies between containers that would form a cycle."""

from __future__ import annotations

from groundplan.work.engine.cycles import CycleDetected, WaitingMoments
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.graph.connect import refuse_cycle

CYCLE_HINT = "; leave this dependency out, or remove another one of the cycle first"


def refuse_container_cycle(moments: WaitingMoments, waiting: WorkNodeRow, other: WorkNodeRow, *, field: str) -> None:
    """Raise CycleDetected if `waiting` would wait for itself through `other`."""
    try:
        refuse_cycle(moments, waiting, other)
    except CycleDetected as error:
        hint = None if error.loop.uses_tree else CYCLE_HINT
        raise CycleDetected(error.loop, hint=hint, field=field) from None
