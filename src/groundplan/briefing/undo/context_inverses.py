"""Inverses of edits of a draft of facts; each is a call of `context.edit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.context import edit
from groundplan.context.events import Op
from groundplan.context.facts_in_force import DraftFact, find_draft_facts
from groundplan.kernel.errors import Conflict, NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.transaction import Transaction

# Columns that the engine sets with each write.
OWN_FIELDS = ("updated_by", "updated_at", "created_at", "run_id", "id")
CHANGES = (Op.INPUT_CHANGED, Op.CONSTRAINT_CHANGED)
ADDITIONS = (Op.INPUT_ADDED, Op.CONSTRAINT_ADDED)

_RUN = NoInverse("a run that was committed is final", NextStep("context.create_draft", "creates a draft to edit"))
_EDIT = NoInverse("this row has no inverse", NextStep("context.edit", "changes or removes it", fill=("inputs",)))
_DECIDED = NoInverse("a suggestion is decided once", NextStep("context.edit", "writes another value", fill=("inputs",)))
OPS: Mapping[str, NoInverse | None] = {
    **dict.fromkeys((*CHANGES, *ADDITIONS)),
    Op.DRAFT_CREATED: NoInverse("a draft has its own way back", NextStep("context.discard", "discards the draft")),
    Op.DRAFT_UPDATED: NoInverse("a draft has its own way back", NextStep("context.update_draft", "changes it again")),
    Op.COMMITTED: _RUN,
    Op.DISCARDED: NoInverse("a discarded draft is gone", NextStep("context.create_draft", "creates another one")),
    Op.DELETED: NoInverse("a deleted run does not come back", NextStep("context.create_draft", "creates another one")),
    **dict.fromkeys(
        (
            Op.SOURCE_ADDED,
            Op.SOURCE_CHANGED,
            Op.SOURCE_REMOVED,
            Op.INPUT_REMOVED,
            Op.CONSTRAINT_REMOVED,
            Op.ARTIFACT_ADDED,
            Op.ARTIFACT_CHANGED,
            Op.ARTIFACT_REMOVED,
            Op.LINKED,
            Op.UNLINKED,
        ),
        _EDIT,
    ),
    **dict.fromkeys((Op.SUGGESTED, Op.SUGGESTION_CHANGED, Op.SUGGESTION_REMOVED, Op.ACCEPTED, Op.REJECTED), _DECIDED),
}


class ValueProtected(Conflict):
    """The earlier value has less authority than the one that replaced it, so that an undo would only suggest it."""

    code = "value_protected"

    def __init__(self) -> None:
        super().__init__("the value before would only be suggested, because a person entered the one that is there now")


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that undoes the edits of one write."""
    facts = find_draft_facts(tx, [event.subject for event in events])
    inputs: list[dict[str, Any]] = []
    constraints: list[dict[str, Any]] = []
    removed: dict[str, list[str]] = {}
    for event in reversed(events):
        fact = facts.get(event.subject)
        if fact is None:
            raise CannotUndo(event.subject, _RUN)
        if event.op in ADDITIONS:
            name = "inputs" if fact.is_input else "constraints"
            removed.setdefault(name, []).append(fact.ref if fact.is_input else event.subject)
        else:
            (inputs if fact.is_input else constraints).append(_restore_row(event, fact))
    parts = {"inputs": inputs, "constraints": constraints, "remove": removed}
    arguments = {"runId": facts[events[0].subject].run_id, **{name: part for name, part in parts.items() if part}}
    return InverseCall(edit.OPERATION, arguments, verify=_refuse_suggestions)


def _restore_row(event: StoredEvent, fact: DraftFact) -> dict[str, Any]:
    row: dict[str, Any] = {"pointer": fact.ref} if fact.is_input else {"id": event.subject}
    for change in event.changes:
        if change.field in OWN_FIELDS:
            continue
        if change.field in ("options", "value_json"):
            raise CannotUndo(event.subject, NoInverse(f"its {change.field} cannot be set back", _EDIT.step))
        row[_to_camel_case(change.field)] = change.before
    return row


def _refuse_suggestions(answer: edit.EditedRun) -> None:
    if answer.suggested:
        raise ValueProtected


def _to_camel_case(name: str) -> str:
    first, *later = name.split("_")
    return first + "".join(word.capitalize() for word in later)


def find_dependents(tx: Transaction, events: Sequence[StoredEvent], rev: int) -> set[str]:
    """Return the nodes that rest on a fact which a write added; an undo would break their links."""
    added = [event.subject for event in events if event.op == Op.INPUT_ADDED]
    pointers = sorted({fact.ref for fact in find_draft_facts(tx, added).values()}) if added else []
    links = list_links_to(tx, LinkType.RESTS_ON, pointers) if pointers else []
    return {link.source for link in links if link.rev > rev}


INVERSES = Inverses(OPS, build_call, find_dependents)
