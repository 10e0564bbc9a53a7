"""Inverses of changes to knowledge: calls of `knowledge.update` and `knowledge.delete`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse, restore
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.entities import find_version, list_atoms_of_molecule
from groundplan.knowledge.events import Op
from groundplan.knowledge.write import DELETE, UPDATE

ARGUMENTS = {
    "name": "name",
    "knowledge": "knowledge",
    "paths": "paths",
    "molecule_id": "moleculeId",
    "last_task_id": "lastTaskId",
}
RELATIONS = {"related_atoms": ("relatedAtoms", "atomId"), "related_molecules": ("relatedMolecules", "moleculeId")}

_GONE = NoInverse("what was deleted is gone", NextStep("knowledge.create", "creates it anew", fill=("paths",)))
OPS: Mapping[str, NoInverse | None] = {
    Op.CREATED: None,
    Op.UPDATED: None,
    Op.ORPHANED: _GONE,
    Op.DELETED: _GONE,
    Op.CHANGELOG_APPENDED: NoInverse(
        "the changelog is never rewritten", NextStep("knowledge.append_changelog", "adds a correction")
    ),
    Op.CHECKED: NoInverse("a check says what was found", NextStep("knowledge.record_check", "records another one")),
}


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that undoes a change of one atom or molecule."""
    event = events[0]
    version = find_version(tx, event.subject)
    if len(events) > 1 or version is None:
        raise CannotUndo(event.subject, NoInverse("it is gone, or others were changed with it"))
    subject = {"entityType": version.kind, "id": event.subject, "version": version.version}
    if event.op == Op.CREATED:
        return InverseCall(DELETE, subject)
    fields = [change for change in event.changes if change.field not in RELATIONS]
    arguments = restore(msgspec.structs.replace(event, changes=fields), ARGUMENTS)
    for change in event.changes:
        if change.field in RELATIONS:
            arguments[RELATIONS[change.field][0]] = change.before
    return InverseCall(UPDATE, {**subject, **arguments})


def find_dependents(tx: Transaction, events: Sequence[StoredEvent], _rev: int) -> list[str]:
    """Return the atoms of a molecule that a write created; an undo would leave them without a molecule."""
    return [id_ for event in events if event.op == Op.CREATED for id_ in list_atoms_of_molecule(tx, event.subject)]


INVERSES = Inverses(OPS, build_call, find_dependents)
