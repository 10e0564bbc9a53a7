"""Analyse the structure of a theory: pathways, orphans, weak links, and the dependents of an assumption or a node."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from msgspec import UNSET, Struct, UnsetType

from groundplan import providers
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.graph.cuts import GoalTrace, trace_goals
from groundplan.purpose.graph.graph import CausalGraph, build_causal_graph, find_leading_to
from groundplan.purpose.graph.paths import find_pathways
from groundplan.purpose.model import (
    Assumption,
    AssumptionStatus,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    NodeType,
    edge_order,
    sort_keys,
)
from groundplan.purpose.observing.records import Observations
from groundplan.purpose.versions.versions import read_versions


class WeakestLink(Struct, frozen=True):
    """The edge with the lowest confidence on a strongest path."""

    source: str
    target: str
    edge_type: EdgeType
    confidence: Confidence | None


class CutEdge(Struct, frozen=True):
    """The edge whose removal disconnects the most activities from a goal, and those activities."""

    source: str
    target: str
    edge_type: EdgeType
    cuts: list[str]


class GoalAnalysis(Struct, frozen=True):
    """The analysis of one goal. Its path is empty if nothing leads to the goal."""

    key: str
    strongest_path: list[str]
    confidence: Confidence | None
    weakest_link: WeakestLink | UnsetType = UNSET
    cut_edge: CutEdge | UnsetType = UNSET


class AssumptionImpact(Struct):
    """The items that depend on an assumption: edges by name, all others by key."""

    assumption: str
    edges: list[str]
    nodes: list[str]
    goals: list[str]
    activities: list[str]  # those that lead to the node or edge of the assumption


class TouchedWork(Struct):
    """An open work node, and the path to it from an assumption in doubt or a changed fact."""

    id: str
    path: list[str]


class MarkImpact(Struct):
    """An assumption in doubt or a changed fact without a decision, and the open work that it affects."""

    ref: str
    status: str  # refuted, at_risk, changed or removed
    path: list[str]  # to a goal
    work: list[TouchedWork]
    work_total: int


class Analysis(Struct):
    """The analysis of a version. Only the requested parts are set."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(("marks[].work",)),
        CutLists(
            (
                "orphans",
                "dead_ends",
                "goals",
                "refuted",
                "marks",
                "cut_edge_left_out",
                "pathways",
                "touched.edges",
                "touched.nodes",
                "touched.goals",
                "touched.activities",
            )
        ),
    )

    orphans: list[str]  # nodes other than goals that reach no goal
    dead_ends: list[str]  # nodes other than goals that lead to no other node
    goals: list[GoalAnalysis]
    refuted: list[AssumptionImpact]
    cut_edge_left_out: list[str] | UnsetType = UNSET  # goals not searched, because the theory is too large
    pathways: list[list[str]] | UnsetType = UNSET
    pathways_cut: bool | UnsetType = UNSET
    touched: AssumptionImpact | UnsetType = UNSET
    marks: list[MarkImpact] | UnsetType = UNSET  # what is marked now, the latest first
    left_out: LeftOut = UNSET


def analyse(
    content: Content, observations: Observations, *, node: str | None, assumption: str | None, limit: int
) -> Analysis:
    """Analyse a theory, with at most `limit` pathways from a node and `limit` refuted assumptions."""
    causal = build_causal_graph(content)
    reached = trace_goals(causal)
    statuses = observations.get_statuses()
    refuted = [
        assumption
        for assumption in content.assumptions.values()
        if statuses.get(assumption.key) is AssumptionStatus.REFUTED
    ]
    ways, is_cut = _find_pathways(causal, node, limit) if node is not None else (UNSET, UNSET)
    touched = UNSET if assumption is None else _trace_impact(content, causal, content.assumptions[assumption])
    return Analysis(
        orphans=_find_orphans(causal),
        dead_ends=_find_dead_ends(causal),
        goals=[_to_goal_analysis(goal) for goal in reached.goals],
        refuted=[_trace_impact(content, causal, assumption) for assumption in refuted[:limit]],
        cut_edge_left_out=reached.left_out or UNSET,
        pathways=ways,
        pathways_cut=is_cut,
        touched=touched,
        left_out={"refuted": len(refuted) - limit} if len(refuted) > limit else UNSET,
    )


def trace_impacts(content: Content, assumption_keys: list[str]) -> list[AssumptionImpact]:
    """Return the items that depend on each of some assumptions."""
    if not assumption_keys:
        return []
    causal = build_causal_graph(content)
    return [_trace_impact(content, causal, content.assumptions[key]) for key in assumption_keys]


def _trace_impact(content: Content, causal: CausalGraph, assumption: Assumption) -> AssumptionImpact:
    traced = trace_assumption(causal, assumption)
    existing = {str(edge.name) for edge in content.edges}
    return AssumptionImpact(
        assumption.key,
        edges=[name for name in traced.edges if name in existing],
        nodes=traced.nodes,
        goals=_select_by_type(content, traced.after, NodeType.GOAL),
        activities=_select_by_type(content, traced.before, NodeType.ACTIVITY),
    )


def _find_pathways(causal: CausalGraph, node: str, limit: int) -> tuple[list[list[str]], bool]:
    goals = causal.list_numbers(NodeType.GOAL)
    pathways = find_pathways(causal.graph, causal.graph.numbers[node], goals, limit=limit)
    return [causal.to_keys(way) for way in pathways.ways], pathways.is_cut


def _find_orphans(causal: CausalGraph) -> list[str]:
    reaching = find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL))
    return [key for number, key in enumerate(causal.graph.keys) if number not in reaching]


def _find_dead_ends(causal: CausalGraph) -> list[str]:
    graph = causal.graph
    leading_on = {source for source, target in zip(graph.sources, graph.targets, strict=True) if source != target}
    return [
        node.key
        for number, node in enumerate(causal.nodes)
        if node.node_type is not NodeType.GOAL and number not in leading_on
    ]


def _to_goal_analysis(goal: GoalTrace) -> GoalAnalysis:
    link = goal.weakest_link
    return GoalAnalysis(
        goal.key,
        goal.keys,
        None if link is None else link.confidence,
        UNSET if link is None else WeakestLink(*link.name, confidence=link.confidence),
        UNSET if goal.cut is None else CutEdge(*goal.cut.edge.name, cuts=goal.cut.activities),
    )


def _select_by_type(content: Content, keys: Iterable[str], node_type: NodeType) -> list[str]:
    return sort_keys(key for key in keys if content.nodes[key].node_type is node_type)


class Dependents(NamedTuple):
    """The nodes and edges that depend on a place.

    `after` and `before` have the nodes that follow from it and those that lead to it, each with the next node on a
    shortest way to the place; the node at the place itself has none.
    """

    nodes: list[str]
    edges: list[str]
    before: dict[str, str | None]
    after: dict[str, str | None]

    def find_way(self, key: str) -> list[str]:
        """Return the path from a connected node to the place."""
        steps = self.after if key in self.after else self.before
        way = [key]
        while (step := steps[way[-1]]) is not None:
            way.append(step)
        return way


class Place(NamedTuple):
    """The starts of a trace, `on` for effects and `behind` for causes: one node, or the ends of an edge."""

    on: str | None
    behind: str | None


def get_place(causal: CausalGraph, assumption: Assumption) -> Place:
    """Return the place of an assumption: its node, or the ends of its edge. A feedback edge has no place."""
    edge = assumption.edge
    if edge is None:
        return Place(assumption.node, assumption.node)
    cause, effect, edge_type = causal.content.orient(edge)
    return Place(effect, cause) if edge_type.is_causal else Place(None, None)


def trace_assumption(causal: CausalGraph, assumption: Assumption) -> Dependents:
    """Trace the dependents of an assumption: from its node, or from the effect of its edge if that is not feedback."""
    return _trace_dependents(causal, *get_place(causal, assumption), assumption.edge)


def trace_node(causal: CausalGraph, key: str) -> Dependents:
    """Trace the dependents of a node."""
    return _trace_dependents(causal, key, key, None)


def find_steps(causal: CausalGraph, keys: Iterable[str]) -> tuple[dict[str, str | None], dict[str, str | None]]:
    """Return the effects and the causes of some nodes, each with the next node on a shortest path back to them."""
    graph, starts = causal.graph, _list_numbers(causal, keys)
    after = _find_steps(graph.out, graph.targets, starts)
    before = _find_steps(graph.into, graph.sources, starts)
    return _to_key_steps(causal, after), _to_key_steps(causal, before)


def _trace_dependents(causal: CausalGraph, on: str | None, behind: str | None, edge: EdgeName | None) -> Dependents:
    graph = causal.graph
    after = _find_steps(graph.out, graph.targets, _list_numbers(causal, [on or ""]))
    before = _find_steps(graph.into, graph.sources, _list_numbers(causal, [behind or ""]))
    edges = {causal.edges[number].name for node in after for number in graph.out[node]}
    if edge is not None:
        edges.add(edge)
    return Dependents(
        causal.to_keys(sorted(after)),
        [str(name) for name in sorted(edges, key=edge_order)],
        _to_key_steps(causal, before),
        _to_key_steps(causal, after),
    )


def _to_key_steps(causal: CausalGraph, steps: dict[int, int | None]) -> dict[str, str | None]:
    keys = causal.graph.keys
    return {keys[node]: None if step is None else keys[step] for node, step in steps.items()}


def _list_numbers(causal: CausalGraph, keys: Iterable[str]) -> list[int]:
    numbers = causal.graph.numbers
    return [numbers[key] for key in keys if key in numbers]


def _find_steps(edges_at: list[list[int]], ends: list[int], starts: list[int]) -> dict[int, int | None]:
    """Return the nodes that some starts reach, nearest first, each with the node before it on a shortest path."""
    steps: dict[int, int | None] = dict.fromkeys(starts)
    ahead = deque(steps)
    while ahead:
        node = ahead.popleft()
        for edge in edges_at[node]:
            if ends[edge] not in steps:
                steps[ends[edge]] = node
                ahead.append(ends[edge])
    return steps


class RefutedImpact(Struct):
    """The effect of a refuted assumption: the edges and nodes that depend on it, and the work for them."""

    assumption: str
    edges: list[str]
    nodes: list[str]
    work: list[str]


def find_refuted_impacts(tx: Transaction, refuted: list[str]) -> list[RefutedImpact]:
    """Return the effect of refuted assumptions in the latest published version, else in the draft.

    Assumptions that only older versions have are ignored.
    """
    impacts: dict[str, RefutedImpact] = {}
    rows = read_versions(tx) if refuted else []
    for row in (*[row for row in rows if not row.is_draft][-1:], *[row for row in rows if row.is_draft]):
        missing = [key for key in refuted if key not in impacts]
        if missing:
            impacts |= _find_impacts_in_version(tx, read_content(tx, row.id), missing)
    return [impacts[key] for key in dict.fromkeys(refuted) if key in impacts]


def _find_impacts_in_version(tx: Transaction, content: Content, keys: list[str]) -> dict[str, RefutedImpact]:
    impacts = trace_impacts(content, [key for key in keys if key in content.assumptions])
    serving: dict[str, list[str]] = {}
    if impacts:
        touched = {key for impact in impacts for key in (*impact.nodes, *impact.activities)}
        serving = providers.find_work_serving(tx, sorted(touched))
    return {
        impact.assumption: RefutedImpact(
            impact.assumption,
            impact.edges,
            impact.nodes,
            sorted({id_ for key in (*impact.nodes, *impact.activities) for id_ in serving.get(key, ())}),
        )
        for impact in impacts
    }


MARKS_MAX = 20  # each reads what depends on it


def add_marks(tx: Transaction, analysis: Analysis, limit: int) -> None:
    """Add the latest marks of the current project in the version in force, at most `limit` and at most MARKS_MAX."""
    marked = providers.find_marked_work(tx, min(limit, MARKS_MAX))
    if not marked.marks:
        return
    analysis.marks = [
        MarkImpact(
            mark.ref, mark.status, mark.path, [TouchedWork(id_, path) for id_, path in mark.work], mark.work_total
        )
        for mark in marked.marks
    ]
    if marked.left_out:
        analysis.left_out = {**(analysis.left_out or {}), "marks": marked.left_out}
