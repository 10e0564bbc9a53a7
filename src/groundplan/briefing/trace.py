"""Trace the steps of a throughline, up to the goals or down to the work. The limits hold for projects of any size."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from msgspec import UNSET

from groundplan import providers
from groundplan.briefing.chain import (
    ChainAssumption,
    ChainEvidence,
    ChainFact,
    ChainIndicator,
    ChainLink,
    ChainStep,
    DeadEnd,
    DeadEndReason,
    StepRelation,
    StepType,
    Throughline,
    WorkBelow,
)
from groundplan.kernel.answers import LeftOut
from groundplan.kernel.links import LinkType, list_links_from
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.graph.cycles import find_components
from groundplan.purpose.graph.graph import CausalGraph, Graph, build_causal_graph, find_leading_to, find_reachable_from
from groundplan.purpose.in_force import PurposeInForce, read_purpose_in_force
from groundplan.purpose.model import Assumption, AssumptionStatus, Content, EdgeName, NodeType, build_content
from groundplan.purpose.observing.read import read_assumption_statuses, read_latest_observations
from groundplan.purpose.observing.records import Measurement
from groundplan.work.kinds import get_outcome
from groundplan.work.links import load_effective_links, load_serving_links
from groundplan.work.tracing import (
    SubtreeCounts,
    TracedNode,
    count_subtrees,
    load_evidence_below,
    load_evidence_of_nodes,
    load_first_children,
    load_path_to_root,
    load_traced_nodes,
)


class ChainLimits:
    """The largest number of entries of each kind in an answer."""

    PURPOSE_NODES = 300
    WORK_NODES = 150
    ANCESTORS = 50
    GOALS = 50
    DEAD_ENDS = 100


def count_parts(**parts: int) -> LeftOut:
    """Return the counts that are not zero, as the `left_out` of an answer."""
    return {name: count for name, count in parts.items() if count} or UNSET


# --- The steps of purpose nodes: which of them the chain has, in which order, and what holds for them -----------------


class PurposeGraph(NamedTuple):
    """The content of a purpose and its causal graph."""

    purpose: PurposeInForce
    causal: CausalGraph
    reaching: set[int]  # the nodes that lead to a goal, and the goals

    @property
    def content(self) -> Content:
        """The content of the purpose."""
        return self.purpose.content

    def find_effects(self, keys: Iterable[str]) -> set[str]:
        """Return the given nodes and all their direct and indirect effects."""
        graph = self.causal.graph
        return set(self.causal.to_keys(list(find_reachable_from(graph, [graph.numbers[key] for key in keys]))))

    def find_causes(self, keys: Iterable[str]) -> set[str]:
        """Return the given nodes and all their direct and indirect causes."""
        graph = self.causal.graph
        return set(self.causal.to_keys(list(find_leading_to(graph, [graph.numbers[key] for key in keys]))))

    def reaches_goal(self, key: str) -> bool:
        """Return True if a node is a goal or leads to one."""
        return self.causal.graph.numbers[key] in self.reaching

    def is_goal(self, key: str) -> bool:
        return self.content.nodes[key].node_type is NodeType.GOAL

    def assign_levels(self, keys: Collection[str], *, is_upward: bool) -> dict[str, int]:
        """Return the level of each node: its longest distance from a node without predecessors, in ascending order.

        Only the nodes in `keys` count. The nodes of a cycle share a level.
        """
        graph = self.causal.graph
        numbers = {graph.numbers[key] for key in keys}
        components = find_components(graph)  # numbered backwards: an effect has a smaller one than its cause
        order = sorted(numbers, key=lambda number: (-components[number] if is_upward else components[number], number))
        ahead, ends = (graph.out, graph.targets) if is_upward else (graph.into, graph.sources)
        of_component: dict[int, int] = {}
        for number in order:
            level = of_component.setdefault(components[number], 0)
            for edge in ahead[number]:
                after = ends[edge]
                if after in numbers and components[after] != components[number]:
                    of_component[components[after]] = max(of_component.get(components[after], 0), level + 1)
        levels = {number: of_component[components[number]] for number in numbers}
        return {
            graph.keys[number]: levels[number]
            for number in sorted(numbers, key=lambda number: (levels[number], number))
        }


def build_purpose_graph(purpose: PurposeInForce) -> PurposeGraph:
    """Build the graph of a purpose."""
    causal = build_causal_graph(purpose.content)
    return PurposeGraph(purpose, causal, find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL)))


def build_purpose_steps(
    tx: Transaction, graph: PurposeGraph, levels: Mapping[str, int], *, known: Collection[str]
) -> list[ChainStep]:
    """Return the steps of the nodes in `levels`, with assumptions, indicators and their edges to nodes in `known`."""
    causal = graph.causal
    edges = _group_edges(causal.graph, levels, known)
    content = graph.content
    edge_names = {causal.edges[number].name for numbers in edges.values() for number in numbers}
    part = build_content(
        (),
        (),
        [
            assumption
            for assumption in content.assumptions.values()
            if assumption.node in levels or assumption.edge in edge_names
        ],
        [indicator for indicator in content.indicators.values() if indicator.node in levels],
    )
    observed = read_latest_observations(tx, part)
    statuses, latest = read_assumption_statuses(tx, part.assumptions), observed.get_latest_measurements()
    assumed: dict[str | EdgeName, list[ChainAssumption]] = {}
    for assumption in part.assumptions.values():
        subject = assumption.edge if assumption.node is None else assumption.node
        if subject is not None:
            assumed.setdefault(subject, []).append(_to_assumption(assumption, statuses))
    indicators = _group_indicators(part, latest)
    steps = []
    for key, level in levels.items():
        node = content.nodes[key]
        links = []
        for number in edges[key]:
            edge = causal.edges[number]
            links.append(
                ChainLink(
                    causal.graph.keys[causal.graph.targets[number]],
                    StepRelation(edge.edge_type.relation),
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
    indicators: dict[str, list[ChainIndicator]] = {}
    for indicator in part.indicators.values():
        view = ChainIndicator(indicator.key, indicator.name)
        if (measured := latest.get(indicator.key)) is not None:
            view.value, view.as_of = measured.value, measured.as_of
        view.target = UNSET if indicator.target is None else indicator.target
        view.unit = indicator.unit or UNSET
        indicators.setdefault(indicator.node, []).append(view)
    return indicators


def _to_assumption(assumption: Assumption, statuses: Mapping[str, AssumptionStatus]) -> ChainAssumption:
    status = statuses.get(assumption.key, AssumptionStatus.UNTESTED)
    return ChainAssumption(assumption.key, assumption.assumption_text, status, assumption.risk_level or UNSET)


# --- The steps of work nodes, with their evidence and the work below them ---------------------------------------------

EVIDENCE_OF_EACH = 3  # the newest


def build_work_step(
    node: TracedNode, level: int, to: list[ChainLink], *, now: str, below: SubtreeCounts | None = None
) -> ChainStep:
    """Return the step of a work node; `below` counts its subtree and is left out if the node has no children."""
    return ChainStep(
        ref=node.id,
        type=StepType.WORK,
        title=node.summary,
        level=level,
        to=to,
        resolved=node.resolved,
        outcome=get_outcome(node),
        claimed_by=node.get_holder(now=now) or UNSET,
        work=UNSET if below is None or below.total == 1 else to_work_below([below]),
    )


def to_work_below(counts: Iterable[SubtreeCounts]) -> WorkBelow:
    """Return the sum of the node counts of several subtrees."""
    total = resolved = dropped = claimed = 0
    for count in counts:
        total, resolved = total + count.total, resolved + count.resolved
        dropped, claimed = dropped + count.dropped, claimed + count.claimed
    return WorkBelow(total, total - resolved - dropped, resolved, dropped, claimed)


def add_evidence_to_steps(
    tx: Transaction, steps: Iterable[ChainStep], nodes: Mapping[str, TracedNode], stops: Collection[int] | None = None
) -> None:
    """Add the newest evidence of each work node to its step; `nodes` are the work nodes by id.

    If `stops` is given, evidence of nodes below counts, too, except in the subtrees of the nodes in `stops`.
    """
    of_work = [step for step in steps if step.is_work]
    starts = [nodes[step.ref].n for step in of_work]
    if stops is None:
        evidence = load_evidence_of_nodes(tx, starts, of_each=EVIDENCE_OF_EACH)
    else:
        evidence = load_evidence_below(tx, starts, stops, of_each=EVIDENCE_OF_EACH)
    for step in of_work:
        entries = evidence.get(nodes[step.ref].n, [])
        if entries:
            step.evidence = [
                ChainEvidence(
                    entry.type,
                    entry.ref,
                    UNSET if entry.id == step.ref else entry.id,
                    entry.checked or UNSET,
                    entry.is_undone or UNSET,
                )
                for entry in entries
            ]
            if entries[0].total > len(entries):
                step.evidence_total = entries[0].total


# --- Trace a line up: from a work node or a purpose node to the goals -------------------------------------------------


def trace_work_up(tx: Transaction, n: int) -> Throughline:
    """Return the line from a work node to the goals. A node without links uses the links of an ancestor."""
    links = load_effective_links(tx, [n])[n]
    path = load_path_to_root(tx, n)
    node = path[0]
    if not links.serves:
        steps, left_out = _build_path(tx, path[:1], [])
        dead_ends = [DeadEnd(node.id, DeadEndReason.SERVES_NOTHING)]
        return _build_answer(node.id, None, steps, [], dead_ends, left_out)
    source = links.sources[LinkType.SERVES]
    length = next(index for index, ancestor in enumerate(path) if ancestor.id == source) + 1
    purpose = read_purpose_in_force(tx, links.serves)
    graph = None if purpose is None else build_purpose_graph(purpose)
    served = [key for key in links.serves if graph is not None and key in graph.content.nodes]
    gone = [key for key in links.serves if key not in served]
    dangling = [DeadEnd(key, DeadEndReason.DANGLING, source) for key in gone]
    steps, left_out = _build_path(tx, path[:length], [ChainLink(key, StepRelation.SERVES) for key in links.serves])
    if graph is None:
        return _build_answer(node.id, None, steps, [], dangling, left_out)
    return _add_purpose(tx, node.id, graph, served, steps, dangling, left_out)


def trace_purpose_up(tx: Transaction, graph: PurposeGraph, key: str) -> Throughline:
    """Return the line from a purpose node to the goals."""
    return _add_purpose(tx, key, graph, [key], [], [], 0)


def _build_path(tx: Transaction, path: list[TracedNode], serves: list[ChainLink]) -> tuple[list[ChainStep], int]:
    """Return the steps from a node to the ancestor with the links, and the number of steps that are left out."""
    kept = path if len(path) <= ChainLimits.ANCESTORS else [*path[: ChainLimits.ANCESTORS - 1], path[-1]]
    steps = []
    for level, node in enumerate(path):
        to = serves if node is path[-1] else [ChainLink(path[level + 1].id, StepRelation.PART_OF)]
        if node in kept:
            steps.append(build_work_step(node, level, to, now=tx.now))
    add_evidence_to_steps(tx, steps, {node.id: node for node in kept})
    return steps, len(path) - len(kept)


def _add_purpose(
    tx: Transaction,
    start: str,
    graph: PurposeGraph,
    served: list[str],
    steps: list[ChainStep],
    dead_ends: list[DeadEnd],
    left_out: int,
) -> Throughline:
    effects = graph.find_effects(served)
    distance = steps[-1].level + 1 if steps else 0
    levels = {key: level + distance for key, level in graph.assign_levels(effects, is_upward=True).items()}
    goals = [key for key in levels if graph.is_goal(key)]
    # Of a long chain its beginning and the goals are shown.
    room = ChainLimits.PURPOSE_NODES
    shown = dict(list(levels.items())[:room])
    if len(levels) > room:
        last = goals[: ChainLimits.GOALS]
        shown = dict(list(levels.items())[: room - len(last)]) | {key: levels[key] for key in last}
    steps = [*steps, *build_purpose_steps(tx, graph, shown, known=effects)]
    astray = [DeadEnd(key, DeadEndReason.REACHES_NO_GOAL) for key in levels if not graph.reaches_goal(key)]
    left_out += len(levels) - len(shown)
    return _build_answer(start, graph, steps, goals, [*dead_ends, *astray], left_out)


def _build_answer(
    start: str,
    graph: PurposeGraph | None,
    steps: list[ChainStep],
    goals: list[str],
    dead_ends: list[DeadEnd],
    left_out: int,
) -> Throughline:
    answer = Throughline(
        start=start,
        direction="up",
        chain=steps,
        goals=goals[: ChainLimits.GOALS],
        dead_ends=dead_ends[: ChainLimits.DEAD_ENDS],
    )
    if graph is not None:
        answer.version = graph.purpose.version.number
    answer.left_out = count_parts(
        chain=left_out, goals=len(goals) - len(answer.goals), dead_ends=len(dead_ends) - len(answer.dead_ends)
    )
    return answer


# --- Trace a line down: from a purpose node to the work that serves it, or from a work node to its parts --------------


def trace_purpose_down(tx: Transaction, graph: PurposeGraph, key: str) -> Throughline:
    """Return the line down from a purpose node: its causes, and the work that serves them."""
    levels = graph.assign_levels(graph.find_causes([key]), is_upward=False)
    links = load_serving_links(tx)
    serving = {n: here for n, keys in links.keys.items() if (here := [key for key in keys if key in levels])}
    # A node that has links of its own does not inherit those of its ancestors.
    counts = count_subtrees(tx, serving, links.keys)
    shown = dict(list(levels.items())[: ChainLimits.PURPOSE_NODES])
    steps = build_purpose_steps(tx, graph, shown, known=levels)
    work_steps = _build_serving_steps(tx, serving, counts, levels, links.keys)
    chain = sorted([*steps, *work_steps], key=lambda step: step.level)
    reached = graph.find_effects(links.served & levels.keys())
    dead_ends = [] if graph.reaches_goal(key) else [DeadEnd(key, DeadEndReason.REACHES_NO_GOAL)]
    dead_ends += [DeadEnd(cause, DeadEndReason.NO_WORK) for cause in levels if cause not in reached]
    goals = [
        effect for effect in graph.assign_levels(graph.find_effects([key]), is_upward=True) if graph.is_goal(effect)
    ]
    answer = Throughline(
        start=key,
        direction="down",
        version=graph.purpose.version.number,
        chain=chain,
        goals=goals[: ChainLimits.GOALS],
        work=to_work_below(counts.values()),
        dead_ends=dead_ends[: ChainLimits.DEAD_ENDS],
    )
    left_out = len(levels) + len(serving) - len(chain)
    answer.left_out = count_parts(
        chain=left_out, goals=len(goals) - len(answer.goals), dead_ends=len(dead_ends) - len(answer.dead_ends)
    )
    return answer


def _build_serving_steps(
    tx: Transaction,
    serving: Mapping[int, list[str]],
    counts: Mapping[int, SubtreeCounts],
    levels: Mapping[str, int],
    stops: Collection[int],
) -> list[ChainStep]:
    """Return the steps of serving work nodes, by the level of the purpose node that they serve, open work first."""
    nearest = {n: min(levels[key] for key in keys) for n, keys in serving.items()}
    positions = {key: position for position, key in enumerate(levels)}

    def rank(n: int) -> tuple[int, bool, int]:
        is_done = counts[n].total == counts[n].resolved + counts[n].dropped
        return nearest[n], is_done, n

    nodes = load_traced_nodes(tx, sorted(serving, key=rank)[: ChainLimits.WORK_NODES])
    steps = [
        build_work_step(
            nodes[n],
            max(levels[key] for key in serving[n]) + 1,
            [ChainLink(key, StepRelation.SERVES) for key in sorted(serving[n], key=positions.__getitem__)],
            now=tx.now,
            below=counts[n],
        )
        for n in sorted(nodes, key=rank)
    ]
    add_evidence_to_steps(tx, steps, {node.id: node for node in nodes.values()}, stops)
    return steps


def trace_work_down(tx: Transaction, n: int) -> Throughline:
    """Return the line down from a work node: its children with their evidence and the counts of their subtrees."""
    node = load_traced_nodes(tx, [n])[n]
    children, left_out = load_first_children(tx, n, at_most=ChainLimits.WORK_NODES)
    counts = count_subtrees(tx, [child.n for child in children])
    work = to_work_below(count_subtrees(tx, [n]).values()) if left_out else _sum_family(tx, node, counts.values())
    links = load_effective_links(tx, [n])[n]
    up = (
        [ChainLink(key, StepRelation.SERVES) for key in links.serves]
        if links.sources.get(LinkType.SERVES) == node.id
        else []
    )
    steps = [build_work_step(node, 0, up, now=tx.now)]
    steps[0].work = work if children else UNSET
    steps += [
        build_work_step(child, 1, [ChainLink(node.id, StepRelation.PART_OF)], now=tx.now, below=counts[child.n])
        for child in children
    ]
    add_evidence_to_steps(tx, steps[:1], {node.id: node})
    add_evidence_to_steps(tx, steps[1:], {child.id: child for child in children}, ())
    return Throughline(
        start=node.id,
        direction="down",
        chain=steps,
        goals=[],
        work=work,
        dead_ends=[] if links.serves else [DeadEnd(node.id, DeadEndReason.SERVES_NOTHING)],
        left_out=count_parts(chain=left_out),
    )


def _sum_family(tx: Transaction, node: TracedNode, children: Iterable[SubtreeCounts]) -> WorkBelow:
    """Return the counts of a node together with the subtrees of all its children."""
    is_dropped = node.outcome is not None
    is_claimed = node.get_holder(now=tx.now) is not None
    own = SubtreeCounts(node.n, 1, int(node.resolved and not is_dropped), int(is_dropped), int(is_claimed))
    return to_work_below([own, *children])


# --- The facts that the steps of a line rest on -----------------------------------------------------------------------


def add_facts_to_steps(tx: Transaction, steps: Iterable[ChainStep]) -> None:
    """Add to each step the facts that it rests on."""
    by_ref = {step.ref: step for step in steps}
    links = [link for link in list_links_from(tx, by_ref) if link.type is LinkType.RESTS_ON]
    if not links:
        return
    targets = providers.find_fact_targets(tx, sorted({link.target for link in links})).found
    for link in links:
        step = by_ref[link.source]
        target = targets.get(link.target)
        fact = ChainFact(link.target, UNSET if target is None else target.title)
        step.facts = [*(step.facts or ()), fact]
