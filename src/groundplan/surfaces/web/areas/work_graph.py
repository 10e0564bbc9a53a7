"""The graph of dependencies: waiting tasks, the tasks around one task, its blockers, or the critical path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from groundplan.purpose.model import EdgeName, EdgeType
from groundplan.purpose.picture.arrows import build_route_path
from groundplan.purpose.picture.layout import Box, CardSize, compute_layout
from groundplan.purpose.picture.text import truncate_to_width, wrap_to_width
from groundplan.purpose.picture.tokens import WorkType
from groundplan.surfaces.web.visit import Visit
from groundplan.work.graph.dependency_graph import DependencyGraph, GraphLink, GraphNode
from groundplan.work.graph.outline import NodeState

SHOWN_MAX = 60  # tasks in one picture; more are hard to read
STEPS_MAX = 100  # of the critical path
ANCESTORS_ASKED = 8  # of a task that waits because one above it does
BLOCKERS, PATH = "blockers", "path"
WIDTH, HEIGHT = 212, 66
TITLE_PX, FOOT_PX = 13, 12
INSET = 12
MARK = 22  # room for the mark of the state
LINES_MAX = 2
MARGIN = 8
ARROW = 7
CLOSED = (NodeState.RESOLVED, NodeState.DROPPED)
# The state of a task is a shape and never a colour alone; each fits into a square of 14 around the origin.
MARKS = {
    NodeState.READY: "M-4 -6L6 0L-4 6Z",
    NodeState.CLAIMED: "M-6 0A6 6 0 1 0 6 0A6 6 0 1 0 -6 0Z",
    NodeState.BLOCKED: "M-5 -5H5V5H-5Z",
    NodeState.RESOLVED: "M-6 0L-2 5L6 -5",
    NodeState.DROPPED: "M-5 -5L5 5M5 -5L-5 5",
    NodeState.PARENT: "M-5 -5H5V5H-5Z",
}


def read_graph(visit: Visit, context: Any) -> Mapping[str, Any]:
    """Return the picture for the state in the address. `context` is the selected task with its ancestors, or None."""
    shows = visit.query.get("show")
    if shows == PATH:
        return _read_critical_path(visit)
    if shows == BLOCKERS and context:
        return _read_blockers(visit, context.node.id, [ancestor.id for ancestor in reversed(context.ancestors or ())])
    around, branch = visit.query.get("around"), visit.query.get("branch")
    place = {"node": around} if around else {"ancestor": branch} if branch else {}
    graph = _read_part(visit, **place)
    selected_id = context.node.id if context else None
    if selected_id and not place and all(node.id != selected_id for node in graph.nodes):
        around = selected_id  # it waits for nothing that is open, or is one of those that are not drawn
        graph = _read_part(visit, node=around)
    lit = find_lineage(graph.links, selected_id) if selected_id else None
    return _describe(graph, around=around, branch=branch, drawing=draw_graph(graph.nodes, graph.links, lit=lit))


def _read_part(visit: Visit, **place: Any) -> DependencyGraph:
    graph: DependencyGraph = visit.call("work.dependencies", limit=SHOWN_MAX, **place)
    return graph


def _describe(graph: DependencyGraph, **shown: Any) -> dict[str, Any]:
    """Return the description of any picture: its links, and the number of links that are left out."""
    titles = {node.id: node.summary for node in graph.nodes}
    left_out = graph.left_out or {}
    return {
        "graph": graph,
        "titles": titles,
        "implied": sum(link.implied for link in graph.links),
        "links_left": left_out.get("links", 0),
        "blocked_left": left_out.get("blocked", 0),
        "marks": MARKS,
        "around": None,
        "branch": None,
        "shows": None,
        **shown,
    }


def _read_critical_path(visit: Visit) -> Mapping[str, Any]:
    analysis = visit.call("work.analyse", what="critical_path", limit=STEPS_MAX)
    ids = list(dict.fromkeys(row.id for row in analysis.rows))
    graph = _read_part(visit, nodes=ids)
    # Two neighbours of the path may be a task and one within it: no dependency joins them.
    steps = list(pairwise(ids))
    drawing = draw_graph(graph.nodes, graph.links, lit=frozenset(ids), steps=steps)
    return _describe(graph, shows=PATH, analysis=analysis, drawing=drawing)


def _read_blockers(visit: Visit, selected: str, ancestors: list[str]) -> Mapping[str, Any]:
    """Return the blockers of a task. If it waits for nothing itself, those of its ancestors are returned."""
    graph = _read_part(visit, node=selected, direction="waits_for")
    waiting, blockers = selected, find_blockers(graph.nodes, graph.links, selected)
    if not blockers and graph.nodes[0].state is NodeState.BLOCKED:
        for above in ancestors[:ANCESTORS_ASKED]:
            asked = _read_part(visit, node=above, direction="waits_for")
            if open_tasks := find_blockers(asked.nodes, asked.links, above):
                waiting, graph, blockers = above, asked, open_tasks
                break
    lit = frozenset({waiting, *(task.id for task in blockers)})
    direct = {link.waits_for for link in graph.links if link.node == waiting}
    return _describe(
        graph,
        shows=BLOCKERS,
        waiting=next(node for node in graph.nodes if node.id == waiting),
        blockers=blockers,
        direct=direct,
        drawing=draw_graph(graph.nodes, graph.links, lit=lit),
    )


class TaskArrow(NamedTuple):
    """A link of the picture, from the awaited task to the waiting task."""

    before: str
    after: str
    path: str
    head: str
    is_lit: bool
    is_step: bool  # of the critical path, between tasks that only a tree joins


class TaskCard(NamedTuple):
    """A card of the picture: its position, its texts, and the cards that the arrow keys lead to."""

    node: GraphNode
    box: Box
    lines: list[str]
    foot: str
    is_lit: bool
    before: list[str]
    after: list[str]
    above: str
    below: str
    hidden_before: int  # links that lead to tasks outside the picture
    hidden_after: int

    @property
    def hints(self) -> str:
        """The text of a screen reader after the title."""
        parts = [self.node.state.value]
        if self.node.claimed_by:
            parts.append(f"claimed by {self.node.claimed_by}")
        parts.append(f"waits for {self.node.waits_for}, holds up {self.node.holds_up}")
        return ", ".join(parts)


class GraphDrawing(NamedTuple):
    """A whole picture."""

    tasks: list[TaskCard]
    links: list[TaskArrow]
    width: float
    height: float


def draw_graph(
    nodes: Sequence[GraphNode],
    links: Sequence[GraphLink],
    *,
    lit: frozenset[str] | None = None,
    steps: Sequence[tuple[str, str]] = (),
) -> GraphDrawing:
    """Return a picture of tasks. If `lit` is given, only its tasks are lit. `steps` are drawn beside the links."""
    pairs = [(link.waits_for, link.node) for link in links if not link.implied]
    extra = [pair for pair in steps if pair not in pairs]
    edges = [EdgeName(*pair, EdgeType.DEPENDS_ON) for pair in (*pairs, *extra)]
    layout = compute_layout({node.id: CardSize(WorkType.WORK, WIDTH, HEIGHT) for node in nodes}, edges, edges)
    height = max((y for route in layout.routes.values() for _, y in route.points), default=0.0)
    drawn = [
        TaskArrow(
            edge.source,
            edge.target,
            build_route_path(route),
            _build_head(*route.points[-1]),
            lit is None or (edge.source in lit and edge.target in lit),
            (edge.source, edge.target) in extra,
        )
        for edge, route in layout.routes.items()
    ]
    columns = _list_columns(layout.boxes)
    by_id = {node.id: node for node in nodes}
    in_reading_order = [key for left in sorted(columns) for key in columns[left]]
    return GraphDrawing(
        [_draw_task(by_id[key], layout.boxes, pairs, links, columns, lit) for key in in_reading_order],
        sorted(drawn, key=lambda link: link.is_lit),  # lit links are drawn over the others
        layout.width + 2 * MARGIN,
        max(layout.height, height) + 2 * MARGIN,
    )


def find_lineage(links: Sequence[GraphLink], start: str) -> frozenset[str]:
    """Return a task with all tasks that it waits for and all that wait for it, directly or indirectly."""
    pairs = [(link.waits_for, link.node) for link in links]
    return frozenset(_reach(pairs, start) | _reach([(after, before) for before, after in pairs], start))


def find_blockers(nodes: Sequence[GraphNode], links: Sequence[GraphLink], start: str) -> list[GraphNode]:
    """Return the open tasks that block a task, directly or through other open tasks; direct blockers first."""
    by_id = {node.id: node for node in nodes}
    is_open = {node.id for node in nodes if node.state not in CLOSED}
    reached: dict[str, None] = {}
    todo = [start]
    while todo:
        here = todo.pop(0)
        near = [link.waits_for for link in links if link.node == here and link.waits_for in is_open]
        todo += [id_ for id_ in near if id_ not in reached]
        reached |= dict.fromkeys(near)
    return [by_id[id_] for id_ in reached]


def _reach(pairs: Sequence[tuple[str, str]], start: str) -> set[str]:
    ahead: dict[str, list[str]] = {}
    for before, after in pairs:
        ahead.setdefault(before, []).append(after)
    reached = {start}
    todo = [start]
    while todo:
        new = [id_ for id_ in ahead.get(todo.pop(), ()) if id_ not in reached]
        reached.update(new)
        todo += new
    return reached


def _list_columns(boxes: Mapping[str, Box]) -> dict[float, list[str]]:
    columns: dict[float, list[str]] = {}
    for key in sorted(boxes, key=lambda id_: boxes[id_].y):
        columns.setdefault(boxes[key].x, []).append(key)
    return columns


def _draw_task(
    node: GraphNode,
    boxes: Mapping[str, Box],
    pairs: Sequence[tuple[str, str]],
    links: Sequence[GraphLink],
    columns: Mapping[float, Sequence[str]],
    lit: frozenset[str] | None,
) -> TaskCard:
    box = boxes[node.id]
    column = columns[box.x]
    at = column.index(node.id)

    def sort_by_distance(ids: list[str]) -> list[str]:
        return sorted(ids, key=lambda id_: abs(boxes[id_].y - box.y))

    return TaskCard(
        node,
        box,
        wrap_to_width(node.summary, TITLE_PX, WIDTH - 2 * INSET - MARK, LINES_MAX),
        truncate_to_width(node.claimed_by or node.id, FOOT_PX, WIDTH - 2 * INSET - MARK - 60),
        lit is None or node.id in lit,
        sort_by_distance([before for before, after in pairs if after == node.id]),
        sort_by_distance([after for before, after in pairs if before == node.id]),
        column[at - 1] if at else "",
        column[at + 1] if at + 1 < len(column) else "",
        node.waits_for - sum(link.node == node.id for link in links),
        node.holds_up - sum(link.waits_for == node.id for link in links),
    )


def _build_head(x: float, y: float) -> str:
    return f"M{x:g} {y:g}L{x - ARROW:g} {y - ARROW * 0.6:g}V{y + ARROW * 0.6:g}Z"
