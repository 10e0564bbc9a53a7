"""Theories of any size, to measure and to test with: layered, without cycles, the same for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from groundplan.session import Session

BATCH = 1_000  # operations in one call, which is all that one takes

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

_DONE = ("Train", "Equip", "Visit", "Support", "Survey", "Rebuild", "Connect", "Advise")
_WHOM = ("farmers", "clinics", "schools", "councils", "nurses", "markets", "cooperatives", "villages")
_WHERE = ("in the north", "along the river", "on the plateau", "in the old town", "at the border", "on the coast")

Ops = list[dict[str, Any]]


def large_theory(nodes: int, edges: int, indicators: int, seed: int) -> list[Ops]:
    """Batches for `purpose.edit` that fill an empty draft of a project that never had one.

    The keys that nodes will get are known, because they are counted for each type; they are also their refs, so that
    one batch may speak of the nodes of another as of its own.
    """
    random = Random(seed)  # noqa: S311 - nothing is kept secret with it
    layers = _layers(nodes)
    between = _choose_edges(layers, edges, random)
    operations = [
        *_nodes(layers, random),
        *_edges(between),
        *_assumptions(between),
        *_indicators(layers, indicators, random),
    ]
    return [operations[start : start + BATCH] for start in range(0, len(operations), BATCH)]


def fill_large(session: Session, project: str, batches: list[Ops]) -> None:
    """Write a theory into a new draft of a project."""
    session.call("purpose.draft", project=project)
    for operations in batches:
        session.call("purpose.edit", project=project, operations=operations)


def _layers(nodes: int) -> dict[str, list[str]]:
    """The keys of each type: few goals, most of all activities."""
    if nodes < len(_LEVELS):
        raise ValueError(f"a theory has at least {len(_LEVELS)} nodes, one of each type")
    goals = max(1, nodes // _NODES_OF_A_GOAL)
    outcomes, outputs = max(1, nodes // 6), max(1, nodes * 3 // 10)
    counts = (goals, outcomes, outputs, nodes - goals - outcomes - outputs)
    return {
        node_type: [f"{_PREFIXES[node_type]}{number}" for number in range(1, count + 1)]
        for node_type, count in zip(_LEVELS, counts, strict=True)
    }


def _choose_edges(layers: dict[str, list[str]], edges: int, random: Random) -> list[tuple[str, str]]:
    """The ends of the edges.

    First one from every node to the level above it, so that a goal is reached from everywhere; then as many more as are
    wanted, up one level or to a node of the same level that was there before.
    """
    found: dict[tuple[str, str], None] = {}
    above = layers[_LEVELS[0]]
    choices: list[tuple[list[str], int, list[str]]] = []  # a level, a place in it, and the level above
    for level in _LEVELS[1:]:
        keys = layers[level]
        for place, key in enumerate(keys):
            found[key, random.choice(above)] = None
            choices.append((keys, place, above))
        above = keys
    # Beyond the half of all there can be, one would look for another one too long.
    most = max(len(found), sum(place + len(higher) for _, place, higher in choices) // 2)
    if not len(found) <= edges <= most:
        raise ValueError(f"so many nodes have {len(found)} to {most} edges, not {edges}")
    while len(found) < edges:
        keys, place, higher = random.choice(choices)
        pick = random.randrange(place + len(higher))
        found[keys[place], keys[pick] if pick < place else higher[pick - place]] = None
    return list(found)


def _nodes(layers: dict[str, list[str]], random: Random) -> Iterator[dict[str, Any]]:
    for node_type, keys in layers.items():
        for key in keys:
            title = f"{random.choice(_DONE)} {random.choice(_WHOM)} {random.choice(_WHERE)}, {key}"
            yield {
                "op": "add_node",
                "ref": key,
                "node_type": node_type,
                "title": title,
                "description": f"{title}: what was agreed with the people there, and what it takes.",
                "owner": random.choice(("ada", "ben", "cleo")),
            }


def _edges(between: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for number, (source, target) in enumerate(between):
        yield {
            "op": "add_edge",
            "source": source,
            "target": target,
            "mechanism": f"Without {source} there would be no {target}",
            "confidence": _CONFIDENCES[number % len(_CONFIDENCES)],
        }


def _assumptions(between: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """On every fifth edge, and on the node that it leads to, in turn."""
    for number, (source, target) in enumerate(between[::_EDGES_OF_AN_ASSUMPTION]):
        place = {"node": target} if number % 2 else {"source": source, "target": target}
        said = f"People around {target} want it as much as we think"
        yield {"op": "add_assumption", **place, "assumption_text": said, **_RISKS[number % len(_RISKS)]}


def _indicators(layers: dict[str, list[str]], count: int, random: Random) -> Iterator[dict[str, Any]]:
    """On goals first, then on outcomes and so on; from the top again where there are more indicators than nodes."""
    keys = [key for level in _LEVELS for key in layers[level]]
    for number in range(count):
        key = keys[number % len(keys)]
        yield {
            "op": "add_indicator",
            "node": key,
            "name": f"Share of {random.choice(_WHOM)} that {key} has reached",
            "unit": "%",
            "direction": "increase",
            "baseline": number % 40,
            "baseline_verified": True,
            "target": 60 + number % 40,
            "method": "Survey",
            "frequency": "yearly",
            "owner": "cleo",
        }
