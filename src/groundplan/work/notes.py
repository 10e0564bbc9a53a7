"""Notes of a node: evidence that is written for the next reader, and that can be taken back.

A note that is taken back is deleted, so that no reader has to leave it out. The events keep it, and an undo brings it
back in its place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Conflict, Forbidden, NotFound
from groundplan.kernel.events import EventPosition, load_write
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.work.nodes import NOTE, EvidenceRow, WorkNodeRow, list_evidence_after, replace_evidence_after

EVENTS_READ_MAX = 1_000  # of a write, to say why it has no note


class AlreadyRetracted(Conflict):
    """The note was taken back before."""

    code = "already_retracted"

    def __init__(self, node_id: str, position: EventPosition) -> None:
        super().__init__(
            f"the note of {position} on node {node_id} was taken back already; the events of the node say when",
            node_id=node_id,
            event=str(position),
        )


class NotYourNote(Forbidden):
    """Only a person who owns the project can take back another actor's note."""

    code = "not_your_note"

    def __init__(self, position: EventPosition, actor: str) -> None:
        super().__init__(
            f"the note of {position} was written by {quote_text(actor)}; ask them or an owner to take it back",
            event=str(position),
            actor=actor,
        )


def retract_notes(tx: Transaction, node: WorkNodeRow, position: EventPosition) -> Change:
    """Take back the notes that a write added to a node, given by the position of one of its events.

    Raises:
        NotFound: the node has no note of this write.
        AlreadyRetracted: they were taken back before.
        NotYourNote: another actor wrote them, and the caller is no owner.
    """
    rows = list_evidence_after(tx, node.n)
    notes = _select_notes(rows, position.rev)
    if not notes:
        raise _explain_missing(tx, node, position)
    is_owner = tx.project.role is Role.OWNER and tx.actor.kind is ActorKind.PERSON
    if notes[0].agent != tx.actor.id and not is_owner:
        raise NotYourNote(position, notes[0].agent)
    return _remove_notes(tx, node, rows, notes)


def set_notes_back(tx: Transaction, node: WorkNodeRow, step: Mapping[str, Any]) -> Change | None:
    """Remove the notes of a write (`rev`), or put notes back that were taken (`notes`); return the change, if any."""
    rows = list_evidence_after(tx, node.n)
    if "rev" in step:
        notes = _select_notes(rows, step["rev"])
        return _remove_notes(tx, node, rows, notes) if notes else None
    for note in step["notes"]:
        row = EvidenceRow(node.n, 0, NOTE, note["ref"], note["agent"], note["timestamp"], None, note["rev"])
        rows.insert(note["place"] - 1, row)
    replace_evidence_after(tx, node.n, rows)
    return changed("evidence", None, step["notes"])


def _select_notes(rows: Iterable[EvidenceRow], rev: int) -> list[EvidenceRow]:
    return [row for row in rows if row.type == NOTE and row.rev == rev]


def _remove_notes(
    tx: Transaction, node: WorkNodeRow, rows: Sequence[EvidenceRow], notes: Collection[EvidenceRow]
) -> Change:
    replace_evidence_after(tx, node.n, [row for row in rows if row not in notes])
    node.evidence_total -= len(notes)
    entries = [
        {"type": row.type, "ref": row.ref, "agent": row.agent, "timestamp": row.at, "rev": row.rev, "place": row.k}
        for row in notes
    ]
    return changed("evidence", entries, None)


def _explain_missing(tx: Transaction, node: WorkNodeRow, position: EventPosition) -> NotFound | AlreadyRetracted:
    events = load_write(tx, position.rev, at_most=EVENTS_READ_MAX)
    entries = [
        entry
        for event in events
        for change in event.changes
        if event.subject == node.id and change.field == "evidence"
        for entry in change.after or ()
    ]
    if any(entry["type"] == NOTE for entry in entries):
        return AlreadyRetracted(node.id, position)
    return NotFound(f"note on node {node.id} of event", str(position))
