"""Read observations from the store, at the present or at an earlier moment.

Rows are in recording order, (rev, n). A version needs only the newest measurement of each indicator and the latest
review of each assumption, so these are looked up by key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.cursors import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import parse_moment, to_last_instant
from groundplan.purpose.model import AssumptionStatus, Content, convert_row, normalize_number
from groundplan.purpose.observing.records import (
    Decision,
    DecisionRequest,
    Measurement,
    Observations,
    Review,
    Waiver,
    format_record_id,
)
from groundplan.purpose.pages import PageEntry, PagePosition, fill_page
from groundplan.purpose.versions.versions import get_current_rev

sql = load_queries(__file__)

RecordPosition = tuple[int, int]  # (rev, n) of the last row read

BEGINNING: RecordPosition = (0, -1)
_NO_LIMIT = 2**53  # above every revision and row count
_decode_refs = msgspec.json.Decoder(list[str]).decode


class Cutoff(NamedTuple):
    """The limit of the observations to read: before a write, or up to a day or an instant."""

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
    """Return the keys of assumptions with a review that says at risk or refuted."""
    return tx.scalars(sql.assumptions_in_doubt, project_id=tx.project.id)


def read_latest_reviews(tx: Transaction, keys: Collection[str]) -> dict[str, Review]:
    """Return the latest review of each given assumption."""
    return {review.assumption: review for review in _read_latest_reviews(tx, NO_CUTOFF, keys)}


def read_latest_observations(tx: Transaction, content: Content) -> Observations:
    """Read the latest observation of each indicator and assumption only."""
    measurements = _read_latest_measurements(tx, NO_CUTOFF, content.indicators)
    return Observations(measurements, _read_latest_reviews(tx, NO_CUTOFF, content.assumptions), [], [])


def find_observed_keys(tx: Transaction, keys: list[str]) -> set[str]:
    """Return the keys that have a measurement or a review."""
    measured = {measurement.indicator for measurement in _read_latest_measurements(tx, NO_CUTOFF, keys)}
    return measured | {review.assumption for review in _read_latest_reviews(tx, NO_CUTOFF, keys)}


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
    return [row._replace(refs=parse_refs(row.refs)) for row in rows]


def read_decisions(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[Decision]:
    """Return decisions after a position."""
    rows = tx.all(sql.decisions, Decision, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [row._replace(about=parse_refs(row.about)) for row in rows]


def read_requests(
    tx: Transaction, cutoff: Cutoff, after: RecordPosition = BEGINNING, at_most: int = _NO_LIMIT
) -> list[DecisionRequest]:
    """Return requests for decisions after a position."""
    rows = tx.all(sql.requests, DecisionRequest, **cutoff.to_parameters(tx), **_to_page_parameters(after, at_most))
    return [row._replace(about=parse_refs(row.about)) for row in rows]


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


def parse_refs(stored: Any) -> list[str]:
    """Decode the JSON refs of a row."""
    return _decode_refs(stored)


def read_assumption_statuses(tx: Transaction, keys: Collection[str]) -> dict[str, AssumptionStatus]:
    """Return the status of each given assumption that was reviewed or refuted.

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
    return [row._replace(about=parse_refs(row.about)) for row in rows]


NAME = "purpose.observations"
ROWS_MAX = 1_000  # of one kind read for a page; more never fit on one


class MeasurementView(Struct, omit_defaults=True):
    """A measurement of an indicator: its value, its day, and its author."""

    indicator: str
    value: float
    as_of: str
    at: str
    by: str
    source: str | None = None
    note: str | None = None


class ReviewView(Struct, omit_defaults=True):
    """A review of an assumption."""

    assumption: str
    status: AssumptionStatus
    reason: str
    at: str
    by: str
    evidence: str | None = None


class RecordedWaiver(Struct):
    """A waiver as recorded: the check, its refs, and the last day."""

    code: str
    refs: list[str]
    reason: str
    owner: str
    due: str
    at: str
    by: str


class DecisionView(Struct, omit_defaults=True):
    """A decision and its rationale. `superseded_by` is the id of the decision that replaced it."""

    id: str
    text: str
    rationale: str
    about: list[str]
    at: str
    by: str
    outcome: str | None = None
    supersedes: str | None = None
    answers: str | None = None
    superseded_by: str | None = None


class RequestView(Struct, omit_defaults=True):
    """A question for a decision. `answered_by` is the id of the decision that answered it."""

    id: str
    question: str
    about: list[str]
    at: str
    by: str
    to: str | None = None
    answered_by: str | None = None


class ObservationsPage(Struct):
    """A page of observations, each kind in recording order."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    project: str
    rev: int
    measurements: list[MeasurementView]
    reviews: list[ReviewView]
    waivers: list[RecordedWaiver]
    decisions: list[DecisionView]
    requests: list[RequestView]
    next_cursor: str | UnsetType = UNSET


def read_observations_page(tx: Transaction, *, as_of: str | None, cursor: str | None) -> ObservationsPage:
    """Return the recorded observations, up to `as_of` if given."""
    known = Cutoff(as_of=None if as_of is None else parse_moment(as_of, ("as_of",)))
    query = [tx.project.id, known.as_of]
    after = (0, *BEGINNING) if cursor is None else _decode_position(tx, query, cursor)
    answer = ObservationsPage(tx.project.name, get_current_rev(tx), [], [], [], [], [])
    entries = _read_entries(tx, known, after, capped=tx.budget.is_limited)
    fill_page(answer, entries, tx.budget, lambda last: encode_cursor(tx, NAME, query, *last))
    return answer


def _read_entries(tx: Transaction, cutoff: Cutoff, after: PagePosition, *, capped: bool) -> list[PageEntry]:
    """Return the entries after a position (kind, rev, n): first the rest of its kind, then the other kinds."""
    entries: list[PageEntry] = []
    first, *position = after
    for number, (part, read, shape) in enumerate(_OBSERVATION_KINDS):
        if number >= first:
            begin = (position[0], position[1]) if number == first else BEGINNING
            rows = read(tx, cutoff, begin, ROWS_MAX) if capped else read(tx, cutoff, begin)
            entries += [PageEntry((number, row.rev, row.n), part, _to_view(row, shape)) for row in rows]
            if capped and len(rows) == ROWS_MAX:
                break  # more of this kind may follow before the next kind
    return entries


def _to_view(row: Any, shape: type[Struct]) -> Struct:
    given = {"at": row.recorded_at, "by": row.recorded_by}
    if isinstance(row, Decision):
        given["supersedes"] = _format_ref(row.supersedes_rev, row.supersedes_n)
        given["answers"] = _format_ref(row.answers_rev, row.answers_n)
    if isinstance(row, DecisionRequest):
        given["to"] = row.asked_of
    return convert_row(row, shape, **given)


def _format_ref(rev: int | None, n: int | None) -> str | None:
    return None if rev is None or n is None else format_record_id(rev, n)


_OBSERVATION_KINDS: tuple[tuple[str, Callable[..., list[Any]], type[Struct]], ...] = (
    ("measurements", read_measurements, MeasurementView),
    ("reviews", read_reviews, ReviewView),
    ("waivers", read_waivers, RecordedWaiver),
    ("decisions", read_decisions, DecisionView),
    ("requests", read_requests, RequestView),
)


def _decode_position(tx: Transaction, query: list[Any], cursor: str) -> PagePosition:
    match decode_cursor(tx, NAME, query, cursor):
        case [int() as part, int() as rev, int() as n]:
            return part, rev, n
    raise InvalidCursor
