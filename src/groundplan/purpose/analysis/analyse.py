"""Analyse the structure of a theory: pathways, orphans, weak links, and the impact of assumptions."""

from __future__ import annotations

from typing import ClassVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.purpose.graph.causal_graph import CausalGraph, build_causal_graph
from groundplan.purpose.graph.goal_traces import GoalTrace, trace_goals
from groundplan.purpose.graph.indexed_graph import find_leading_to, find_reachable_from
from groundplan.purpose.graph.pathways import find_pathways
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
from groundplan.purpose.observing.observation_rows import Observations


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
    """How one goal is reached. The path is empty if nothing leads to the goal."""

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
    """An open work node, and the way from it to what is in doubt or changed."""

    id: str
    path: list[str]


class MarkImpact(Struct):
    """An assumption in doubt or a changed fact, until a decision about it is recorded, and the open work it touches."""

    ref: str
    status: str  # refuted, at_risk, changed or removed
    path: list[str]  # to a goal
    work: list[TouchedWork]
    work_total: int


class Analysis(Struct):
    """The analysis of a version. Parts that were not requested are left out."""

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
    """Analyse a theory, with at most `limit` pathways from a node and `limit` refuted assumptions.

    Raises:
        KeyError: there is no such node or assumption.
    """
    causal = build_causal_graph(content)
    reached = trace_goals(causal)
    statuses = observations.get_statuses()
    refuted = [one for one in content.assumptions.values() if statuses.get(one.key) is AssumptionStatus.REFUTED]
    ways, is_cut = _find_pathways(causal, node, limit) if node is not None else (UNSET, UNSET)
    touched = UNSET if assumption is None else _trace_impact(content, causal, content.assumptions[assumption])
    return Analysis(
        orphans=_find_orphans(causal),
        dead_ends=_find_dead_ends(causal),
        goals=[_to_goal_analysis(one) for one in reached.goals],
        refuted=[_trace_impact(content, causal, one) for one in refuted[:limit]],
        cut_edge_left_out=reached.left_out or UNSET,
        pathways=ways,
        pathways_cut=is_cut,
        touched=touched,
        left_out={"refuted": len(refuted) - limit} if len(refuted) > limit else UNSET,
    )


def trace_impacts(content: Content, assumption_keys: list[str]) -> list[AssumptionImpact]:
    """Return the items that depend on each of some assumptions.

    Raises:
        KeyError: there is no such assumption.
    """
    if not assumption_keys:
        return []
    causal = build_causal_graph(content)
    return [_trace_impact(content, causal, content.assumptions[key]) for key in assumption_keys]


def _trace_impact(content: Content, causal: CausalGraph, assumption: Assumption) -> AssumptionImpact:
    """Trace from the node of the assumption, or the target of its edge. Feedback and missing nodes end the trace."""
    graph = causal.graph
    on = behind = assumption.node
    if assumption.edge is not None and assumption.edge.edge_type.is_causal:
        on, behind = assumption.edge.target, assumption.edge.source
    after = find_reachable_from(graph, [graph.numbers[on]] if on in graph.numbers else [])
    before = find_leading_to(graph, [graph.numbers[behind]] if behind in graph.numbers else [])
    edges: set[EdgeName] = {causal.edges[edge].name for node in after for edge in graph.out[node]}
    if assumption.edge is not None and any(edge.name == assumption.edge for edge in content.edges):
        edges.add(assumption.edge)
    return AssumptionImpact(
        assumption.key,
        edges=[str(name) for name in sorted(edges, key=edge_order)],
        nodes=causal.to_keys(sorted(after)),
        goals=_select_by_type(causal, after, NodeType.GOAL),
        activities=_select_by_type(causal, before, NodeType.ACTIVITY),
    )


def _find_pathways(causal: CausalGraph, node: str, limit: int) -> tuple[list[list[str]], bool]:
    goals = causal.list_numbers(NodeType.GOAL)
    found = find_pathways(causal.graph, causal.graph.numbers[node], goals, limit=limit)
    return [causal.to_keys(way) for way in found.ways], found.is_cut


def _find_orphans(causal: CausalGraph) -> list[str]:
    reaching = find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL))
    return [key for number, key in enumerate(causal.graph.keys) if number not in reaching]


def _find_dead_ends(causal: CausalGraph) -> list[str]:
    leading_on = {edge.source for edge in causal.edges if edge.source != edge.target}
    return [node.key for node in causal.nodes if node.node_type is not NodeType.GOAL and node.key not in leading_on]


def _to_goal_analysis(goal: GoalTrace) -> GoalAnalysis:
    link = goal.weakest_link
    return GoalAnalysis(
        goal.key,
        goal.keys,
        None if link is None else link.confidence,
        UNSET if link is None else WeakestLink(*link.name, confidence=link.confidence),
        UNSET if goal.cut is None else CutEdge(*goal.cut.edge.name, cuts=goal.cut.activities),
    )


def _select_by_type(causal: CausalGraph, numbers: set[int], node_type: NodeType) -> list[str]:
    return sort_keys(causal.graph.keys[one] for one in numbers if causal.nodes[one].node_type is node_type)
