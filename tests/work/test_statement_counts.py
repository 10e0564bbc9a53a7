"""How many statements the calls of an agent run: each takes microseconds on a file, and a round trip on a server."""

from __future__ import annotations

import pytest

from tests.engines import Engine
from tests.statements import record_statements

# The kind of the actor, which a server tells at the beginning; the project; the best nodes; what is around the one that
# is offered.
NEXT_MAX = 4
# The project and its lock, the best nodes, the claim, what is around the node, the event; on a server the project once
# more, because others can write while a write waits for the lock.
CLAIM_MAX = 7
# The project of the node, its permission, its lock and, on a server, its permission again; the node, its evidence, the
# states around it, its change, whether links and knowledge are in use, the counts of its parent, of its dependent and
# of the project, what became ready, the event.
RESOLVE_MAX = 15

OUTLINE = [
    {"ref": "a", "summary": "draw"},
    {"ref": "b", "summary": "build", "depends_on": ["a"]},
    {"ref": "c", "summary": "paint"},
]


@pytest.fixture
def ran(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the statements that run, in a project of three tasks."""
    ada = engine.session("ada")
    ada.call("project.create", name="atlas")
    ada.call("work.plan", project="atlas", nodes=OUTLINE)
    return record_statements(monkeypatch)


def test_an_offer_a_claim_and_a_resolve_run_few_statements(engine: Engine, ran: list[str]) -> None:
    ada = engine.session("ada")

    def take_names() -> list[str]:
        names = ran[:]
        ran.clear()
        return names

    ada.call("work.next", project="atlas")
    offered = take_names()
    (offer,) = ada.call("work.claim", project="atlas").nodes
    claimed = take_names()
    evidence = [{"type": "note", "ref": "done"}]
    answer = ada.call("work.update", updates=[{"node_id": offer.node.id, "resolved": True, "add_evidence": evidence}])
    resolved = take_names()

    assert [node.summary for node in answer.newly_actionable] == ["build"]
    assert len(offered) <= NEXT_MAX, offered
    assert len(claimed) <= CLAIM_MAX, claimed
    assert len(resolved) <= RESOLVE_MAX, resolved
