"""Status changes of features that follow from work on their tasks."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.statuses import ACTIVE, NEW
from groundplan.work.events import WorkOp

sql = load_queries(__file__)


class FeatureStatusChange(NamedTuple):
    """A status change of a feature that followed from its tasks."""

    id: str
    before: str
    after: str


def begin_feature(tx: Transaction, feature_n: int, *, decision: str | None) -> list[FeatureStatusChange]:
    """Make a new feature and the new features above it active, and return the changes, the nearest first."""
    status_changes = []
    above: int | None = feature_n
    while above is not None and (row := tx.one_or_none(sql.begin_feature, project_id=tx.project.id, n=above)):
        feature_id, above = row
        tx.record(WorkOp.ADVANCED, feature_id, changed("status", None, ACTIVE), decision=decision)
        status_changes.append(FeatureStatusChange(feature_id, NEW, ACTIVE))
    return status_changes
