"""Assumptions whose review is due.

A review on the day named by `review_by` or later settles it, and so does another day in a later version.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import get_day
from groundplan.purpose.versions.versions import find_latest_published, resolve_version

sql = load_queries(__file__)


class DueReview(NamedTuple):
    """An assumption that was to be reviewed by a day that has passed."""

    key: str
    text: str
    owner: str | None
    review_by: str


def list_reviews_due(tx: Transaction) -> list[DueReview]:
    """Return the assumptions of the purpose in force that are due for a review."""
    version = find_latest_published(tx) or resolve_version(tx, None)
    if version is None:
        return []
    return tx.all(
        sql.assumptions_past_review,
        DueReview,
        project_id=tx.project.id,
        version_id=version.id,
        rev=tx.project.rev,
        today=get_day(tx.now),
    )
