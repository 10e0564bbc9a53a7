"""Write the nodes of an import: new nodes, then changed nodes, and then the derived values of all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.ids import ALPHABET, PREFIX_CHARS_MIN, new_uuid
from groundplan.kernel.operations.progress import WorkCounter
from groundplan.kernel.store.authorize import find_visible_project_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.sections.section import delete_sections
from groundplan.work.events import WorkOp
from groundplan.work.evidence_check import get_default_check
from groundplan.work.importing.compare import read_fate, set_properties
from groundplan.work.importing.items import build_properties, describe_fate, digest_if_long, is_same
from groundplan.work.importing.state import (
    DerivedColumns,
    ImportEntry,
    ImportNote,
    ImportState,
    PlanNodeState,
    load_bases,
    load_nodes,
    run_in_chunks,
    split_rows,
)
from groundplan.work.kinds import DROPPED, FEATURE, ROOT_N, get_complexity, get_priority
from groundplan.work.nodes import DEPENDS_ON, EvidenceRow, WorkNodeRow, add_evidence, insert_nodes, save_node
from groundplan.work.refs import find_nodes_by_prefix
from groundplan.work.requests import encode_links, encode_properties, encode_state, validate_properties

ROUNDS_OF_NEW = 3  # over new nodes: rows, events, parts
SOURCE_PARENT = "source_parent"  # the property with the parent in the file, if the node is below another one
PREFIX_MATCHES_MAX = 10  # some of which may be hidden
_LETTERS = frozenset(ALPHABET)

sql = load_queries(__file__)

Derived = Mapping[int, DerivedColumns]


class FeatureTasksRow(NamedTuple):
    """The stored counts of tasks of a feature."""

    n: int
    tasks: int
    tasks_closed: int
    tasks_dropped: int


def write_entries(tx: Transaction, state: ImportState, derived: Derived, *, decision: str) -> list[ImportEntry]:
    """Write all entries in the current project, and return those that created or changed a node."""
    new = [entry for entry in state.entries.values() if entry.is_new]
    touched = [entry for entry in state.entries.values() if not entry.is_new]
    _load_rows(tx, state, touched)
    # What was written beside a conflict is no base: the next import would take it for what is in the file.
    conflicts: dict[str | None, set[str]] = {}
    for conflict in state.conflicts:
        conflicts.setdefault(conflict.source_id, set()).add(conflict.field)
    for entry in state.entries.values():
        if entry.base is not None:
            _note_written(state, entry, without=conflicts.get(entry.source_id, ()))
    for entry in touched:
        _finish_changes(state, entry)
    changed_entries = [entry for entry in touched if entry.changes or entry.is_base_changed]
    items = [entry for entry in (*new, *changed_entries) if entry.base is not None]
    counter = WorkCounter(len(new) * ROUNDS_OF_NEW + len(changed_entries) + len(items))
    _insert_new(tx, state, new, derived, counter, decision=decision)
    # A resolved node has no open children, in every statement: first what is reopened, then the numbers, then the rest.
    for entry in changed_entries:
        if entry.is_reopened:
            _save(tx, entry)
    _write_positions(tx, state, derived)
    for entry in changed_entries:
        if not entry.is_reopened:
            _save(tx, entry)
    _write_parts(tx, [*new, *changed_entries])
    counter.add(len(new))
    for entry in changed_entries:
        tx.record(_choose_op(entry), entry.node.id, *entry.changes, decision=decision)
        counter.add(1)
    _write_counts(tx, state, derived)
    for chunk in split_rows(_list_imports(tx, state, items)):
        tx.run_many(sql.save_imports, chunk)
        counter.add(len(chunk))
    return [*new, *changed_entries]


def has_effect(entry: ImportEntry) -> bool:
    """Return whether an entry of a stored item would change its node."""
    if entry.is_new or entry.source_id is None:
        return False
    parts = (entry.new_edges, entry.gone_edges, entry.new_tags, entry.gone_tags, entry.new_evidence)
    sections = (entry.new_sections, entry.changed_sections, entry.gone_sections)
    is_placed = entry.is_moved or entry.is_closed or entry.is_reopened
    if entry.stored is not None:
        before = entry.stored.row.properties_value.get(SOURCE_PARENT)
        is_placed |= entry.is_hold_changed or entry.source_parent not in (None, before or "")
    return bool(entry.changes or is_placed or any(parts) or any(sections))


# --- New nodes --------------------------------------------------------------------------------------------------------


def _insert_new(
    tx: Transaction,
    state: ImportState,
    entries: list[ImportEntry],
    derived: Derived,
    counter: WorkCounter,
    *,
    decision: str,
) -> None:
    in_order = sorted(entries, key=lambda entry: derived[entry.node.n].depth)
    for chunk in split_rows(in_order):
        insert_nodes(tx, tx.project.id, [_build_row(state, entry, derived[entry.node.n]) for entry in chunk])
        counter.add(len(chunk))
    features = [{"project_id": tx.project.id, "n": entry.node.n} for entry in entries if entry.node.kind == FEATURE]
    if features:
        tx.run_many(sql.add_features, features)
    for entry in entries:
        tx.record(WorkOp.CREATED, entry.node.id, *_describe_new(state, entry), decision=decision)
        counter.add(1)


def build_new_properties(state: ImportState, entry: ImportEntry) -> dict[str, Any]:
    """Return the properties of a new node."""
    assert entry.item is not None  # noqa: S101 - the entry of a new item
    properties = build_properties(entry.item, state.tool)
    if entry.source_parent:
        properties[SOURCE_PARENT] = entry.source_parent
    return validate_properties(properties, ("items", entry.item.source_id, "properties"))


def _build_row(state: ImportState, entry: ImportEntry, derived: DerivedColumns) -> WorkNodeRow:
    assert entry.item is not None  # noqa: S101 - the entry of a new item
    node, item = entry.node, entry.item
    properties = build_new_properties(state, entry)
    path = ("items", item.source_id)
    return WorkNodeRow(
        n=node.n,
        id=node.id,
        parent_n=node.parent_n,
        kind=node.kind,
        **derived._asdict(),
        summary=item.title,
        properties=encode_properties(properties, (*path, "properties")),
        priority=get_priority(properties),
        complexity=get_complexity(properties),
        context_links=encode_links(list(dict.fromkeys(item.context_links)), (*path, "context_links")),
        resolved=node.resolved,
        outcome=DROPPED if node.is_dropped else None,
        status=node.status,
        held_reason=entry.hold_reason if node.is_held else None,
        state=encode_state(item.state, (*path, "state")),
    )


def _describe_new(state: ImportState, entry: ImportEntry) -> Iterator[Change]:
    assert entry.item is not None  # noqa: S101 - the entry of a new item
    node, item, nodes = entry.node, entry.item, state.graph.nodes
    if node.kind is not None:
        yield changed("kind", None, node.kind)
    yield changed("summary", None, item.title)
    yield changed("parent", None, nodes[node.parent_n or ROOT_N].id)
    yield changed("properties", None, build_new_properties(state, entry))
    if item.context_links:
        yield changed("context_links", None, list(dict.fromkeys(item.context_links)))
    if item.state is not None:
        yield changed("state", None, item.state)
    if node.resolved:
        yield changed("resolved", False, True)
    if node.is_dropped:
        yield changed("outcome", None, DROPPED)
    if node.is_held:
        yield changed("held_reason", None, entry.hold_reason)
    yield from _describe_parts(state, entry)


def _describe_parts(state: ImportState, entry: ImportEntry) -> Iterator[Change]:
    """Yield the changes of edges, tags, evidence and sections. The history of a section starts with its title."""
    nodes = state.graph.nodes
    for type_, by_type in _group_edges(entry.new_edges).items():
        ids = [nodes[to_n].id for to_n in by_type]
        yield changed(type_, None, ids if type_ == DEPENDS_ON and entry.is_new else ids[0] if len(ids) == 1 else ids)
    for type_, by_type in _group_edges(entry.gone_edges).items():
        ids = [nodes[to_n].id for to_n in by_type]
        yield changed(type_, ids[0] if len(ids) == 1 else ids, None)
    if entry.new_tags or entry.gone_tags:
        before = entry.stored.tags if entry.stored else []
        after = sorted({*before, *entry.new_tags} - {*entry.gone_tags})
        yield changed("tags", before, after)
    if entry.new_evidence:
        yield changed(
            "evidence", None, [{"type": evidence.type, "ref": evidence.text} for evidence in entry.new_evidence]
        )
    if entry.new_sections:
        yield changed("sections", None, list(entry.new_sections))
    if entry.gone_sections:
        yield changed("sections", [section.title for section in entry.gone_sections], None)
    for change in entry.changed_sections:
        yield changed(f"sections.{change.stored.id}.content", change.stored.content, change.text)


def _group_edges(edges: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    by_type: dict[str, list[int]] = {}
    for type_, to_n in edges:
        by_type.setdefault(type_, []).append(to_n)
    return by_type


# --- Changed nodes ----------------------------------------------------------------------------------------------------


def _load_rows(tx: Transaction, state: ImportState, entries: list[ImportEntry]) -> None:
    """Load the rows and bases of nodes that change only as a result of other changes."""
    missing = [entry for entry in entries if entry.stored is None]
    nodes = load_nodes(tx, tx.project.id, [entry.node.n for entry in missing])
    source_ids = [entry.source_id for entry in missing if entry.source_id is not None]
    bases = load_bases(tx, tx.project.id, state.tool, source_ids)
    for entry in missing:
        if entry.source_id is not None:
            entry.set_last_base(bases[entry.source_id])
            entry.digest = state.last[entry.source_id].digest
        entry.stored = nodes[entry.node.n]
        entry.hold_reason = entry.stored.row.held_reason if entry.hold_reason is None else entry.hold_reason


def _finish_changes(state: ImportState, entry: ImportEntry) -> None:
    """Set whether a stored node is open, done or dropped, and its position; complete its list of changes."""
    assert entry.stored is not None  # noqa: S101 - loaded before
    row, node, nodes = entry.stored.row, entry.node, state.graph.nodes
    if node.resolved != row.resolved:
        entry.changes.append(changed("resolved", row.resolved, node.resolved))
    outcome = DROPPED if node.is_dropped else None
    held_reason = entry.hold_reason if node.is_held else None
    for name, before, after in (("outcome", row.outcome, outcome), ("held_reason", row.held_reason, held_reason)):
        if before != after and not (name == "held_reason" and node.resolved):
            entry.changes.append(changed(name, before, after))
    if entry.is_closed:
        row.unclaim()
        row.status = None
    elif entry.is_reopened or node.kind == FEATURE:
        row.status = node.status
    row.resolved, row.outcome = node.resolved, outcome
    if not node.resolved:
        row.held_reason = held_reason
    if entry.is_moved:
        old_parent = (entry.before.parent_n if entry.before else None) or ROOT_N
        entry.changes.append(changed("parent", nodes[old_parent].id, nodes[node.parent_n or ROOT_N].id))
    if entry.source_parent is not None:
        _set_source_parent(entry, row.properties_value, entry.source_parent or None)
    entry.changes += _describe_parts(state, entry)


def _set_source_parent(entry: ImportEntry, properties: dict[str, Any], source_parent: str | None) -> None:
    before = properties.pop(SOURCE_PARENT, None)
    if before != source_parent:
        entry.changes.append(changed(f"properties.{SOURCE_PARENT}", before, source_parent))
        set_properties(entry, properties | ({SOURCE_PARENT: source_parent} if source_parent else {}))


def _save(tx: Transaction, entry: ImportEntry) -> None:
    assert entry.stored is not None  # noqa: S101 - loaded before
    save_node(tx, entry.stored.row)


def _choose_op(entry: ImportEntry) -> WorkOp:
    if entry.is_closed:
        return WorkOp.DROPPED if entry.node.is_dropped else WorkOp.RESOLVED
    if entry.is_reopened:
        return WorkOp.REOPENED
    return WorkOp.MOVED if [change.field for change in entry.changes] == ["parent"] else WorkOp.UPDATED


# --- Parts and numbers ------------------------------------------------------------------------------------------------


def _write_parts(tx: Transaction, entries: list[ImportEntry]) -> None:
    """Write the edges, tags, evidence and sections of entries."""
    place = {"project_id": tx.project.id}

    def list_edges(edges: str) -> Iterator[dict[str, Any]]:
        for entry in entries:
            for type_, to_n in getattr(entry, edges):
                yield {**place, "from_n": entry.node.n, "type": type_, "to_n": to_n}

    def list_tags(tags: str) -> Iterator[dict[str, Any]]:
        for entry in entries:
            for tag in getattr(entry, tags):
                yield {**place, "node_n": entry.node.n, "tag": tag}

    run_in_chunks(tx, sql.add_edges, list_edges("new_edges"))
    run_in_chunks(tx, sql.remove_edges, list_edges("gone_edges"))
    run_in_chunks(tx, sql.add_tags, list_tags("new_tags"))
    run_in_chunks(tx, sql.remove_tags, list_tags("gone_tags"))
    for chunk in split_rows(_list_evidence(tx, entries)):
        add_evidence(tx, chunk)
    run_in_chunks(tx, sql.add_sections, ({**place, **row} for row in _list_new_sections(entries)))
    for entry in entries:
        for change in entry.changed_sections:
            tx.run(sql.set_section, **place, id=change.stored.id, content=change.text)
        if entry.gone_sections:
            delete_sections(tx, [section.id for section in entry.gone_sections])


def _list_evidence(tx: Transaction, entries: list[ImportEntry]) -> Iterator[EvidenceRow]:
    for entry in entries:
        first = entry.stored.row.evidence_total + 1 if entry.stored else 1
        for k, evidence in enumerate(entry.new_evidence, first):
            check = get_default_check(evidence.type)
            yield EvidenceRow(entry.node.n, k, evidence.type, evidence.text, tx.actor.id, tx.now, check, tx.rev)


def _list_new_sections(entries: list[ImportEntry]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        first = max((section.ordinal + 1 for section in entry.stored.sections), default=0) if entry.stored else 0
        for ordinal, (title, text) in enumerate(entry.new_sections.items(), first):
            yield {"id": new_uuid(), "node_n": entry.node.n, "ordinal": ordinal, "title": title, "content": text}


def _write_positions(tx: Transaction, state: ImportState, derived: Derived) -> None:
    """Write the parents and derived columns of the stored nodes for which they changed."""
    rows = []
    for node in state.graph.nodes.values():
        entry = state.entries.get(node.n)
        if node.stored is not None and (derived[node.n] != node.stored or (entry is not None and entry.is_moved)):
            place = {"project_id": tx.project.id, "n": node.n, "parent_n": node.parent_n}
            rows.append({**place, **derived[node.n]._asdict()})
    run_in_chunks(tx, sql.set_positions, rows)


def _write_counts(tx: Transaction, state: ImportState, derived: Derived) -> None:
    """Write the counts of the project and of its features."""
    place = {"project_id": tx.project.id}
    nodes = state.graph.nodes
    counts = {
        "last_n": max(tx.scalar(sql.last_n, **place), *nodes),
        "total": len(nodes),
        "resolved": sum(node.resolved for node in nodes.values()),
        "dropped": sum(node.is_dropped for node in nodes.values()),
        "blocked": sum(node.is_blocked(derived[node.n]) for node in nodes.values()),
        "actionable": sum(node.is_ready(derived[node.n]) for node in nodes.values()),
        "features": sum(node.kind == FEATURE for node in nodes.values()),
    }
    tasks = [node for node in nodes.values() if node.is_task]
    tx.run(sql.set_counts, **place, **counts, **_count_tasks(tasks))
    of_features: dict[int | None, list[PlanNodeState]] = {}
    for node in tasks:
        of_features.setdefault(derived[node.n].feature_n, []).append(node)
    for stored in tx.all(sql.feature_counts, FeatureTasksRow, **place):
        now = FeatureTasksRow(stored.n, **_count_tasks(of_features.get(stored.n, [])))
        if now != stored:
            tx.run(sql.set_feature_counts, **place, **now._asdict())


def _count_tasks(tasks: list[PlanNodeState]) -> dict[str, int]:
    fates = Counter((node.resolved, node.is_dropped) for node in tasks)
    return {
        "tasks": len(tasks),
        "tasks_closed": fates[True, False],
        "tasks_dropped": fates[True, True],
    }


def _list_imports(tx: Transaction, state: ImportState, entries: list[ImportEntry]) -> Iterator[dict[str, Any]]:
    for entry in entries:
        yield {
            "project_id": tx.project.id,
            "tool": state.tool,
            "source_id": entry.source_id,
            "node_n": entry.node.n,
            "digest": entry.digest,
            "base": msgspec.json.encode(entry.base).decode(),
        }


def _note_written(state: ImportState, entry: ImportEntry, *, without: Collection[str]) -> None:
    """Store the written fate and parent in the base of an item if they differ from the file."""
    assert entry.base is not None  # noqa: S101 - the entry of an item
    base, node = entry.base, entry.node
    written: dict[str, Any] = {}
    if "fate" in base.fields:
        word = DROPPED if node.is_dropped else "done" if node.resolved else "held" if node.is_held else "open"
        fate = describe_fate(word, entry.hold_reason)
        if entry.stored is None or fate != read_fate(entry.stored):
            written["fate"] = fate
    if entry.is_new or entry.is_moved:
        written["parent"] = None if node.parent_n in (None, ROOT_N) else state.name(node.parent_n)
    for name, value in written.items():
        if name in without:
            continue
        base.written.pop(name, None)
        if not is_same(value, base.fields.get(name)):
            base.written[name] = digest_if_long(value)


# --- Aliases: the ids of other tools. An alias never takes the place of an id of ours ---------------------------------


class WantedAlias(NamedTuple):
    """An alias for the node of an item."""

    alias: str
    source_id: str
    n: int


def add_aliases(tx: Transaction, project_id: str, wanted: Sequence[WantedAlias]) -> list[ImportNote]:
    """Add aliases to nodes unless they are in use. Return a note for each refused alias."""
    taken, refused = check_aliases(tx, project_id, wanted)
    rows = ({"project_id": project_id, "alias": alias.alias, "node_n": alias.n} for alias in taken)
    run_in_chunks(tx, sql.add_aliases, rows)
    return refused


def check_aliases(
    tx: Transaction, project_id: str, wanted: Sequence[WantedAlias]
) -> tuple[list[WantedAlias], list[ImportNote]]:
    """Return the aliases to add, and a note for each refused one. Aliases that their nodes already have are ignored."""
    known: dict[str, int] = {}
    ours: set[str] = set()
    visible = find_visible_project_ids(tx)
    for chunk in split_rows(dict.fromkeys(alias.alias for alias in wanted)):
        encoded = to_json_array(chunk)
        known |= dict(tx.all(sql.aliases_among, project_id=project_id, aliases=encoded))
        rows = tx.all(sql.nodes_with_ids, ids=encoded)
        ours |= {node_id for owner, node_id in rows if visible is None or owner in visible}
    taken, refused = [], []
    for alias in wanted:
        owner = known.get(alias.alias)
        if owner == alias.n:
            continue
        if owner is not None:
            refused.append(ImportNote(alias.source_id, "alias", f"{alias.alias} is the alias of another node"))
        elif alias.alias in ours or _is_prefix(tx, alias.alias, visible):
            refused.append(ImportNote(alias.source_id, "alias", f"{alias.alias} looks like an id of Groundplan"))
        else:
            known[alias.alias] = alias.n
            taken.append(alias)
    return taken, refused


def _is_prefix(tx: Transaction, alias: str, visible_project_ids: frozenset[str] | None) -> bool:
    """Return True if an alias is the beginning of an existing id."""
    if len(alias) < PREFIX_CHARS_MIN or not _LETTERS.issuperset(alias):
        return False
    return bool(find_nodes_by_prefix(tx, alias, visible_project_ids, at_most=PREFIX_MATCHES_MAX))
