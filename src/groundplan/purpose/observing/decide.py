"""Record decisions and requests for them. A decision can answer a request and supersede an earlier decision."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from groundplan.kernel.errors import Conflict, NextStep, NotFound
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, find_nearest, format_argument_path
from groundplan.purpose.events import Op
from groundplan.purpose.limits import FactRefs, Ref, Sentence, Word
from groundplan.purpose.observing.observation_rows import format_record_id
from groundplan.purpose.observing.recorder import Recorder, encode_refs
from groundplan.purpose.observing.ref_resolver import RefResolver

sql = load_queries(__file__)

NEAR_SEARCHED_MAX = 200  # the latest records among which similar ids are looked for
WITHOUT_SUBJECT = "purpose"  # the subject of the event of a record that is about nothing in particular
_NUMBER_DIGITS_MAX = 15  # below 2**53
_decode_refs = msgspec.json.Decoder(list[str]).decode


class AlreadySuperseded(Conflict):
    """Another decision has superseded this one."""

    code = "already_superseded"


class AlreadyAnswered(Conflict):
    """A decision has answered this request."""

    code = "already_answered"


class DecisionWrite(Struct, forbid_unknown_fields=True):
    """A decision and its rationale. Without `about` it is about what it supersedes or answers."""

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
    """A decision or a request that a decision names."""

    rev: int | None = None
    n: int | None = None
    about: tuple[str, ...] = ()


def record_decision(recorder: Recorder, names: RefResolver, one: DecisionWrite, path: ArgumentPath) -> str:
    """Record a decision; return its id.

    Raises:
        NotFound: something that it names is not in the project.
        AlreadySuperseded: the earlier decision has a successor.
        AlreadyAnswered: the request has an answer.
    """
    superseded = _find_superseded(recorder.tx, one.supersedes, (*path, "supersedes"))
    answered = _find_answered(recorder.tx, one.answers, (*path, "answers"))
    about = _resolve_subjects(names, one.about, path)
    if one.about is None:
        about = list(dict.fromkeys((*superseded.about, *answered.about)))
    return recorder.add(
        sql.add_decision,
        Op.DECIDED,
        about[0] if about else WITHOUT_SUBJECT,
        text=one.text,
        rationale=one.rationale,
        about=encode_refs(about, (*path, "about")),
        outcome=one.outcome,
        supersedes_rev=superseded.rev,
        supersedes_n=superseded.n,
        answers_rev=answered.rev,
        answers_n=answered.n,
    )


def record_request(recorder: Recorder, names: RefResolver, one: RequestWrite, path: ArgumentPath) -> str:
    """Record a request for a decision; return its id.

    Raises:
        NotFound: something that it is about is not in the project.
    """
    about = _resolve_subjects(names, one.about, path)
    return recorder.add(
        sql.add_request,
        Op.REQUESTED,
        about[0] if about else WITHOUT_SUBJECT,
        question=one.question,
        about=encode_refs(about, (*path, "about")),
        asked_of=one.to,
    )


def _resolve_subjects(names: RefResolver, refs: list[str] | None, path: ArgumentPath) -> list[str]:
    return [names.resolve_subject(ref, (*path, "about", index)) for index, ref in enumerate(refs or ())]


def _find_superseded(tx: Transaction, ref: str | None, path: ArgumentPath) -> _EarlierRecord:
    if ref is None:
        return _EarlierRecord()
    found, successor = _find_record(tx, ref, "decision", sql.decision_about, sql.latest_decisions, path)
    if successor is not None:
        raise AlreadySuperseded(
            f"decision {ref} was superseded by decision {successor}; supersede that one instead",
            field=format_argument_path(path),
            superseded_by=successor,
        )
    return found


def _find_answered(tx: Transaction, ref: str | None, path: ArgumentPath) -> _EarlierRecord:
    if ref is None:
        return _EarlierRecord()
    found, answer = _find_record(tx, ref, "request", sql.request_about, sql.latest_requests, path)
    if answer is not None:
        raise AlreadyAnswered(
            f"request {ref} was answered by decision {answer}; to change the answer, supersede that decision",
            field=format_argument_path(path),
            answered_by=answer,
        )
    return found


def _find_record(
    tx: Transaction, ref: str, thing: str, find: Any, list_latest: Any, path: ArgumentPath
) -> tuple[_EarlierRecord, str | None]:
    """Return the decision or request with an id, and the id of the decision that followed it."""
    rev, _, n = ref.partition(".")
    if all(part.isascii() and part.isdigit() and len(part) <= _NUMBER_DIGITS_MAX for part in (rev, n)):
        row = tx.one_or_none(find, project_id=tx.project.id, rev=int(rev), n=int(n))
        if row is not None:
            about, follower = row
            return _EarlierRecord(int(rev), int(n), tuple(_decode_refs(about))), follower
    latest = tx.all(list_latest, project_id=tx.project.id, at_most=NEAR_SEARCHED_MAX)
    near = find_nearest(ref, [format_record_id(*one) for one in latest])
    show = NextStep("purpose.observations", f"lists the {thing}s", {"project": tx.project.name})
    raise NotFound(thing, ref, near=[near] if near else [], next_steps=show, field=format_argument_path(path))
