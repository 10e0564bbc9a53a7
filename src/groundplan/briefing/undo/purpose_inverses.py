"""Inverses of edits of the draft of the purpose; each is a call of `purpose.edit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from groundplan.briefing.undo.inverse import CannotUndo, InverseCall, Inverses, NoInverse
from groundplan.kernel.audit import Change
from groundplan.kernel.errors import NextStep
from groundplan.kernel.events import StoredEvent
from groundplan.kernel.links import LinkType, list_links_to
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.editing import edit
from groundplan.purpose.model import EdgeType
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.versions import read_versions

EDGE_FIELDS = ("mechanism", "confidence")
ADDITIONS = (Op.NODE_ADDED, Op.EDGE_ADDED, Op.ASSUMPTION_ADDED, Op.INDICATOR_ADDED)
LINKS_TO_PURPOSE = (LinkType.SERVES, LinkType.SUPPORTS, LinkType.REFUTES)

_KEY = NoInverse(
    "a key is never given twice, so what was removed cannot come back", NextStep("purpose.edit", "adds it anew")
)
_RECORDED = NoInverse("what was recorded stays", NextStep("purpose.record", "records a correction"))
OPS: Mapping[str, NoInverse | None] = {
    Op.NODE_ADDED: None,
    Op.NODE_CHANGED: None,
    Op.NODE_REMOVED: _KEY,
    Op.EDGE_ADDED: None,
    Op.EDGE_CHANGED: None,
    Op.EDGE_REMOVED: None,
    Op.ASSUMPTION_ADDED: None,
    Op.ASSUMPTION_CHANGED: None,
    Op.ASSUMPTION_REMOVED: _KEY,
    Op.INDICATOR_ADDED: None,
    Op.INDICATOR_CHANGED: None,
    Op.INDICATOR_REMOVED: _KEY,
    Op.DRAFT_CREATED: NoInverse("a draft has its own way back", NextStep("purpose.discard", "discards the draft")),
    Op.PUBLISHED: NoInverse("a published version is final", NextStep("purpose.draft", "creates a draft to edit")),
    Op.DISCARDED: NoInverse("a discarded draft is gone", NextStep("purpose.draft", "creates another one")),
    Op.MEASURED: _RECORDED,
    Op.REVIEWED: _RECORDED,
    Op.WAIVED: NoInverse("a waiver stays until it ends", NextStep("purpose.record", "records why it was wrong")),
    Op.DECIDED: _RECORDED,
    Op.REQUESTED: NoInverse(_RECORDED.reason, NextStep("purpose.record", "records a decision that answers it")),
}


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that undoes the edits of one write, in reverse order."""
    operations = [_build_operation(event) for event in reversed(events)]
    return InverseCall(edit.OPERATION, {"project": tx.project.id, "operations": operations})


def find_dependents(tx: Transaction, events: Sequence[StoredEvent], rev: int) -> set[str]:
    """Return the draft, and the items that removing the added items would remove as well.

    A draft that was created later has the same keys, but is another one. On them stand edges, assumptions and
    indicators, and the work nodes with a link to one of them.
    """
    added = {event.subject for event in events if event.op in ADDITIONS}
    draft = next((version for version in read_versions(tx) if version.is_draft), None)
    if draft is None:
        return set()
    drafts = {f"v{draft.number}"}
    if not added:
        return drafts
    content = read_content(tx, draft.id)
    dependents = {str(edge.name) for edge in content.edges if edge.source in added or edge.target in added}
    removed = added | dependents
    dependents |= {
        item.key
        for item in content.assumptions.values()
        if (item.node if item.edge is None else str(item.edge)) in removed
    }
    dependents |= {item.key for item in content.indicators.values() if item.node in removed}
    targets = sorted(added | dependents)
    links = [link for type_ in LINKS_TO_PURPOSE for link in list_links_to(tx, type_, targets)]
    return drafts | dependents | {link.source for link in links if link.rev > rev}


def _build_operation(event: StoredEvent) -> dict[str, Any]:
    before = {change.field: _get_before(change) for change in event.changes}
    match event.op:
        case Op.NODE_ADDED:
            return {"op": "remove_node", "node": event.subject}
        case Op.NODE_CHANGED:
            return {"op": "update_node", "node": event.subject, **before}
        case Op.ASSUMPTION_ADDED:
            return {"op": "remove_assumption", "assumption": event.subject}
        case Op.ASSUMPTION_CHANGED:
            return {"op": "update_assumption", "assumption": event.subject, **before}
        case Op.INDICATOR_ADDED:
            return {"op": "remove_indicator", "indicator": event.subject}
        case Op.INDICATOR_CHANGED:
            return {"op": "update_indicator", "indicator": event.subject, **before}
    return _build_edge_operation(event, before)


def _build_edge_operation(event: StoredEvent, before: dict[str, Any]) -> dict[str, Any]:
    ends, _, type_ = event.subject.partition("/")
    source, _, target = ends.partition("->")
    edge = {"source": source, "target": target, "edge_type": type_ or EdgeType.CONTRIBUTES_TO.value}
    texts = {name: before[name] for name in EDGE_FIELDS if name in before}
    match event.op:
        case Op.EDGE_ADDED:
            return {"op": "remove_edge", **edge}
        case Op.EDGE_REMOVED:
            return {"op": "add_edge", **edge, **texts}
        case Op.EDGE_CHANGED:
            # The event names the edge by its type before.
            now = next((change.after for change in event.changes if change.field == "edge_type"), edge["edge_type"])
            is_retyped = {"new_edge_type": edge["edge_type"]} if now != edge["edge_type"] else {}
            return {"op": "update_edge", **edge, "edge_type": now, **is_retyped, **texts}
    raise CannotUndo(event.subject, NoInverse(f"{event.op} has no inverse"))


def _get_before(change: Change) -> Any:
    """Return the value before a change. Metadata is merged, so names that the change added to it are null."""
    if change.field != "metadata" or change.before is None or change.after is None:
        return change.before
    before, after = msgspec.json.decode(change.before), msgspec.json.decode(change.after)
    return {**{name: None for name in after if name not in before}, **before}


INVERSES = Inverses(OPS, build_call, find_dependents)
