"""After any edit of a draft of the purpose, undo returns the rows that were there before."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import scaled

STEPS = scaled(30, 2_000)
OPERATIONS_MAX = 4  # of a batch
TABLES = {
    "toc_nodes": "id, key, node_type, title, description, metadata",
    "toc_edges": "id, source_node_id, target_node_id, edge_type, mechanism, confidence",
    "toc_assumptions": "id, key, node_id, assumption_text, risk_level",
    "toc_edge_assumptions": "id, key, edge_id, assumption_text, risk_level",
    "toc_indicators": "id, key, node_id, name, target, unit",
}
LEVELS = ("ACTIVITY", "OUTPUT", "OUTCOME", "GOAL")


def dump(engine: Engine) -> Any:
    """Return all rows of the draft."""
    return {table: engine.as_owner(f"SELECT {columns} FROM {table} ORDER BY id") for table, columns in TABLES.items()}


def choose_operation(chance: random.Random, opened: Any) -> dict[str, Any]:
    """Return a random operation on the items of a draft; some are refused."""
    nodes, edges = [node.key for node in opened.nodes], [(edge.source, edge.target) for edge in opened.edges]
    assumptions = [row.key for part in (opened.nodes, opened.edges) for item in part for row in item.assumptions]
    indicators = [indicator.key for indicator in opened.indicators]
    node, (source, target) = chance.choice(nodes), chance.choice(edges or [(nodes[0], nodes[-1])])
    operations: list[dict[str, Any]] = [
        {
            "op": "add_node",
            "node_type": chance.choice(LEVELS),
            "title": f"t{chance.random()}",
            "metadata": {"a": [1.5]},
        },
        {"op": "update_node", "node": node, "title": f"t{chance.random()}", "metadata": {"a": None, "b": True}},
        {"op": "remove_node", "node": node},
        {"op": "add_edge", "source": chance.choice(nodes), "target": node, "mechanism": "m"},
        {"op": "update_edge", "source": source, "target": target, "confidence": chance.choice(["low", None])},
        {"op": "remove_edge", "source": source, "target": target},
        {"op": "add_assumption", "node": node, "assumption_text": "a", "risk_level": "HIGH"},
        {"op": "add_assumption", "source": source, "target": target, "assumption_text": "a"},
        {"op": "remove_assumption", "assumption": chance.choice(assumptions or ["AS1"])},
        {"op": "add_indicator", "node": node, "name": "i", "target": 2.5},
        {"op": "remove_indicator", "indicator": chance.choice(indicators or ["IN1"])},
    ]
    return chance.choice(operations)


def open_draft(session: Session) -> Any:
    return session.call("purpose.open", project="atlas", detail="full")


def test_undo_returns_the_draft_that_was_there_before(engine: Engine) -> None:
    chance = random.Random("undo of the purpose")  # noqa: S311 - chance, not secrets
    ada = engine.session(local_actor("ada", kind=ActorKind.PERSON))
    ada.call("work.open", project="atlas")
    ada.call("purpose.draft", project="atlas")
    nodes = [
        {"op": "add_node", "node_type": level, "title": level, "ref": f"{level}{n}"} for level in LEVELS for n in "12"
    ]
    edges = [
        {"op": "add_edge", "source": f"{cause}{chance.choice('12')}", "target": f"{effect}{n}"}
        for cause, effect in pairwise(LEVELS)
        for n in "12"
    ]
    ada.call("purpose.edit", project="atlas", operations=nodes + edges)
    undone = 0
    for _ in range(STEPS):
        before, opened = dump(engine), open_draft(ada)
        if not opened.nodes:
            break
        batch = [choose_operation(chance, opened) for _ in range(chance.randint(1, OPERATIONS_MAX))]
        try:
            ada.call("purpose.edit", project="atlas", operations=batch)
        except GroundplanError:
            continue
        after = dump(engine)
        if after == before:
            continue
        ada.call("briefing.undo", project="atlas")
        assert dump(engine) == before, batch
        ada.call("purpose.edit", project="atlas", operations=batch)  # so that the draft changes from step to step
        undone += 1
    assert undone > STEPS // 4
