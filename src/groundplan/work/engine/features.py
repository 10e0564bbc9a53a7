"""What happens to a feature because of its tasks: it begins with the first, and ends with the last."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.statuses import ACTIVE, NEW
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class FeatureStatusChange(NamedTuple):
    """A feature that went from one status to another by itself."""

    id: str
    before: str
    after: str


def begin_feature(tx: Transaction, feature_n: int, *, decision: str | None) -> list[FeatureStatusChange]:
    """Let a feature that is new be active, and those above it; the moves that this takes, the nearest first."""
    moves = []
    above: int | None = feature_n
    while above is not None and (row := tx.one_or_none(sql.begin_feature, project_id=tx.project.id, n=above)):
        feature_id, above = row
        tx.record(WorkOp.ADVANCED, feature_id, changed("status", None, ACTIVE), decision=decision)
        moves.append(FeatureStatusChange(feature_id, NEW, ACTIVE))
    return moves
