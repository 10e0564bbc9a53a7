"""Undo a change: run its inverse, if there is one and nothing was built on it.

The changes of an actor are a stack. An undo takes back the last one that is in effect, and the next undo the one
before. A redo takes back the last undo, until the actor changes something else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import DropField, Trimming
from groundplan.kernel.audit import KernelOp
from groundplan.kernel.errors import Conflict, Forbidden, NextStep, NotFound
from groundplan.kernel.events import (
    EventHeader,
    EventPosition,
    StoredEvent,
    find_last_undo,
    find_last_write,
    find_later_event,
    find_undo,
    find_undo_of,
    load_write,
    record_undo,
    require_position,
)
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare, load_by_name
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.work.events import WorkOp

EVENTS_MAX = 1_000  # of a write that can be undone

# Where the inverses of each slice are, by the first word of an event. An undo loads those of the events that it undoes.
INVERSES: Mapping[str, str] = {
    "work": f"{__package__}.work_inverses:INVERSES",
    "knowledge": f"{__package__}.knowledge_inverses:INVERSES",
    "purpose": f"{__package__}.purpose_inverses:INVERSES",
    "context": f"{__package__}.context_inverses:INVERSES",
    "project": f"{__package__}.kernel_inverses:INVERSES",
    "member": f"{__package__}.kernel_inverses:INVERSES",
}
IGNORED_OPS = frozenset[str]({WorkOp.LEASE_MOVED})  # events that other events bring along


class ChangedSince(Conflict):
    """A later change touched the same thing."""

    code = "changed_since"

    def __init__(self, later: EventHeader) -> None:
        super().__init__(
            f"{later.subject} was changed again at {later.position}; undo that first, or change it yourself",
            subject=later.subject,
            event=str(later.position),
            actor=later.actor,
        )


class NothingToUndo(Conflict):
    """The actor made none of the last changes of the project."""

    code = "nothing_to_undo"

    def __init__(self) -> None:
        super().__init__("none of the last changes of this project is yours to undo; name the event to undo")


class NothingToRedo(Conflict):
    """The actor has taken back nothing since the actor's last change."""

    code = "nothing_to_redo"

    def __init__(self) -> None:
        super().__init__("you have undone nothing since your last change of this project")


class AlreadyUndone(Conflict):
    """The change was taken back, or done again, before."""

    code = "already_undone"

    def __init__(self, position: EventPosition, by: int, *, is_redo: bool) -> None:
        super().__init__(
            f"the change at {position} was {'done again' if is_redo else 'undone'} at {by}.0 already",
            event=f"{by}.0",
        )


class NotYourChange(Forbidden):
    """Only a person who owns the project can undo another actor's change."""

    code = "not_your_change"

    def __init__(self, position: EventPosition, actor: str) -> None:
        super().__init__(
            f"the change at {position} was made by {quote_text(actor)}; ask them or an owner to undo it",
            event=str(position),
            actor=actor,
        )


class Undo(Struct, forbid_unknown_fields=True):
    """The change to undo, by default the last of the caller; or whether to do again what the last undo took back."""

    project: Name
    event: str | None = None
    redo: bool = False
    dry_run: bool = False
    op_id: OpId = None

    def __post_init__(self) -> None:
        if self.redo and self.event is not None:
            raise ValueError("redo takes back the last undo; leave out event")


class DoneCall(Struct):
    """The call that was made."""

    operation: str
    arguments: dict[str, Any] | UnsetType = UNSET


class Undone(Struct):
    """The undone event, the call that undid it, and the parts that could not be restored."""

    trimming: ClassVar[Trimming] = Trimming(DropField("did.arguments"))

    undone: str
    text: str  # what was taken back or done again, as a sentence
    did: DoneCall
    dry_run: bool | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


class UndoPreview(Struct):
    """The operation that would undo an event, and the event that says what is taken back or done again."""

    operation: str
    event: EventPosition
    headline: EventPosition


class _PastWrite(NamedTuple):
    position: EventPosition
    events: Sequence[StoredEvent]
    origin_rev: int
    is_undo: bool = False  # so that taking it back is a redo

    @property
    def origin(self) -> EventPosition:
        return EventPosition(self.origin_rev, 0)


def undo(tx: Transaction, request: Undo) -> Undone:
    """Undo the caller's last change of a project, or the whole write that a given event belongs to.

    With `dry_run`, everything is done and then rolled back, so that it is refused just as the undo would be.

    Raises:
        NotFound: there is no such event.
        NothingToUndo: none of the last changes is the caller's.
        NothingToRedo: the caller has undone nothing since the last change.
        AlreadyUndone: the event was undone already.
        NotYourChange: another actor made the change, and the caller is no owner.
        ChangedSince: what it touched was changed again.
        CannotUndo: it has no inverse.
        EdgesRejected: an edge cannot be restored; the details have the loop that it would close.
        CycleDetected: a node that is opened again would wait for itself.
        ValueProtected: the value before would only be suggested.
    """
    write, call = _find_inverse(tx, request)
    _run_call(tx, call, write)
    record_undo(tx, undone_rev=write.position.rev, origin_rev=write.origin_rev, is_redo=write.is_undo)
    made = DoneCall(call.operation.name, call.arguments)
    undone = Undone(str(write.position), _describe_write(tx, write), made, warnings=call.warnings or UNSET)
    if request.dry_run:  # whatever refuses the inverse has refused it above
        tx.discard()
        undone.dry_run = True
    return undone


def preview(tx: Transaction, request: Undo) -> UndoPreview:
    """Return what an undo would do. Its call may still be refused.

    It only reads, so it waits for no lock and a page can ask for it.
    """
    write, call = _find_inverse(tx, request)
    return UndoPreview(call.operation.name, write.position, _choose_headline(_load_origin(tx, write)).position)


def _find_inverse(tx: Transaction, request: Undo) -> tuple[_PastWrite, InverseCall]:
    write = _load_write(tx, request)
    events = [event for event in write.events if event.op not in IGNORED_OPS]
    try:
        inverses = _find_inverses(write, events)
        _refuse_changed(tx, write)
        return write, inverses.build(tx, events)
    except CannotUndo as error:
        earlier = _find_earlier(tx, request, write)
        raise CannotUndo(error.subject, error.why, event=str(write.position), earlier=earlier) from None


def _find_earlier(tx: Transaction, request: Undo, write: _PastWrite) -> NextStep | None:
    """Return the undo of the change before one that stays, for a caller who named none."""
    if request.event is not None or request.redo:
        return None
    rev = find_last_write(tx, tx.actor.id, ignored_ops=IGNORED_OPS, before_rev=write.position.rev)
    if rev is None:
        return None
    event = str(EventPosition(rev, 0))
    return NextStep("briefing.undo", "takes back the change before it", {"project": tx.project.name, "event": event})


def _describe_write(tx: Transaction, write: _PastWrite) -> str:
    """Return what was taken back or done again, as a sentence about the change that somebody made by themselves."""
    events = _load_origin(tx, write)
    headline = _choose_headline(events)
    verb = " ".join(reversed(headline.op.partition(".")[2].split("_")))  # `node_removed`: removed node
    count = len({event.subject for event in events}) - 1
    more = f" and {count} more" if count else ""
    return f"{'Did again' if write.is_undo else 'Undid'} {write.origin}: {verb} {headline.subject}{more}"


def _load_origin(tx: Transaction, write: _PastWrite) -> Sequence[StoredEvent]:
    is_origin = write.position.rev == write.origin_rev
    return write.events if is_origin else load_write(tx, write.origin_rev, at_most=EVENTS_MAX)


def _choose_headline(events: Sequence[StoredEvent]) -> StoredEvent:
    """Return the event that says best what a write did: a removal ends with the item that the others went with."""
    return events[-1] if events[0].op.endswith("removed") else events[0]


def _load_write(tx: Transaction, request: Undo) -> _PastWrite:
    if request.event is not None:
        position = require_position(request.event, ("event",))
    elif request.redo:
        rev = find_last_undo(tx, tx.actor.id, ignored_ops=IGNORED_OPS)
        if rev is None:
            raise NothingToRedo
        position = EventPosition(rev, 0)
    else:
        rev = find_last_write(tx, tx.actor.id, ignored_ops=IGNORED_OPS)
        if rev is None:
            raise NothingToUndo
        position = EventPosition(rev, 0)
    events = load_write(tx, position.rev, at_most=EVENTS_MAX + 1)
    if not any(stored.n == position.n for stored in events):
        raise NotFound("event", str(position))
    if events[0].actor != tx.actor.id and not (
        tx.project.role is Role.OWNER and tx.actor.kind is ActorKind.PERSON and request.event is not None
    ):
        raise NotYourChange(position, events[0].actor)
    return _find_write_in_effect(tx, _PastWrite(position, events, position.rev))


def _find_write_in_effect(tx: Transaction, write: _PastWrite) -> _PastWrite:
    """Return the write, or the redo that did it again; raise AlreadyUndone if neither is in effect."""
    undo = find_undo(tx, write.position.rev)
    origin_rev = write.position.rev if undo is None else undo.origin_rev
    last = find_undo_of(tx, origin_rev)
    if last is None:
        return write
    if undo is None and last.is_redo:
        position = EventPosition(last.rev, 0)
        return _PastWrite(position, load_write(tx, last.rev, at_most=EVENTS_MAX + 1), origin_rev)
    if undo is None or undo.rev != last.rev:
        raise AlreadyUndone(write.position, last.rev, is_redo=last.is_redo)
    return write._replace(origin_rev=origin_rev, is_undo=not undo.is_redo)


def _find_inverses(write: _PastWrite, events: Sequence[StoredEvent]) -> Inverses:
    """Return the inverses of the slice that a write changed; raise CannotUndo if a part of it has none."""
    if not events or len(write.events) > EVENTS_MAX:
        wrong = "the engine made it" if not events else f"it has more than {EVENTS_MAX} parts"
        raise CannotUndo(write.events[0].subject, NoInverse(wrong))
    if events[0].op == KernelOp.PROJECT_CREATED:  # it brings its root, its members and its policies along
        return load_inverses(_get_area(events[0]))
    for event in events:
        area = _get_area(event)
        if area not in INVERSES:
            raise CannotUndo(event.subject, NoInverse("it has no inverse"))
        why = load_inverses(area).ops.get(event.op, NoInverse("it is unknown"))
        if why is not None:
            raise CannotUndo(event.subject, why)
    areas = {_get_area(event) for event in events}
    if len(areas) > 1:
        raise CannotUndo(events[0].subject, NoInverse(f"it changed {', '.join(sorted(areas))} at once"))
    return load_inverses(areas.pop())


def load_inverses(area: str) -> Inverses:
    """Return the inverses for events that begin with the given word."""
    inverses: Inverses = load_by_name(INVERSES[area])
    return inverses


def _get_area(event: StoredEvent) -> str:
    return event.op.partition(".")[0]


def _refuse_changed(tx: Transaction, write: _PastWrite) -> None:
    subjects = {event.subject for event in write.events}
    for area in INVERSES:
        if events := [event for event in write.events if _get_area(event) == area]:
            find_dependents = load_inverses(area).find_dependents
            subjects |= set(find_dependents(tx, events, write.position.rev))  # what was built on it since
    later = find_later_event(tx, sorted(subjects), write.position.rev, ignored_ops=IGNORED_OPS)
    if later is not None:
        raise ChangedSince(later)


def _run_call(tx: Transaction, call: InverseCall, write: _PastWrite) -> None:
    """Run an operation inside this transaction; its own permission is checked."""
    operation = call.operation
    request = parse_request(call.arguments, operation.input)
    chosen = (operation.choose_variant and operation.choose_variant(request)) or operation
    authorize_project(tx, tx.project.id, chosen.permission, by_id=True)
    tx.default_decision = f"{'redo' if write.is_undo else 'undo'} of {write.origin}"
    answer = chosen.handler(tx, request)
    if call.verify is not None:
        call.verify(answer)


# For pages of this program. It has no name in the catalog, because `dry_run` says more.
PREVIEW = declare(
    preview,
    name="briefing.preview_undo",
    summary="Say which call an undo would make.",
    permission=Permission.PROJECT_WRITE,
    effect=Effect.READ,
)

OPERATION = declare(
    undo,
    name="briefing.undo",
    summary="Undo your last change, or the write of an event; redo: true does it again.",
    permission=Permission.PROJECT_WRITE,
    effect=Effect.WRITE,
    tool=Tool("undo", Group.BRIEFING),
    http=Route("POST", "/projects/{project}/undo"),
)
