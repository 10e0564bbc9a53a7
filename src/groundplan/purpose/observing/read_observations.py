"""Read observations from the store, as known now or at some moment.

Rows are in recording order, (rev, n). A version needs only the newest measurement of each indicator and the latest
review of each assumption, so these are looked up by key.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.canonical import normalize_number
from groundplan.purpose.dates import to_last_instant
from groundplan.purpose.model import Content
from groundplan.purpose.observing.observation_rows import (
    Decision,
    DecisionRequest,
    Measurement,
    Observations,
    Review,
    Waiver,
)

sql = load_queries(__file__)

RecordPosition = tuple[int, int]  # (rev, n) of the last row read

BEGINNING: RecordPosition = (0, -1)
_NO_LIMIT = 2**53  # above every revision and row count
_decode_refs = msgspec.json.Decoder(list[str]).decode


class Cutoff(NamedTuple):
    """The limit up to which observations are read: before a write, or up to a day or an instant."""

    before_rev: int | None = None
    as_of: str | None = None

    def to_parameters(self, tx: Transaction) -> dict[str, Any]:
        """Return the query parameters."""
        return {
            "project_id": tx.project.id,
            "before_rev": _NO_LIMIT if self.before_rev is None else self.before_rev,
            "at_latest": to_last_instant(self.as_of or "9999-12-31"),
        }


NO_CUTOFF = Cutoff()


def read_version_observations(tx: Transaction, content: Content, cutoff: Cutoff = NO_CUTOFF) -> Observations:
    """Read the latest observation of each indicator and assumption, and all waivers and decisions."""
    return Observations(
        _read_latest_measurements(tx, cutoff, content.indicators),
        _read_latest_reviews(tx, cutoff, content.assumptions),
        read_waivers(tx, cutoff),
        read_decisions(tx, cutoff),
    )


def list_assumptions_in_doubt(tx: Transaction) -> list[str]:
    """Return the keys of assumptions that some review called at risk or refuted."""
    return tx.scalars(sql.assumptions_in_doubt, project_id=tx.project.id)


def read_latest_reviews(tx: Transaction, keys: Collection[str]) -> dict[str, Review]:
    """Return the latest review of each of some assumptions."""
    return {review.assumption: review for review in _read_latest_reviews(tx, NO_CUTOFF, keys)}


def read_latest_observations(tx: Transaction, content: Content) -> Observations:
    """Read only the latest observation of each indicator and assumption."""
    measurements = _read_latest_measurements(tx, NO_CUTOFF, content.indicators)
    return Observations(measurements, _read_latest_reviews(tx, NO_CUTOFF, content.assumptions), [], [])


def find_observed_keys(tx: Transaction, keys: list[str]) -> set[str]:
    """Return the keys that have a measurement or a review."""
    measured = {one.indicator for one in _read_latest_measurements(tx, NO_CUTOFF, keys)}
    return measured | {one.assumption for one in _read_latest_reviews(tx, NO_CUTOFF, keys)}


def read_measurements(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Measurement]:
    """Return measurements after a position."""
    rows = tx.all(sql.measurements, Measurement, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [_normalize_number(row) for row in rows]


def read_reviews(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Review]:
    """Return reviews after a position."""
    return tx.all(sql.reviews, Review, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))


def read_waivers(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Waiver]:
    """Return waivers after a position."""
    rows = tx.all(sql.waivers, Waiver, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [row._replace(refs=_parse_refs(row.refs)) for row in rows]


def read_decisions(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Decision]:
    """Return decisions after a position."""
    rows = tx.all(sql.decisions, Decision, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [row._replace(about=_parse_refs(row.about)) for row in rows]


def read_requests(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[DecisionRequest]:
    """Return requests for decisions after a position."""
    rows = tx.all(sql.requests, DecisionRequest, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [row._replace(about=_parse_refs(row.about)) for row in rows]


def _read_latest_measurements(tx: Transaction, cutoff: Cutoff, keys: Collection[str]) -> list[Measurement]:
    rows = (
        tx.all(sql.latest_measurements, Measurement, **cutoff.to_parameters(tx), keys=to_json_array(keys))
        if keys
        else []
    )
    return [_normalize_number(row) for row in rows]


def _read_latest_reviews(tx: Transaction, cutoff: Cutoff, keys: Collection[str]) -> list[Review]:
    return tx.all(sql.latest_reviews, Review, **cutoff.to_parameters(tx), keys=to_json_array(keys)) if keys else []


def _to_page_parameters(after: RecordPosition, at_most: int) -> dict[str, int]:
    rev, n = after
    return {"after_rev": rev, "after_n": n, "at_most": at_most}


def _normalize_number(row: Measurement) -> Measurement:
    return row._replace(value=normalize_number(row.value))


def _parse_refs(stored: Any) -> list[str]:
    """Decode the JSON refs of a row."""
    return _decode_refs(stored)
