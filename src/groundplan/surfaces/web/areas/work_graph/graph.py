"""The graph of dependencies: what waits, the tasks around one, what blocks it, or the critical path."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.work_graph.drawing import MARKS, draw_graph, find_blockers, find_lineage
from groundplan.work.graph.search.dependency_graph import DependencyGraph
from groundplan.work.graph.search.outline import NodeState

SHOWN_MAX = 60  # tasks in one picture; more are hard to read
STEPS_MAX = 100  # of the critical path
ANCESTORS_ASKED = 8  # of a task that waits because one above it does
BLOCKERS, PATH = "blockers", "path"


def read_graph(visit: Visit, context: Any) -> Mapping[str, Any]:
    """Return the picture for the state in the address. `context` is the selected task with its ancestors, or None."""
    shows = visit.query.get("show")
    if shows == PATH:
        return _read_critical_path(visit)
    if shows == BLOCKERS and context:
        return _read_blockers(visit, context.node.id, [one.id for one in reversed(context.ancestors or ())])
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
    """Return what every picture says: its links, and how many are left out."""
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
    """Return what blocks a task. One that waits for nothing itself may be within one that does."""
    graph = _read_part(visit, node=selected, direction="waits_for")
    waiting, blockers = selected, find_blockers(graph.nodes, graph.links, selected)
    if not blockers and graph.nodes[0].state is NodeState.BLOCKED:
        for above in ancestors[:ANCESTORS_ASKED]:
            asked = _read_part(visit, node=above, direction="waits_for")
            if found := find_blockers(asked.nodes, asked.links, above):
                waiting, graph, blockers = above, asked, found
                break
    lit = frozenset({waiting, *(one.id for one in blockers)})
    direct = {link.waits_for for link in graph.links if link.node == waiting}
    return _describe(
        graph,
        shows=BLOCKERS,
        waiting=next(node for node in graph.nodes if node.id == waiting),
        blockers=blockers,
        direct=direct,
        drawing=draw_graph(graph.nodes, graph.links, lit=lit),
    )
