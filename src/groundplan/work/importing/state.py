"""The data that the steps of an import share: the plan of the project in memory, and new and changed nodes.

An import can change any part of a project at once, so what follows from the tree and the dependencies is computed anew
for all nodes, in one pass, and only what differs is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.importing.items import ImportBase, SourceEvidence, SourceItem
from groundplan.work.kinds import ACTIVE, DROPPED, FEATURE, ROOT_N
from groundplan.work.nodes import WorkNodeRow
from groundplan.work.waiting.moments import MomentGraph, get_finish_moment, get_start_moment, group_steps, iter_waits

T = TypeVar("T")

NAMED_MAX = 10  # of items in one warning
FINISHED = ("done", DROPPED)  # fates
ROWS_MAX = 2_000  # in one statement, so that its text takes a few MB

sql = load_queries(__file__)


class DerivedColumns(NamedTuple):
    """The columns of a node that are derived from its ancestors, children and dependencies."""

    depth: int
    feature_n: int | None
    open_children: int
    open_deps: int
    blocked_above: int


@dataclass(slots=True)
class PlanNodeState:
    """A node of the project, stored or new."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None = None
    resolved: bool = False
    is_dropped: bool = False
    is_held: bool = False
    status: str | None = None
    stored: DerivedColumns | None = None  # None: the node is new

    @property
    def is_task(self) -> bool:
        return self.parent_n is not None and self.kind != FEATURE

    def is_ready(self, derived: DerivedColumns) -> bool:
        """Return whether the node may be started."""
        waits = self.is_held or derived.open_children or derived.open_deps or derived.blocked_above
        return self.is_task and not self.resolved and not waits and self.status in (None, ACTIVE)

    def is_blocked(self, derived: DerivedColumns) -> bool:
        """Return True if the node is open and it or an ancestor waits for a dependency."""
        return not self.resolved and bool(self.is_held or derived.open_deps or derived.blocked_above)


class LoopEdge(NamedTuple):
    """A dependency that would close a loop, and the nodes of the loop, with the first one repeated at the end."""

    source: int
    target: int
    path: list[int]


@dataclass(slots=True)
class PlanGraph:
    """The nodes of a project by number, and the dependencies of each node."""

    nodes: dict[int, PlanNodeState]
    waits: dict[int, list[int]] = field(default_factory=dict)

    def is_open(self, n: int) -> bool:
        """Return True if a node is open."""
        return not self.nodes[n].resolved

    def iter_open_targets(self, n: int) -> Iterator[int]:
        """Yield the open nodes on which a node depends."""
        return (target for target in self.waits.get(n, ()) if self.is_open(target))

    def list_children(self) -> dict[int, list[int]]:
        """Return the children of each node with children."""
        children: dict[int, list[int]] = {}
        for node in self.nodes.values():
            if node.parent_n is not None:
                children.setdefault(node.parent_n, []).append(node.n)
        return children

    def derive(self, *, inherits: bool) -> dict[int, DerivedColumns]:
        """Return the derived columns of all nodes, parents first; `inherits` is the policy inherit_dependencies."""
        children = self.list_children()
        open_children = Counter(node.parent_n for node in self.nodes.values() if not node.resolved)
        derived: dict[int, DerivedColumns] = {}
        above: list[tuple[int, int, int | None, int]] = [(ROOT_N, 0, None, 0)]
        for n, depth, feature_n, blocked_above in above:  # the list grows during the loop
            node = self.nodes[n]
            open_deps = sum(1 for _ in self.iter_open_targets(n))
            derived[n] = DerivedColumns(depth, feature_n, open_children[n], open_deps, blocked_above)
            is_feature = node.kind == FEATURE
            blocks = (inherits or is_feature) and (open_deps > 0 or node.is_held)
            below = (depth + 1, n if is_feature else feature_n, blocked_above + blocks)
            above += [(child, *below) for child in children.get(n, ())]
        return derived

    # --- Loops ---

    def build_moments(self, *, inherits: bool) -> dict[int, list[int]]:
        """Return the moments that each moment of an open node waits for directly."""
        features = self._find_features() if not inherits else {}
        open_nodes = [node for node in self.nodes.values() if not node.resolved]
        return group_steps(
            iter_waits(
                ((node.n, node.parent_n, node.parent_n if inherits else features.get(node.n)) for node in open_nodes),
                ((node.n, target) for node in open_nodes for target in self.iter_open_targets(node.n)),
            )
        )

    def _find_features(self) -> dict[int, int | None]:
        return {n: derived.feature_n for n, derived in self.derive(inherits=False).items()}

    def find_loop_edges(self, new_edges: list[tuple[int, int]], *, inherits: bool) -> list[LoopEdge]:
        """Return the new dependencies that close a loop, in order.

        Only moments that can reach each other are searched, which are none in a plan without loops.
        """
        moments = self.build_moments(inherits=inherits)
        component = find_components(moments)
        suspects = [
            (source, target)
            for source, target in dict.fromkeys(new_edges)
            if self.is_open(source)
            and self.is_open(target)
            and component[get_start_moment(source)] == component[get_finish_moment(target)]
        ]
        if not suspects:
            return []
        steps = {(get_start_moment(source), get_finish_moment(target)) for source, target in suspects}
        looping = {component[start] for start, _ in steps}
        graph = MomentGraph()
        graph.load(
            {
                moment: [
                    after for after in waited if component[after] == component[moment] and (moment, after) not in steps
                ]
                for moment, waited in moments.items()
                if component[moment] in looping
            }
        )
        loop_edges = []
        for source, target in suspects:
            start, finish = get_start_moment(source), get_finish_moment(target)
            path = graph.find_path(finish, start)
            if path is None:
                graph.add(start, finish)
            else:
                loop_edges.append(LoopEdge(source, target, _to_nodes([start, *path])))
        return loop_edges


def _to_nodes(moments: list[int]) -> list[int]:
    """Return the nodes of a loop of moments, without consecutive repetitions."""
    nodes = [moment // 2 for moment in moments]
    path = [n for at, n in enumerate(nodes) if at == 0 or n != nodes[at - 1]]
    return path if len(path) > 1 else path * 2


def find_components(steps: dict[int, list[int]]) -> dict[int, int]:
    """Return the number of the strongly connected component of each moment (Tarjan, without recursion)."""
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    component: dict[int, int] = {}
    stack: list[int] = []
    for first in steps:
        if first in order:
            continue
        todo = [(first, iter(steps.get(first, ())))]
        order[first] = low[first] = len(order)
        stack.append(first)
        while todo:
            moment, ahead = todo[-1]
            after = next(ahead, None)
            if after is None:
                todo.pop()
                if todo:
                    above = todo[-1][0]
                    low[above] = min(low[above], low[moment])
                if low[moment] == order[moment]:
                    while True:
                        member = stack.pop()
                        component[member] = moment
                        if member == moment:
                            break
            elif after not in order:
                order[after] = low[after] = len(order)
                stack.append(after)
                todo.append((after, iter(steps.get(after, ()))))
            elif after not in component:
                low[moment] = min(low[moment], order[after])
    return component


# --- What is stored: read when an import begins, and saved when it ends -----------------------------------------------


class LastImport(NamedTuple):
    """An item of an earlier import: its digest, and its node unless that was removed."""

    node_n: int | None
    digest: str


class PlanNodeRow(Struct):
    """A stored node of the graph."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    resolved: bool
    is_dropped: bool
    is_held: bool
    status: str | None
    depth: int
    feature_n: int | None
    open_children: int
    open_deps: int
    blocked_above: int


class StoredSection(NamedTuple):
    """A section of a node."""

    node_n: int
    id: str
    ordinal: int
    title: str
    content: str


class StoredNode(NamedTuple):
    """A node with its edges, tags, sections and evidence."""

    row: WorkNodeRow
    edges: set[tuple[str, int]]
    tags: list[str]
    sections: list[StoredSection]
    evidence: list[SourceEvidence]


def load_last_imports(tx: Transaction, project_id: str, tool: str) -> dict[str, LastImport]:
    """Return the items of a tool that were imported into a project before."""
    rows = tx.all(sql.last_imports, project_id=project_id, tool=tool)
    return {source_id: LastImport(node_n, digest) for source_id, node_n, digest in rows}


def load_bases(tx: Transaction, project_id: str, tool: str, source_ids: Collection[str]) -> dict[str, ImportBase]:
    """Return the bases of some items from the last import."""
    bases: dict[str, ImportBase] = {}
    for chunk in split_rows(source_ids):
        rows = tx.all(sql.bases, project_id=project_id, tool=tool, source_ids=to_json_array(chunk))
        bases |= {source_id: msgspec.json.decode(base, type=ImportBase) for source_id, base in rows}
    return bases


def load_differing(tx: Transaction, project_id: str, tool: str) -> dict[str, ImportBase]:
    """Return the bases of the items that the last import wrote differently from the file."""
    rows = tx.all(sql.differing_bases, project_id=project_id, tool=tool)
    return {source_id: msgspec.json.decode(base, type=ImportBase) for source_id, base in rows}


def load_graph(tx: Transaction, project_id: str) -> PlanGraph:
    """Return the graph of a project as it is stored."""
    graph = PlanGraph({})
    for row in tx.all(sql.graph_nodes, PlanNodeRow, project_id=project_id):
        derived = DerivedColumns(row.depth, row.feature_n, row.open_children, row.open_deps, row.blocked_above)
        graph.nodes[row.n] = PlanNodeState(
            row.n,
            row.id,
            row.parent_n,
            row.kind,
            bool(row.resolved),
            bool(row.is_dropped),
            bool(row.is_held),
            row.status,
            stored=derived,
        )
    for from_n, to_n in tx.all(sql.graph_dependencies, project_id=project_id):
        graph.waits.setdefault(from_n, []).append(to_n)
    return graph


def load_nodes(tx: Transaction, project_id: str, ns: Sequence[int]) -> dict[int, StoredNode]:
    """Return nodes with all parts that an import may change."""
    nodes: dict[int, StoredNode] = {}
    for chunk in split_rows(ns):
        place: dict[str, Any] = {"project_id": project_id, "ns": to_json_array(chunk)}
        for row in tx.all(sql.nodes, WorkNodeRow, **place):
            nodes[row.n] = StoredNode(row, set(), [], [], [])
        for n, type_, to_n in tx.all(sql.edges_from, **place):
            nodes[n].edges.add((type_, to_n))
        for n, tag in tx.all(sql.tags_of, **place):
            nodes[n].tags.append(tag)
        for section in tx.all(sql.sections_of, StoredSection, **place):
            nodes[section.node_n].sections.append(section)
        for n, type_, text in tx.all(sql.evidence_of, **place):
            nodes[n].evidence.append(SourceEvidence(type_, text))
    return nodes


def load_exported_nodes(tx: Transaction, project_id: str, tool: str, items: Iterable[SourceItem]) -> dict[str, int]:
    """Return the nodes that exports made items of and that no import knows yet, by their source ids."""
    source_ids = {item.node: item.source_id for item in items if item.node is not None}
    numbers: dict[str, int] = {}
    for chunk in split_rows(source_ids):
        rows = tx.all(sql.nodes_without_source, tool=tool, ids=to_json_array(chunk))
        numbers |= {source_ids[node_id]: n for owner, node_id, n in rows if owner == project_id and n != ROOT_N}
    return numbers


def run_in_chunks(tx: Transaction, query: Query, rows: Iterable[dict[str, Any]]) -> None:
    """Run a change with many sets of parameters, a few thousand at a time."""
    for chunk in split_rows(rows):
        tx.run_many(query, chunk)


def split_rows(rows: Iterable[T]) -> Iterator[list[T]]:
    """Yield rows in lists of a few thousand."""
    ahead = iter(rows)
    while chunk := list(islice(ahead, ROWS_MAX)):
        yield chunk


# --- The nodes that an import creates or changes ----------------------------------------------------------------------


class ImportNote(Struct):
    """A note about a field that was imported differently from the file or lost, with a sentence."""

    source_id: str
    what: str
    detail: str


class ImportConflict(Struct):
    """A field that changed both in the file and here. The value here is kept."""

    source_id: str
    field: str
    base: Any
    here: Any
    there: Any


@dataclass(slots=True)
class SectionChange:
    """A section to replace."""

    stored: StoredSection
    text: str


@dataclass(slots=True)
class ImportEntry:
    """A node that the import creates or changes."""

    node: PlanNodeState
    source_id: str | None = None  # None: not an imported item; it changes because of one
    item: SourceItem | None = None
    stored: StoredNode | None = None  # of an item that changed; None also if the node is new
    base: ImportBase | None = None  # of an item, for the next import
    last_base: ImportBase | None = None  # as the last import left it
    digest: str = ""
    hold_reason: str | None = None
    source_parent: str | None = None  # the parent in the file, if the node is below another one; "": it no longer is
    last_loop_reason: str | None = None  # of a hold for a loop that is tried again
    before: PlanNodeState | None = None  # the stored node as the import found it
    changes: list[Change] = field(default_factory=list)
    new_edges: list[tuple[str, int]] = field(default_factory=list)
    gone_edges: list[tuple[str, int]] = field(default_factory=list)
    new_tags: list[str] = field(default_factory=list)
    gone_tags: list[str] = field(default_factory=list)
    new_sections: dict[str, str] = field(default_factory=dict)  # by title
    changed_sections: list[SectionChange] = field(default_factory=list)
    gone_sections: list[StoredSection] = field(default_factory=list)
    new_evidence: list[SourceEvidence] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        return self.node.stored is None

    @property
    def is_base_changed(self) -> bool:
        return self.base != self.last_base

    def set_last_base(self, base: ImportBase) -> None:
        """Set the base of the last import. It remains the next base unless this import changes it."""
        self.last_base = base
        kept = {"fields": dict(base.fields), "written": dict(base.written), "loops": list(base.loops)}
        self.base = msgspec.structs.replace(base, **kept)

    def get_stored_item(self) -> tuple[str, StoredNode, ImportBase]:
        """Return the source id, the stored node and the base of an item that was imported before."""
        if self.source_id is None or self.stored is None or self.base is None:
            raise LookupError(f"node {self.node.id} is no item that was imported before")
        return self.source_id, self.stored, self.base

    @property
    def has_same_loops(self) -> bool:
        """True if the same dependencies close a loop as at the last import."""
        return self.base is not None and self.last_base is not None and self.base.loops == self.last_base.loops

    @property
    def is_opened_in_file(self) -> bool:
        """True if the node is new, or was finished in the file at the last import and is open now."""
        if self.is_new or self.is_reopened:
            return True
        fates = [base.fields.get("fate") for base in (self.last_base, self.base) if base is not None]
        return len(fates) == 2 and fates[0] in FINISHED and fates[1] not in FINISHED

    @property
    def is_hold_changed(self) -> bool:
        if self.stored is None or self.node.resolved:
            return False
        return (self.hold_reason if self.node.is_held else None) != self.stored.row.held_reason

    @property
    def is_reopened(self) -> bool:
        return self.before is not None and self.before.resolved and not self.node.resolved

    @property
    def is_closed(self) -> bool:
        return self.before is not None and not self.before.resolved and self.node.resolved

    @property
    def is_moved(self) -> bool:
        return self.before is not None and self.node.parent_n != self.before.parent_n


@dataclass(slots=True)
class ImportState:
    """The state that the steps of one import share."""

    tool: str
    graph: PlanGraph
    last: dict[str, LastImport]
    inherits: bool = False
    requires_evidence: bool = False  # the policy of the project
    # Of the items for which the last import wrote something else than the file says, also of unchanged ones.
    differing: dict[str, ImportBase] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # of the nodes of all items that have one, by source id
    entries: dict[int, ImportEntry] = field(default_factory=dict)  # by the number of the node
    placed: list[ImportNote] = field(default_factory=list)
    lost: list[ImportNote] = field(default_factory=list)
    conflicts: list[ImportConflict] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)  # the reverse of `numbers`
    exported: set[str] = field(default_factory=set)  # source ids that an export gave to nodes that were made here

    def touch(self, n: int) -> ImportEntry:
        """Return the entry of a node. It is created if the import has not changed the node yet."""
        if n not in self.entries:
            node = self.graph.nodes[n]
            self.entries[n] = ImportEntry(node, self.sources.get(n), before=replace(node))
        return self.entries[n]

    def name_some(self, numbers: Sequence[int]) -> str:
        """Return the names of the first of some nodes as text for a sentence."""
        return ", ".join(map(self.name, numbers[:NAMED_MAX])) + (", …" if len(numbers) > NAMED_MAX else "")

    def name(self, n: int) -> str:
        """Return the name of a node in reports: its source id, else its id."""
        return self.sources.get(n, self.graph.nodes[n].id)
