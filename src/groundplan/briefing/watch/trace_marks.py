"""Trace what depends on assumptions in doubt and on changed facts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from groundplan.briefing.watch.find_causes import NO_LIMIT, Cause
from groundplan.briefing.watch.mark import MarkOutline, WatchMark
from groundplan.kernel.links import Link, LinkType, list_links_of_type
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.analysis import Dependents, Place, get_place, trace_assumption, trace_node
from groundplan.purpose.graph.graph import CausalGraph, build_causal_graph
from groundplan.purpose.graph.paths import GAP, GoalSteps
from groundplan.purpose.in_force import read_content_in_force
from groundplan.purpose.model import Content, edge_order, parse_edge_name, sort_keys
from groundplan.work.links.serving import find_open_inheriting, get_ids

PATH_MAX = 40  # entries of a path; the middle of a longer one is left out
WORK_LISTED_MAX = 20  # work nodes listed in one mark


class _Traced(NamedTuple):
    """A mark, what depends on it in the theory, and the links by which work rests on its fact."""

    mark: WatchMark
    dependents: list[Dependents]
    links: list[Link]


def trace_marks(
    tx: Transaction, causes: Iterable[Cause], *, with_work: bool, at_most: int
) -> tuple[list[WatchMark], int]:
    """Return the marks that some causes make in the version in force, and how many more there are.

    An assumption that this version does not have marks nothing.
    """
    content = read_content_in_force(tx)
    causal = build_causal_graph(content)
    known = [cause for cause in causes if cause.kind == "fact" or cause.ref in content.assumptions]
    steps = GoalSteps(causal, PATH_MAX)
    traced = [_trace(content, causal, steps, cause) for cause in known[:at_most]]
    if with_work and traced:
        _add_work(tx, traced)
    return [one.mark for one in traced], len(known) - len(traced)


def outline_marks(tx: Transaction, causes: Iterable[Cause], *, at_most: int) -> list[MarkOutline]:
    """Return the first marks that some causes make, each with its path. One search finds the paths of all."""
    content = read_content_in_force(tx)
    known = [cause for cause in causes if cause.kind == "fact" or cause.ref in content.assumptions][:at_most]
    steps = GoalSteps(build_causal_graph(content), PATH_MAX)
    return [
        MarkOutline(
            kind=cause.kind,
            ref=cause.ref,
            status=cause.status,
            since=cause.at,
            text=content.assumptions[cause.ref].assumption_text if cause.kind == "assumption" else None,
            path=_find_path(content, steps, cause),
        )
        for cause in known
    ]


def list_places(content: Content, cause: Cause) -> list[Place]:
    """Return the places in the theory that a cause puts in doubt."""
    if cause.kind == "assumption":
        return [get_place(content.assumptions[cause.ref])] if cause.ref in content.assumptions else []
    keys = {link.source for link in cause.links if link.node_n is None and link.source in content.nodes}
    return [Place(key, key) for key in sort_keys(keys)]


def _find_path(content: Content, steps: GoalSteps, cause: Cause) -> list[str]:
    """Return the shortest path from a cause to a goal."""
    paths = [path for place in list_places(content, cause) if len(path := steps.find_path(cause.ref, place.on)) > 1]
    return min(paths, key=len, default=[cause.ref])


def _trace(content: Content, causal: CausalGraph, steps: GoalSteps, cause: Cause) -> _Traced:
    text = None
    if cause.kind == "assumption":
        assumption = content.assumptions[cause.ref]
        text, dependents = assumption.assumption_text, [trace_assumption(causal, assumption)]
    else:
        dependents = [trace_node(causal, place.on) for place in list_places(content, cause) if place.on is not None]
    edges = {name for one in dependents for name in map(parse_edge_name, one.edges) if name is not None}
    mark = WatchMark(
        kind=cause.kind,
        ref=cause.ref,
        status=cause.status,
        rev=cause.rev,
        since=cause.at,
        text=text,
        purpose=sort_keys({key for one in dependents for key in one.nodes}),
        edges=[str(name) for name in sorted(edges, key=edge_order)],
        path=_find_path(content, steps, cause),
    )
    return _Traced(mark, dependents, [link for link in cause.links if link.node_n is not None])


def _add_work(tx: Transaction, traced: list[_Traced]) -> None:
    """Add the open work to each mark: what serves a node that the mark touches, and what rests on its fact."""
    serves = list_links_of_type(tx, LinkType.SERVES, at_most=NO_LIMIT)
    served: dict[int, list[str]] = {}
    for link in serves:
        if link.node_n is not None:
            served.setdefault(link.node_n, []).append(link.target)
    keys = [_find_touching(one.dependents, served) for one in traced]
    serving = _find_inheriting(tx, {n for one in keys for n in one}, serves)
    resting_ns = {link.node_n for one in traced for link in one.links if link.node_n is not None}
    rests_on = list_links_of_type(tx, LinkType.RESTS_ON, at_most=NO_LIMIT) if resting_ns else []
    resting = _find_inheriting(tx, resting_ns, rests_on)
    listed: list[dict[int, tuple[int, list[str]]]] = []
    for one, touching in zip(traced, keys, strict=True):
        by_fact = {n: link.node_n for link in one.links if link.node_n is not None for n in resting[link.node_n]}
        # No node has the links of two others, so what serves is counted without being put together.
        one.mark.work_total = sum(len(serving[source]) for source in touching) + len(
            by_fact.keys() - {n for source in touching for n in serving[source]} if by_fact else ()
        )
        first = {n: source for source in touching for n in serving[source][:WORK_LISTED_MAX]}
        listed.append(
            {
                n: (by_fact[n], []) if n in by_fact else (first[n], touching[first[n]].find_way())
                for n in sorted({*first, *by_fact})[:WORK_LISTED_MAX]
            }
        )
    ids = get_ids(tx, {n for found in listed for node, (source, _) in found.items() for n in (node, source)})
    for one, found in zip(traced, listed, strict=True):
        one.mark.work = [ids[n] for n in found]
        one.mark.work_paths = {
            ids[n]: shorten_path([*dict.fromkeys((ids[n], ids[source])), *way, one.mark.ref])
            for n, (source, way) in found.items()
        }


class _Touching(NamedTuple):
    """A purpose key that work serves, among what depends on a mark."""

    key: str
    dependents: Dependents

    def find_way(self) -> list[str]:
        return self.dependents.find_way(self.key)


def _find_touching(dependents: list[Dependents], served: dict[int, list[str]]) -> dict[int, _Touching]:
    """Return the work nodes that serve a node which is connected with a mark."""
    connected: dict[str, _Touching] = {}
    for one in dependents:
        for key in (*one.after, *one.before):
            connected.setdefault(key, _Touching(key, one))
    found = {n: next((connected[key] for key in keys if key in connected), None) for n, keys in served.items()}
    return {n: touching for n, touching in found.items() if touching is not None}


def _find_inheriting(tx: Transaction, sources: set[int], links: list[Link]) -> dict[int, list[int]]:
    return find_open_inheriting(tx, sources, links) if sources else {}


def shorten_path(path: list[str]) -> list[str]:
    """Return a path without its middle if it is long."""
    half = PATH_MAX // 2
    return path if len(path) <= PATH_MAX else [*path[:half], GAP, *path[-half:]]
