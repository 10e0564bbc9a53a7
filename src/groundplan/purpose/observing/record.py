"""Record observations: measurements, reviews of assumptions, waivers, decisions and requests. Records are final.

A decision can answer a request and supersede an earlier decision. What an observation names is resolved to stable keys
across all versions of the project.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan import providers
from groundplan.kernel.access import Permission
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.errors import Conflict, NextStep, NotFound, RuleViolated
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, find_nearest, format_argument_path, invalid_argument, quote_text
from groundplan.purpose.analysis import RefutedImpact, find_refuted_impacts
from groundplan.purpose.dates import get_day, parse_day, parse_moment, to_last_instant
from groundplan.purpose.gates.gates import is_waivable, list_codes
from groundplan.purpose.model import (
    LIST_BYTES_MAX,
    AssumptionStatus,
    FactRefs,
    Ref,
    Sentence,
    Word,
    parse_edge_name,
)
from groundplan.purpose.observing.read import parse_refs
from groundplan.purpose.observing.records import format_record_id
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.versions import get_current_rev

sql = load_queries(__file__)

NEAR_SHOWN_MAX = 3


class RefResolver:
    """A resolver of keys, row ids and edge names to stable keys, in all versions of the project."""

    def __init__(self, tx: Transaction, refs: Iterable[str]) -> None:
        self._tx = tx
        self._next_step = NextStep("purpose.open", "shows the keys and the edges", {"project": tx.project.name})
        given = set(refs)
        edges = [name for name in map(parse_edge_name, given) if name is not None]
        keys = {*given, *(end for name in edges for end in name[:2])}
        self._items: dict[str, tuple[str, str]] = {  # (kind, key) by key or row id
            key: (thing, key)
            for key, thing in tx.all(sql.kinds_by_key, project_id=tx.project.id, keys=to_json_array(keys))
        }
        ids = [id_ for id_ in map(parse_uuid, given) if id_]
        for id_, key, thing in tx.all(sql.items_by_id, project_id=tx.project.id, ids=to_json_array(ids)) if ids else ():
            self._items[id_] = (thing, key)
        self._edges: set[tuple[str, str, str]] = set()
        if edges:
            ends = {
                "sources": to_json_array({edge.source for edge in edges}),
                "targets": to_json_array({edge.target for edge in edges}),
            }
            self._edges = {
                (s, t, type_) for s, t, type_ in tx.all(sql.edges_between_keys, project_id=tx.project.id, **ends)
            }

    def resolve_key(self, ref: str, wanted: str, path: ArgumentPath) -> str:
        """Return the key of an indicator or an assumption."""
        kind, key = self._find(ref)
        if kind != wanted:
            raise NotFound(wanted, ref, next_steps=self._next_step, field=format_argument_path(path))
        return key

    def resolve_any(self, ref: str, path: ArgumentPath) -> str:
        """Return the key of a node, an assumption or an indicator, or the name of an edge."""
        edge = parse_edge_name(ref)
        if edge is not None and edge in self._edges:
            return str(edge)
        kind, key = self._find(ref)
        if not kind:
            raise NotFound("key", ref, next_steps=self._next_step, field=format_argument_path(path))
        return key

    def resolve_subject(self, ref: str, path: ArgumentPath) -> str:
        """Return the subject of a decision: a key, an edge name, the pointer of a fact, or the id of a work node."""
        if ref in self._items or parse_edge_name(ref) is not None or parse_uuid(ref):
            return self.resolve_any(ref, path)
        find_targets = providers.find_fact_targets if ref.startswith("/") else providers.find_work_targets
        near = []
        for find in (find_targets, providers.find_purpose_targets):
            targets = find(self._tx, [ref])
            if ref in targets.found:
                return targets.found[ref].ref
            near += targets.near.get(ref, [])
        if list_links_to(self._tx, LinkType.RESTS_ON, [ref]):
            return ref  # a fact that is gone, and on which something rests
        thing = "fact" if ref.startswith("/") else "key or work node"
        raise NotFound(
            thing, ref, near=near[:NEAR_SHOWN_MAX], next_steps=self._next_step, field=format_argument_path(path)
        )

    def _find(self, ref: str) -> tuple[str, str]:
        return self._items.get(ref) or self._items.get(parse_uuid(ref) or "") or ("", "")


class Recorder:
    """A writer of observations and their events, which numbers them within one write."""

    def __init__(self, tx: Transaction) -> None:
        self.tx = tx
        self.count = 0

    def add(self, query: Any, op: Op, subject: str, **row: Any) -> str:
        """Write an observation and its event; return its id."""
        id_ = format_record_id(self.tx.rev, self.count)
        self.tx.run(query, project_id=self.tx.project.id, rev=self.tx.rev, n=self.count, **row)
        given = {name: value for name, value in row.items() if value is not None}
        self.tx.record(op, subject, *(changed(name, None, value) for name, value in given.items()))
        self.count += 1
        return id_


def encode_refs(refs: list[str], path: ArgumentPath) -> str:
    """Return a list of refs as JSON for storage."""
    text = to_json_array(refs)
    bytes_ = len(text.encode())
    if bytes_ > LIST_BYTES_MAX:
        sentence = f"has {bytes_} bytes as JSON, the limit is {LIST_BYTES_MAX}; split it into two"
        raise invalid_argument(path, sentence, code="too_long", limit_bytes=LIST_BYTES_MAX, actual_bytes=bytes_)
    return text


NEAR_SEARCHED_MAX = 200  # the latest records among which similar ids are looked for
WITHOUT_SUBJECT = "purpose"  # the subject of the event of a record that is about nothing in particular
_NUMBER_DIGITS_MAX = 15  # below 2**53


class AlreadySuperseded(Conflict):
    """Another decision has superseded this one."""

    code = "already_superseded"


class AlreadyAnswered(Conflict):
    """Another decision has answered this request."""

    code = "already_answered"


class DecisionWrite(Struct, forbid_unknown_fields=True):
    """A decision and its rationale. Without `about`, it is about the record that it replaces or answers."""

    text: Sentence
    rationale: Sentence
    about: FactRefs | None = None
    outcome: Sentence | None = None
    supersedes: Ref | None = None
    answers: Ref | None = None


class RequestWrite(Struct, forbid_unknown_fields=True):
    """A question that waits for a decision."""

    question: Sentence
    about: FactRefs | None = None
    to: Word | None = None


class _EarlierRecord(NamedTuple):
    """The decision or request that a decision refers to."""

    rev: int | None = None
    n: int | None = None
    about: tuple[str, ...] = ()


def record_decision(recorder: Recorder, names: RefResolver, decision: DecisionWrite, path: ArgumentPath) -> str:
    """Record a decision; return its id."""
    superseded = _find_superseded(recorder.tx, decision.supersedes, (*path, "supersedes"))
    answered = _find_answered(recorder.tx, decision.answers, (*path, "answers"))
    about = _resolve_subjects(names, decision.about, path)
    if decision.about is None:
        about = list(dict.fromkeys((*superseded.about, *answered.about)))
    return recorder.add(
        sql.add_decision,
        Op.DECIDED,
        about[0] if about else WITHOUT_SUBJECT,
        text=decision.text,
        rationale=decision.rationale,
        about=encode_refs(about, (*path, "about")),
        outcome=decision.outcome,
        supersedes_rev=superseded.rev,
        supersedes_n=superseded.n,
        answers_rev=answered.rev,
        answers_n=answered.n,
    )


def record_request(recorder: Recorder, names: RefResolver, request: RequestWrite, path: ArgumentPath) -> str:
    """Record a request for a decision; return its id."""
    about = _resolve_subjects(names, request.about, path)
    return recorder.add(
        sql.add_request,
        Op.REQUESTED,
        about[0] if about else WITHOUT_SUBJECT,
        question=request.question,
        about=encode_refs(about, (*path, "about")),
        asked_of=request.to,
    )


def _resolve_subjects(names: RefResolver, refs: list[str] | None, path: ArgumentPath) -> list[str]:
    return [names.resolve_subject(ref, (*path, "about", index)) for index, ref in enumerate(refs or ())]


def _find_superseded(tx: Transaction, ref: str | None, path: ArgumentPath) -> _EarlierRecord:
    if ref is None:
        return _EarlierRecord()
    superseded, successor = _find_record(tx, ref, "decision", sql.decision_about, sql.latest_decisions, path)
    if successor is not None:
        raise AlreadySuperseded(
            f"decision {ref} was superseded by decision {successor}; supersede that one instead",
            field=format_argument_path(path),
            superseded_by=successor,
        )
    return superseded


def _find_answered(tx: Transaction, ref: str | None, path: ArgumentPath) -> _EarlierRecord:
    if ref is None:
        return _EarlierRecord()
    answered, answer = _find_record(tx, ref, "request", sql.request_about, sql.latest_requests, path)
    if answer is not None:
        raise AlreadyAnswered(
            f"request {ref} was answered by decision {answer}; to change the answer, supersede that decision",
            field=format_argument_path(path),
            answered_by=answer,
        )
    return answered


def _find_record(
    tx: Transaction, ref: str, thing: str, find: Any, list_latest: Any, path: ArgumentPath
) -> tuple[_EarlierRecord, str | None]:
    """Return the decision or request with an id, and the id of the decision that replaced or answered it."""
    rev, _, n = ref.partition(".")
    if all(part.isascii() and part.isdigit() and len(part) <= _NUMBER_DIGITS_MAX for part in (rev, n)):
        row = tx.one_or_none(find, project_id=tx.project.id, rev=int(rev), n=int(n))
        if row is not None:
            about, follower = row
            return _EarlierRecord(int(rev), int(n), tuple(parse_refs(about))), follower
    latest = tx.all(list_latest, project_id=tx.project.id, at_most=NEAR_SEARCHED_MAX)
    near = find_nearest(ref, [format_record_id(*row) for row in latest])
    show = NextStep("purpose.observations", f"lists the {thing}s", {"project": tx.project.name})
    raise NotFound(thing, ref, near=[near] if near else [], next_steps=show, field=format_argument_path(path))


OBSERVATIONS_MAX = 1_000  # of one kind in one call
_OBSERVATIONS_LIMIT = Meta(max_length=OBSERVATIONS_MAX)
TIME_ZONE_LEAD_MAX = timedelta(days=1)  # a time zone can be ahead of UTC by less than this
FACTS_CHECK = "GB_FACTS"  # the check about facts, whose refs are pointers


class NotWaivable(RuleViolated):
    """The check cannot be waived."""

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
    """The observations to record. Either all are recorded, or none."""

    project: Name
    measurements: Annotated[list[MeasurementWrite], _OBSERVATIONS_LIMIT] | None = None
    reviews: Annotated[list[ReviewWrite], _OBSERVATIONS_LIMIT] | None = None
    waivers: Annotated[list[WaiverWrite], _OBSERVATIONS_LIMIT] | None = None
    decisions: Annotated[list[DecisionWrite], _OBSERVATIONS_LIMIT] | None = None
    requests: Annotated[list[RequestWrite], _OBSERVATIONS_LIMIT] | None = None
    lean: bool | None = None
    op_id: OpId = None


class RecordedObservations(Struct):
    """The number of recorded observations, the ids of decisions and requests, and the effect of refuted assumptions."""

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
        _record_measurement(recording, names, measurement, ("measurements", index))
    for index, review in enumerate(request.reviews or ()):
        _record_review(recording, names, review, ("reviews", index))
    for index, waiver in enumerate(request.waivers or ()):
        _record_waiver(recording, names, waiver, ("waivers", index))
    decisions = [
        record_decision(recording, names, decision, ("decisions", index))
        for index, decision in enumerate(request.decisions or ())
    ]
    requests = [
        record_request(recording, names, question, ("requests", index))
        for index, question in enumerate(request.requests or ())
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
    yield from (measurement.indicator for measurement in request.measurements or ())
    yield from (review.assumption for review in request.reviews or ())
    for waiver in request.waivers or ():
        yield from waiver.refs
    for decision in (*(request.decisions or ()), *(request.requests or ())):
        yield from decision.about or ()


def record_waivers(tx: Transaction, waivers: list[WaiverWrite], path: ArgumentPath) -> None:
    """Record the waivers of an imported theory."""
    names = RefResolver(tx, [ref for waiver in waivers for ref in waiver.refs])
    recording = Recorder(tx)
    for index, waiver in enumerate(waivers):
        _record_waiver(recording, names, waiver, (*path, index))


def record_measurements(tx: Transaction, measurements: list[MeasurementWrite], path: ArgumentPath) -> None:
    """Record the measurements of an imported theory."""
    names = RefResolver(tx, [measurement.indicator for measurement in measurements])
    recording = Recorder(tx)
    for index, measurement in enumerate(measurements):
        _record_measurement(recording, names, measurement, (*path, index))


def _record_measurement(
    recording: Recorder, names: RefResolver, measurement: MeasurementWrite, path: ArgumentPath
) -> None:
    key = names.resolve_key(measurement.indicator, "indicator", (*path, "indicator"))
    as_of = parse_moment(measurement.as_of, (*path, "as_of"))
    if as_of > subtract_time(recording.tx.now, delta=-TIME_ZONE_LEAD_MAX):
        raise invalid_argument(
            (*path, "as_of"), f"{quote_text(measurement.as_of)} is in the future; give the date of the measurement"
        )
    recording.add(
        sql.add_measurement,
        Op.MEASURED,
        key,
        indicator_key=key,
        value=measurement.value + 0.0,  # turns -0.0 into 0.0, because only one engine keeps the sign
        as_of=as_of,
        as_of_until=to_last_instant(as_of),
        source=measurement.source,
        note=measurement.note,
    )


def _record_review(recording: Recorder, names: RefResolver, review: ReviewWrite, path: ArgumentPath) -> None:
    key = names.resolve_key(review.assumption, "assumption", (*path, "assumption"))
    recording.add(
        sql.add_review,
        Op.REVIEWED,
        key,
        assumption_key=key,
        status=review.status.value,
        reason=review.reason,
        evidence=review.evidence,
    )


def refuse_unwaivable(code: str, path: ArgumentPath) -> None:
    """Refuse a check that is unknown or cannot be waived."""
    if code not in list_codes():
        show = NextStep("purpose.check", "shows the codes")
        raise invalid_argument(
            path, f"{quote_text(code)} is not the code of a check", next_steps=show, allowed=list_codes()
        )
    if not is_waivable(code):
        raise NotWaivable(code, path)


def _record_waiver(recording: Recorder, names: RefResolver, waiver: WaiverWrite, path: ArgumentPath) -> None:
    refuse_unwaivable(waiver.code, (*path, "code"))
    refs = [
        ref if waiver.code == FACTS_CHECK and ref.startswith("/") else names.resolve_any(ref, (*path, "refs", index))
        for index, ref in enumerate(waiver.refs)
    ]
    due = parse_day(waiver.due, (*path, "due"))
    today = get_day(recording.tx.now)
    if due < today:
        sentence = f"{quote_text(waiver.due)} is past, so it would waive nothing; give a day from {today} on"
        raise invalid_argument((*path, "due"), sentence)
    recording.add(
        sql.add_waiver,
        Op.WAIVED,
        waiver.code,
        code=waiver.code,
        refs=encode_refs(refs, (*path, "refs")),
        reason=waiver.reason,
        owner=waiver.owner,
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
    http=Route("POST", "/projects/{project}/purpose/observations", location="/projects/{project}/purpose/observations"),
)
