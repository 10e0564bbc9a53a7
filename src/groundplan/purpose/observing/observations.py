"""Read the recorded observations, as known now or on a given day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.cursors import InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import parse_moment
from groundplan.purpose.model import AssumptionStatus
from groundplan.purpose.observing import read_observations
from groundplan.purpose.observing.observation_rows import (
    Decision,
    DecisionRequest,
    Measurement,
    Review,
    Waiver,
    format_record_id,
)
from groundplan.purpose.observing.read_observations import BEGINNING, Cutoff
from groundplan.purpose.pages import PageEntry, PagePosition, fill_page
from groundplan.purpose.versions.versions import get_current_rev

NAME = "purpose.observations"
ROWS_MAX = 1_000  # of one kind read for a page; more never fit on one


class MeasurementView(Struct, omit_defaults=True):
    """A measurement of an indicator: its value, its day, and who recorded it."""

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
    """Return the recorded observations, up to `as_of` if given.

    Raises:
        Invalid: the date or the cursor is invalid.
    """
    known = Cutoff(as_of=None if as_of is None else parse_moment(as_of, ("as_of",)))
    query = [tx.project.id, known.as_of]
    after = (0, *BEGINNING) if cursor is None else _decode_position(tx, query, cursor)
    answer = ObservationsPage(tx.project.name, get_current_rev(tx), [], [], [], [], [])
    entries = _read_entries(tx, known, after, capped=tx.budget.is_limited)
    fill_page(answer, entries, tx.budget, lambda last: encode_cursor(tx, NAME, query, *last))
    return answer


def _read_entries(tx: Transaction, cutoff: Cutoff, after: PagePosition, *, capped: bool) -> list[PageEntry]:
    """Return the entries after a position (kind, rev, n): the rest of its kind, then the other kinds."""
    found: list[PageEntry] = []
    first, *position = after
    for number, (part, read, to_view) in enumerate(_OBSERVATION_KINDS):
        if number >= first:
            begin = (position[0], position[1]) if number == first else BEGINNING
            rows = read(tx, cutoff, begin, ROWS_MAX) if capped else read(tx, cutoff, begin)
            found += [PageEntry((number, row.rev, row.n), part, to_view(row)) for row in rows]
            if capped and len(rows) == ROWS_MAX:
                break  # more of this kind may follow before the next kind
    return found


def _to_measurement_view(one: Measurement) -> MeasurementView:
    return MeasurementView(one.indicator, one.value, one.as_of, one.recorded_at, one.recorded_by, one.source, one.note)


def _to_review_view(one: Review) -> ReviewView:
    return ReviewView(one.assumption, one.status, one.reason, one.recorded_at, one.recorded_by, one.evidence)


def _format_waiver(one: Waiver) -> RecordedWaiver:
    return RecordedWaiver(one.code, one.refs, one.reason, one.owner, one.due, one.recorded_at, one.recorded_by)


def _to_decision_view(one: Decision) -> DecisionView:
    return DecisionView(
        one.id,
        one.text,
        one.rationale,
        one.about,
        one.recorded_at,
        one.recorded_by,
        one.outcome,
        _format_ref(one.supersedes_rev, one.supersedes_n),
        _format_ref(one.answers_rev, one.answers_n),
        one.superseded_by,
    )


def _format_ref(rev: int | None, n: int | None) -> str | None:
    return None if rev is None or n is None else format_record_id(rev, n)


def _to_request_view(one: DecisionRequest) -> RequestView:
    return RequestView(one.id, one.question, one.about, one.recorded_at, one.recorded_by, one.asked_of, one.answered_by)


_OBSERVATION_KINDS: tuple[tuple[str, Callable[..., list[Any]], Callable[[Any], Any]], ...] = (
    ("measurements", read_observations.read_measurements, _to_measurement_view),
    ("reviews", read_observations.read_reviews, _to_review_view),
    ("waivers", read_observations.read_waivers, _format_waiver),
    ("decisions", read_observations.read_decisions, _to_decision_view),
    ("requests", read_observations.read_requests, _to_request_view),
)


def _decode_position(tx: Transaction, query: list[Any], cursor: str) -> PagePosition:
    match decode_cursor(tx, NAME, query, cursor):
        case [int() as part, int() as rev, int() as n]:
            return part, rev, n
    raise InvalidCursor
