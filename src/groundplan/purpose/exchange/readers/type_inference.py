"""Infer the types of nodes in a file: from their labels, else from their position in the graph.

    … → ACTIVITY → OUTPUT → OUTCOME → GOAL      counted back from the last nodes, along the longest path

A cycle counts as one node. A node without edges becomes an activity, because an edge from an activity may lead to any
type. Known types do not influence the inferred ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from groundplan.purpose.exchange.readers.document_builder import DocumentBuilder
from groundplan.purpose.graph.cycles import find_components
from groundplan.purpose.graph.graph import Graph
from groundplan.purpose.model import NodeType

_TYPES_BY_DISTANCE = (NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT, NodeType.ACTIVITY)
_WORDS = {
    "goal": NodeType.GOAL,
    "goals": NodeType.GOAL,
    "impact": NodeType.GOAL,
    "impacts": NodeType.GOAL,
    "outcome": NodeType.OUTCOME,
    "outcomes": NodeType.OUTCOME,
    "result": NodeType.OUTCOME,
    "results": NodeType.OUTCOME,
    "output": NodeType.OUTPUT,
    "outputs": NodeType.OUTPUT,
    "deliverable": NodeType.OUTPUT,
    "deliverables": NodeType.OUTPUT,
    "activity": NodeType.ACTIVITY,
    "activities": NodeType.ACTIVITY,
    "input": NodeType.ACTIVITY,
    "inputs": NodeType.ACTIVITY,
}
_WORD = re.compile(r"[a-z]+")


def parse_node_type(label: str) -> NodeType | None:
    """Return the type that a label names: `GOAL`, `Outcomes`, `Long-term results`. None unless it names exactly one."""
    found = {_WORDS[word] for word in _WORD.findall(label.casefold()) if word in _WORDS}
    return found.pop() if len(found) == 1 else None


def infer_node_types(
    builder: DocumentBuilder, declared_types: Mapping[str, NodeType | None], causal: Iterable[tuple[str, str]]
) -> dict[str, NodeType]:
    """Return the type of every node, by name. Inferred types are recorded as skipped items.

    Edges to missing nodes and self edges are ignored.
    """
    untyped = [ref for ref, node_type in declared_types.items() if node_type is None]
    inferred = _infer_by_distance(declared_types, causal) if untyped else {}
    for ref in untyped:
        builder.skip("type", "not given; inferred from the position of the node", ref)
    return {ref: inferred[ref] if node_type is None else node_type for ref, node_type in declared_types.items()}


def _infer_by_distance(refs: Iterable[str], causal: Iterable[tuple[str, str]]) -> dict[str, NodeType]:
    """Infer types by the longest path to a last node. Visits each edge once."""
    numbers = {ref: number for number, ref in enumerate(refs)}
    ends = [(numbers[one], numbers[other]) for one, other in causal if one in numbers and other in numbers]
    ends = [(one, other) for one, other in ends if one != other]
    out: list[list[int]] = [[] for _ in numbers]
    is_touched = [False] * len(numbers)
    for edge, (source, target) in enumerate(ends):
        out[source].append(edge)
        is_touched[source] = is_touched[target] = True
    sources, targets = [source for source, _ in ends], [target for _, target in ends]
    component = find_components(Graph([*numbers], numbers, sources, targets, out, []))
    members: list[list[int]] = [[] for _ in range(max(component, default=-1) + 1)]
    for number, one in enumerate(component):
        members[one].append(number)
    # Components are numbered in reverse topological order, so successors have smaller numbers.
    steps = [0] * len(members)
    for here, inside in enumerate(members):
        for edge in (edge for number in inside for edge in out[number]):
            there = component[targets[edge]]
            if there != here:
                steps[here] = max(steps[here], steps[there] + 1)
    return {
        ref: _TYPES_BY_DISTANCE[min(steps[component[number]], len(_TYPES_BY_DISTANCE) - 1)]
        if is_touched[number]
        else NodeType.ACTIVITY
        for ref, number in numbers.items()
    }
