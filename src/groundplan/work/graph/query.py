"""Search and filter nodes in one of several orders, with paging."""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import DropField, LeftOut, Trimming, take_page
from groundplan.kernel.cursors import Cursor, decode_cursor, encode_cursor
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Route, Tool, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.search import (
    ORDERS,
    Filter,
    Sort,
    build_search,
    count_total,
    fetch_page,
    from_cursor,
    get_position,
    to_cursor,
)
from groundplan.work.kinds import Outcome, get_outcome
from groundplan.work.nodes import add_claim_properties

LIMIT = 20
LIMIT_MAX = 100
NAME = "work.query"

sql = load_queries(__file__)


class QueryNodes(Struct, forbid_unknown_fields=True):
    """The filter, the order and the page of a search."""

    project: Name
    filter: Filter | None = None
    sort: Sort = Sort.READINESS
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT
    cursor: Cursor = None
    lean: bool | None = None


class FoundNode(Struct, kw_only=True):
    """A node in a list of results."""

    id: str
    summary: str
    resolved: bool
    outcome: Outcome | UnsetType = UNSET  # of a resolved node
    state: Any = UNSET
    parent: str | UnsetType = UNSET
    depth: int
    properties: dict[str, Any] | UnsetType = UNSET
    left_out: LeftOut = UNSET


class FoundNodes(Struct):
    """A page of nodes, the number of all nodes, and the cursor of the next page."""

    trimming: ClassVar[Trimming] = Trimming(DropField("nodes[].properties"), DropField("nodes[].state"))

    nodes: list[FoundNode]
    total: int
    next_cursor: str | UnsetType = UNSET


class MatchRow(Struct):
    """A node of the page, with its sort keys."""

    n: int
    id: str
    summary: str
    resolved: bool
    outcome: str | None
    state: str | None
    parent: str | None
    depth: int
    properties: str
    claimed_by: str | None
    claimed_at: str | None
    claimed_until: str | None
    is_ready: bool
    priority: float
    changed_rev: int


def query(tx: Transaction, request: QueryNodes) -> FoundNodes:
    """Return a page of the nodes that match the filter.

    Raises:
        NotFound: a node that the filter names does not exist.
        MixedProjects: it is in another project.
        InvalidCursor: the cursor belongs to another query.
    """
    # Without `limit` and `lean`, which the caller may change between pages.
    belongs_to = [tx.project.id, request.filter, request.sort]
    position = ORDERS[request.sort].start
    if request.cursor is not None:
        position = from_cursor(request.sort, decode_cursor(tx, NAME, belongs_to, request.cursor))
    search = build_search(tx, request.filter or Filter())
    # One more than the limit shows whether there is another page.
    ns, counted = fetch_page(tx, search, request.sort, position, at_most=request.limit + 1)
    if request.cursor is not None:
        counted = None  # the total includes the nodes before the cursor
    elif len(ns) <= request.limit:
        counted = len(ns)
    answer = FoundNodes([], count_total(tx, search) if counted is None else counted)
    lean = tx.preferences.lean if request.lean is None else request.lean
    listed_page = take_page(
        tx.budget.reserve(answer),
        [(row, _to_found_node(row, now=tx.now, lean=lean)) for row in _load_rows(tx, ns[: request.limit])],
        cursor_after=lambda pair: encode_cursor(tx, NAME, belongs_to, *to_cursor(get_position(request.sort, pair[0]))),
        item=itemgetter(1),
        has_more=len(ns) > request.limit,
    )
    answer.nodes, answer.next_cursor = [node for _, node in listed_page.rows], listed_page.next_cursor
    return answer


def _load_rows(tx: Transaction, ns: list[int]) -> list[MatchRow]:
    if not ns:
        return []
    by_n = {row.n: row for row in tx.all(sql.page_rows, MatchRow, project_id=tx.project.id, ns=to_json_array(ns))}
    return [by_n[n] for n in ns]


def _to_found_node(row: MatchRow, *, now: str, lean: bool) -> FoundNode:
    properties: dict[str, Any] = msgspec.json.decode(row.properties)
    add_claim_properties(properties, row, now=now, lean=lean)
    return FoundNode(
        id=row.id,
        summary=row.summary,
        resolved=row.resolved,
        outcome=get_outcome(row),
        state=UNSET if row.state is None else msgspec.json.decode(row.state),
        parent=UNSET if row.parent is None else row.parent,
        depth=row.depth,
        properties=properties if properties or not lean else UNSET,
    )


OPERATION = declare(
    query,
    name=NAME,
    summary="Search and filter nodes.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    tool=Tool("graph_query", Group.WORK),
    http=Route("GET", "/projects/{project}/work/nodes"),
)
