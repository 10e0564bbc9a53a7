"""List the children of a node, a column of a board, the matches of a filter, or one node, each with its state."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import take_page
from groundplan.kernel.cursors import Cursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.claims import limit_lease_end
from groundplan.work.graph.search import (
    ORDERS,
    Filter,
    Sort,
    TagFilter,
    build_search,
    count_total,
    fetch_page,
    from_cursor,
    get_position,
    to_cursor,
)
from groundplan.work.kinds import PRIORITY_ABSENT
from groundplan.work.refs import find_node_in_project
from groundplan.work.requests import NodeRef

LIMIT = 50
LIMIT_MAX = 200
NAME = "work.outline"

sql = load_queries(__file__)


class Lane(StrEnum):
    """The columns of a board. Each node is in one, except the root and nodes that only wait for their children."""

    BLOCKED = "blocked"
    READY = "ready"
    CLAIMED = "claimed"
    RESOLVED = "resolved"
    DROPPED = "dropped"


class NodeState(StrEnum):
    """The state of a node in one word."""

    BLOCKED = "blocked"
    READY = "ready"
    CLAIMED = "claimed"
    RESOLVED = "resolved"
    DROPPED = "dropped"
    PARENT = "parent"  # it waits for its children only


class LaneSearch(msgspec.Struct, frozen=True):
    """The filter and the order of a column."""

    filter: Filter
    sort: Sort


LANES: Mapping[Lane, LaneSearch] = {
    Lane.BLOCKED: LaneSearch(Filter(is_blocked=True), Sort.CREATED),
    Lane.READY: LaneSearch(Filter(is_actionable=True, claimed_by=None), Sort.READINESS),
    Lane.RESOLVED: LaneSearch(Filter(outcome="done"), Sort.RECENT),
    Lane.DROPPED: LaneSearch(Filter(outcome="dropped"), Sort.RECENT),
}


class ListOutline(Struct, forbid_unknown_fields=True):
    """The node whose children to list (by default the root), a column of the board, a filter, or one node."""

    project: Name
    parent: NodeRef | None = None
    lane: Lane | None = None
    node: NodeRef | None = None
    filter: TagFilter | None = None
    sort: Sort | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT
    cursor: Cursor = None

    def __post_init__(self) -> None:
        if sum(argument is not None for argument in (self.parent, self.lane, self.node, self.filter)) > 1:
            raise ValueError("parent, lane, filter and node exclude each other; send only one of them")
        if self.sort is not None and self.filter is None:
            raise ValueError("sort is for a filter; the other lists have their own order")


class OutlineRow(Struct):
    """The stored fields of a listed node, and its sort keys."""

    n: int
    id: str
    summary: str
    parent: str | None
    parent_summary: str | None
    kind: str | None
    status: str | None
    resolved: bool
    outcome: str | None
    held_reason: str | None
    claimed_by: str | None
    claimed_until: str | None
    is_ready: bool
    is_blocked: bool
    children: int
    dropped_children: int
    open_children: int
    depth: int
    priority: float
    changed_rev: int


class OutlineNode(Struct, kw_only=True):
    """A listed node with its state, its claim, and the numbers of its children: all, and those open or dropped."""

    id: str
    summary: str
    state: NodeState
    parent: str | UnsetType = UNSET
    parent_summary: str | UnsetType = UNSET  # except among the children of one node
    priority: float | UnsetType = UNSET
    kind: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    claimed_by: str | UnsetType = UNSET
    claimed_until: str | UnsetType = UNSET
    children: int | UnsetType = UNSET
    open_children: int | UnsetType = UNSET
    dropped_children: int | UnsetType = UNSET  # unless there are none
    below: int | UnsetType = UNSET  # nodes of its whole tree; only among children, and unless there are too many
    open_below: int | UnsetType = UNSET
    dropped_below: int | UnsetType = UNSET  # unless there are none
    held_reason: str | UnsetType = UNSET
    tags: list[str] | UnsetType = UNSET  # only of nodes that are looked up


class ClaimCountsRow(Struct):
    """The number of claimed nodes, and the number of them that would be ready without the claim."""

    live: int
    ready: int


class Outline(Struct):
    """A page of nodes, the number of all nodes, and the cursor of the next page."""

    nodes: list[OutlineNode]
    total: int
    next_cursor: str | UnsetType = UNSET


def outline(tx: Transaction, request: ListOutline) -> Outline:
    """Return the children of a node in the order of creation, or the nodes of a column, best or newest first.

    Raises:
        NotFound: the project has no such node.
        InvalidCursor: the cursor belongs to another list.
    """
    if request.lane is Lane.CLAIMED:
        return _list_claimed(tx, request.limit)
    if request.node is not None:
        (row,) = load_rows(tx, [find_node_in_project(tx, request.node).n])
        return Outline([to_outline_node(tx, row)], 1)
    lane_search = _choose_search(tx, request)
    belongs_to = [tx.project.id, request.lane, request.parent, request.filter, request.sort]
    position = ORDERS[lane_search.sort].start
    if request.cursor is not None:
        position = from_cursor(lane_search.sort, decode_cursor(tx, NAME, belongs_to, request.cursor))
    search = build_search(tx, lane_search.filter)
    counted = _count_ready_unclaimed(tx) if request.lane is Lane.READY else search.total
    if counted == 0:
        return Outline([], 0)
    ns, found_total = fetch_page(tx, search, lane_search.sort, position, at_most=request.limit + 1)
    if counted is None:
        counted = count_total(tx, search) if found_total is None or request.cursor is not None else found_total
    answer = Outline([], counted)
    with_parent = request.lane is not None or request.filter is not None
    page = take_page(
        tx.budget.reserve(answer),
        load_rows(tx, ns[: request.limit]),
        cursor_after=lambda row: encode_cursor(tx, NAME, belongs_to, *to_cursor(get_position(lane_search.sort, row))),
        item=lambda row: to_outline_node(tx, row, with_parent=with_parent),
        has_more=len(ns) > request.limit,
    )
    answer.nodes = [to_outline_node(tx, row, with_parent=with_parent) for row in page.rows]
    answer.next_cursor = page.next_cursor
    if not with_parent:
        _add_counts_below(tx, page.rows, answer.nodes)
    return answer


def _add_counts_below(tx: Transaction, rows: Sequence[OutlineRow], nodes: Sequence[OutlineNode]) -> None:
    """Add the number of nodes below each node, unless counting would take long."""
    parents = [row.n for row in rows if row.children]
    if not parents:
        return
    counts = count_below(tx, parents)
    for row, node in zip(rows, nodes, strict=True):
        if row.children and row.n in counts:
            count = counts[row.n]
            node.below, node.open_below = count.walked - 1, count.open_below
            node.dropped_below = count.dropped_below or UNSET


def _count_ready_unclaimed(tx: Transaction) -> int:
    """Return the number of ready and unclaimed nodes, from the stored count, because counting takes long."""
    return int(tx.scalar(sql.ready_count, project_id=tx.project.id)) - _count_claims(tx).ready


def _count_claims(tx: Transaction) -> ClaimCountsRow:
    return tx.one(sql.claim_counts, ClaimCountsRow, project_id=tx.project.id)


def _choose_search(tx: Transaction, request: ListOutline) -> LaneSearch:
    if request.lane is not None:
        return LANES[request.lane]
    if request.filter is not None:
        # What a filter finds is below the root, as everything in the other lists is.
        node_filter = replace(request.filter, ancestor=request.filter.ancestor or _fetch_root_id(tx))
        return LaneSearch(node_filter, request.sort or Sort.READINESS)
    parent = request.parent or _fetch_root_id(tx)
    return LaneSearch(Filter(parent=find_node_in_project(tx, parent).id), Sort.CREATED)


def _fetch_root_id(tx: Transaction) -> str:
    return str(tx.scalar(sql.root_id, project_id=tx.project.id))


def _list_claimed(tx: Transaction, limit: int) -> Outline:
    ns = tx.scalars(sql.live_claims, project_id=tx.project.id, at_most=limit)
    rows = tx.budget.take_rows([to_outline_node(tx, row) for row in load_rows(tx, ns)])
    return Outline(rows, _count_claims(tx).live)


def load_rows(tx: Transaction, ns: Sequence[int]) -> list[OutlineRow]:
    """Return the rows of some nodes, in the given order."""
    if not ns:
        return []
    rows = tx.all(sql.outline_rows, OutlineRow, project_id=tx.project.id, ns=to_json_array(ns))
    by_n = {row.n: row for row in rows}
    return [by_n[n] for n in ns]


def to_outline_node(tx: Transaction, row: OutlineRow, *, with_parent: bool = True) -> OutlineNode:
    """Return a node as the list shows it."""
    is_claimed = row.claimed_by is not None and (row.claimed_until is None or row.claimed_until > tx.now)
    node = OutlineNode(id=row.id, summary=row.summary, state=_find_state(row, is_claimed=is_claimed))
    node.parent = UNSET if row.parent is None else row.parent
    if with_parent and row.parent_summary is not None:
        node.parent_summary = row.parent_summary
    if row.priority != PRIORITY_ABSENT:
        node.priority = row.priority
    node.kind = UNSET if row.kind is None else row.kind
    node.status = UNSET if row.status is None else row.status
    if row.held_reason is not None:
        node.held_reason = row.held_reason
    if row.children:
        node.children, node.open_children = row.children, row.open_children
        node.dropped_children = row.dropped_children or UNSET
    if is_claimed:
        node.claimed_by = str(row.claimed_by)
        node.claimed_until = limit_lease_end(tx, row.claimed_until) or UNSET
    return node


def _find_state(row: OutlineRow, *, is_claimed: bool) -> NodeState:
    if row.resolved:
        return NodeState.DROPPED if row.outcome else NodeState.RESOLVED
    if row.is_blocked:
        return NodeState.BLOCKED
    if is_claimed:
        return NodeState.CLAIMED
    return NodeState.READY if row.is_ready else NodeState.PARENT


OPERATION = declare(
    outline,
    name=NAME,
    summary="Children of a node, one column of the board, what a filter finds, or one node, with their states.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/work/outline"),
)


# --- Counts below -----------------------------------------------------------------------------------------------------
#
# A page of the tree counts the nodes below its rows by a walk. Everybody who looks at it while agents write asks for
# the same numbers, and they follow from the revision alone, so they are counted once for each revision of a project.

CACHE_KEY = "work.counts_below"  # the key of the cache in the store's memory
CACHED_PAGES_MAX = 64
WALKED_MAX = 500  # nodes below those of a page that are counted; more are not


PageKey = tuple[str, str, int, str, tuple[int, ...]]  # organization, project, its revision and time, and the nodes


class BelowRow(Struct, frozen=True):
    """The number of nodes in a subtree with its root, and the numbers of open and of dropped nodes below the root."""

    top: int
    walked: int
    open_below: int
    dropped_below: int


class CountedPages:
    """A cache of the counts of the pages that were read last."""

    def __init__(self, pages_max: int = CACHED_PAGES_MAX) -> None:
        self.pages_max = pages_max
        self._pages: OrderedDict[PageKey, Mapping[int, BelowRow]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._pages)

    def get(self, key: PageKey) -> Mapping[int, BelowRow] | None:
        """Return the counts of a page, or None."""
        with self._lock:
            return self._pages.get(key)

    def put(self, key: PageKey, counts: Mapping[int, BelowRow]) -> None:
        """Store the counts of a page, and drop the oldest page if there are too many."""
        with self._lock:
            self._pages[key] = counts
            while len(self._pages) > self.pages_max:
                self._pages.popitem(last=False)


def count_below(tx: Transaction, tops: Sequence[int]) -> Mapping[int, BelowRow]:
    """Return the counts of subtrees by the number of their root; empty if counting would take long. Only for reads."""
    cache: CountedPages = tx.cache.get(CACHE_KEY) or tx.cache.setdefault(CACHE_KEY, CountedPages())
    key = (tx.actor.organization, tx.project.id, tx.project.rev, tx.project.updated_at, tuple(tops))
    counts = cache.get(key)
    if counts is None:
        rows = tx.all(sql.counts_below, BelowRow, project_id=tx.project.id, ns=to_json_array(tops), at_most=WALKED_MAX)
        counts = {} if sum(row.walked for row in rows) >= WALKED_MAX else {row.top: row for row in rows}
        cache.put(key, counts)
    return counts
