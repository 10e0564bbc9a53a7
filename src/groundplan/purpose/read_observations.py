"""What was observed, as it is known now or as it was known at some moment.

Everything is in the order of recording, (rev, n). What a version needs of it is little: the newest measurement of each
indicator and the latest review of each assumption are sought by key, however many there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.canonical import plain_number
from groundplan.purpose.dates import until
from groundplan.purpose.model import AssumptionStatus, Content
from groundplan.purpose.observed import Decision, Measurement, Observations, Review, Waiver

sql = load_queries(__file__)

Place = tuple[int, int]  # rev and n of what was read last

BEGINNING: Place = (0, -1)
_STATUSES = {status.value: status for status in AssumptionStatus}
_ALWAYS = 2**53  # no revision comes after it, and nobody has as many rows
_refs = msgspec.json.Decoder(list[str]).decode


class Known(NamedTuple):
    """Up to when something must have been recorded to be known: before a write, or by a day or an instant."""

    before_rev: int | None = None
    as_of: str | None = None

    def cut(self, tx: Transaction) -> dict[str, Any]:
        """The parameters of the queries."""
        return {
            "project_id": tx.project.id,
            "before_rev": _ALWAYS if self.before_rev is None else self.before_rev,
            "at_latest": until(self.as_of or "9999-12-31"),
        }


NOW = Known()


def observations_of(tx: Transaction, content: Content, known: Known = NOW) -> Observations:
    """What was observed of a version: of each indicator and each assumption the latest, and everything else."""
    cut = known.cut(tx)
    measured = tx.all(sql.latest_measurements, **cut, keys=listed(content.indicators)) if content.indicators else []
    reviewed = tx.all(sql.latest_reviews, **cut, keys=listed(content.assumptions)) if content.assumptions else []
    return Observations(
        [_measurement(row) for row in measured],
        [_review(row) for row in reviewed],
        waivers(tx, known),
        decisions(tx, known),
    )


def keys_observed(tx: Transaction, keys: list[str]) -> set[str]:
    """Of some keys, those under which something was measured or reviewed."""
    if not keys:
        return set()
    cut = NOW.cut(tx)
    measured = tx.all(sql.latest_measurements, **cut, keys=listed(keys))
    reviewed = tx.all(sql.latest_reviews, **cut, keys=listed(keys))
    return {_measurement(row).indicator for row in measured} | {_review(row).assumption for row in reviewed}


def measurements(tx: Transaction, known: Known, after: Place = BEGINNING, at_most: int = _ALWAYS) -> list[Measurement]:
    """What was measured, from some place on."""
    return [_measurement(row) for row in tx.all(sql.measurements, **known.cut(tx), **_behind(after, at_most))]


def reviews(tx: Transaction, known: Known, after: Place = BEGINNING, at_most: int = _ALWAYS) -> list[Review]:
    """What reviews found, from some place on."""
    return [_review(row) for row in tx.all(sql.reviews, **known.cut(tx), **_behind(after, at_most))]


def waivers(tx: Transaction, known: Known, after: Place = BEGINNING, at_most: int = _ALWAYS) -> list[Waiver]:
    """What was waived, from some place on."""
    rows = tx.all(sql.waivers, **known.cut(tx), **_behind(after, at_most))
    return [Waiver(rev, n, code, _refs(refs), *others) for rev, n, code, refs, *others in rows]


def decisions(tx: Transaction, known: Known, after: Place = BEGINNING, at_most: int = _ALWAYS) -> list[Decision]:
    """What was decided, from some place on."""
    rows = tx.all(sql.decisions, **known.cut(tx), **_behind(after, at_most))
    return [
        Decision(rev, n, text, rationale, _refs(about), *others) for rev, n, text, rationale, about, *others in rows
    ]


def _behind(after: Place, at_most: int) -> dict[str, int]:
    rev, n = after
    return {"after_rev": rev, "after_n": n, "at_most": at_most}


def _measurement(row: tuple[Any, ...]) -> Measurement:
    rev, n, key, value, *others = row
    return Measurement(rev, n, key, plain_number(value), *others)


def _review(row: tuple[Any, ...]) -> Review:
    rev, n, key, status, *others = row
    return Review(rev, n, key, _STATUSES[status], *others)
