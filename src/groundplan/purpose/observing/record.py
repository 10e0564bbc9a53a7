"""Record observations: measurements, reviews of assumptions, waivers, decisions, requests. They never change."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import NextStep, RuleViolated
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.analysis.refuted_impacts import RefutedImpact, find_refuted_impacts
from groundplan.purpose.dates import get_day, parse_day, parse_moment, to_last_instant
from groundplan.purpose.events import Op
from groundplan.purpose.limits import FactRefs, Ref, Sentence, Word
from groundplan.purpose.model import AssumptionStatus
from groundplan.purpose.observing.decide import DecisionWrite, RequestWrite, record_decision, record_request
from groundplan.purpose.observing.recorder import Recorder, encode_refs
from groundplan.purpose.observing.ref_resolver import RefResolver
from groundplan.purpose.versions.versions import get_current_rev

sql = load_queries(__file__)

OBSERVATIONS_MAX = 1_000  # of one kind in one call
_OBSERVATIONS_LIMIT = Meta(max_length=OBSERVATIONS_MAX)
TIME_ZONE_LEAD_MAX = timedelta(days=1)  # a time zone can be ahead of UTC by less than this
FACTS_CHECK = "GB_FACTS"  # the check about facts, whose refs are pointers


class NotWaivable(RuleViolated):
    """This check cannot be waived."""

    code = "not_waivable"

    def __init__(self, code: str, path: ArgumentPath) -> None:
        super().__init__(
            f"{format_argument_path(path)}: {code} cannot be waived, "
            "because the database refuses what it finds, or because it is about "
            "who may see the data. Correct the finding instead",
            field=format_argument_path(path),
            check=code,
        )


class MeasurementWrite(Struct, forbid_unknown_fields=True):
    """A measurement of an indicator on a day."""

    indicator: Ref
    value: float
    as_of: str
    source: Sentence | None = None
    note: Sentence | None = None


class ReviewWrite(Struct, forbid_unknown_fields=True):
    """A review of an assumption."""

    assumption: Ref
    status: AssumptionStatus
    reason: Sentence
    evidence: Sentence | None = None


class WaiverWrite(Struct, forbid_unknown_fields=True):
    """A waiver of a check until a day, for some refs, or without refs for the check as a whole."""

    code: Ref
    refs: FactRefs
    reason: Sentence
    owner: Word
    due: str


class RecordObservations(Struct, forbid_unknown_fields=True):
    """The observations to record, as a whole or not at all."""

    project: Name
    measurements: Annotated[list[MeasurementWrite], _OBSERVATIONS_LIMIT] | None = None
    reviews: Annotated[list[ReviewWrite], _OBSERVATIONS_LIMIT] | None = None
    waivers: Annotated[list[WaiverWrite], _OBSERVATIONS_LIMIT] | None = None
    decisions: Annotated[list[DecisionWrite], _OBSERVATIONS_LIMIT] | None = None
    requests: Annotated[list[RequestWrite], _OBSERVATIONS_LIMIT] | None = None
    lean: bool | None = None
    op_id: OpId = None


class RecordedObservations(Struct):
    """The number of observations recorded, the ids of decisions and requests, and the impact of refuted assumptions."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(("affected[].edges", "affected[].nodes", "affected[].work")),
        CutLists(("affected",)),
        CutLists(("decisions", "requests")),
    )

    recorded: int
    rev: int
    decisions: list[str] | UnsetType = UNSET
    requests: list[str] | UnsetType = UNSET
    affected: list[RefutedImpact] | UnsetType = UNSET
    left_out: LeftOut = UNSET


def record(tx: Transaction, request: RecordObservations) -> RecordedObservations:
    """Record observations.

    Raises:
        Invalid: there is nothing to record, or an observation is malformed.
        NotFound: a key is in no version of the project, or something that a decision names is not in the project.
        NotWaivable: a waiver names a check that cannot be waived.
        AlreadySuperseded: a decision supersedes one that has a successor.
        AlreadyAnswered: a decision answers a request that has an answer.
    """
    parts = (request.measurements, request.reviews, request.waivers, request.decisions, request.requests)
    if not any(parts):
        raise invalid_argument(
            (), "contain nothing to record; send measurements, reviews, waivers, decisions or requests"
        )
    names = RefResolver(tx, _collect_refs(request))
    recording = Recorder(tx)
    for index, measurement in enumerate(request.measurements or ()):
        _measure(recording, names, measurement, ("measurements", index))
    for index, review in enumerate(request.reviews or ()):
        _review(recording, names, review, ("reviews", index))
    for index, waiver in enumerate(request.waivers or ()):
        _waive(recording, names, waiver, ("waivers", index))
    decisions = [
        record_decision(recording, names, decision, ("decisions", index))
        for index, decision in enumerate(request.decisions or ())
    ]
    requests = [
        record_request(recording, names, one, ("requests", index)) for index, one in enumerate(request.requests or ())
    ]
    refuted = [
        names.resolve_key(review.assumption, "assumption", ("reviews", index))
        for index, review in enumerate(request.reviews or ())
        if review.status is AssumptionStatus.REFUTED
    ]
    return RecordedObservations(
        recording.count,
        get_current_rev(tx),
        decisions or UNSET,
        requests or UNSET,
        find_refuted_impacts(tx, refuted) or UNSET,
    )


def _collect_refs(request: RecordObservations) -> Iterable[str]:
    """Yield all refs of a request."""
    yield from (one.indicator for one in request.measurements or ())
    yield from (one.assumption for one in request.reviews or ())
    for waiver in request.waivers or ():
        yield from waiver.refs
    for one in (*(request.decisions or ()), *(request.requests or ())):
        yield from one.about or ()


def record_waivers(tx: Transaction, waivers: list[WaiverWrite], path: ArgumentPath) -> None:
    """Record the waivers of an imported theory.

    Raises:
        Invalid: a waiver is malformed.
        NotFound: a key is in no version of the project.
        NotWaivable: a waiver names a check that cannot be waived.
    """
    names = RefResolver(tx, [ref for waiver in waivers for ref in waiver.refs])
    recording = Recorder(tx)
    for index, waiver in enumerate(waivers):
        _waive(recording, names, waiver, (*path, index))


def record_measurements(tx: Transaction, measurements: list[MeasurementWrite], path: ArgumentPath) -> None:
    """Record the measurements of an imported theory.

    Raises:
        Invalid: a measurement is malformed.
        NotFound: an indicator is in no version of the project.
    """
    names = RefResolver(tx, [one.indicator for one in measurements])
    recording = Recorder(tx)
    for index, measurement in enumerate(measurements):
        _measure(recording, names, measurement, (*path, index))


def _measure(recording: Recorder, names: RefResolver, one: MeasurementWrite, path: ArgumentPath) -> None:
    key = names.resolve_key(one.indicator, "indicator", (*path, "indicator"))
    as_of = parse_moment(one.as_of, (*path, "as_of"))
    if as_of > subtract_time(recording.tx.now, delta=-TIME_ZONE_LEAD_MAX):
        raise invalid_argument(
            (*path, "as_of"), f"{quote_text(one.as_of)} is in the future; give the date of the measurement"
        )
    recording.add(
        sql.add_measurement,
        Op.MEASURED,
        key,
        indicator_key=key,
        value=one.value + 0.0,  # turns -0.0 into 0.0, because only one engine keeps the sign
        as_of=as_of,
        as_of_until=to_last_instant(as_of),
        source=one.source,
        note=one.note,
    )


def _review(recording: Recorder, names: RefResolver, one: ReviewWrite, path: ArgumentPath) -> None:
    key = names.resolve_key(one.assumption, "assumption", (*path, "assumption"))
    recording.add(
        sql.add_review,
        Op.REVIEWED,
        key,
        assumption_key=key,
        status=one.status.value,
        reason=one.reason,
        evidence=one.evidence,
    )


def refuse_unwaivable(code: str, path: ArgumentPath) -> None:
    """Raise an error if a check is unknown or cannot be waived.

    Raises:
        Invalid: there is no such check.
        NotWaivable: the check cannot be waived.
    """
    from groundplan.purpose.gates.gates import is_waivable, list_codes  # loaded only for waivers

    if code not in list_codes():
        show = NextStep("purpose.check", "shows the codes")
        raise invalid_argument(
            path, f"{quote_text(code)} is not the code of a check", next_steps=show, allowed=list_codes()
        )
    if not is_waivable(code):
        raise NotWaivable(code, path)


def _waive(recording: Recorder, names: RefResolver, one: WaiverWrite, path: ArgumentPath) -> None:
    refuse_unwaivable(one.code, (*path, "code"))
    refs = [
        ref if one.code == FACTS_CHECK and ref.startswith("/") else names.resolve_any(ref, (*path, "refs", index))
        for index, ref in enumerate(one.refs)
    ]
    due = parse_day(one.due, (*path, "due"))
    today = get_day(recording.tx.now)
    if due < today:
        sentence = f"{quote_text(one.due)} is past, so it would waive nothing; give a day from {today} on"
        raise invalid_argument((*path, "due"), sentence)
    recording.add(
        sql.add_waiver,
        Op.WAIVED,
        one.code,
        code=one.code,
        refs=encode_refs(refs, (*path, "refs")),
        reason=one.reason,
        owner=one.owner,
        due=due,
    )


WAIVE = declare(
    record,
    name="purpose.waive",
    summary="Record waivers and other observations.",
    permission=Permission.PURPOSE_WAIVE,
    effect=Effect.WRITE,
)

OPERATION = declare(
    record,
    name="purpose.record",
    summary="Record measurements, assumption reviews, decisions, requests for them, and waivers (owners).",
    permission=Permission.PURPOSE_RECORD,
    effect=Effect.WRITE,
    variants=(WAIVE,),
    choose_variant=lambda request: WAIVE if request.waivers else None,
    tool=Tool("toc_record", Group.PURPOSE),
    command=Command(("purpose", "record")),
    http=Route("POST", "/projects/{project}/purpose/observations", location="/projects/{project}/purpose/observations"),
)
