"""Compare the items of a file with the nodes of earlier imports; the results are new nodes and changes of nodes.

An item that was imported before is compared with the last import and with its node, field by field:

    changed only there   taken
    changed only here    kept
    changed on both      ours stays, and the conflict is reported until one side gives in

Lists are compared entry by entry, so they have no conflicts: an entry that is new there is added, and one that is gone
there is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from groundplan.kernel.audit import changed
from groundplan.work.importing.items import (
    DIGEST,
    HELD,
    LOOP,
    PROPERTIES,
    SECTIONS,
    DeletedItem,
    ImportBase,
    SourceEvidence,
    SourceItem,
    build_base,
    describe_fate,
    digest_evidence,
    digest_if_long,
    digest_item,
    is_same,
    list_fields,
    list_sections,
    number_titles,
)
from groundplan.work.importing.state import (
    ImportConflict,
    ImportEntry,
    ImportNote,
    ImportState,
    PlanNodeState,
    SectionChange,
    StoredNode,
    StoredSection,
)
from groundplan.work.kinds import DROPPED, FEATURE, PRIORITY, ROOT_N, get_complexity, get_priority
from groundplan.work.nodes import DEPENDS_ON
from groundplan.work.requests import LINKS_MAX, SECTIONS_MAX, TAGS_MAX, encode_links, encode_properties, encode_state

T = TypeVar("T")

REASONS = ("note", DROPPED)  # types of evidence why an item is finished
IMPORTED = "import"  # the type of evidence that a file says so
ORIGIN = [f"{PROPERTIES}source{end}" for end in ("", "_id", "_status", "_created_at", "_updated_at")]


def add_new_entries(state: ImportState, items: Sequence[SourceItem], ids: Sequence[str], *, first_n: int) -> None:
    """Add an entry for each new item; their numbers follow the order of the file."""
    for n, (item, node_id) in enumerate(zip(items, ids, strict=True), first_n):
        state.numbers[item.source_id] = n
        state.sources[n] = item.source_id
        node = PlanNodeState(n, node_id, ROOT_N, FEATURE if item.is_group else None)
        state.graph.nodes[n] = node
        state.entries[n] = ImportEntry(
            node,
            item.source_id,
            item,
            base=build_base(item, state.tool),
            digest=digest_item(item),
            new_tags=list(dict.fromkeys(item.tags))[:TAGS_MAX],
            new_sections=list_sections(item),
            new_evidence=list(item.evidence),
        )
    for item in items:
        entry = state.entries[state.numbers[item.source_id]]
        if item.parent is not None:
            entry.node.parent_n = _find_parent(state, item.source_id, item.parent)
        _set_fate(entry, describe_fate(item.fate, item.hold_reason))
        if item.is_group:  # until an open item is found below it
            entry.node.resolved, entry.node.is_held, entry.hold_reason = True, False, None
        _add_edges(state, entry, list_edges(item))


def list_edges(item: SourceItem) -> list[tuple[str, str]]:
    """Return the dependencies and links of an item as types and source ids."""
    edges = [(DEPENDS_ON, target) for target in item.depends_on]
    return list(dict.fromkeys(edges + [(link.type, link.source_id) for link in item.links]))


def _find_parent(state: ImportState, source_id: str, parent: str) -> int:
    """Return the node of the parent of an item; the root if there is none."""
    n = state.numbers.get(parent)
    if n is None:
        state.lost.append(ImportNote(source_id, "parent", f"its parent {parent} is not there"))
    return ROOT_N if n is None else n


def _add_edges(state: ImportState, entry: ImportEntry, edges: Iterable[tuple[str, str]]) -> None:
    """Add the edges of an item to its entry. Edges to unknown items are reported, and edges to itself are dropped."""
    assert entry.source_id is not None  # noqa: S101 - the entry of an item
    known = entry.stored.edges if entry.stored else set()
    for type_, target in edges:
        to_n = state.numbers.get(target)
        if to_n is None:
            state.lost.append(ImportNote(entry.source_id, type_, f"{target} is not there"))
        elif (type_, to_n) in known:
            continue
        elif to_n != entry.node.n or type_ == DEPENDS_ON:  # a dependency on itself is a loop, and reported as one
            entry.new_edges.append((type_, to_n))
            if type_ == DEPENDS_ON:
                state.graph.waits.setdefault(entry.node.n, []).append(to_n)


def _set_fate(entry: ImportEntry, fate: str) -> None:
    node = entry.node
    node.resolved, node.is_dropped = fate in ("done", DROPPED), fate == DROPPED
    node.is_held = fate.startswith(HELD)
    entry.hold_reason = fate.removeprefix(HELD) if node.is_held else None


def add_missing_evidence(state: ImportState, file: str) -> None:
    """Give the file as evidence to new finished items without evidence, if the project requires evidence."""
    if not state.requires_evidence:
        return
    finished = []
    for entry in state.entries.values():
        node = entry.node
        if entry.is_new and node.is_task and node.resolved and not node.is_dropped and not entry.new_evidence:
            entry.new_evidence.append(SourceEvidence(IMPORTED, f"finished in {state.tool}: {file}"))
            finished.append(node.n)
    if finished:
        state.warnings.append(
            f"this project requires evidence to resolve a task: {len(finished)} items were finished in {state.tool} "
            f"without any, and have the file itself as evidence: {state.name_some(finished)}"
        )


# --- Items that were imported before ----------------------------------------------------------------------------------


def add_changed_entries(
    state: ImportState,
    items: Sequence[SourceItem],
    deleted: Sequence[DeletedItem],
    bases: Mapping[str, ImportBase],
    nodes: Mapping[int, StoredNode],
) -> None:
    """Compare the items that changed in the file with their nodes, and add entries for the differences."""
    for item in items:
        n = state.last[item.source_id].node_n
        if n is None:
            fields = ("node", None, "removed", item.title)
            state.conflicts.append(ImportConflict(item.source_id, *fields))
            continue
        is_exported = item.source_id in state.exported
        base = _build_base_of_export(state, item, nodes[n]) if is_exported else bases[item.source_id]
        entry = add_stored_entry(state, item.source_id, nodes[n], base)
        if is_exported:  # there was no import that left a base
            entry.last_base = None
        entry.item = item
        there = list_fields(item, state.tool)
        there.pop("fate", None)
        # The fate of a group follows from its items. A node does not become one later, and keeps its fate then.
        if entry.node.kind != FEATURE:
            fate = base.fields.get("fate") if item.is_group else describe_fate(item.fate, item.hold_reason)
            there |= {"fate": fate} if fate is not None else {}
        has_conflicts = _compare_fields(state, entry, there)
        _compare_lists(state, entry, item)
        # Without a digest, an item is compared again next time: its conflicts are reported until one side gives in.
        entry.digest = "" if has_conflicts else digest_item(item)
    for gone in deleted:
        n = state.last[gone.source_id].node_n
        if n is None:
            continue
        entry = add_stored_entry(state, gone.source_id, nodes[n], bases[gone.source_id])
        if entry.base and entry.base.fields.get("fate") == DROPPED:
            del state.entries[n]
            continue
        has_conflicts = _compare_fields(state, entry, {**bases[gone.source_id].fields, "fate": DROPPED})
        entry.digest = ""
        if not has_conflicts and entry.is_closed:
            entry.new_evidence.append(SourceEvidence(DROPPED, gone.reason or f"deleted in {state.tool}"))


def _build_base_of_export(state: ImportState, item: SourceItem, stored: StoredNode) -> ImportBase:
    """Return the base of an item that an export made of a node: what both say, for who changed the rest is unknown.

    A field that differs is a conflict, unless the node does not have it. The priority stays, because a tool may need
    one or have fewer, and so does what says where a node comes from: from us, or from the tool that it was first in.
    """
    base, here, there = build_base(item, state.tool), _list_here(state, stored), list_fields(item, state.tool)
    if item.parent is not None and state.numbers.get(item.parent) in {*_iter_above(state, stored.row.n)}:
        here["parent"] = item.parent  # the tool has fewer levels
    priority = f"{PROPERTIES}{PRIORITY}"
    if not is_same(here.setdefault(priority, there.get(priority)), there.get(priority)):
        here[priority] = there.get(priority)
        state.placed.append(
            ImportNote(item.source_id, PRIORITY, f"is {there.get(priority)} in the file, and stays here")
        )
    keeps_origin = f"{PROPERTIES}source" in here or item.source_status is None
    reasons = {entry.text.strip() for entry in stored.evidence}  # which a tool may have as a text
    for name, value in there.items():
        if is_same(here.get(name), value):
            continue
        if (keeps_origin and name in ORIGIN) or (name.startswith(SECTIONS) and value in reasons):
            base.written[name] = digest_if_long(here.get(name))
        else:
            del base.fields[name]
    base.depends_on = [target for target in base.depends_on if (DEPENDS_ON, state.numbers.get(target)) in stored.edges]
    base.links = [(type_, target) for type_, target in base.links if (type_, state.numbers.get(target)) in stored.edges]
    base.tags = [tag for tag in base.tags if tag in stored.tags or tag == item.properties.get("type")]
    base.context_links = [link for link in base.context_links if link in stored.row.links_value]
    return base


def _iter_above(state: ImportState, n: int) -> Iterator[int]:
    """Yield the numbers of the ancestors of a node."""
    above = state.graph.nodes[n].parent_n
    while above is not None:
        yield above
        above = state.graph.nodes[above].parent_n


def add_stored_entry(state: ImportState, source_id: str, stored: StoredNode, base: ImportBase) -> ImportEntry:
    """Return the entry of an item that was imported before. It is created if it is missing."""
    entry = state.touch(stored.row.n)
    entry.source_id, entry.stored = source_id, stored
    entry.set_last_base(base)
    entry.hold_reason = stored.row.held_reason
    return entry


def read_fate(stored: StoredNode) -> str:
    """Return the fate of a stored node."""
    row = stored.row
    if row.resolved:
        return DROPPED if row.outcome == DROPPED else "done"
    return "open" if row.held_reason is None else f"{HELD}{row.held_reason}"


def _list_here(state: ImportState, stored: StoredNode) -> dict[str, Any]:
    """Return the fields of a stored node under the field names of an item."""
    row = stored.row
    fields: dict[str, Any] = {"title": row.summary, "fate": read_fate(stored), "state": row.state_value}
    if row.parent_n != ROOT_N and row.parent_n is not None:
        fields["parent"] = state.name(row.parent_n)
    fields |= {f"{PROPERTIES}{name}": value for name, value in row.properties_value.items()}
    fields |= {f"{SECTIONS}{title}": section.content for title, section in _name_sections(stored).items()}
    return fields


def _name_sections(stored: StoredNode) -> dict[str, StoredSection]:
    """Return the sections of a node under the titles that an export gives them."""
    return dict(zip(number_titles(section.title for section in stored.sections), stored.sections, strict=True))


def _compare_fields(state: ImportState, entry: ImportEntry, there: Mapping[str, Any]) -> bool:
    """Apply the fields that changed only in the file. Return True if there are conflicts."""
    source_id, stored, base = entry.get_stored_item()
    here = _list_here(state, stored)
    if stored.row.claimed_by is not None and "state" not in base.fields:
        here["state"] = there.get("state")  # the word that an export has for a claim
    merged = merge_fields(source_id, base, there, here)
    base.fields = merged.base
    base.written = {name: value for name, value in base.written.items() if name not in merged.taken}
    base.keeps_parent = base.keeps_parent and "parent" not in merged.taken
    state.conflicts += merged.conflicts
    row = stored.row
    properties = row.properties_value
    for name, value in merged.taken.items():
        if name == "title":
            entry.changes.append(changed("summary", row.summary, value))
            row.summary = value
        elif name == "fate":
            _set_fate(entry, "open" if value is None else value)
        elif name == "state":
            entry.changes.append(changed("state", row.state_value, value))
            row.state = encode_state(value, ("items", "state"))
        elif name == "parent":
            entry.node.parent_n = ROOT_N if value is None else _find_parent(state, source_id, value)
        elif name.startswith(PROPERTIES):
            key = name.removeprefix(PROPERTIES)
            entry.changes.append(changed(name, properties.get(key), value))
            if value is None:
                properties.pop(key, None)
            else:
                properties[key] = value
        else:
            _take_section(state, entry, name.removeprefix(SECTIONS), value)
    set_properties(entry, properties)
    return bool(merged.conflicts)


def set_properties(entry: ImportEntry, properties: dict[str, Any]) -> None:
    """Store properties in the row of an entry."""
    assert entry.stored is not None  # noqa: S101 - the entry of a stored node
    row = entry.stored.row
    row.properties = encode_properties(properties, ("items", str(entry.source_id), "properties"))
    row.priority, row.complexity = get_priority(properties), get_complexity(properties)


def _take_section(state: ImportState, entry: ImportEntry, title: str, text: str | None) -> None:
    source_id, node, _ = entry.get_stored_item()
    stored = _name_sections(node).get(title)
    if text is None:
        entry.gone_sections += [stored] if stored else []
    elif stored is not None:
        entry.changed_sections.append(SectionChange(stored, text))
    elif len(node.sections) + len(entry.new_sections) < SECTIONS_MAX:
        entry.new_sections[title] = text
    else:
        state.lost.append(ImportNote(source_id, "section", f"{title}: the node has {SECTIONS_MAX} sections"))


def _compare_lists(state: ImportState, entry: ImportEntry, item: SourceItem) -> None:
    """Apply the list entries that are new in the file, and remove those that the file no longer has."""
    _, stored, base = entry.get_stored_item()
    fresh = build_base(item, state.tool)
    edges = compare_lists(
        [*((DEPENDS_ON, target) for target in base.depends_on), *map(tuple, base.links)], list_edges(item)
    )
    _add_edges(state, entry, edges.added)  # type: ignore[arg-type] # tuples of two
    for type_, target in edges.removed:
        to_n = state.numbers.get(target)
        if to_n is not None and (type_, to_n) in stored.edges:
            entry.gone_edges.append((type_, to_n))
            if type_ == DEPENDS_ON:
                state.graph.waits[entry.node.n].remove(to_n)
    tags = compare_lists(base.tags, fresh.tags)
    room = TAGS_MAX - len(stored.tags)
    entry.new_tags = [tag for tag in tags.added if tag not in stored.tags][:room]
    entry.gone_tags = [tag for tag in tags.removed if tag in stored.tags]
    _compare_context_links(entry, base.context_links, fresh.context_links)
    known = {*base.evidence, *digest_evidence(_iter_known_evidence(stored))}
    digests = digest_evidence(item.evidence)
    entry.new_evidence += [
        evidence for evidence, digest in zip(item.evidence, digests, strict=True) if digest not in known
    ]
    base.loops = [target for target in base.loops if target in fresh.depends_on]
    for name in ("depends_on", "links", "tags", "context_links", "evidence"):
        setattr(base, name, getattr(fresh, name))


def _iter_known_evidence(stored: StoredNode) -> Iterator[SourceEvidence]:
    """Yield the evidence of a node; a reason is known as each type, because a file has one for done and dropped."""
    for entry in stored.evidence:
        types = REASONS if entry.type in REASONS else (entry.type,)
        yield from (SourceEvidence(type_, entry.text.strip()) for type_ in types)


def _compare_context_links(entry: ImportEntry, base: list[str], there: list[str]) -> None:
    assert entry.stored is not None  # noqa: S101 - the entry of a stored node
    row = entry.stored.row
    links = compare_lists(base, there)
    before = row.links_value
    kept = [link for link in before if link not in links.removed]
    after = [*kept, *(link for link in links.added if link not in kept)][:LINKS_MAX]
    if after != before:
        entry.changes.append(changed("context_links", before, after))
        row.context_links = encode_links(after, ("items", "context_links"))


# --- Three-way comparison ---------------------------------------------------------------------------------------------


@dataclass(slots=True)
class FieldMerge:
    """The result of comparing the fields of an item: the values to apply, and the conflicts."""

    taken: dict[str, Any] = field(default_factory=dict)  # None removes a field
    conflicts: list[ImportConflict] = field(default_factory=list)
    base: dict[str, Any] = field(default_factory=dict)  # the fields to compare with next time


def merge_fields(source_id: str, last: ImportBase, there: Mapping[str, Any], here: Mapping[str, Any]) -> FieldMerge:
    """Compare the fields of an item with those of the last import and of its node.

    What an agent keeps for itself (`state`) and a hold that was set here stay without a conflict.
    """
    merged = FieldMerge(base=dict(last.fields))
    for name in dict.fromkeys([*last.fields, *there]):
        base, new = last.fields.get(name), there.get(name)
        if is_same(base, new):
            continue
        ours = here.get(name)
        if not is_same(ours, new):
            if is_same(ours, last.written.get(name, base)):
                merged.taken[name] = new
            elif name != "state" and not (name == "fate" and _is_own_hold(base, ours, new)):
                merged.conflicts.append(ImportConflict(source_id, name, base, ours, new))
                continue
        merged.base.pop(name, None)
        if new is not None:
            merged.base[name] = digest_if_long(new)
    return merged


def _is_own_hold(base: Any, ours: Any, new: Any) -> bool:
    """Return whether a node was put on hold here, and the file has another reason or, for want of holds, none."""
    was_held, is_held, is_held_there = (str(fate).startswith((HELD, DIGEST)) for fate in (base, ours, new))
    is_of_import = str(ours).startswith(f"{HELD}{LOOP}")
    return is_held and not is_of_import and (is_held_there or (new == "open" and not was_held))


@dataclass(slots=True)
class ListChanges(Generic[T]):
    """The entries that are new in a file, and those that the file no longer has."""

    added: list[T]
    removed: list[T]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def compare_lists(base: Collection[T], there: Collection[T]) -> ListChanges[T]:
    """Return the changes of a list in the file since the last import."""
    before, after = set(base), set(there)
    return ListChanges(
        [entry for entry in dict.fromkeys(there) if entry not in before],
        [entry for entry in dict.fromkeys(base) if entry not in after],
    )
