"""The steps of purpose nodes: which of them the chain has, in which order, and what holds for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec import UNSET

from groundplan.briefing.throughline.chain import (
    ChainAssumption,
    ChainIndicator,
    ChainLink,
    ChainStep,
    StepRelation,
    StepType,
)
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.graph.cycles import find_components
from groundplan.purpose.graph.graph import CausalGraph, Graph, build_causal_graph, find_leading_to, find_reachable_from
from groundplan.purpose.in_force import PurposeInForce
from groundplan.purpose.model import Assumption, AssumptionStatus, Content, EdgeName, NodeType, build_content
from groundplan.purpose.observing.read import read_assumption_statuses, read_latest_observations
from groundplan.purpose.observing.records import Measurement


class PurposeGraph(NamedTuple):
    """A purpose and its causal graph."""

    purpose: PurposeInForce
    causal: CausalGraph
    reaching: set[int]  # the nodes that lead to a goal, and the goals

    @property
    def content(self) -> Content:
        """The content of the purpose."""
        return self.purpose.content

    def find_effects(self, keys: Iterable[str]) -> set[str]:
        """Return these nodes and all that they lead to."""
        graph = self.causal.graph
        return set(self.causal.to_keys(list(find_reachable_from(graph, [graph.numbers[key] for key in keys]))))

    def find_causes(self, keys: Iterable[str]) -> set[str]:
        """Return these nodes and all that leads to them."""
        graph = self.causal.graph
        return set(self.causal.to_keys(list(find_leading_to(graph, [graph.numbers[key] for key in keys]))))

    def reaches_goal(self, key: str) -> bool:
        """Return whether a node is a goal or leads to one."""
        return self.causal.graph.numbers[key] in self.reaching

    def is_goal(self, key: str) -> bool:
        return self.content.nodes[key].node_type is NodeType.GOAL

    def assign_levels(self, keys: Collection[str], *, is_upward: bool) -> dict[str, int]:
        """Return the longest distance of each node from the nodes without predecessors, in the order of the chain.

        `keys` are the only nodes that count. The nodes of a cycle have one level.
        """
        graph = self.causal.graph
        numbers = {graph.numbers[key] for key in keys}
        components = find_components(graph)  # numbered backwards: an effect has a smaller one than its cause
        order = sorted(numbers, key=lambda one: (-components[one] if is_upward else components[one], one))
        ahead, ends = (graph.out, graph.targets) if is_upward else (graph.into, graph.sources)
        of_component: dict[int, int] = {}
        for number in order:
            level = of_component.setdefault(components[number], 0)
            for edge in ahead[number]:
                after = ends[edge]
                if after in numbers and components[after] != components[number]:
                    of_component[components[after]] = max(of_component.get(components[after], 0), level + 1)
        levels = {number: of_component[components[number]] for number in numbers}
        return {graph.keys[number]: levels[number] for number in sorted(numbers, key=lambda one: (levels[one], one))}


def build_purpose_graph(purpose: PurposeInForce) -> PurposeGraph:
    """Build the graph of a purpose."""
    causal = build_causal_graph(purpose.content)
    return PurposeGraph(purpose, causal, find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL)))


def build_purpose_steps(
    tx: Transaction, graph: PurposeGraph, levels: Mapping[str, int], *, known: Collection[str]
) -> list[ChainStep]:
    """Return the steps of some nodes with their edges to the nodes in `known`, assumptions and indicators."""
    edges = _group_edges(graph.causal.graph, levels, known)
    content = graph.content
    edge_names = {graph.causal.edges[one].name for some in edges.values() for one in some}
    part = build_content(
        (),
        (),
        [one for one in content.assumptions.values() if one.node in levels or one.edge in edge_names],
        [one for one in content.indicators.values() if one.node in levels],
    )
    observed = read_latest_observations(tx, part)
    statuses, latest = read_assumption_statuses(tx, part.assumptions), observed.get_latest_measurements()
    assumed: dict[str | EdgeName, list[ChainAssumption]] = {}
    for one in part.assumptions.values():
        subject = one.edge if one.node is None else one.node
        if subject is not None:
            assumed.setdefault(subject, []).append(_to_assumption(one, statuses))
    indicators = _group_indicators(part, latest)
    steps = []
    for key, level in levels.items():
        node = content.nodes[key]
        links = []
        for number in edges[key]:
            edge = graph.causal.edges[number]
            links.append(
                ChainLink(
                    edge.target,
                    StepRelation(edge.edge_type),
                    edge.mechanism or UNSET,
                    edge.confidence or UNSET,
                    assumed.get(edge.name, UNSET),
                )
            )
        steps.append(
            ChainStep(
                ref=key,
                type=StepType(node.node_type),
                title=node.title,
                level=level,
                to=links,
                draft=True if key in graph.purpose.draft_keys else UNSET,
                assumptions=assumed.get(key, UNSET),
                indicators=indicators.get(key, UNSET),
            )
        )
    return steps


def _group_edges(graph: Graph, levels: Mapping[str, int], known: Collection[str]) -> dict[str, list[int]]:
    return {
        key: [edge for edge in graph.out[graph.numbers[key]] if graph.keys[graph.targets[edge]] in known]
        for key in levels
    }


def _group_indicators(part: Content, latest: Mapping[str, Measurement]) -> dict[str, list[ChainIndicator]]:
    found: dict[str, list[ChainIndicator]] = {}
    for one in part.indicators.values():
        shown = ChainIndicator(one.key, one.name)
        if (measured := latest.get(one.key)) is not None:
            shown.value, shown.as_of = measured.value, measured.as_of
        shown.target = UNSET if one.target is None else one.target
        shown.unit = one.unit or UNSET
        found.setdefault(one.node, []).append(shown)
    return found


def _to_assumption(one: Assumption, statuses: Mapping[str, AssumptionStatus]) -> ChainAssumption:
    status = statuses.get(one.key, AssumptionStatus.UNTESTED)
    return ChainAssumption(one.key, one.assumption_text, status, one.risk_level or UNSET)
