"""Inverses of edits of the draft of the purpose: by `purpose.edit`, which restores items only for an undo."""

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
from groundplan.purpose.model import Content, EdgeName, parse_edge_name
from groundplan.purpose.tables import Op
from groundplan.purpose.versions.versions import read_versions

EDGE_FIELDS = ("mechanism", "confidence")
ADDITIONS = (Op.NODE_ADDED, Op.EDGE_ADDED, Op.ASSUMPTION_ADDED, Op.INDICATOR_ADDED)
LINKS_TO_PURPOSE = (LinkType.SERVES, LinkType.SUPPORTS, LinkType.REFUTES)

REMOVALS = (Op.NODE_REMOVED, Op.EDGE_REMOVED, Op.ASSUMPTION_REMOVED, Op.INDICATOR_REMOVED)
# Columns of a removed row that name another row by its id.
ROW_REFERENCES = ("on_id", "node_id", "source_node_id", "target_node_id")

_ADD_ANEW = NextStep("purpose.edit", "adds it anew")
_RECORDED = NoInverse(
    "what was recorded stays", NextStep("purpose.record", "records a correction", fill=("decisions",))
)
OPS: Mapping[str, NoInverse | None] = {
    Op.NODE_ADDED: None,
    Op.NODE_CHANGED: None,
    Op.NODE_REMOVED: None,
    Op.EDGE_ADDED: None,
    Op.EDGE_CHANGED: None,
    Op.EDGE_REMOVED: None,
    Op.ASSUMPTION_ADDED: None,
    Op.ASSUMPTION_CHANGED: None,
    Op.ASSUMPTION_REMOVED: None,
    Op.INDICATOR_ADDED: None,
    Op.INDICATOR_CHANGED: None,
    Op.INDICATOR_REMOVED: None,
    Op.DRAFT_CREATED: NoInverse("a draft has its own way back", NextStep("purpose.discard", "discards the draft")),
    Op.PUBLISHED: NoInverse("a published version is final", NextStep("purpose.draft", "creates a draft to edit")),
    Op.DISCARDED: NoInverse("a discarded draft is gone", NextStep("purpose.draft", "creates another one")),
    Op.MEASURED: _RECORDED,
    Op.REVIEWED: _RECORDED,
    Op.WAIVED: NoInverse(
        "a waiver stays until it ends", NextStep("purpose.record", "records why it was wrong", fill=("decisions",))
    ),
    Op.DECIDED: _RECORDED,
    Op.REQUESTED: NoInverse(
        _RECORDED.reason, NextStep("purpose.record", "records a decision that answers it", fill=("decisions",))
    ),
}


def build_call(tx: Transaction, events: Sequence[StoredEvent]) -> InverseCall:
    """Return the call that undoes the edits of one write, in reverse order."""
    operations = [_build_operation(event) for event in reversed(events)]
    return InverseCall(edit.RESTORE, {"project": tx.project.id, "operations": operations})


def find_dependents(tx: Transaction, events: Sequence[StoredEvent], rev: int) -> set[str]:
    """Return the draft, what was built on the additions of a write, and the items that its removals were on.

    A draft that was created later has the same keys, but is another one. Edges, assumptions and indicators on an added
    item, and the work nodes with a link to one of them, would go with it. A removed item cannot come back while the
    node or edge that it was on is missing.
    """
    draft = next((version for version in read_versions(tx) if version.is_draft), None)
    if draft is None:
        return set()
    content = read_content(tx, draft.id)
    dependents = {f"v{draft.number}", *_find_missing_bases(content, events)}
    added = {event.subject for event in events if event.op in ADDITIONS}
    if not added:
        return dependents
    built = {str(edge.name) for edge in content.edges if edge.source in added or edge.target in added}
    bases = added | built
    built |= {
        assumption.key
        for assumption in content.assumptions.values()
        if (assumption.node if assumption.edge is None else str(assumption.edge)) in bases
    }
    built |= {indicator.key for indicator in content.indicators.values() if indicator.node in bases}
    targets = sorted(added | built)
    links = [link for type_ in LINKS_TO_PURPOSE for link in list_links_to(tx, type_, targets)]
    return dependents | built | {link.source for link in links if link.rev > rev}


def _find_missing_bases(content: Content, events: Sequence[StoredEvent]) -> set[str]:
    removals = [event for event in events if event.op in REMOVALS]
    existing = {*content.nodes, *(str(edge.name) for edge in content.edges), *(event.subject for event in removals)}
    bases: set[str] = set()
    for event in removals:
        if event.op == Op.EDGE_REMOVED:
            bases |= {*_parse_edge(event)[:2]}
        bases |= {str(change.before) for change in event.changes if change.field == "on"}
    return bases - existing


def _parse_edge(event: StoredEvent) -> EdgeName:
    name = parse_edge_name(event.subject)
    if name is None:
        raise CannotUndo(event.subject, NoInverse("it names no edge"))
    return name


def _build_operation(event: StoredEvent) -> dict[str, Any]:
    if event.op in REMOVALS:
        return _build_restoration(event)
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


def _build_restoration(event: StoredEvent) -> dict[str, Any]:
    """Return the operation that puts a removed item back on the node or edge that it was on, under its key and row id.

    Until decision 119 an assumption or indicator that was removed alone did not record what it was on.
    """
    row = {change.field: change.before for change in event.changes if change.field not in ROW_REFERENCES}
    on = row.pop("on", None)
    match event.op:
        case Op.NODE_REMOVED:
            return {"op": "restore_node", **row, "metadata": msgspec.json.decode(row.get("metadata") or "{}")}
        case Op.EDGE_REMOVED:
            return {"op": "restore_edge", **row, **_parse_edge(event)._asdict()}
    if on is None:
        raise CannotUndo(event.subject, NoInverse("its removal did not record what it was on", _ADD_ANEW))
    if event.op == Op.INDICATOR_REMOVED:
        return {"op": "restore_indicator", **row, "node": on}
    edge = parse_edge_name(on)
    return {"op": "restore_assumption", **row, **({"node": on} if edge is None else edge._asdict())}


def _build_edge_operation(event: StoredEvent, before: dict[str, Any]) -> dict[str, Any]:
    edge: dict[str, Any] = _parse_edge(event)._asdict()
    match event.op:
        case Op.EDGE_ADDED:
            return {"op": "remove_edge", **edge}
        case Op.EDGE_CHANGED:
            # The event names the edge by its type before.
            now = next((change.after for change in event.changes if change.field == "edge_type"), edge["edge_type"])
            is_retyped = {"new_edge_type": edge["edge_type"]} if now != edge["edge_type"] else {}
            texts = {name: before[name] for name in EDGE_FIELDS if name in before}
            return {"op": "update_edge", **edge, "edge_type": now, **is_retyped, **texts}
    raise CannotUndo(event.subject, NoInverse(f"{event.op} has no inverse"))


def _get_before(change: Change) -> Any:
    """Return the value before a change. Metadata is merged, so names that the change added to it are null."""
    if change.field != "metadata" or change.before is None or change.after is None:
        return change.before
    before, after = msgspec.json.decode(change.before), msgspec.json.decode(change.after)
    return {**{name: None for name in after if name not in before}, **before}


INVERSES = Inverses(OPS, build_call, find_dependents)
