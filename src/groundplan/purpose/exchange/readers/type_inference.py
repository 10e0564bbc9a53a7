"""What the nodes of a file are: by what it calls them, and where it does not say, by where they stand.

    … → ACTIVITY → OUTPUT → OUTCOME → GOAL      counted back from where the arrows end, along the longest way

A cycle counts as one node. What no arrow touches becomes an activity: it is the type that claims least, and from which
an arrow may lead anywhere once somebody says what the node is for. Types that are known tell nothing about others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from groundplan.purpose.exchange.readers.document_builder import DocumentBuilder
from groundplan.purpose.graph.cycles import components
from groundplan.purpose.graph.indexed_graph import Graph
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


def parse_node_type(said: str) -> NodeType | None:
    """The type that a label or a cell names: `GOAL`, `Outcomes`, `Long-term results`. None if it names not just one."""
    found = {_WORDS[word] for word in _WORD.findall(said.casefold()) if word in _WORDS}
    return found.pop() if len(found) == 1 else None


def infer_node_types(
    gathering: DocumentBuilder, said: Mapping[str, NodeType | None], causal: Iterable[tuple[str, str]]
) -> dict[str, NodeType]:
    """The type of every node, by name. Those of which nothing was said are counted among what did not come in.

    Edges to what is no node, or to the node itself, tell nothing.
    """
    unsaid = [ref for ref, node_type in said.items() if node_type is None]
    stands = _infer_by_distance(said, causal) if unsaid else {}
    for ref in unsaid:
        gathering.skip("type", "not said; told from where the node stands", ref)
    return {ref: stands[ref] if node_type is None else node_type for ref, node_type in said.items()}


def _infer_by_distance(refs: Iterable[str], causal: Iterable[tuple[str, str]]) -> dict[str, NodeType]:
    """Types by the longest way to where the arrows end. Each edge is looked at once."""
    numbers = {ref: number for number, ref in enumerate(refs)}
    ends = [(numbers[one], numbers[other]) for one, other in causal if one in numbers and other in numbers]
    ends = [(one, other) for one, other in ends if one != other]
    out: list[list[int]] = [[] for _ in numbers]
    is_touched = [False] * len(numbers)
    for edge, (source, target) in enumerate(ends):
        out[source].append(edge)
        is_touched[source] = is_touched[target] = True
    sources, targets = [source for source, _ in ends], [target for _, target in ends]
    component = components(Graph([*numbers], numbers, sources, targets, out, []))
    members: list[list[int]] = [[] for _ in range(max(component, default=-1) + 1)]
    for number, one in enumerate(component):
        members[one].append(number)
    # Components are numbered as they are left for good, so what one leads to has a smaller number than itself.
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
