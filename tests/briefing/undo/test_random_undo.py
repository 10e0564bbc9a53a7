"""After any change of the work graph that can be undone, undo returns the graph that was there before."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.session import Session
from tests.engines import Engine
from tests.proof import scaled

STEPS = scaled(60, 2_000)
NODES = 8
IGNORED = {"rev", "updated_at", "evidence", "evidence_total", "properties"}  # evidence stays; claims are no state


def dump(session: Session) -> Any:
    """Return all nodes with their edges, without what an undo leaves."""
    found = session.call("work.query", project="atlas", sort="created", limit=100).nodes
    nodes = {}
    for one in found:
        shown = msgspec.to_builtins(session.call("work.context", node_id=one.id, depth=0))
        node = {name: value for name, value in shown["node"].items() if name not in IGNORED}
        node["properties"] = {key: value for key, value in one.properties.items() if not key.startswith("_")}
        waits = {
            side: sorted(end["node"]["id"] for end in shown.get(side, ())) for side in ("depends_on", "depended_by")
        }
        nodes[one.id] = (node, waits)
    return nodes, session.call("work.open", project="atlas").summary


def choose_change(chance: random.Random, ids: list[str]) -> tuple[str, dict[str, Any]]:
    """Return a random change of the graph."""
    one, other = chance.sample(ids, 2)
    update: dict[str, Any] = {"node_id": one}
    update |= chance.choice(
        [
            {"summary": f"s{chance.random()}"},
            {"state": chance.choice([None, 1, "x", {"a": 1}])},
            {"properties": {chance.choice("ab"): chance.choice([None, 1, "x"]), "priority": chance.randint(0, 3)}},
            {"add_context_links": [chance.choice("abc")], "remove_context_links": [chance.choice("abc")]},
            {"resolved": True},
            {"resolved": False},
        ]
    )
    edge = {"from": one, "to": other, "type": chance.choice(["depends_on", "relates_to"])}
    return chance.choice(
        [
            ("work.update", {"updates": [update]}),
            ("work.update", {"updates": [update, {"node_id": other, "resolved": chance.random() < 0.7}]}),
            ("work.connect", {"edges": [{**edge, "remove": chance.random() < 0.4}]}),
            ("work.restructure", {"operations": [{"op": "move", "node_id": one, "new_parent": other}]}),
            ("work.restructure", {"operations": [{"op": "drop", "node_id": one, "reason": "r"}]}),
            ("work.claim", {"project": "atlas", "claim": True}),
        ]
    )


@pytest.mark.parametrize("resolves_parents", [False, True])
def test_undo_returns_the_graph_that_was_there_before(engine: Engine, resolves_parents: bool) -> None:
    chance = random.Random(f"undo {resolves_parents}")
    ada = engine.session(local_actor("ada", kind=ActorKind.PERSON))
    ada.call("work.open", project="atlas")
    ada.call("work.open", project="atlas", policies={"auto_resolve_parents": resolves_parents})
    nodes = [{"ref": f"n{i}", "summary": f"n{i}", **({"parent_ref": f"n{i // 3}"} if i else {})} for i in range(NODES)]
    ids = [one.id for one in ada.call("work.plan", project="atlas", nodes=nodes).created]
    undone, refused = 0, set()
    before = dump(ada)
    for _ in range(STEPS):
        operation, arguments = choose_change(chance, ids)
        try:
            answer = ada.call(operation, **arguments)
        except GroundplanError:
            continue
        if (after := dump(ada)) == before and operation != "work.claim":
            continue  # nothing changed
        if operation == "work.claim" and not answer.nodes:
            continue
        try:
            ada.call("briefing.undo", project="atlas")
        except GroundplanError as error:
            refused.add(error.code)
            before = after
            continue
        assert dump(ada) == before, (operation, arguments)
        undone += 1
        if chance.random() < 0.5:
            ada.call(operation, **arguments)  # so that the graph changes from step to step
            before = dump(ada)
    assert undone > STEPS // 4
    assert refused <= {"cannot_undo", "cycle_detected"}
