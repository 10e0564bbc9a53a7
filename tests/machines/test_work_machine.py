"""After every step of any run, on either store, the work graph equals the oracle's.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

import json
from collections import Counter
from functools import partial
from typing import Any

import pytest
from hypothesis.stateful import invariant

from tests.engines import Engine
from tests.machines.budget import BoundedRun, answer_invariant
from tests.machines.work_driver import AGENTS, WorkDriver, run_machine
from tests.machines.work_oracle import NOTE, ROOT, Evidence, Node
from tests.machines.work_rows import NodeRow

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 180
LOOKED_UP = ("git", "commit", "file")  # types of evidence that a repository can have


class WorkMachine(WorkDriver):
    """Compares all stored rows and answers with the oracle after each step."""

    @invariant()
    def every_node_is_stored_as_it_should_be(self) -> None:
        assert set(self.stored.nodes) == set(self.work.nodes)
        for n, node in self.work.nodes.items():
            differences = _differences(self.stored.nodes[n], self.row(node))
            assert not differences, f"node {n}: {differences}"

    @invariant()
    def everything_beside_the_nodes_is_stored_as_it_should_be(self) -> None:
        counts = self.work.counts()
        assert self.stored.edges == self.work.edges
        assert self.stored.evidence == {
            n: [(*one[:3], self.clock.stamp(one.at)) for one in node.evidence]
            for n, node in self.work.nodes.items()
            if node.evidence
        }
        assert self.stored.counts == (
            self.work.last_n,
            counts.total,
            counts.resolved,
            counts.blocked,
            counts.actionable,
            counts.dropped,
        )
        assert self.stored.merged_texts == {
            n: sorted((self.ids[one.n], one.summary, one.description) for one in node.merged)
            for n, node in self.work.nodes.items()
            if node.merged
        }
        assert self.stored.merged == {self.ids[n]: self.ids[heir] for n, heir in self.work.heirs.items()}

    @invariant()
    def in_an_ordered_project_keys_grow_along_every_wait(self) -> None:
        keys = self.stored.order_keys
        is_open = {n for n, node in self.work.nodes.items() if not node.resolved}
        for n in is_open if keys else ():
            awaited = {*self.work.children(n), *self.work.waits_for(n)} & is_open
            assert [other for other in awaited if not keys[other] < keys[n]] == []

    @invariant()
    def every_change_of_a_node_is_in_its_history(self) -> None:
        recorded: dict[str, Counter[str]] = {}
        for event in self.stored.events:
            slice_, _, action = event.op.partition(".")
            if slice_ == "work":
                recorded.setdefault(event.subject, Counter())[action] += 1
        everybody = self.work.all_nodes()
        assert recorded == {self.ids[n]: Counter(node.actions) for n, node in everybody.items()}

    @answer_invariant()
    def the_history_of_a_changed_node_is_shown(self) -> None:
        everybody = self.work.all_nodes()
        for n in self.touched:
            shown = self.call("cleo", "work.history", node_id=self.ids[n], limit=100)["events"]
            assert Counter(event["action"] for event in shown) == Counter(everybody[n].actions)
            moments = [event["timestamp"] for event in shown]
            assert moments[0] == self.clock.stamp(everybody[n].updated_at)

    @answer_invariant()
    def the_counts_of_open_are_right(self) -> None:
        opened = self.call("cleo", "work.open", project=self.project)
        assert opened["summary"] == self.work.counts()._asdict()
        assert opened["root"] == self.shown(ROOT)
        defaults = type(self.work.policies)()
        assert opened.get("policies", {}) == {
            name: value for name, value in vars(self.work.policies).items() if value != getattr(defaults, name)
        }

    @answer_invariant()
    def queries_find_who_is_ready_and_who_is_blocked_and_rank_everybody(self) -> None:
        ready, blocked = self.work.actionable(), self.work.blocked()
        ranked = sorted(self.work.nodes, key=lambda n: (n not in ready, self.work.rank(n)))
        assert self.found() == [self.ids[n] for n in ranked]
        assert self.found(is_actionable=True) == [self.ids[n] for n in ranked if n in ready]
        assert self.found(is_blocked=True) == [self.ids[n] for n in ranked if n in blocked]

    @answer_invariant()
    def everybody_is_offered_what_they_may_take_best_first(self) -> None:
        for agent in AGENTS:
            nodes = self.call(agent, "work.next", project=self.project, count=50)["nodes"]
            expected = self.work.offered(agent, self.now)
            assert [one["node"]["id"] for one in nodes] == [self.ids[n] for n in expected]
            if agent == "ada":
                assert [_in_order(one) for one in nodes] == [_in_order(self.offer(n)) for n in expected]

    @answer_invariant()
    def the_context_of_a_changed_node_is_right(self) -> None:
        for n in sorted(self.touched & set(self.work.nodes))[:2]:
            shown = self.call("ben", "work.context", node_id=self.ids[n])
            assert shown["node"] == self.shown(n)
            assert [one["id"] for one in shown["ancestors"]] == [
                self.ids[above] for above in reversed(self.work.ancestors(n))
            ]
            assert [one["id"] for one in shown["children"].get("children", ())] == [
                self.ids[child] for child in sorted(self.work.children(n))
            ]
            assert {one["node"]["id"]: one["satisfied"] for one in shown["depends_on"]} == {
                self.ids[target]: self.work.nodes[target].resolved for target in self.work.waits_for(n)
            }
            assert {one["node"]["id"] for one in shown["depended_by"]} == {
                self.ids[other] for other in self.work.nodes if n in self.work.waits_for(other)
            }

    # --- The oracle's facts as rows and answers ---

    def found(self, **only: Any) -> list[str]:
        answer = self.call("ben", "work.query", project=self.project, filter=only, limit=100)
        assert answer["total"] == len(answer["nodes"])
        return [node["id"] for node in answer["nodes"]]

    def row(self, node: Node) -> NodeRow:
        work, stamp = self.work, self.clock.stamp
        return NodeRow(
            n=node.n,
            id=self.ids[node.n],
            parent_n=node.parent,
            kind=node.kind,
            rev=node.rev,
            summary=node.summary,
            resolved=node.resolved,
            outcome=node.outcome,
            state=node.state,
            properties=dict(node.properties),
            context_links=list(node.links),
            created_at=stamp(node.created_at),
            created_by=node.created_by,
            updated_at=stamp(node.updated_at),
            priority=node.priority,
            depth=work.depth(node.n),
            open_children=work.open_children(node.n),
            open_deps=work.open_deps(node.n),
            blocked_above=work.blocked_above(node.n),
            claimed_by=node.claim.agent if node.claim else None,
            claimed_at=stamp(node.claim.at) if node.claim else None,
            claimed_until=stamp(node.claim.until) if node.claim and node.claim.until is not None else None,
            claim_number=node.fence,
            is_ready=work.is_actionable(node.n),
            is_blocked=work.is_blocked(node.n),
        )

    def shown(self, n: int) -> dict[str, Any]:
        """Return a node as callers see it."""
        node, stamp = self.work.nodes[n], self.clock.stamp
        properties = dict(node.properties)
        if node.claim and node.is_claimed(self.now):
            properties |= {"_claimed_by": node.claim.agent, "_claimed_at": stamp(node.claim.at)}
            properties |= {"_held": True} if node.claim.until is None else {}
        if node.held is not None and not node.resolved:
            properties["_hold"] = node.held
        told: dict[str, Any] = {
            "id": self.ids[n],
            "rev": node.rev,
            "summary": node.summary,
            "resolved": node.resolved,
            **self.outcome(node),
            "properties": properties,
            "context_links": list(node.links),
            "evidence": [self.evidence(one) for one in node.evidence],
            "created_at": stamp(node.created_at),
            "updated_at": stamp(node.updated_at),
            "created_by": node.created_by,
        }
        told |= {"parent": self.ids[node.parent]} if node.parent is not None else {}
        told |= {"state": node.state} if node.state is not None else {}
        told |= {"merged": self.merged(node)} if node.merged else {}
        return told

    def outcome(self, node: Node) -> dict[str, str]:
        """Return the outcome of a resolved node."""
        return {"outcome": node.outcome or "done"} if node.resolved else {}

    def offer(self, n: int) -> dict[str, Any]:
        """Return a node as offered: with its path, its own and inherited links, and its evidence."""
        nodes, way = self.work.nodes, self.work.ancestors(n)[::-1]
        done = [target for target in self.work.waits_for(n) if nodes[target].resolved]
        return {
            "node": self.shown(n),
            "ancestors": self.mentions(way),
            "context_links": {
                "self": list(nodes[n].links),
                "inherited": [
                    {"node_id": self.ids[above], "links": list(nodes[above].links)}
                    for above in way
                    if nodes[above].links
                ],
            },
            "resolved_deps": [
                one
                | self.outcome(nodes[target])
                | {"evidence": [self.evidence(shown) for shown in nodes[target].evidence]}
                for target, one in zip(done, self.mentions(done), strict=True)
            ],
        }

    def evidence(self, one: Evidence) -> dict[str, Any]:
        checked = {"checked": "not_checked"} if one.type in LOOKED_UP else {}  # no repository is known here
        undone = {"undone": True} if self.log.is_undone(one) else {}
        event = {"event": f"{one.rev}.0"} if one.type == NOTE else {}
        stamp = self.clock.stamp(one.at)
        return {"type": one.type, "ref": one.ref, "agent": one.agent, "timestamp": stamp} | checked | undone | event

    def merged(self, node: Node) -> list[dict[str, str]]:
        """Return the last of what was merged into a node, in order; of one call, by id."""
        at = {event.subject: event.rev for event in self.stored.events if event.op == "work.merged"}
        texts = sorted((at[self.ids[one.n]], self.ids[one.n], one) for one in node.merged)
        return [
            {"id": node_id, "summary": one.summary}
            | ({} if one.description is None else {"description": one.description})
            for _, node_id, one in texts
        ]


def _differences(found: NodeRow, expected: NodeRow) -> list[str]:
    """Return the fields in which two rows differ in JSON, where true is not 1."""
    if found == expected and json.dumps([found.state, found.properties]) == json.dumps(
        [expected.state, expected.properties]
    ):
        return []
    texts = ([json.dumps(value, sort_keys=True) for value in row] for row in (found, expected))
    return [
        f"{name}: {one}, not {other}" for name, one, other in zip(NodeRow._fields, *texts, strict=True) if one != other
    ]


def _in_order(offer: dict[str, Any]) -> dict[str, Any]:
    """Return the offer with its evidence sorted."""
    return offer | {"resolved_deps": sorted(offer["resolved_deps"], key=lambda done: str(done["id"]))}


def test_after_any_calls_the_work_graph_is_what_its_definitions_say(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("work", partial(run_machine, WorkMachine, engine), STEPS)
