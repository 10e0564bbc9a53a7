"""Generate theories of any size for benchmarks and tests: layered, acyclic, and deterministic for a seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from groundplan.session import Session

BATCH = 1_000  # the maximum number of operations in one call

_PREFIXES = {"GOAL": "G", "OUTCOME": "OC", "OUTPUT": "OP", "ACTIVITY": "AC"}
_LEVELS = tuple(_PREFIXES)
_NODES_OF_A_GOAL = 100
_EDGES_OF_AN_ASSUMPTION = 5
_CONFIDENCES = ("high", "medium", "low")
_RISKS: tuple[dict[str, Any], ...] = (
    {"risk_level": "LOW"},
    {"risk_level": "MEDIUM", "owner": "ben"},
    {"risk_level": "HIGH", "owner": "ada", "review_by": "2030-06-30"},
    {},
)

_VERBS = ("Train", "Equip", "Visit", "Support", "Survey", "Rebuild", "Connect", "Advise")
_GROUPS = ("farmers", "clinics", "schools", "councils", "nurses", "markets", "cooperatives", "villages")
_PLACES = ("in the north", "along the river", "on the plateau", "in the old town", "at the border", "on the coast")

Ops = list[dict[str, Any]]


def generate_theory(nodes: int, edges: int, indicators: int, seed: int) -> list[Ops]:
    """Return batches for `purpose.edit` that fill the first draft of a project.

    Keys are counted per node type, so the key of each node is known in advance. It is also the ref of the node, so that
    a batch can refer to nodes of other batches.
    """
    random = Random(seed)  # noqa: S311 - not used for secrets
    layers = _assign_keys(nodes)
    between = _choose_edges(layers, edges, random)
    operations = [
        *_generate_nodes(layers, random),
        *_generate_edges(between),
        *_generate_assumptions(between),
        *_generate_indicators(layers, indicators, random),
    ]
    return [operations[start : start + BATCH] for start in range(0, len(operations), BATCH)]


def fill_draft(session: Session, project: str, batches: list[Ops]) -> None:
    """Write a theory into a new draft of a project."""
    session.call("purpose.draft", project=project)
    for operations in batches:
        session.call("purpose.edit", project=project, operations=operations)


def _assign_keys(nodes: int) -> dict[str, list[str]]:
    """Return the keys of each node type: few goals, mostly activities."""
    if nodes < len(_LEVELS):
        raise ValueError(f"nodes must be at least {len(_LEVELS)}, one of each type")
    goals = max(1, nodes // _NODES_OF_A_GOAL)
    outcomes, outputs = max(1, nodes // 6), max(1, nodes * 3 // 10)
    counts = (goals, outcomes, outputs, nodes - goals - outcomes - outputs)
    return {
        node_type: [f"{_PREFIXES[node_type]}{number}" for number in range(1, count + 1)]
        for node_type, count in zip(_LEVELS, counts, strict=True)
    }


def _choose_edges(layers: dict[str, list[str]], edges: int, random: Random) -> list[tuple[str, str]]:
    """Return the (source, target) pairs of the edges.

    Every node gets one edge to the level above, so that each reaches a goal. The remaining edges go up one level, or to
    an earlier node of the same level.
    """
    found: dict[tuple[str, str], None] = {}
    above = layers[_LEVELS[0]]
    choices: list[tuple[list[str], int, list[str]]] = []  # keys of a level, an index in it, keys of the level above
    for level in _LEVELS[1:]:
        keys = layers[level]
        for index, key in enumerate(keys):
            found[key, random.choice(above)] = None
            choices.append((keys, index, above))
        above = keys
    # Above half of the possible edges, the random search for an unused one takes too long.
    most = max(len(found), sum(index + len(higher) for _, index, higher in choices) // 2)
    if not len(found) <= edges <= most:
        raise ValueError(f"edges must be {len(found)} to {most} for this number of nodes, not {edges}")
    while len(found) < edges:
        keys, index, higher = random.choice(choices)
        pick = random.randrange(index + len(higher))
        found[keys[index], keys[pick] if pick < index else higher[pick - index]] = None
    return list(found)


def _generate_nodes(layers: dict[str, list[str]], random: Random) -> Iterator[dict[str, Any]]:
    for node_type, keys in layers.items():
        for key in keys:
            title = f"{random.choice(_VERBS)} {random.choice(_GROUPS)} {random.choice(_PLACES)}, {key}"
            yield {
                "op": "add_node",
                "ref": key,
                "node_type": node_type,
                "title": title,
                "description": f"{title}: what was agreed with the people there, and what it takes.",
                "owner": random.choice(("ada", "ben", "cleo")),
            }


def _generate_edges(between: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for number, (source, target) in enumerate(between):
        yield {
            "op": "add_edge",
            "source": source,
            "target": target,
            "mechanism": f"Without {source} there would be no {target}",
            "confidence": _CONFIDENCES[number % len(_CONFIDENCES)],
        }


def _generate_assumptions(between: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Yield an assumption for every fifth edge, alternately on the edge and on its target node."""
    for number, (source, target) in enumerate(between[::_EDGES_OF_AN_ASSUMPTION]):
        subject = {"node": target} if number % 2 else {"source": source, "target": target}
        text = f"People around {target} want it as much as we think"
        yield {"op": "add_assumption", **subject, "assumption_text": text, **_RISKS[number % len(_RISKS)]}


def _generate_indicators(layers: dict[str, list[str]], count: int, random: Random) -> Iterator[dict[str, Any]]:
    """Yield indicators for goals first, then for lower levels, starting over if there are more than nodes."""
    keys = [key for level in _LEVELS for key in layers[level]]
    for number in range(count):
        key = keys[number % len(keys)]
        yield {
            "op": "add_indicator",
            "node": key,
            "name": f"Share of {random.choice(_GROUPS)} that {key} has reached",
            "unit": "%",
            "direction": "increase",
            "baseline": number % 40,
            "baseline_verified": True,
            "target": 60 + number % 40,
            "method": "Survey",
            "frequency": "yearly",
            "owner": "cleo",
        }
