"""The places of imported nodes: below open parents, groups with their items, and without loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from groundplan.work.importing.compare import add_stored_entry, read_fate
from groundplan.work.importing.items import LOOP, ImportBase
from groundplan.work.importing.state import (
    ImportConflict,
    ImportEntry,
    ImportNote,
    ImportState,
    PlanGraph,
    PlanNodeState,
    StoredNode,
)
from groundplan.work.kinds import ACTIVE, FEATURE, ROOT_N
from groundplan.work.nodes import DEPENDS_ON
from groundplan.work.waiting.cycles import shorten_path
from groundplan.work.waiting.moments import find_cycle


def place(state: ImportState) -> None:
    """Give every node of the import an allowed parent (an open one for an open node), and break all loops."""
    _break_parent_loops(state)
    _refuse_closing_local_work(state)
    _refuse_closing_without_evidence(state)
    _open_groups(state)
    _return_below_parents(state)
    _move_below_open_parents(state)
    _close_features(state)


def _break_parent_loops(state: ImportState) -> None:
    """Move an item below the root if its parents form a loop."""
    nodes = state.graph.nodes
    checked = {ROOT_N}
    for entry in list(state.entries.values()):
        path: dict[int, None] = {}
        n = entry.node.n
        while n not in checked and n not in path:
            path[n] = None
            n = nodes[n].parent_n or ROOT_N
        if n in path:
            loop = list(path)[list(path).index(n) :]
            first = min((number for number in loop if number in state.entries), default=n)
            at = loop.index(first)
            in_loop = state.touch(first)
            in_loop.source_parent = state.name(nodes[first].parent_n or ROOT_N)
            _hold_in_loop(state, in_loop, [*loop[at:], *loop[:at], first], "parent")
            nodes[first].parent_n = ROOT_N
        checked.update(path)


def _hold_in_loop(state: ImportState, entry: ImportEntry, path: list[int], edge: str) -> None:
    names = " -> ".join(shorten_path([state.name(n) for n in path]))
    state.placed.append(ImportNote(str(entry.source_id), "loop", f"{edge} left out, because it closes a loop: {names}"))
    node = entry.node
    if not node.resolved and not node.is_held:
        node.is_held = True
        entry.hold_reason = f"{LOOP}{names}"


def _refuse_closing_local_work(state: ImportState) -> None:
    """Keep a node open that is finished in the file, if it has open nodes that were planned here."""
    closed = [entry for entry in state.entries.values() if entry.is_closed]
    children = state.graph.list_children() if closed else {}
    depth = {entry.node.n: entry.node.stored.depth if entry.node.stored else 0 for entry in closed}
    for entry in sorted(closed, key=lambda finished: -depth[finished.node.n]):
        node = entry.node
        if any(state.graph.is_open(child) and child not in state.sources for child in children.get(node.n, ())):
            _refuse_fate(state, entry)


def _refuse_closing_without_evidence(state: ImportState) -> None:
    """Keep a task open that is finished in the file, if this project requires evidence and there is none."""
    if not state.requires_evidence:
        return
    kept = []
    for entry in state.entries.values():
        has_evidence = entry.new_evidence or (entry.stored is not None and entry.stored.row.evidence_total)
        if entry.is_closed and entry.node.is_task and not entry.node.is_dropped and not has_evidence:
            _refuse_fate(state, entry)
            kept.append(entry.node.n)
    if kept:
        state.warnings.append(
            f"this project requires evidence to resolve a task: {len(kept)} items that are finished in the file and "
            f"have none stay open until evidence is added, here or there: {state.name_some(kept)}"
        )


def _refuse_fate(state: ImportState, entry: ImportEntry) -> None:
    """Keep a node open that is finished in the file. Every import tries again to finish it."""
    _keep_fate(state, entry, "dropped" if entry.node.is_dropped else "done")
    if entry.base is not None and entry.last_base is not None:
        entry.base.fields["fate"], entry.digest = entry.last_base.fields["fate"], ""
        entry.base.written |= {name: text for name, text in entry.last_base.written.items() if name == "fate"}


def _keep_fate(state: ImportState, entry: ImportEntry, there: str) -> None:
    """Restore the former fate of a stored node, and report the conflict."""
    node, before = entry.node, entry.before
    assert before is not None  # noqa: S101 - the node is stored
    node.resolved, node.is_dropped = before.resolved, before.is_dropped
    node.is_held, node.status = before.is_held, before.status
    if entry.stored is not None:
        entry.hold_reason = entry.stored.row.held_reason
    if entry.last_base is not None and "fate" in entry.last_base.fields:
        here = "done" if before.resolved else "open"
        last = entry.last_base.fields["fate"]
        state.conflicts.append(ImportConflict(str(entry.source_id), "fate", last, here, there))


def _keep_parent(state: ImportState, entry: ImportEntry) -> None:
    """Restore the former parent of a stored node, and report the conflict."""
    node, before = entry.node, entry.before
    assert before is not None  # noqa: S101 - the node is stored
    there, here = state.name(node.parent_n or ROOT_N), state.name(before.parent_n or ROOT_N)
    node.parent_n, entry.source_parent = before.parent_n, None
    _note_parent(state, str(entry.source_id), None)
    if entry.base is not None and entry.last_base is not None:
        last = entry.last_base.fields.get("parent")
        state.conflicts.append(ImportConflict(str(entry.source_id), "parent", last, here, there))
        entry.base.written["parent"] = None if before.parent_n == ROOT_N else here
        entry.base.keeps_parent = True


def _open_groups(state: ImportState) -> None:
    """Open the groups of the file that have open items below them."""
    nodes = state.graph.nodes
    groups = {n for n in state.sources if nodes[n].kind == FEATURE}
    visited = {ROOT_N}
    for node in list(nodes.values()):
        if node.resolved or node.n in groups:
            continue
        n = node.parent_n or ROOT_N
        while n not in visited:
            visited.add(n)
            if n in groups and nodes[n].resolved:
                state.touch(n)
                nodes[n].resolved, nodes[n].is_dropped = False, False
                nodes[n].status = ACTIVE if nodes[n].stored else None
            n = nodes[n].parent_n or ROOT_N
    _set_group_status(state, [nodes[n] for n in groups if nodes[n].stored is None])


def _set_group_status(state: ImportState, groups: Iterable[PlanNodeState]) -> None:
    """Set new groups to begun if they are open, and to dropped if they are not."""
    done_above = _find_features_with_done_items(state)
    for group in groups:
        if not group.resolved:
            group.status = ACTIVE if group.n in done_above else None
        else:
            group.is_dropped = group.n not in done_above


def _find_features_with_done_items(state: ImportState) -> set[int]:
    nodes = state.graph.nodes
    features: set[int] = set()
    for node in nodes.values():
        if node.resolved and not node.is_dropped and node.kind != FEATURE:
            n = node.parent_n or ROOT_N
            while n not in features:
                features.add(n)
                n = nodes[n].parent_n or ROOT_N
    return features


def _return_below_parents(state: ImportState) -> None:
    """Move nodes back below a parent that the file opens again, if an import had moved them away from it.

    A node that is no longer where the import put it was moved here since, and stays. So does one whose way up leads to
    itself by now.
    """
    nodes = state.graph.nodes
    for source_id, last_base in state.differing.items():
        n = state.numbers.get(source_id)
        if n is None:
            continue
        changed_item = state.entries.get(n)
        base = last_base if changed_item is None or changed_item.base is None else changed_item.base
        target = state.numbers.get(base.fields.get("parent") or "")
        here = None if nodes[n].parent_n == ROOT_N else state.name(nodes[n].parent_n or ROOT_N)
        if target is None or "parent" not in base.written or base.written["parent"] != here:
            continue
        path = [target]
        while path[-1] not in (ROOT_N, n):
            path.append(nodes[path[-1]].parent_n or ROOT_N)
        to_n = next((above for above in path if not nodes[above].resolved), ROOT_N)
        is_far = nodes[n].resolved and to_n != target  # a finished node can be below a finished one
        opened = state.entries.get(to_n)
        if opened is None or not opened.is_opened_in_file or to_n == nodes[n].parent_n:
            continue
        if n in path or is_far or base.keeps_parent:
            continue
        entry = state.touch(n)
        nodes[n].parent_n = to_n
        entry.source_parent = "" if to_n == target else state.name(target)
        detail = f"it is below {state.name(to_n)} now, its nearest open parent in the file"
        _note_parent(state, source_id, detail)


def _move_below_open_parents(state: ImportState) -> None:
    """Move open nodes below their nearest open ancestor. A finished parent is not opened."""
    nodes = state.graph.nodes
    for node in list(nodes.values()):
        if node.resolved or node.parent_n is None or not nodes[node.parent_n].resolved:
            continue
        finished = node.parent_n
        n = finished
        while nodes[n].resolved and n != ROOT_N:
            n = nodes[n].parent_n or ROOT_N
        if nodes[n].resolved:  # the root
            state.touch(ROOT_N)
            nodes[ROOT_N].resolved = False
        if n == finished:
            continue
        entry = state.touch(node.n)
        node.parent_n = n
        # An unchanged item that returned, and had to leave again, is where it was.
        is_back = entry.stored is None and not entry.is_new and not entry.is_moved
        entry.source_parent = None if is_back else state.name(finished)
        below = "the root" if n == ROOT_N else state.name(n)
        detail = f"its parent {state.name(finished)} is finished; it is below {below} now"
        _note_parent(state, state.name(node.n), detail)


def _note_parent(state: ImportState, source_id: str, detail: str | None) -> None:
    """Replace the note about the parent of a node. A node that was not moved has none."""
    state.placed = [note for note in state.placed if (note.source_id, note.what) != (source_id, "parent")]
    if detail is not None:
        state.placed.append(ImportNote(source_id, "parent", detail))


def _close_features(state: ImportState) -> None:
    """Close the stored features that lost their last open child, as features do."""
    nodes = state.graph.nodes
    open_children = Counter(node.parent_n for node in nodes.values() if not node.resolved)
    todo = [
        node.n
        for node in nodes.values()
        if node.kind == FEATURE and node.stored and node.stored.open_children and not open_children[node.n]
    ]
    for n in todo:  # the list grows during the loop
        node = nodes[n]
        if node.resolved or node.kind != FEATURE or open_children[n]:
            continue
        state.touch(n)
        node.resolved, node.status = True, None
        node.is_dropped = n not in _find_features_with_done_items(state)
        if node.parent_n is not None:
            open_children[node.parent_n] -= 1
            todo.append(node.parent_n)


def restore_loop_edges(state: ImportState, nodes: Mapping[int, StoredNode]) -> None:
    """Restore the dependencies that closed a loop at the last import, because another item may have left the loop.

    Those that still close one are left out again. A node that was released here stays released.
    """
    for source_id, last_base in state.differing.items():
        n = state.numbers.get(source_id)
        if n is None or not last_base.loops or not (entry := _restore_entry(state, source_id, nodes[n], last_base)):
            continue
        _, _, base = entry.get_stored_item()
        for target in base.loops:
            to_n = state.numbers.get(target)
            if to_n is not None and target in base.depends_on and to_n not in state.graph.waits.get(n, ()):
                entry.new_edges.append((DEPENDS_ON, to_n))
                state.graph.waits.setdefault(n, []).append(to_n)
        base.loops = []


def _restore_entry(state: ImportState, source_id: str, stored: StoredNode, base: ImportBase) -> ImportEntry | None:
    """Return the entry of an item in a loop without its hold; None if it has no open dependency any more."""
    entry = state.entries.get(stored.row.n)
    if entry is None:
        if stored.row.held_reason is None:
            return None
        entry = add_stored_entry(state, source_id, stored, base)
        entry.digest = state.last[source_id].digest
    if entry.node.resolved or not (entry.is_reopened or entry.node.is_held):
        return None
    if entry.node.is_held and read_fate(stored) == base.written.get("fate"):
        entry.node.is_held, entry.hold_reason = False, None
        entry.last_loop_reason = stored.row.held_reason
    return entry


def leave_out_loops(state: ImportState) -> None:
    """Leave out imported dependencies that would close a loop, and put their nodes on hold."""
    _set_back_loops_of_stored_edges(state)
    new_edges = []
    for entry in state.entries.values():
        n = entry.node.n
        for type_, to_n in list(entry.new_edges):
            if type_ != DEPENDS_ON:
                continue
            if to_n == n and entry.node.resolved:  # no loop any more, and no edge either
                _leave_out(state, entry, to_n)
            else:
                new_edges.append((n, to_n))
    for loop in state.graph.find_loop_edges(new_edges, inherits=state.inherits):
        entry = state.entries[loop.source]
        _leave_out(state, entry, loop.target)
        _hold_in_loop(state, entry, loop.path, f"{DEPENDS_ON} {state.name(loop.target)}")
    for entry in state.entries.values():
        if entry.last_loop_reason is not None and entry.has_same_loops and entry.node.is_held:
            entry.hold_reason = entry.last_loop_reason
        if entry.before is not None and entry.node.resolved:  # a finished node keeps the hold that it had
            entry.node.is_held = entry.before.is_held


def _leave_out(state: ImportState, entry: ImportEntry, to_n: int) -> None:
    entry.new_edges.remove((DEPENDS_ON, to_n))
    if entry.base is not None:
        entry.base.loops.append(state.name(to_n))
    state.graph.waits[entry.node.n].remove(to_n)


def _set_back_loops_of_stored_edges(state: ImportState) -> None:
    """Undo moves and reopened items of the file if stored dependencies would form a loop with them."""
    if not any(entry.is_moved or entry.is_reopened for entry in state.entries.values()):
        return
    new = {(n, to_n) for n, entry in state.entries.items() for type_, to_n in entry.new_edges if type_ == DEPENDS_ON}
    old = {n: [to_n for to_n in targets if (n, to_n) not in new] for n, targets in state.graph.waits.items()}
    graph = PlanGraph(state.graph.nodes, old)
    set_back: set[int] = set()
    while (cycle := find_cycle(graph.build_moments(inherits=state.inherits))) is not None:
        in_loop = [entry for moment in cycle if (entry := state.entries.get(moment // 2)) is not None]
        changed = [candidate for candidate in in_loop if candidate.is_moved or candidate.is_reopened]
        entry = next((candidate for candidate in changed if candidate.node.n not in set_back), None)
        if entry is None:
            return  # a loop that was there before
        set_back.add(entry.node.n)
        if entry.is_reopened:
            _keep_fate(state, entry, "open")
            if entry.base is not None and "fate" in entry.base.fields:
                entry.base.written["fate"] = "dropped" if entry.node.is_dropped else "done"
        if entry.is_moved:
            _keep_parent(state, entry)
            _set_back_ancestors(state, entry.node.n)
        _move_below_open_parents(state)


def _set_back_ancestors(state: ImportState, n: int) -> None:
    """Undo moves of the ancestors of a node while its parents form a loop."""
    nodes = state.graph.nodes
    while True:
        path = {n: None}
        above = nodes[n].parent_n or ROOT_N
        while above != ROOT_N and above not in path:
            path[above] = None
            above = nodes[above].parent_n or ROOT_N
        moved = [entry for number in path if (entry := state.entries.get(number)) is not None and entry.is_moved]
        if above == ROOT_N or not moved:
            return
        _keep_parent(state, moved[0])
