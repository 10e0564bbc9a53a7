"""Read a part of the dependency graph: around a node, the open nodes of a branch, or some nodes.

The number of nodes is bounded, and what is left out is counted exactly. A link is implied if other links lead from
one end to the other: then it says nothing new, and a picture can leave it out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from msgspec import UNSET, Meta, Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.graph.outline import NodeState, OutlineNode, load_rows, to_outline_node
from groundplan.work.refs import find_node_in_project
from groundplan.work.requests import NodeRef

LIMIT = 60
LIMIT_MAX = 200
EDGES_SCANNED_MAX = 500  # of one node, to find the open ones among them

sql = load_queries(__file__)

Direction = Literal["both", "waits_for", "holds_up"]
Links = list[tuple[int, int]]  # the one that waits, and what it waits for


class ReadDependencyGraph(Struct, forbid_unknown_fields=True):
    """The part to read: around one node, some nodes, or the open nodes of a branch (by default the project)."""

    project: Name
    node: NodeRef | None = None
    direction: Direction = "both"
    nodes: Annotated[list[NodeRef], Meta(max_length=LIMIT_MAX)] | None = None
    ancestor: NodeRef | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] = LIMIT

    def __post_init__(self) -> None:
        if sum(argument is not None for argument in (self.node, self.nodes, self.ancestor)) > 1:
            raise ValueError("node, nodes and ancestor exclude each other; send only one of them")
        if self.direction != "both" and self.node is None:
            raise ValueError("direction needs node; leave it out, or name the node to start at")


class GraphNode(OutlineNode, kw_only=True):
    """A node with the numbers of all its links, including those to nodes outside of the part."""

    waits_for: int
    waits_for_open: int
    holds_up: int


class GraphLink(Struct, omit_defaults=True):
    """A node, and a node that it waits for."""

    node: str
    waits_for: str
    implied: bool = False


class DependencyGraph(Struct):
    """A part of the graph. `left_out` counts links to nodes outside of it, and blocked nodes outside of it."""

    nodes: list[GraphNode]
    links: list[GraphLink]
    left_out: LeftOut = UNSET


class LinkCountsRow(Struct):
    """The number of links of a node in each direction."""

    n: int
    open_deps: int
    waits_for: int
    holds_up: int


class NodeSelection(NamedTuple):
    """The nodes to show, and the number of blocked nodes in their branch."""

    ns: list[int]
    blocked: int = 0


def read_dependency_graph(tx: Transaction, request: ReadDependencyGraph) -> DependencyGraph:
    """Return a part of the dependency graph.

    Raises:
        NotFound: the project has no such node.
    """
    part = _select_nodes(tx, request)
    rows = {row.n: row for row in load_rows(tx, part.ns)}
    counts = {
        row.n: row
        for row in tx.all(sql.link_counts, LinkCountsRow, project_id=tx.project.id, ns=to_json_array(part.ns))
    }
    by_n = {n: _to_graph_node(to_outline_node(tx, rows[n]), counts[n]) for n in part.ns}
    nodes = tx.budget.share(3, of=5).take_rows(list(by_n.values()))
    shown = part.ns[: len(nodes)]
    links = list_links_between(tx, shown)
    implied = find_implied(links)
    left_out = {
        "links": sum(node.waits_for + node.holds_up for node in nodes) - 2 * len(links),
        "blocked": part.blocked - sum(node.state is NodeState.BLOCKED for node in nodes) if part.blocked else 0,
    }
    return DependencyGraph(
        nodes,
        [GraphLink(by_n[a].id, by_n[b].id, implied=(a, b) in implied) for a, b in links],
        {name: count for name, count in left_out.items() if count} or UNSET,
    )


def list_links_between(tx: Transaction, ns: Sequence[int]) -> Links:
    """Return the dependencies between some nodes."""
    return [(a, b) for a, b in tx.all(sql.links_between, project_id=tx.project.id, ns=to_json_array(ns))]


def find_implied(links: Links) -> set[tuple[int, int]]:
    """Return the links whose ends are also joined by a path of two or more other links."""
    ahead: dict[int, list[int]] = {}
    for a, b in links:
        ahead.setdefault(a, []).append(b)
    reached = {a: _reach_beyond(ahead, a) for a in ahead}
    return {(a, b) for a, b in links if b in reached[a]}


def _reach_beyond(ahead: Mapping[int, Sequence[int]], start: int) -> set[int]:
    """Return the nodes at a distance of two steps or more."""
    reached: set[int] = set()
    todo = [far for neighbour in ahead[start] if neighbour != start for far in ahead.get(neighbour, ()) if far != start]
    while todo:
        n = todo.pop()
        if n not in reached and n != start:
            reached.add(n)
            todo += ahead.get(n, ())
    return reached


def _select_nodes(tx: Transaction, request: ReadDependencyGraph) -> NodeSelection:
    if request.nodes is not None:
        return NodeSelection(list(dict.fromkeys(find_node_in_project(tx, ref).n for ref in request.nodes)))
    if request.node is not None:
        start = find_node_in_project(tx, request.node).n
        return NodeSelection(_walk_around(tx, start, request.direction, at_most=request.limit))
    if request.ancestor is None:
        waiting = tx.scalars(sql.waiting_nodes, project_id=tx.project.id, at_most=request.limit)
        blocked = int(tx.scalar(sql.blocked_count, project_id=tx.project.id))
    else:
        ancestor_n = find_node_in_project(tx, request.ancestor).n
        parameters = {"project_id": tx.project.id, "ancestor_n": ancestor_n, "at_most": request.limit}
        rows = tx.all(sql.waiting_nodes_below, **parameters)
        waiting = [n for n, waits_itself, _ in rows if waits_itself]
        blocked = rows[0][2] if rows else 0
    return NodeSelection(_add_what_is_awaited(tx, waiting, request.limit), blocked)


def _walk_around(tx: Transaction, start: int, direction: Direction, *, at_most: int) -> list[int]:
    """Return a node and all nodes that it waits for or that wait for it, directly or indirectly, the nearest first."""
    sides = {"both": (True, False), "waits_for": (True,), "holds_up": (False,)}[direction]
    reached = {start: None}
    ahead = deque((start, is_before) for is_before in sides)
    while ahead and len(reached) < at_most:
        n, is_before = ahead.popleft()
        for neighbour, _ in _list_neighbours(tx, n, is_before=is_before, at_most=at_most):
            if neighbour not in reached and len(reached) < at_most:
                reached[neighbour] = None
                ahead.append((neighbour, is_before))
    return list(reached)


def _add_what_is_awaited(tx: Transaction, waiting: Sequence[int], at_most: int) -> list[int]:
    """Return waiting nodes, each followed by the open nodes that it waits for."""
    selected: dict[int, None] = {}
    for n in waiting:
        if len(selected) >= at_most:
            break
        selected[n] = None
        for awaited, is_resolved in _list_neighbours(tx, n, is_before=True, at_most=at_most):
            if not is_resolved and len(selected) < at_most:
                selected[awaited] = None
    return list(selected)


def _list_neighbours(tx: Transaction, n: int, *, is_before: bool, at_most: int) -> Sequence[tuple[int, bool]]:
    return tx.all(
        sql.neighbours,
        project_id=tx.project.id,
        n=n,
        is_before=is_before,
        looked_through=EDGES_SCANNED_MAX,
        at_most=at_most,
    )


def _to_graph_node(node: OutlineNode, counts: LinkCountsRow) -> GraphNode:
    fields = {name: getattr(node, name) for name in node.__struct_fields__}
    return GraphNode(**fields, waits_for=counts.waits_for, waits_for_open=counts.open_deps, holds_up=counts.holds_up)


OPERATION = declare(
    read_dependency_graph,
    name="work.dependencies",
    summary="A part of the dependency graph: around a node, of some nodes, or of the open nodes of a branch.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/work/dependencies"),
)
