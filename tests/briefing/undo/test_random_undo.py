"""After any change of the work graph that can be undone, undo returns the graph that was there before."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from tests.engines import Engine
from tests.proof import scaled

STEPS = scaled(40, 2_000)
NODES = 8
COLUMNS = (
    "n, parent_n, id, summary, resolved, outcome, state, context_links, depth, priority, open_children, open_deps, "
    "blocked_above, is_ready, is_blocked, claimed_by, claimed_at, claimed_until"
)


def dump(engine: Engine) -> Any:
    """Return all nodes, edges, merged words and counts, without revisions, times, evidence and numbers of claims."""
    nodes = engine.as_owner(f"SELECT {COLUMNS} FROM work_nodes ORDER BY n")
    properties = [json.loads(text) for (text,) in engine.as_owner("SELECT properties FROM work_nodes ORDER BY n")]
    edges = engine.as_owner("SELECT from_n, type, to_n FROM work_edges ORDER BY 1, 2, 3")
    edges += engine.as_owner("SELECT node_n, id, summary FROM work_merged_texts ORDER BY 1, 2")
    return nodes, properties, edges, engine.as_owner("SELECT total, resolved, blocked, actionable FROM work_projects")


def choose_change(chance: random.Random, engine: Engine) -> tuple[str, dict[str, Any]]:
    """Return a random change of the graph."""
    one, other = chance.sample([node_id for (node_id,) in engine.as_owner("SELECT id FROM work_nodes ORDER BY n")], 2)
    update: dict[str, Any] = {"node_id": one}
    update |= chance.choice(
        [
            {"summary": f"s{chance.random()}"},
            {"state": chance.choice([None, 1, "x", {"a": 1}])},
            {"properties": {chance.choice("ab"): chance.choice([None, 1, "x"]), "priority": chance.randint(0, 3)}},
            {"add_context_links": [chance.choice("abc")], "remove_context_links": [chance.choice("abc")]},
            {"resolved": True},
            {"resolved": False},
            {"release": True},
            {"hold": True},
        ]
    )
    edge = {"from": one, "to": other, "type": chance.choice(["depends_on", "relates_to"])}
    changes: list[tuple[str, dict[str, Any]]] = [
        ("work.update", {"updates": [update]}),
        ("work.update", {"updates": [update, {"node_id": other, "resolved": chance.random() < 0.7}]}),
        ("work.connect", {"edges": [{**edge, "remove": chance.random() < 0.4}]}),
        ("work.restructure", {"operations": [{"op": "move", "node_id": one, "new_parent": other}]}),
        ("work.restructure", {"operations": [{"op": "drop", "node_id": one, "reason": "r"}]}),
        ("work.restructure", {"operations": [{"op": "merge", "source": one, "target": other}]}),
        (
            "work.plan",
            {"project": "atlas", "nodes": [{"ref": "x", "summary": "x", "parent_ref": one, "depends_on": [other]}]},
        ),
        ("work.claim", {"project": "atlas", "claim": True}),
    ]
    return chance.choice(changes)


@pytest.mark.parametrize("resolves_parents", [False, True])
def test_undo_returns_the_graph_that_was_there_before(engine: Engine, resolves_parents: bool) -> None:
    chance = random.Random(f"undo {resolves_parents}")  # noqa: S311 - chance, not secrets
    ada = engine.session(local_actor("ada", kind=ActorKind.PERSON))
    ada.call("work.open", project="atlas")
    ada.call("work.open", project="atlas", policies={"auto_resolve_parents": resolves_parents})
    nodes = [{"ref": f"n{i}", "summary": f"n{i}", **({"parent_ref": f"n{i // 3}"} if i else {})} for i in range(NODES)]
    ada.call("work.plan", project="atlas", nodes=nodes)
    undone = 0
    before = dump(engine)
    for _ in range(STEPS):
        operation, arguments = choose_change(chance, engine)
        try:
            ada.call(operation, **arguments)
        except GroundplanError:
            continue
        if dump(engine) == before:
            continue  # nothing changed
        ada.call("briefing.undo", project="atlas")
        assert dump(engine) == before, (operation, arguments)
        undone += 1
        if chance.random() < 0.5:
            ada.call(operation, **arguments)  # so that the graph changes from step to step
            before = dump(engine)
    assert undone > STEPS // 4


def test_undos_walk_back_through_the_graphs_and_redos_forth(engine: Engine) -> None:
    chance = random.Random("stack")  # noqa: S311 - chance, not secrets
    ada = engine.session(local_actor("ada", kind=ActorKind.PERSON))
    ada.call("work.open", project="atlas")
    nodes = [{"ref": f"n{i}", "summary": f"n{i}", **({"parent_ref": f"n{i // 3}"} if i else {})} for i in range(NODES)]
    ada.call("work.plan", project="atlas", nodes=nodes)
    walked = 0
    for _ in range(STEPS // 5):
        graphs = [dump(engine)]
        while len(graphs) < 6:
            operation, arguments = choose_change(chance, engine)
            try:
                ada.call(operation, **arguments)
            except GroundplanError:
                continue
            if (after := dump(engine)) != graphs[-1]:
                graphs.append(after)
        for graph in reversed(graphs[:-1]):
            while dump(engine) != graph:
                ada.call("briefing.undo", project="atlas")
            walked += 1
        for graph in graphs[1:]:
            while dump(engine) != graph:
                ada.call("briefing.undo", project="atlas", redo=True)
            walked += 1
    assert walked == STEPS // 5 * 10
