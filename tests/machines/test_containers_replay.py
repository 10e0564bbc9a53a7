"""Every change in either dialect is an event: the events alone rebuild all stored rows."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import pytest
from hypothesis.stateful import invariant

from tests.engines import Engine
from tests.machines.budget import BoundedRun
from tests.machines.containers_driver import ContainersDriver, run_containers
from tests.machines.containers_oracle import CLOSED, NEW, RELATES_TO, USUAL, WILL_NOT_IMPLEMENT
from tests.machines.test_work_replay import stored_facts
from tests.machines.work_replay import RebuiltNode, Replay
from tests.machines.work_rows import EventRow

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 90

KEPT = ("kind", "held_reason", "blocked_reason")


@dataclass
class RebuiltContainer(RebuiltNode):
    """One rebuilt node in both dialects."""

    kind: str | None = None
    status: str | None = None
    held_reason: str | None = None
    blocked_reason: str | None = None
    tags: list[str] = field(default_factory=list)


class ContainersReplay(Replay):
    """The rules for both dialects: a resolved node has no status, and the named actor is the claimer."""

    rebuilt = RebuiltContainer
    nodes: dict[str, RebuiltContainer]  # type: ignore[assignment]  # all are made by this class

    def __init__(self, events: list[EventRow]) -> None:
        self.deleted: set[str] = set()
        self.pipelines: Any = {kind: list(steps) for kind, steps in USUAL.items()}
        super().__init__(events)

    def _change(self, action: str, event: EventRow, name: str, before: Any, after: Any) -> None:
        node = self.nodes[event.subject]
        match name:
            case "status":  # as callers see it
                node.status = None if after in (NEW, CLOSED, WILL_NOT_IMPLEMENT) else after
            case "tags":
                assert node.tags == (before or [])
                node.tags = after
            case "pipelines":
                assert before == self.pipelines
                self.pipelines = after
            case "deleted":
                self._delete(event.subject)
            case "relates_to" if isinstance(after, list):
                self._relate(event.subject, before or [], after)
            case _ if name in KEPT:
                assert getattr(node, name) == before
                setattr(node, name, after)
            case _:
                super()._change(action, event, name, before, after)
        if name == "claimed_by" and after is not None and action != "claimed":
            times = [change for change in event.changes if change["field"] == "claimed_at"]
            comes_back = any(change["before"] is None for change in times)  # by an undo, with its number
            node.claim_number += not comes_back
            if not times:
                node.claimed_at = event.at

    def _delete(self, subject: str) -> None:
        self.deleted.add(subject)
        del self.nodes[subject]
        self.edges = {edge for edge in self.edges if subject not in (edge[0], edge[2])}

    def _relate(self, subject: str, before: list[str], after: list[str]) -> None:
        for other in set(before) - set(after):  # or it began at the other end, which has its own event
            self.edges.discard((subject, RELATES_TO, other))
        self.edges |= {(subject, RELATES_TO, other) for other in set(after) - set(before)}


class ContainersReplayMachine(ContainersDriver):
    """Rebuilds the project from its events after each step."""

    @invariant()
    def the_events_rebuild_the_state(self) -> None:
        replay, stored = ContainersReplay(self.stored.events), self.stored
        assert {node_id: json.dumps(asdict(node), sort_keys=True) for node_id, node in replay.nodes.items()} == {
            node_id: json.dumps(json.loads(facts) | self.kept(node_id), sort_keys=True)
            for node_id, facts in stored_facts(stored).items()
        }
        names = {n: node.id for n, node in stored.nodes.items()}
        assert replay.edges == {(names[source], type_, names[target]) for source, type_, target in stored.edges}
        assert (replay.merged, frozenset(replay.deleted)) == (stored.merged, stored.deleted)
        assert stored.pipelines in (None, replay.pipelines)

    def kept(self, node_id: str) -> dict[str, Any]:
        (n,) = (n for n, node in self.stored.nodes.items() if node.id == node_id)
        row = self.stored.containers[n]
        return {
            "kind": self.stored.nodes[n].kind if n > 1 else None,  # the root is always one
            "status": row.status,
            "held_reason": row.held_reason,
            "blocked_reason": row.blocked_reason,
            "tags": sorted(tag for of, tag in self.stored.tags if of == n),
        }


def test_the_events_of_any_run_in_two_dialects_rebuild_the_state(engine: Engine, run_to_bound: BoundedRun) -> None:
    run = partial(run_containers, ContainersReplayMachine, engine)
    run_to_bound("containers replay", run, STEPS, in_a_run=45)
