"""What was observed, as it is known now or as it was known at some moment.

Everything is in the order of recording, (rev, n). What a version needs of it is little: the newest measurement of each
indicator and the latest review of each assumption are sought by key, however many there are.
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
from groundplan.purpose.observing.observation_rows import Decision, Measurement, Observations, Review, Waiver

sql = load_queries(__file__)

RecordPosition = tuple[int, int]  # rev and n of what was read last

BEGINNING: RecordPosition = (0, -1)
_NO_LIMIT = 2**53  # no revision comes after it, and nobody has as many rows
_decode_refs = msgspec.json.Decoder(list[str]).decode


class Cutoff(NamedTuple):
    """Up to when something must have been recorded to be known: before a write, or by a day or an instant."""

    before_rev: int | None = None
    as_of: str | None = None

    def cut(self, tx: Transaction) -> dict[str, Any]:
        """The parameters of the queries."""
        return {
            "project_id": tx.project.id,
            "before_rev": _NO_LIMIT if self.before_rev is None else self.before_rev,
            "at_latest": to_last_instant(self.as_of or "9999-12-31"),
        }


NO_CUTOFF = Cutoff()


def read_version_observations(tx: Transaction, content: Content, known: Cutoff = NO_CUTOFF) -> Observations:
    """What was observed of a version: of each indicator and each assumption the latest, and everything else."""
    return Observations(
        _latest_measurements(tx, known, content.indicators),
        _latest_reviews(tx, known, content.assumptions),
        waivers(tx, known),
        decisions(tx, known),
    )


def find_observed_keys(tx: Transaction, keys: list[str]) -> set[str]:
    """Of some keys, those under which something was measured or reviewed."""
    measured = {one.indicator for one in _latest_measurements(tx, NO_CUTOFF, keys)}
    return measured | {one.assumption for one in _latest_reviews(tx, NO_CUTOFF, keys)}


def measurements(
    tx: Transaction, known: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Measurement]:
    """What was measured, from some place on."""
    rows = tx.all(sql.measurements, Measurement, **known.cut(tx), **_to_page_parameters(after, at_most))
    return [_with_plain_number(row) for row in rows]


def reviews(
    tx: Transaction, known: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Review]:
    """What reviews found, from some place on."""
    return tx.all(sql.reviews, Review, **known.cut(tx), **_to_page_parameters(after, at_most))


def waivers(
    tx: Transaction, known: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Waiver]:
    """What was waived, from some place on."""
    rows = tx.all(sql.waivers, Waiver, **known.cut(tx), **_to_page_parameters(after, at_most))
    return [row._replace(refs=_parse_refs(row.refs)) for row in rows]


def decisions(
    tx: Transaction, known: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Decision]:
    """What was decided, from some place on."""
    rows = tx.all(sql.decisions, Decision, **known.cut(tx), **_to_page_parameters(after, at_most))
    return [row._replace(about=_parse_refs(row.about)) for row in rows]


def _latest_measurements(tx: Transaction, known: Cutoff, keys: Collection[str]) -> list[Measurement]:
    rows = tx.all(sql.latest_measurements, Measurement, **known.cut(tx), keys=to_json_array(keys)) if keys else []
    return [_with_plain_number(row) for row in rows]


def _latest_reviews(tx: Transaction, known: Cutoff, keys: Collection[str]) -> list[Review]:
    return tx.all(sql.latest_reviews, Review, **known.cut(tx), keys=to_json_array(keys)) if keys else []


def _to_page_parameters(after: RecordPosition, at_most: int) -> dict[str, int]:
    rev, n = after
    return {"after_rev": rev, "after_n": n, "at_most": at_most}


def _with_plain_number(row: Measurement) -> Measurement:
    return row._replace(value=normalize_number(row.value))


def _parse_refs(stored: Any) -> list[str]:
    """Return the refs of a row, which are JSON there."""
    return _decode_refs(stored)
