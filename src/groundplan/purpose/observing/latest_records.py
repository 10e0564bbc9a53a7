"""Read the latest records that a briefing needs: the statuses of some assumptions, and the newest decisions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import msgspec

from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.model import AssumptionStatus
from groundplan.purpose.observing.observation_rows import Decision, Review
from groundplan.purpose.observing.read_observations import NO_CUTOFF

_decode_refs = msgspec.json.Decoder(list[str]).decode

sql = load_queries(__file__)


def read_assumption_statuses(tx: Transaction, keys: Collection[str]) -> dict[str, AssumptionStatus]:
    """Return the status of those assumptions that were reviewed or refuted.

    It is that of the latest review, or refuted if newer evidence of work refutes the assumption.
    """
    if not keys:
        return {}
    rows = tx.all(sql.latest_reviews, Review, **NO_CUTOFF.to_parameters(tx), keys=to_json_array(keys))
    reviewed_in = {review.assumption: review.rev for review in rows}
    statuses = {review.assumption: review.status for review in rows}
    for link in list_links_to(tx, LinkType.REFUTES, keys):
        if link.rev > reviewed_in.get(link.target, -1):
            statuses[link.target] = AssumptionStatus.REFUTED
    return statuses


def read_newest_decisions(tx: Transaction, *, at_most: int) -> list[Decision]:
    """Return the newest decisions, newest first."""
    place = NO_CUTOFF.to_parameters(tx)
    rows = tx.all(
        sql.newest_decisions,
        Decision,
        project_id=place["project_id"],
        before_rev=place["before_rev"],
        at_most=at_most,
    )
    return [row._replace(about=_parse_refs(row.about)) for row in rows]


def _parse_refs(stored: Any) -> list[str]:
    """Decode the JSON refs of a row."""
    return _decode_refs(stored)
