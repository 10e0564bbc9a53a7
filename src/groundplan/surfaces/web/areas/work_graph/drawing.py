"""Place tasks and their links for a picture: what is waited for on the left, what waits on the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.model import EdgeName, EdgeType
from groundplan.purpose.picture.arrows import build_route_path
from groundplan.purpose.picture.card_types import WorkType
from groundplan.purpose.picture.layout import Box, CardSize, compute_layout
from groundplan.purpose.picture.wording import truncate_to_width, wrap_to_width
from groundplan.work.graph.search.dependency_graph import GraphLink, GraphNode
from groundplan.work.graph.search.outline import NodeState

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


class DrawnLink(NamedTuple):
    """A link of the picture, from what is waited for to what waits."""

    before: str
    after: str
    path: str
    head: str
    is_lit: bool
    is_step: bool  # of the critical path, between tasks that only a tree joins


class DrawnTask(NamedTuple):
    """A card of the picture: where it is, what is written on it, and where the arrow keys lead."""

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
        """What a screen reader says after the title."""
        parts = [self.node.state.value]
        if self.node.claimed_by:
            parts.append(f"claimed by {self.node.claimed_by}")
        parts.append(f"waits for {self.node.waits_for}, holds up {self.node.holds_up}")
        return ", ".join(parts)


class GraphDrawing(NamedTuple):
    """A whole picture."""

    tasks: list[DrawnTask]
    links: list[DrawnLink]
    width: float
    height: float


def draw_graph(
    nodes: Sequence[GraphNode],
    links: Sequence[GraphLink],
    *,
    lit: frozenset[str] | None = None,
    steps: Sequence[tuple[str, str]] = (),
) -> GraphDrawing:
    """Return a picture of tasks. All are lit unless `lit` names some; `steps` are drawn beside the links."""
    pairs = [(link.waits_for, link.node) for link in links if not link.implied]
    extra = [pair for pair in steps if pair not in pairs]
    edges = [EdgeName(*pair, EdgeType.DEPENDS_ON) for pair in (*pairs, *extra)]
    layout = compute_layout({node.id: CardSize(WorkType.WORK, WIDTH, HEIGHT) for node in nodes}, edges, edges)
    height = max((y for route in layout.routes.values() for _, y in route.points), default=0.0)
    drawn = [
        DrawnLink(
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
    """Return a task with everything that it waits for and holds up, directly or not."""
    pairs = [(link.waits_for, link.node) for link in links]
    return frozenset(_reach(pairs, start) | _reach([(after, before) for before, after in pairs], start))


def find_blockers(nodes: Sequence[GraphNode], links: Sequence[GraphLink], start: str) -> list[GraphNode]:
    """Return the open tasks that a task waits for through open tasks, those that it waits for itself first."""
    by_id = {node.id: node for node in nodes}
    is_open = {node.id for node in nodes if node.state not in CLOSED}
    found: dict[str, None] = {}
    todo = [start]
    while todo:
        here = todo.pop(0)
        near = [link.waits_for for link in links if link.node == here and link.waits_for in is_open]
        todo += [one for one in near if one not in found]
        found |= dict.fromkeys(near)
    return [by_id[one] for one in found]


def _reach(pairs: Sequence[tuple[str, str]], start: str) -> set[str]:
    ahead: dict[str, list[str]] = {}
    for before, after in pairs:
        ahead.setdefault(before, []).append(after)
    found = {start}
    todo = [start]
    while todo:
        new = [one for one in ahead.get(todo.pop(), ()) if one not in found]
        found.update(new)
        todo += new
    return found


def _list_columns(boxes: Mapping[str, Box]) -> dict[float, list[str]]:
    columns: dict[float, list[str]] = {}
    for key in sorted(boxes, key=lambda one: boxes[one].y):
        columns.setdefault(boxes[key].x, []).append(key)
    return columns


def _draw_task(
    node: GraphNode,
    boxes: Mapping[str, Box],
    pairs: Sequence[tuple[str, str]],
    links: Sequence[GraphLink],
    columns: Mapping[float, Sequence[str]],
    lit: frozenset[str] | None,
) -> DrawnTask:
    box = boxes[node.id]
    column = columns[box.x]
    at = column.index(node.id)

    def sort_by_distance(ids: list[str]) -> list[str]:
        return sorted(ids, key=lambda one: abs(boxes[one].y - box.y))

    return DrawnTask(
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
