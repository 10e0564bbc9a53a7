"""A process that writes work and knowledge until it is killed, and notes what was acknowledged.

In the sabotaged mode it notes an answer before the write is sent, as if a server acknowledged it before the commit.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import groundplan
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from tests.campaigns.ledger import Ledger

PROJECT = "atlas"
SABOTAGED = "sabotaged"


def main(arguments: Sequence[str]) -> int:
    """Write for ever: `DB LEDGER NAME SEED [sabotaged]`."""
    db, path, name, seed, *mode = arguments
    with groundplan.open(db, actor=name) as plan:
        write_forever(plan, Ledger(Path(path)), f"{name}-{seed}", random.Random(seed), is_sabotaged=SABOTAGED in mode)  # noqa: S311 - no secret
    return 0


def write_forever(
    plan: groundplan.Session, ledger: Ledger, name: str, chance: random.Random, *, is_sabotaged: bool
) -> None:
    """Make one write after the other."""
    open_nodes: list[str] = []
    for number in count():
        op_id = f"{name}-{number}"
        operation, arguments = choose_write(chance, open_nodes, op_id)
        ledger.begin(op_id, operation, arguments)
        if is_sabotaged:
            ledger.acknowledge(op_id, "{}")
        try:
            answer = plan.call(operation, **arguments, op_id=op_id)
        except GroundplanError:
            open_nodes.clear()  # a node of a write that was not acknowledged; the next plan brings others
            continue
        if not is_sabotaged:
            ledger.acknowledge(op_id, encode(answer).decode())
        if operation == "work.plan":
            open_nodes += [created.id for created in answer.created]


def choose_write(chance: random.Random, open_nodes: list[str], label: str) -> tuple[str, dict[str, Any]]:
    """Return the next write: plan, resolve, or knowledge about files."""
    if not open_nodes or chance.random() < 0.4:
        nodes = [{"ref": "a", "summary": f"{label} a"}, {"ref": "b", "summary": f"{label} b", "depends_on": ["a"]}]
        return "work.plan", {"project": PROJECT, "nodes": nodes}
    if chance.random() < 0.2:
        atom = {"name": label, "paths": [f"src/{label}/**"], "knowledge": "Written by a campaign."}
        return "knowledge.create", {
            "projectId": PROJECT,
            "entityType": "atom",
            "createdByTaskId": chance.choice(open_nodes),
            **atom,
        }
    node = open_nodes.pop(0)
    return "work.update", {
        "updates": [{"node_id": node, "resolved": True, "add_evidence": [{"type": "test", "ref": label}]}]
    }
