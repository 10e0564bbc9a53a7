"""Every change of a plan is an event: the events alone rebuild all stored rows."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import Any

import pytest
from hypothesis.stateful import invariant

from tests.engines import Engine
from tests.machines.budget import BoundedRun
from tests.machines.test_work_machine import LOOKED_UP
from tests.machines.work_driver import WorkDriver, run_machine
from tests.machines.work_replay import Replay
from tests.machines.work_rows import Stored

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 90


class ReplayMachine(WorkDriver):
    """Rebuilds the project from its events after each step."""

    @invariant()
    def the_events_rebuild_the_state(self) -> None:
        replay = Replay(self.stored.events)
        assert {
            node_id: json.dumps(asdict(node), sort_keys=True) for node_id, node in replay.nodes.items()
        } == stored_facts(self.stored)
        names = {n: node.id for n, node in self.stored.nodes.items()}
        assert replay.edges == {(names[source], type_, names[target]) for source, type_, target in self.stored.edges}
        assert replay.merged == self.stored.merged


def stored_facts(stored: Stored) -> dict[str, str]:
    """Return the same facts from the rows, as text, where true is not 1."""

    def facts(n: int) -> dict[str, Any]:
        row = stored.nodes[n]
        evidence = [
            {"type": type_, "ref": ref, "agent": agent, "timestamp": at}
            | ({"checked": "not_checked"} if type_ in LOOKED_UP else {})
            for type_, ref, agent, at in stored.evidence.get(n, ())
        ]
        return {
            "summary": row.summary,
            "parent": None if row.parent_n is None else stored.nodes[row.parent_n].id,
            "resolved": row.resolved,
            "outcome": row.outcome,
            "state": row.state,
            "properties": row.properties,
            "context_links": row.context_links,
            "evidence": evidence,
            "merged": stored.merged_texts.get(n, []),
            "claimed_by": row.claimed_by,
            "claimed_at": row.claimed_at,
            "claimed_until": row.claimed_until,
            "claim_number": row.claim_number,
            "rev": row.rev,
            "created_at": row.created_at,
            "created_by": row.created_by,
            "updated_at": row.updated_at,
        }

    return {row.id: json.dumps(facts(n), sort_keys=True) for n, row in stored.nodes.items()}


def test_the_events_of_any_run_rebuild_the_state(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("work replay", partial(run_machine, ReplayMachine, engine), STEPS)
