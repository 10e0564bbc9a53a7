"""Trace a line up: from a work node or a purpose node to the goals."""

from __future__ import annotations

from groundplan.briefing.throughline.chain import (
    ChainLink,
    ChainStep,
    DeadEnd,
    DeadEndReason,
    StepRelation,
    Throughline,
)
from groundplan.briefing.throughline.limits import ChainLimits, count_parts
from groundplan.briefing.throughline.purpose_steps import PurposeGraph, build_purpose_graph, build_purpose_steps
from groundplan.briefing.throughline.work_steps import add_evidence_to_steps, build_work_step
from groundplan.kernel.links import LinkType
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.in_force import read_purpose_in_force
from groundplan.work.links.effective import load_effective_links
from groundplan.work.tracing.traced_nodes import TracedNode, load_path_to_root


def trace_work_up(tx: Transaction, n: int) -> Throughline:
    """Return the line from a work node to the goals: over the ancestor that has the links, if it has none itself."""
    links = load_effective_links(tx, [n])[n]
    path = load_path_to_root(tx, n)
    node = path[0]
    if not links.serves:
        steps, left_out = _build_path(tx, path[:1], [])
        dead_ends = [DeadEnd(node.id, DeadEndReason.SERVES_NOTHING)]
        return _build_answer(node.id, None, steps, [], dead_ends, left_out)
    source = links.sources[LinkType.SERVES]
    length = next(index for index, one in enumerate(path) if one.id == source) + 1
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
    """Return the steps of a node and its ancestors, the last of which has the links, and the number left out."""
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
