"""Cycles: find the nodes on cycles, and a shortest cycle.

Cycles exist only inside strongly connected components, which are found by visiting each edge once. The shortest cycle
is searched only inside them, from one node after the other, with a step limit proportional to the number of edges.
Enumerating paths would not finish in a dense theory.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from groundplan.purpose.graph.graph import Graph, build_graph

# Edges visited in search of a shorter cycle: enough to be exact for any theory of usual size, and proportional for
# large ones. A cycle of one or two edges is always found, and so is at least one cycle.
SEARCH_STEPS_PER_EDGE = 4
SEARCH_STEPS_MIN = 100_000
SEARCH_LENGTH_MIN, SEARCH_LENGTH_FACTOR = 4, 4  # first limit on the edges of a cycle, and its growth per round


def find_components(graph: Graph) -> list[int]:
    """Return the number of the strongly connected component of each node."""
    components = [-1] * len(graph.keys)
    entered = [-1] * len(graph.keys)
    lowest = [0] * len(graph.keys)  # the earliest entered node known to be in the same component
    open_: list[int] = []
    count = clock = 0
    for first in range(len(graph.keys)):
        if entered[first] >= 0:
            continue
        entered[first] = lowest[first] = clock
        clock += 1
        open_.append(first)
        way = [(first, iter(graph.out[first]))]
        while way:
            node, edges = way[-1]
            for edge in edges:
                after = graph.targets[edge]
                if entered[after] < 0:
                    entered[after] = lowest[after] = clock
                    clock += 1
                    open_.append(after)
                    way.append((after, iter(graph.out[after])))
                    break
                if components[after] < 0 and entered[after] < lowest[node]:
                    lowest[node] = entered[after]
            else:
                way.pop()
                if way and lowest[node] < lowest[way[-1][0]]:
                    lowest[way[-1][0]] = lowest[node]
                if lowest[node] == entered[node]:
                    while components[node] < 0:
                        components[open_.pop()] = count
                    count += 1
    return components


def find_cyclic_components(graph: Graph) -> list[list[int]]:
    """Return the components that contain a cycle, small ones first. Each of their nodes is on a cycle."""
    members: dict[int, list[int]] = {}
    for node, component in enumerate(find_components(graph)):
        members.setdefault(component, []).append(node)
    own = {source for source, target in zip(graph.sources, graph.targets, strict=True) if source == target}
    return sorted(
        (some for some in members.values() if len(some) > 1 or some[0] in own),
        key=lambda members: (len(members), members),
    )


def find_shortest_cycle(
    graph: Graph, cyclic: list[list[int]], *, through: Collection[int] | None = None
) -> list[str] | None:
    """Return a shortest cycle as keys, with the first key repeated at the end.

    It begins at the smallest of its nodes in `through` and contains at least one of them; None means all nodes. Of
    several cycles it is the first in list order. Beyond the step limit it is the shortest found so far.
    """
    counts = set(range(len(graph.keys)) if through is None else through)
    best = _find_one_or_two_edge_cycle(graph, counts)
    if best is None:
        best = _search_cycle(graph, cyclic, counts)
    return None if best is None else [graph.keys[node] for node in best]


def find_closed_cycle(edges: Iterable[tuple[str, str]], added: Iterable[tuple[str, str]]) -> list[str] | None:
    """Return a cycle closed by new edges, `[u, v, …, u]`: the shortest through the first new edge that is on a cycle.

    `edges` are all edges, including the new ones.
    """
    pairs = set(edges)
    graph = build_graph({end for pair in pairs for end in pair}, list(pairs))
    component = find_components(graph)
    numbers = [(graph.numbers[source], graph.numbers[target]) for source, target in pairs.intersection(added)]
    closing = [(source, target) for source, target in numbers if component[source] == component[target]]
    if not closing:
        return None
    source, target = min(closing)
    way = [target]
    if source != target:
        way, _ = _find_path(graph, target, source, component, component[source], len(graph.keys))
    return [graph.keys[node] for node in (source, *way)]


def _find_one_or_two_edge_cycle(graph: Graph, counts: set[int]) -> list[int] | None:
    """Return the first cycle of one edge, else of two edges. Neither needs a search."""
    pairs = set(zip(graph.sources, graph.targets, strict=True))
    own = [source for source, target in pairs if source == target and source in counts]
    if own:
        return [min(own), min(own)]
    mutual = [
        (source, target, source)
        for source, target in pairs
        if (target, source) in pairs and source in counts and (source < target or target not in counts)
    ]
    return list(min(mutual)) if mutual else None


def _search_cycle(graph: Graph, cyclic: list[list[int]], counts: set[int]) -> list[int] | None:
    """Search all nodes for short cycles before longer ones, so that a short one is found in a large theory, too."""
    starts = [(number, node) for number, members in enumerate(cyclic) for node in members if node in counts]
    if not starts:
        return None
    steps_left = max(SEARCH_STEPS_MIN, SEARCH_STEPS_PER_EDGE * len(graph.sources))
    length_max = SEARCH_LENGTH_MIN
    best: list[int] = []
    while not best and steps_left > 0:
        best, steps_left = _search_round(graph, _map_cyclic_components(graph, cyclic), starts, length_max, steps_left)
        length_max *= SEARCH_LENGTH_FACTOR
    if not best:
        number, first = starts[0]
        best, _ = _find_path(graph, first, first, _map_cyclic_components(graph, cyclic), number, len(graph.keys))
    return best


def _search_round(
    graph: Graph, inside: list[int], starts: list[tuple[int, int]], length_max: int, steps_left: int
) -> tuple[list[int], int]:
    """Return the first shortest cycle of at most `length_max` edges, or the best one found within the step limit."""
    best: list[int] = []
    for number, start in starts:
        if steps_left <= 0:
            break
        way, steps = _find_path(graph, start, start, inside, number, len(best) - 1 if best else length_max)
        steps_left -= steps
        if way and (not best or (len(way), way) < (len(best), best)):
            best = way
        # All cycles through this node are covered now; without it the next searches are shorter.
        inside[start] = -1
    return best, steps_left


def _map_cyclic_components(graph: Graph, cyclic: list[list[int]]) -> list[int]:
    """Return the number of the cyclic component of each node, or -1."""
    inside = [-1] * len(graph.keys)
    for number, members in enumerate(cyclic):
        for node in members:
            inside[node] = number
    return inside


def _find_path(
    graph: Graph, start: int, goal: int, inside: list[int], number: int, length_max: int
) -> tuple[list[int], int]:
    """Return the first shortest path of at least one edge inside a component, and the number of edges visited."""
    came_from = {start: start}
    level = [start]
    steps = 0
    for _ in range(length_max):
        ahead = []
        for node in level:
            for edge in graph.out[node]:
                steps += 1
                after = graph.targets[edge]
                if after == goal:
                    return [*_rebuild_path(came_from, start, node), goal], steps
                if inside[after] == number and after not in came_from:
                    came_from[after] = node
                    ahead.append(after)
        if not ahead:
            break
        level = ahead
    return [], steps


def _rebuild_path(came_from: dict[int, int], start: int, node: int) -> list[int]:
    way = [node]
    while way[-1] != start:
        way.append(came_from[way[-1]])
    return way[::-1]
