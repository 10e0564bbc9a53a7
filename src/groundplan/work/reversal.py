"""Set fields of nodes back to what they were before a write.

Nothing follows from it but what the caller says: no parent is resolved with its last child, and a claim that comes back
keeps its number. Only the ancestors of a node that is opened are opened with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.links import LinkSource, LinkType, replace_links
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.graph.update import is_same_json, refuse_open_children
from groundplan.work.kinds import ACTIVE, FEATURE, get_complexity, get_priority
from groundplan.work.nodes import WorkNodeRow, fetch_node, load_nodes_by_id, save_node, set_tags
from groundplan.work.notes import set_notes_back
from groundplan.work.positions import sort_from_below
from groundplan.work.readiness import Readiness
from groundplan.work.requests import encode_links, encode_properties, encode_state

RESOLVED, STATUS, TAGS, NOTES, PROPERTIES = "resolved", "status", "tags", "notes", "properties."
CLAIM = ("claimed_by", "claimed_at", "claimed_until")
COLUMNS = (RESOLVED, "outcome", STATUS, "summary", "held_reason", "blocked_reason", *CLAIM)
LINK_LISTS = (LinkType.SERVES, LinkType.RESTS_ON)
FIELDS = frozenset({*COLUMNS, "state", "context_links", TAGS, *LINK_LISTS})  # and properties, each by its name

# Of one node, by the names of changes; `notes` has the steps that lead back, in order.
Fields = Mapping[str, Any]


def set_back(tx: Transaction, readiness: Readiness, nodes: Mapping[str, Fields], *, is_strict: bool = False) -> None:
    """Set fields of nodes back. A node to resolve that has other open children by now stays open.

    With `is_strict`, the lowest of these are refused instead. A feature with started tasks stays active.

    Raises:
        UnresolvedChildren: such a node has open children.
    """
    readiness.settle_positions()
    rows = load_nodes_by_id(tx, nodes)
    from_below = [rows[node_id] for node_id in sort_from_below(tx, nodes)]
    ending = [row for row in from_below if nodes[row.id].get(RESOLVED) and not row.resolved]
    # Nodes above come first, so that they are open before the nodes below them are.
    for row in reversed([row for row in from_below if row not in ending]):
        later = {STATUS} if _begins_feature(row, nodes[row.id]) else ()
        _set_fields(tx, readiness, row.n, {name: value for name, value in nodes[row.id].items() if name not in later})
    _resolve(tx, readiness, ending, nodes, is_strict=is_strict)
    for row in from_below:
        if _begins_feature(row, nodes[row.id]) and not readiness.has_started_work(row.n):
            _set_fields(tx, readiness, row.n, {STATUS: None})


def _begins_feature(row: WorkNodeRow, fields: Fields) -> bool:
    """Return True if the write made a new feature active."""
    is_open = not row.resolved and not fields.get(RESOLVED)
    return row.kind == FEATURE and is_open and fields.get(STATUS, ACTIVE) is None


def _set_fields(tx: Transaction, readiness: Readiness, n: int, fields: Fields) -> None:
    if fields.get("claimed_by", n) is None:
        fields = {**fields, **dict.fromkeys(CLAIM)}
    row = fetch_node(tx, n)
    before = msgspec.structs.replace(row)
    readiness.snapshot([n] if row.parent_n is None else [n, row.parent_n])
    changes = _replace_fields(tx, row, fields)
    if not changes:
        return
    save_node(tx, row)
    tx.record(_choose_op(changes), row.id, *changes)
    if before.held_reason != row.held_reason and not row.open_deps:
        readiness.propagate_waiting(n, row.kind)
    if before.resolved and not row.resolved:
        readiness.propagate_opened({n: row.parent_n})


def _choose_op(changes: Sequence[Change]) -> WorkOp:
    after = {change.field: change.after for change in changes}
    if RESOLVED in after:
        return WorkOp.REOPENED if not after[RESOLVED] else WorkOp.DROPPED if after.get("outcome") else WorkOp.RESOLVED
    is_release = after.keys() <= {*CLAIM, STATUS} and after.get("claimed_by", "") is None
    return WorkOp.RELEASED if is_release else WorkOp.UPDATED


def _replace_fields(tx: Transaction, row: WorkNodeRow, fields: Fields) -> list[Change]:
    """Change the fields of a row, and the notes, tags and links of its node; return the changes."""
    steps = (set_notes_back(tx, row, step) for step in fields.get(NOTES, ()))
    changes = [change for change in steps if change is not None]
    for name in COLUMNS:
        if name in fields and (value := getattr(row, name)) != fields[name]:
            changes.append(changed(name, value, fields[name]))
            setattr(row, name, fields[name])
    if "state" in fields and not is_same_json(row.state_value, fields["state"]):
        changes.append(changed("state", row.state_value, fields["state"]))
        row.state = encode_state(fields["state"], ("nodes", row.id))
    if "context_links" in fields and row.links_value != fields["context_links"]:
        changes.append(changed("context_links", row.links_value, fields["context_links"]))
        row.context_links = encode_links(fields["context_links"], ("nodes", row.id))
    changes += _replace_properties(row, fields)
    if TAGS in fields and (change := set_tags(tx, row.n, fields[TAGS] or [])) is not None:
        changes.append(change)
    for link_type in LINK_LISTS:
        if link_type in fields:
            changes += replace_links(tx, LinkSource(row.id, row.n), link_type, fields[link_type] or [])
    return changes


def _replace_properties(row: WorkNodeRow, fields: Fields) -> Iterable[Change]:
    properties = row.properties_value
    before = dict(properties)
    for name, value in fields.items():
        if name.startswith(PROPERTIES):
            properties[name.removeprefix(PROPERTIES)] = value
    properties = {key: value for key, value in properties.items() if value is not None}
    row.properties = encode_properties(properties, ("nodes", row.id))
    row.priority, row.complexity = get_priority(properties), get_complexity(properties)
    keys = [key for key in {**before, **properties} if not is_same_json(before.get(key), properties.get(key))]
    return [changed(PROPERTIES + key, before.get(key), properties.get(key)) for key in keys]


def _resolve(
    tx: Transaction,
    readiness: Readiness,
    ending: Sequence[WorkNodeRow],
    nodes: Mapping[str, Fields],
    *,
    is_strict: bool,
) -> None:
    """Resolve nodes, given from below, but for those that have other open children."""
    readiness.write_counts()
    parents = {row.parent_n for row in ending}
    for row in ending:
        current = fetch_node(tx, row.n)
        if not current.open_children:
            _set_fields(tx, readiness, row.n, nodes[row.id])
            # Its parent is not resolved with it: if that was its only open child, it was open beside it before, too.
            readiness.count_resolved({row.n: row.parent_n})
        elif is_strict and row.n not in parents:
            refuse_open_children(tx, current)
