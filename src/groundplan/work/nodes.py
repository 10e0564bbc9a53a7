"""Work nodes: the stored row, the node as callers see it, its evidence and edges, and the insertion of new nodes.

The root of a project is a node, too. All others are below it, and it is never work itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import SystemRandom
from typing import Any, Protocol

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.audit import Change, changed
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.events import EventPosition, find_undone_writes
from groundplan.kernel.ids import new_short_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.events import WorkOp
from groundplan.work.evidence_check import EvidenceCheck
from groundplan.work.kinds import (
    ACTIVE,
    COMPLEXITY_ABSENT,
    FEATURE,
    PRIORITY_ABSENT,
    PROJECT,
    ROOT_N,
    Outcome,
    WorkPreferences,
    get_outcome,
)
from groundplan.work.links import ShownLink
from groundplan.work.waiting.order import ROOT_KEY

NOTE = "note"  # the type of evidence that is written for the next reader
DEPENDS_ON = "depends_on"
RELATES_TO = "relates_to"
TEXT_KEY_BITS = 32  # the low bits are the node's number, the high bits the project's
PROJECT_NUMBER_LIMIT = 2**31  # the upper half of a 63-bit key, see work_text in the migration
NUMBER_TRIES_MAX = 8
LOST_MAX = 5  # dropped dependencies that are listed for one node
# What a long answer drops from a node, in this order.
TRIMMABLE_FIELDS = ("properties", "state")

sql = load_queries(__file__)


class ClaimFields(Protocol):
    """The claim fields of a row."""

    @property
    def claimed_by(self) -> str | None: ...
    @property
    def claimed_at(self) -> str | None: ...
    @property
    def claimed_until(self) -> str | None: ...


def list_claim_end(row: ClaimFields) -> list[Change]:
    """Return the changes of a node whose claim ends."""
    claim = {"claimed_by": row.claimed_by, "claimed_at": row.claimed_at, "claimed_until": row.claimed_until}
    return [changed(name, value, None) for name, value in claim.items() if value is not None]


class WorkNodeRow(Struct):
    """The columns of one node. The defaults are those of a new node, and JSON columns are text."""

    n: int
    id: str
    parent_n: int | None
    kind: str | None
    feature_n: int | None
    depth: int
    open_children: int
    open_deps: int
    blocked_above: int
    summary: str
    properties: str = "{}"
    priority: float = PRIORITY_ABSENT
    complexity: int = COMPLEXITY_ABSENT
    context_links: str = "[]"
    resolved: bool = False
    outcome: str | None = None
    status: str | None = None
    held_reason: str | None = None
    blocked_reason: str | None = None
    state: str | None = None
    claimed_by: str | None = None
    claimed_at: str | None = None
    claimed_until: str | None = None
    rev: int = 1
    claim_number: int = 0
    created_at: str = ""  # this and the next three are set when the row is inserted
    created_by: str = ""
    updated_at: str = ""
    changed_rev: int = 0  # the revision of the project at the last change
    evidence_total: int = 0
    merged_total: int = 0
    parent: str | None = None  # the id of the parent, where the query selects it
    others_work: bool | None = None  # whether others work on a node of the project, where the query selects it
    order_key: str | None = None  # of a new node; reads do not select it

    @property
    def state_value(self) -> Any:
        return None if self.state is None else msgspec.json.decode(self.state)

    @property
    def properties_value(self) -> dict[str, Any]:
        value: dict[str, Any] = msgspec.json.decode(self.properties)
        return value

    @property
    def links_value(self) -> list[str]:
        value: list[str] = msgspec.json.decode(self.context_links)
        return value

    @property
    def waits(self) -> bool:
        """True if the node itself has an open dependency or is on hold; it may be open or resolved."""
        return self.open_deps > 0 or self.held_reason is not None

    def resolve(self) -> list[Change]:
        """Mark the node as resolved, and return the changes besides `resolved`. Its own status ends."""
        changes = [] if self.status is None else [changed("status", self.status, None)]
        self.resolved, self.outcome, self.status = True, None, None
        return changes

    def reopen(self) -> list[Change]:
        """Mark the node as open, and return the changes besides `resolved`. A reopened feature is active, not new."""
        changes = [] if self.outcome is None else [changed("outcome", self.outcome, None)]
        if self.kind == FEATURE:
            self.status = ACTIVE
            changes.append(changed("status", None, ACTIVE))
        self.resolved, self.outcome = False, None
        return changes

    def unclaim(self) -> list[Change]:
        """Remove the claim, and return the changes. Its number is kept, so that a late writer is detected."""
        changes = list_claim_end(self)
        self.claimed_by = self.claimed_at = self.claimed_until = None
        return changes


def get_description(properties: Mapping[str, Any] | UnsetType) -> str | None:
    """Return the description among the properties of a node; None if there is none, or they are left out."""
    text = properties.get("description") if properties else None
    return text if isinstance(text, str) and text.strip() else None


def fetch_node(tx: Transaction, n: int) -> WorkNodeRow:
    """Return the stored fields of a node in the current project."""
    return tx.one(sql.node_by_number, WorkNodeRow, project_id=tx.project.id, n=n)


def list_open_nodes(tx: Transaction, ns: Iterable[int]) -> list[int]:
    """Return the open nodes among the given ones."""
    return tx.scalars(sql.open_nodes_among, project_id=tx.project.id, ns=to_json_array(ns))


def save_node(tx: Transaction, node: WorkNodeRow) -> None:
    """Save the fields of a node under a new revision."""
    tx.run_with_record(sql.update_node, node, project_id=tx.project.id)
    node.rev += 1


def save_progress(tx: Transaction, node: WorkNodeRow) -> None:
    """Save a node under a new revision, without a change of its content."""
    tx.run_with_record(sql.update_progress, node, project_id=tx.project.id)
    node.rev += 1


def add_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Add an edge between two nodes. Return False if it exists already."""
    return tx.run(sql.add_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def remove_edge(tx: Transaction, from_n: int, type_: str, to_n: int) -> bool:
    """Remove an edge between two nodes. Return False if it does not exist."""
    return tx.run(sql.remove_edge, project_id=tx.project.id, from_n=from_n, type=type_, to_n=to_n) > 0


def touch(tx: Transaction, n: int) -> None:
    """Increase the revision of a node after a change outside its row, such as a new edge."""
    tx.run(sql.touch_node, project_id=tx.project.id, n=n)


def load_dependents(tx: Transaction, ns: Collection[int]) -> list[int]:
    """Return the nodes that depend on the given ones, once for each dependency."""
    return tx.scalars(sql.dependents, project_id=tx.project.id, ns=to_json_array(ns))


def insert_nodes(tx: Transaction, project_id: str, rows: Sequence[WorkNodeRow]) -> None:
    """Insert nodes of one project, parents first, and index their summaries for search."""
    number = tx.scalar(sql.project_number, project_id=project_id)
    # A project that this write creates starts at revision 1.
    changed_rev = tx.rev if tx.has_project else 1
    now = {"project_id": project_id, "created_at": tx.now, "updated_at": tx.now, "changed_rev": changed_rev}
    tx.run_many(sql.add_nodes, [msgspec.structs.asdict(row) | now for row in rows])
    tx.run_many(
        sql.index_summaries, [{"key": (number << TEXT_KEY_BITS) + row.n, "summary": row.summary} for row in rows]
    )


def index_summary(tx: Transaction, row: WorkNodeRow) -> None:
    """Index the summary of a node of the current project for search."""
    number = tx.scalar(sql.project_number, project_id=tx.project.id)
    tx.run_many(sql.index_summaries, [{"key": (number << TEXT_KEY_BITS) + row.n, "summary": row.summary}])


def load_nodes_by_id(tx: Transaction, ids: Iterable[str]) -> dict[str, WorkNodeRow]:
    """Return the nodes of the current project with these ids, by id."""
    rows = tx.all(sql.nodes_by_own_ids, WorkNodeRow, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}


def generate_ids(tx: Transaction, count: int, *, population: int) -> list[str]:
    """Return `count` unused ids. They are longer in a larger project."""
    unused: dict[str, None] = {}
    while len(unused) < count:
        proposed = to_json_array(new_short_ids(count - len(unused), population + count))
        unused |= dict.fromkeys(tx.scalars(sql.find_unused_ids, ids=proposed))
    return list(unused)


def generate_project_id(tx: Transaction) -> str:
    """Return an unused id for a project and its root."""
    return generate_ids(tx, 1, population=0)[0]


def create_root(tx: Transaction, project_id: str, summary: str) -> None:
    """Create the root of a new project. Its id is that of the project."""
    pipelines = tx.preferences.of(WorkPreferences).pipelines
    _create_work_project(tx, project_id, pipelines)
    root = WorkNodeRow(
        n=ROOT_N,
        id=project_id,
        parent_n=None,
        kind=PROJECT,
        feature_n=None,
        depth=0,
        open_children=0,
        open_deps=0,
        blocked_above=0,
        summary=summary,
        order_key=ROOT_KEY,
    )
    insert_nodes(tx, project_id, [root])
    changes = [changed("summary", None, summary)]
    if pipelines is not None:
        changes.append(changed("pipelines", None, msgspec.json.decode(pipelines)))
    tx.record(WorkOp.CREATED, project_id, *changes, project_id=project_id)


def _create_work_project(tx: Transaction, project_id: str, pipelines: str | None) -> None:
    # A random number, because only an actor who sees every project could know the next free one.
    for _ in range(NUMBER_TRIES_MAX):
        number = SystemRandom().randrange(1, PROJECT_NUMBER_LIMIT)
        if tx.run(sql.add_work_project, project_id=project_id, number=number, pipelines=pipelines):
            return
    raise Unavailable("found no free number for this project; try again")


def add_claim_properties(properties: dict[str, Any], row: ClaimFields, *, now: str, lean: bool) -> None:
    """Add a live claim to the properties of its node; with `lean` without its time, as all times are left out."""
    if row.claimed_by is not None and (row.claimed_until is None or row.claimed_until > now):
        properties["_claimed_by"] = row.claimed_by
        if not lean:
            properties["_claimed_at"] = row.claimed_at
        if row.claimed_until is None:
            properties["_held"] = True


class HoldFields(Protocol):
    """The fields of a row about its hold."""

    @property
    def held_reason(self) -> str | None: ...
    @property
    def resolved(self) -> bool: ...


def add_hold_property(properties: dict[str, Any], row: HoldFields) -> None:
    """Add the reason of a hold to the properties of an open node."""
    if row.held_reason is not None and not row.resolved:
        properties["_hold"] = row.held_reason


class Evidence(Struct):
    """A reference that shows the result of work, or that helps the next reader."""

    type: str
    ref: str
    agent: str | UnsetType = UNSET
    timestamp: str | UnsetType = UNSET
    checked: EvidenceCheck | UnsetType = UNSET  # of a commit or a file
    undone: bool | UnsetType = UNSET  # set if the write that added it was undone
    event: str | UnsetType = UNSET  # of a note: by which it can be taken back


class MergedTextRow(Struct):
    """The words of a node that was merged into another one."""

    node_n: int
    id: str
    summary: str
    description: str | None
    rev: int


class MergedNode(Struct):
    """A node that was merged into another one."""

    id: str
    summary: str
    description: str | UnsetType = UNSET


class WorkNode(Struct, kw_only=True):
    """A node in full. A lean one leaves out empty and bookkeeping fields."""

    id: str
    rev: int | UnsetType = UNSET
    parent: str | UnsetType = UNSET
    summary: str
    resolved: bool
    outcome: Outcome | UnsetType = UNSET  # of a resolved node
    state: Any = UNSET
    properties: dict[str, Any] | UnsetType = UNSET
    context_links: list[str] | UnsetType = UNSET
    serves: list[ShownLink] | UnsetType = UNSET  # this and the next three: only where a node is read by itself
    rests_on: list[ShownLink] | UnsetType = UNSET
    supports: list[ShownLink] | UnsetType = UNSET
    refutes: list[ShownLink] | UnsetType = UNSET
    evidence: list[Evidence] | UnsetType = UNSET
    evidence_total: int | UnsetType = UNSET  # set when there are more than are listed
    merged: list[MergedNode] | UnsetType = UNSET
    merged_total: int | UnsetType = UNSET  # set when there are more than are listed
    created_at: str | UnsetType = UNSET
    updated_at: str | UnsetType = UNSET
    created_by: str | UnsetType = UNSET


class NodeSummary(Struct):
    """The id and summary of a node."""

    id: str
    summary: str


class ActionableNode(NodeSummary):
    """A node that became actionable. `lost` are those of its dependencies that were dropped."""

    lost: list[str] | UnsetType = UNSET
    lost_total: int | UnsetType = UNSET  # set when there are more than are listed


class WorkCounts(Struct):
    """Numbers of nodes by state. `total` includes the root, and `resolved` the dropped ones."""

    total: int
    resolved: int
    unresolved: int
    blocked: int
    actionable: int
    dropped: int


class EvidenceRow(Struct):
    """One stored entry of evidence."""

    node_n: int
    k: int
    type: str
    ref: str
    agent: str
    at: str
    checked: EvidenceCheck | None
    rev: int | None  # of the write that added it; null if it is older than this column


def load_rows(tx: Transaction, ns: Iterable[int], *, project_id: str | None = None) -> dict[int, WorkNodeRow]:
    """Return nodes with their parents, of the current project or of one that is being created (`project_id`)."""
    rows = tx.all(sql.nodes, WorkNodeRow, project_id=project_id or tx.project.id, ns=to_json_array(ns))
    return {row.n: row for row in rows}


def load_nodes(tx: Transaction, ns: Iterable[int], *, lean: bool, of_each: int) -> dict[int, WorkNode]:
    """Return nodes by number, each with its newest evidence and its last merges, so many `of_each`."""
    rows = load_rows(tx, ns)
    evidence = load_evidence(tx, [row.n for row in rows.values() if row.evidence_total], of_each=of_each)
    merged = load_merged(tx, [row.n for row in rows.values() if row.merged_total], of_each=of_each)
    nodes = {n: build_node(row, now=tx.now, lean=lean) for n, row in rows.items()}
    for n, row in rows.items():
        if row.context_links != "[]":
            nodes[n].context_links = row.links_value
    for n, entries in evidence.items():
        nodes[n].evidence = format_evidence(entries, lean=lean)
        if rows[n].evidence_total > len(entries):
            nodes[n].evidence_total = rows[n].evidence_total
    for n, texts in merged.items():
        nodes[n].merged = texts
        if rows[n].merged_total > len(texts):
            nodes[n].merged_total = rows[n].merged_total
    return nodes


def load_summaries(tx: Transaction, ns: Iterable[int]) -> dict[int, NodeSummary]:
    """Return the ids and summaries of some nodes of the current project, by number."""
    rows = tx.all(sql.node_summaries, project_id=tx.project.id, ns=to_json_array(ns))
    return {n: NodeSummary(node_id, summary) for n, node_id, summary in rows}


def load_tags(tx: Transaction, ns: Iterable[int], *, project_id: str | None = None) -> dict[int, list[str]]:
    """Return the sorted tags of some nodes by number. Nodes without tags are left out."""
    tags: dict[int, list[str]] = {}
    for n, tag in tx.all(sql.tags_of_nodes, project_id=project_id or tx.project.id, ns=to_json_array(ns)):
        tags.setdefault(n, []).append(tag)
    return tags


def add_tags(tx: Transaction, project_id: str, tags: Mapping[int, Iterable[str]]) -> None:
    """Add tags to nodes by number. The nodes must not have these tags yet."""
    rows = [{"project_id": project_id, "n": n, "tags": to_json_array(added)} for n, added in tags.items()]
    tx.run_many(sql.add_tags, rows)


def set_tags(tx: Transaction, n: int, tags: Collection[str]) -> Change | None:
    """Replace the tags of a node. Return the change for the event, or None if nothing changed."""
    before = load_tags(tx, [n]).get(n, [])
    after = sorted(set(tags))
    if before == after:
        return None
    if gone := sorted(set(before) - set(after)):
        tx.run(sql.remove_tags, project_id=tx.project.id, n=n, tags=to_json_array(gone))
    if new := sorted(set(after) - set(before)):
        add_tags(tx, tx.project.id, {n: new})
    return changed("tags", before, after)


class _ActionableRow(Struct):
    n: int
    id: str
    summary: str
    has_lost: bool


def load_actionable(tx: Transaction, ns: Iterable[int], *, at_most: int) -> list[ActionableNode]:
    """Return some nodes, best first."""
    place = {"project_id": tx.project.id}
    rows = tx.all(sql.best_of_nodes, _ActionableRow, **place, ns=to_json_array(ns), at_most=at_most)
    nodes = {row.n: ActionableNode(row.id, row.summary) for row in rows}
    if losing := [row.n for row in rows if row.has_lost]:
        lost = tx.all(sql.dropped_dependencies, **place, ns=to_json_array(losing), of_each=LOST_MAX)
        for n, lost_id, total in lost:
            nodes[n].lost = [*(nodes[n].lost or ()), lost_id]
            nodes[n].lost_total = total if total > LOST_MAX else UNSET
    return list(nodes.values())


def build_node(row: WorkNodeRow, *, now: str, lean: bool) -> WorkNode:
    """Return a node without its lists."""
    properties: dict[str, Any] = msgspec.json.decode(row.properties) if row.properties != "{}" else {}
    add_claim_properties(properties, row, now=now, lean=lean)
    add_hold_property(properties, row)
    node = summarize_node(row)
    if row.parent is not None:
        node.parent = row.parent
    if row.state is not None:
        node.state = msgspec.json.decode(row.state)
    if lean:
        node.properties = properties or UNSET
        return node
    node.rev, node.properties, node.context_links, node.evidence = row.rev, properties, [], []
    node.created_at, node.updated_at, node.created_by = row.created_at, row.updated_at, row.created_by
    return node


def summarize_node(row: WorkNodeRow) -> WorkNode:
    """Return a node in its shortest form."""
    return WorkNode(id=row.id, summary=row.summary, resolved=row.resolved, outcome=get_outcome(row))


def format_evidence(evidence: list[Evidence], *, lean: bool) -> list[Evidence] | UnsetType:
    """Return evidence for an answer. With `lean`, entries have no agent, time and event; no empty list."""
    if not lean:
        return evidence
    return [Evidence(one.type, one.ref, checked=one.checked, undone=one.undone) for one in evidence] or UNSET


def load_evidence(tx: Transaction, ns: Collection[int], *, of_each: int) -> dict[int, list[Evidence]]:
    """Return the newest evidence of some nodes, oldest first, so many `of_each`."""
    if not ns or not of_each:
        return {}
    numbers = to_json_array(ns)
    rows = tx.all(sql.newest_evidence, EvidenceRow, project_id=tx.project.id, ns=numbers, at_most=of_each)
    evidence: dict[int, list[Evidence]] = {}
    for row, entry in zip(rows, build_evidence(tx, rows), strict=True):
        evidence.setdefault(row.node_n, []).append(entry)
    return evidence


def describe_evidence(rows: Iterable[EvidenceRow], *, is_moved: bool = False) -> list[dict[str, str]]:
    """Return evidence for an event, which has its author and time unless it was moved from another node."""
    return [
        {"type": row.type, "ref": row.ref}
        | ({"agent": row.agent, "timestamp": row.at} if is_moved else {})
        | ({"checked": row.checked} if row.checked else {})
        for row in rows
    ]


def build_evidence(tx: Transaction, rows: Sequence[EvidenceRow]) -> list[Evidence]:
    """Return stored evidence as it is shown."""
    undone = find_undone_writes(tx, {row.rev for row in rows})
    return [
        Evidence(
            row.type,
            row.ref,
            row.agent,
            row.at,
            row.checked or UNSET,
            row.rev in undone or UNSET,
            str(EventPosition(row.rev, 0)) if row.type == NOTE and row.rev is not None else UNSET,
        )
        for row in rows
    ]


def load_merged(tx: Transaction, ns: Collection[int], *, of_each: int) -> dict[int, list[MergedNode]]:
    """Return the nodes that were merged last into some nodes, in the order of the merges, so many `of_each`."""
    if not ns or not of_each:
        return {}
    numbers = to_json_array(ns)
    merged: dict[int, list[MergedNode]] = {}
    for row in tx.all(sql.merged_nodes, MergedTextRow, project_id=tx.project.id, ns=numbers, at_most=of_each):
        merged.setdefault(row.node_n, []).append(build_merged(row))
    return merged


def build_merged(row: MergedTextRow) -> MergedNode:
    """Return a node that was merged into another one as it is shown."""
    return MergedNode(row.id, row.summary, UNSET if row.description is None else row.description)


def add_evidence(tx: Transaction, rows: Iterable[EvidenceRow]) -> None:
    """Append evidence to nodes."""
    tx.run_many(sql.add_evidence, [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows])


def list_evidence_after(tx: Transaction, n: int, k: int = 0) -> list[EvidenceRow]:
    """Return the evidence of a node after its first `k`."""
    return tx.all(sql.evidence_after, EvidenceRow, project_id=tx.project.id, n=n, k=k)


def replace_evidence_after(tx: Transaction, n: int, rows: Sequence[EvidenceRow], k: int = 0) -> None:
    """Replace the evidence of a node after its first `k`. It is numbered without a gap."""
    tx.run(sql.remove_evidence_after, project_id=tx.project.id, n=n, k=k)
    add_evidence(tx, [msgspec.structs.replace(row, node_n=n, k=place) for place, row in enumerate(rows, k + 1)])
