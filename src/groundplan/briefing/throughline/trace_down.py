"""Trace a line down: from a purpose node to the work that serves it, or from a work node to its parts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import UNSET

from groundplan.briefing.throughline.chain import (
    ChainLink,
    ChainStep,
    DeadEnd,
    DeadEndReason,
    StepRelation,
    Throughline,
    WorkBelow,
)
from groundplan.briefing.throughline.limits import ChainLimits, count_parts
from groundplan.briefing.throughline.purpose_steps import PurposeGraph, build_purpose_steps
from groundplan.briefing.throughline.work_steps import add_evidence_to_steps, build_work_step, to_work_below
from groundplan.kernel.links import LinkType
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.links.effective import load_effective_links
from groundplan.work.tracing.serving import load_serving_links
from groundplan.work.tracing.traced_nodes import (
    SubtreeCounts,
    TracedNode,
    count_subtrees,
    load_first_children,
    load_traced_nodes,
)


def trace_purpose_down(tx: Transaction, graph: PurposeGraph, key: str) -> Throughline:
    """Return what leads to a purpose node: its causes, and the work that serves them."""
    levels = graph.assign_levels(graph.find_causes([key]), is_upward=False)
    links = load_serving_links(tx)
    serving = {n: here for n, keys in links.keys.items() if (here := [one for one in keys if one in levels])}
    # A node that has links of its own does not inherit those of its ancestors.
    counts = count_subtrees(tx, serving, links.keys)
    shown = dict(list(levels.items())[: ChainLimits.PURPOSE_NODES])
    steps = build_purpose_steps(tx, graph, shown, known=levels)
    work_steps = _build_serving_steps(tx, serving, counts, levels, links.keys)
    chain = sorted([*steps, *work_steps], key=lambda step: step.level)
    reached = graph.find_effects(links.served & levels.keys())
    dead_ends = [] if graph.reaches_goal(key) else [DeadEnd(key, DeadEndReason.REACHES_NO_GOAL)]
    dead_ends += [DeadEnd(one, DeadEndReason.NO_WORK) for one in levels if one not in reached]
    goals = [one for one in graph.assign_levels(graph.find_effects([key]), is_upward=True) if graph.is_goal(one)]
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
    """Return the steps of work nodes that serve something: those of the nearest purpose nodes, and open ones first."""
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
    """Return what a work node consists of: its children with the counts of their subtrees, and the evidence."""
    node = load_traced_nodes(tx, [n])[n]
    children, left_out = load_first_children(tx, n, at_most=ChainLimits.WORK_NODES)
    counts = count_subtrees(tx, [child.n for child in children])
    whole = to_work_below(count_subtrees(tx, [n]).values()) if left_out else _sum_family(tx, node, counts.values())
    links = load_effective_links(tx, [n])[n]
    up = (
        [ChainLink(key, StepRelation.SERVES) for key in links.serves]
        if links.sources.get(LinkType.SERVES) == node.id
        else []
    )
    steps = [build_work_step(node, 0, up, now=tx.now)]
    steps[0].work = whole if children else UNSET
    steps += [
        build_work_step(child, 1, [ChainLink(node.id, StepRelation.PART_OF)], now=tx.now, below=counts[child.n])
        for child in children
    ]
    add_evidence_to_steps(tx, steps[:1], {node.id: node})
    add_evidence_to_steps(tx, steps[1:], {one.id: one for one in children}, ())
    return Throughline(
        start=node.id,
        direction="down",
        chain=steps,
        goals=[],
        work=whole,
        dead_ends=[] if links.serves else [DeadEnd(node.id, DeadEndReason.SERVES_NOTHING)],
        left_out=count_parts(chain=left_out),
    )


def _sum_family(tx: Transaction, node: TracedNode, children: Iterable[SubtreeCounts]) -> WorkBelow:
    """Return the counts of a node and the subtrees of all its children."""
    is_dropped = node.outcome is not None
    is_claimed = node.get_holder(now=tx.now) is not None
    own = SubtreeCounts(node.n, 1, int(node.resolved and not is_dropped), int(is_dropped), int(is_claimed))
    return to_work_below([own, *children])
