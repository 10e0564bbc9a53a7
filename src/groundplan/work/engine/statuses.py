"""The status of a task or a feature, and how a feature begins with its tasks.

    NEW → ACTIVE → (further statuses of the project) → CLOSED      exit: WILL_NOT_IMPLEMENT

The graph dialect has no statuses, only open, claimed, resolved and dropped. A status is therefore stored in its own
column only where it does not follow from these. A resolved node is CLOSED and a dropped one WILL_NOT_IMPLEMENT. An open
node has the status it was advanced to; one that never was is ACTIVE while a claim on it is live, else NEW.
"""

from __future__ import annotations

from typing import Protocol

import msgspec

from groundplan.kernel.audit import changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp

NEW = "NEW"
ACTIVE = "ACTIVE"
CLOSED = "CLOSED"
WILL_NOT_IMPLEMENT = "WILL_NOT_IMPLEMENT"

TERMINAL = (CLOSED, WILL_NOT_IMPLEMENT)

sql = load_queries(__file__)


class StatusFields(Protocol):
    """The fields that determine the status of a node."""

    @property
    def resolved(self) -> bool: ...
    @property
    def outcome(self) -> str | None: ...
    @property
    def status(self) -> str | None: ...
    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


def get_status(node: StatusFields, *, now: str) -> str:
    """Return the status of a node at the time `now`."""
    if node.resolved:
        return WILL_NOT_IMPLEMENT if node.outcome is not None else CLOSED
    if node.status is not None:
        return node.status
    return ACTIVE if is_claim_live(node.claimed_by, node.claimed_until, now=now) else NEW


def is_claim_live(claimed_by: str | None, claimed_until: str | None, *, now: str) -> bool:
    """Return whether a claim exists and has not expired at the time `now`."""
    return claimed_by is not None and (claimed_until is None or claimed_until > now)


class FeatureStatusChange(msgspec.Struct, frozen=True):
    """A status change of a feature that followed from its tasks."""

    id: str
    before: str
    after: str


class BegunFeature(msgspec.Struct, frozen=True):
    """A feature that became active, and the stored number of the feature above it."""

    status_change: FeatureStatusChange
    feature_n: int | None


def begin_feature(tx: Transaction, feature_n: int, *, decision: str | None) -> BegunFeature | None:
    """Make a new feature active, or return None if it is not new."""
    row = tx.one_or_none(sql.begin_feature, project_id=tx.project.id, n=feature_n)
    if row is None:
        return None
    feature_id, above = row
    tx.record(WorkOp.ADVANCED, feature_id, changed("status", None, ACTIVE), decision=decision)
    return BegunFeature(FeatureStatusChange(feature_id, NEW, ACTIVE), above)


def begin_features(tx: Transaction, feature_n: int | None, *, decision: str | None) -> None:
    """Make a new feature and the new features above it active."""
    while feature_n is not None and (begun := begin_feature(tx, feature_n, decision=decision)):
        feature_n = begun.feature_n
