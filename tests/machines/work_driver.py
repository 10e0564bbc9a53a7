"""Everybody at work on one project: every call is told to the product and to the oracle, and must end alike.

A call that the oracle refuses must be refused with one of its codes and leave every row as it was. Any other must give
the oracle's answer, raise the project's revision by one if it changed anything, and add its events behind all others.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from typing import Any, NamedTuple, Protocol, cast

import msgspec
import pytest
from hypothesis import note, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.work_calls import (
    NOWHERE,
    item_as_arguments,
    link_as_arguments,
    often,
    operation_as_arguments,
    planned_as_arguments,
    some_connections,
    some_filter,
    some_items,
    some_node,
    some_operations,
    some_plan,
    some_policies,
    sometimes,
    unfinished,
)
from tests.machines.work_oracle import MS_PER_MINUTE, ROOT, Answer, Refused, Work
from tests.machines.work_rows import Rows

PEOPLE = ("ada", "ben")
AGENTS = (*PEOPLE, "cleo")  # who may not hold a claim without end
GOAL = "ship it"
NODES_MAX = 16  # enough to get entangled in
HOUR = 60 * MS_PER_MINUTE
CLOCK_STEPS = (1, MS_PER_MINUTE // 2, MS_PER_MINUTE, HOUR - 1, HOUR, -HOUR)  # the last: a clock put right

# How often something is done, where it can be.
WEIGHTS = {
    "plan": 8,
    "resolve": 14,
    "reopen": 6,
    "claim": 5,
    "content": 5,
    "connect": 10,
    "move": 6,
    "merge": 6,
    "drop": 3,
    "take": 8,
    "set_policies": 4,
    "send_again": 3,
    "wait": 6,
}
SEEDS = st.integers(0, 2**24 - 1)  # of a wider range hypothesis would draw mostly small numbers


class Hand:
    """A clock that is moved by hand."""

    START = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> datetime:
        return self.START + timedelta(milliseconds=self.now)

    def stamp(self, moment: int) -> str:
        """How a moment of the oracle is written."""
        written = (self.START + timedelta(milliseconds=moment)).isoformat(timespec="milliseconds")
        return written.replace("+00:00", "Z")


class Place(NamedTuple):
    """Where machines run: one database for all their projects."""

    store: Store
    clock: Hand
    rows: Rows
    serial: count[int]


class Sent(NamedTuple):
    """A call with an op_id that was answered."""

    agent: str
    operation: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


class Expect(Protocol):
    """What the oracle makes of a call."""

    def __call__(self, work: Work, *, agent: str, now: int) -> Answer: ...


class WorkDriver(RuleBasedStateMachine):
    """Drives every mutation there is. What must hold after each step is added by who inherits."""

    weights = WEIGHTS
    oracle = Work

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.clock = place.clock
        self.clock.now = 0
        self.rows = place.rows
        self.sessions = {
            agent: Session(
                place.store, local_actor(agent, kind=ActorKind.PERSON if agent in PEOPLE else ActorKind.AGENT)
            )
            for agent in AGENTS
        }
        self.project = f"project {next(place.serial)}"
        root = self.call("ada", "work.open", project=self.project, goal=GOAL)["root"]["id"]
        self.ids = {ROOT: root, NOWHERE: "nowhere"}
        self.work = self.oracle(GOAL, "ada", self.clock.now)
        self.project_id = self.rows.project_id(self.project)
        self.stored = self.rows.of(self.project_id)
        self.touched = {ROOT}  # by the last call
        self.op_ids = count(1)
        self.sent: list[Sent] = []

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.begin_with(self.luck(seed))

    def begin_with(self, luck: Random) -> None:
        """Have something to work on."""
        for _ in range(2):
            self.plan(luck, nodes_max=6)
        self.set_policies(luck, most=5)

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """One of them all. Rules of their own would not do: hypothesis leaves out some of them in each run."""
        luck = self.luck(seed)
        (verb,) = luck.choices(list(self.weights), list(self.weights.values()))
        self.act(verb, luck)

    def act(self, verb: str, luck: Random) -> None:
        """Do something of this sort, or wait where there is nothing to do it with."""
        match verb:
            case "plan" if len(self.work.nodes) < NODES_MAX:
                self.plan(luck)
            case "resolve" | "reopen" | "claim" | "content":
                self.update(luck, verb)
            case "connect":
                self.connect(luck)
            case "move" | "merge" | "drop":
                self.restructure(luck, verb)
            case "take":
                self.take(luck)
            case "set_policies":
                self.set_policies(luck)
            case "send_again" if self.sent:
                self.send_again(luck)
            case _:
                self.wait(luck)

    def luck(self, seed: int) -> Random:
        """What decides about one step. Hypothesis likes to draw a seed again; it shall not say the same again."""
        return Random(f"{seed} at {self.stored.rev} and {self.clock.now}")  # noqa: S311 - chance, not secrets

    # --- What anybody may do ---

    def plan(self, luck: Random, *, nodes_max: int = 4) -> None:
        planned = some_plan(luck, self.work, self.ids, nodes_max=nodes_max)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert [one["ref"] for one in answer["created"]] == [one.ref for one in planned]
            self.ids |= dict(zip(expected.created, (one["id"] for one in answer["created"]), strict=True))

        nodes = [planned_as_arguments(one, self.ids) for one in planned]
        arguments = {"project": self.project, "nodes": nodes}
        self.perform(luck, "work.plan", arguments, lambda work, **by: work.plan(planned, **by), check)

    def update(self, luck: Random, wish: str) -> None:
        author = luck.choice(AGENTS)
        items = some_items(luck, self.work, author, wish)

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.update(items, agent=agent, now=now, is_person=agent in PEOPLE)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["updated"] == [{"node_id": self.ids[n], "rev": rev} for n, rev in expected.updated]

        arguments = {"updates": [item_as_arguments(item, self.ids) for item in items]}
        self.perform(luck, "work.update", arguments, expect, check, agent=author)

    def connect(self, luck: Random) -> None:
        links = some_connections(luck, self.work)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["applied"] == expected.applied
            assert [(one["from"], one["to"], one["reason"]) for one in answer.get("rejected", ())] == [
                (self.ids[link.source], self.ids[link.target], reason) for link, reason in expected.rejected
            ]

        arguments = {"edges": [link_as_arguments(link, self.ids) for link in links]}
        self.perform(luck, "work.connect", arguments, lambda work, **by: work.connect(links, **by), check)

    def restructure(self, luck: Random, verb: str) -> None:
        operations = some_operations(luck, self.work, verb)
        told = [operation_as_arguments(one, self.ids) for one in operations]

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["applied"] == expected.applied
            assert [(one["op"], one["node_id"]) for one in answer["details"]] == [
                (one["op"], one.get("node_id", one.get("source"))) for one in told
            ]

        arguments = {"operations": told}
        self.perform(luck, "work.restructure", arguments, lambda work, **by: work.restructure(operations, **by), check)

    def take(self, luck: Random) -> None:
        def check(answer: dict[str, Any], expected: Answer) -> None:
            taken = [(one["node"]["id"], one["claim"]) for one in answer["nodes"]]
            assert taken == [(self.ids[n], fence) for n, fence in expected.claimed]

        if sometimes(luck):
            n = some_node(luck, self.work, unfinished(self.work))
            named = {"node_id": self.ids[n]}
            self.perform(luck, "work.claim", named, lambda work, **by: work.take_named(n, **by), check)
            return
        count = luck.choice((1, 1, 2, 50))
        scope = some_node(luck, self.work) if sometimes(luck) else None
        only = some_filter(luck)
        arguments: dict[str, Any] = {"project": self.project, "count": count}
        arguments |= {"scope": self.ids[scope]} if scope is not None else {}
        arguments |= {"filter": only} if only else {}

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.take(agent=agent, now=now, count=count, scope=scope, only=only)

        if often(luck):
            self.perform(luck, "work.claim", arguments, expect, check)
        else:
            self.perform(luck, "work.next", arguments | {"claim": True}, expect, check)

    def set_policies(self, luck: Random, *, most: int = 2) -> None:
        policies = some_policies(luck, most=most)

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.set_policies(**policies)

        arguments = {"project": self.project, "policies": policies}
        self.perform(luck, "work.open", arguments, expect)

    def wait(self, luck: Random) -> None:
        """Let time pass, often to the very moment at which a claim ends or the one before it."""
        ends = sorted({node.claim.until or 0 for node in self.work.nodes.values() if node.claim})
        moments = [end - before for end in ends for before in (1, 0)]
        self.clock.now = luck.choice([*(self.clock.now + step for step in CLOCK_STEPS), *moments])
        self.touched = set()

    def send_again(self, luck: Random) -> None:
        """A call that comes a second time has no second effect; another call under its op_id has none at all."""
        sent = luck.choice(self.sent)
        self.touched = set()
        self.told(sent.agent, sent.operation, sent.arguments)
        if sometimes(luck):
            with pytest.raises(GroundplanError) as refused:
                self.call(sent.agent, sent.operation, **self.altered(sent))
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.agent, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_id) == self.stored

    def altered(self, sent: Sent) -> dict[str, Any]:
        """The arguments of another call under the same op_id."""
        return sent.arguments | {"decision": "something else"}

    # --- How it is told and judged ---

    def perform(
        self,
        luck: Random,
        operation: str,
        arguments: dict[str, Any],
        expect: Expect,
        check: Callable[[dict[str, Any], Answer], None] = lambda *_: None,
        *,
        agent: str | None = None,
    ) -> None:
        """Tell a call to the product and to the oracle."""
        self.clock.now += luck.choice((1, 0))
        agent = agent or luck.choice(AGENTS)
        if sometimes(luck):
            arguments |= {"op_id": f"{self.project}, {next(self.op_ids)}"}
        if operation.startswith("work.") and sometimes(luck):  # the dialect that takes one
            arguments |= {"decision": "we talked about it"}
        self.told(agent, operation, arguments)
        tried = self.work.copy()
        expected: Answer | None = None
        refused: frozenset[str] = frozenset()
        try:
            expected = expect(tried, agent=agent, now=self.clock.now)
        except Refused as refusal:
            refused = refusal.codes
        try:
            answer = self.call(agent, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refused)
            return
        assert expected is not None, f"{answer} instead of {' or '.join(refused)}"
        if "op_id" in arguments:
            self.sent.append(Sent(agent, operation, arguments, answer))
        check(answer, expected)
        if operation.startswith("work."):
            self.check_warnings(answer, expected)
        before = self.work.everybody()
        self.touched = {n for n, node in tried.everybody().items() if node is not before.get(n)}
        self.work = tried
        self.check_outcome(answer, expected)
        self.check_events(agent, arguments.get("decision"))

    def check_warnings(self, answer: dict[str, Any], expected: Answer) -> None:
        """Equal warnings are one line, and there are at most five."""

        def name(one: int | str) -> str:
            return one if isinstance(one, str) else self.ids[one]

        subjects: dict[str, list[str]] = {}
        for subject, words, other in expected.warnings:
            subjects.setdefault(words.format(name(other)), []).append(name(subject))
        lines = answer.get("warnings", [])
        assert len(lines) == min(len(subjects), 5)
        for words, (first, *others) in subjects.items() if len(subjects) <= 5 else ():
            start = f"{first} and {len(others)} more: " if others else f"{first}: "
            assert [line for line in lines if line.startswith(start) and words in line], (words, first, lines)

    def check_refusal(self, error: GroundplanError, refused: frozenset[str]) -> None:
        """What is refused is refused for a good reason, and leaves no trace."""
        assert error.code in refused, f"{error.code}: {error.message}"
        assert self.rows.of(self.project_id) == self.stored
        self.touched = set()

    def check_outcome(self, answer: dict[str, Any], expected: Answer) -> None:
        """What every answer tells about the nodes beside those that were meant."""
        assert answer.get("newly_actionable", []) == self.mentions(
            sorted(expected.newly_actionable, key=self.work.rank)
        )
        assert _by_id(answer.get("reopened", [])) == _by_id(self.mentions(expected.reopened))
        assert sorted(answer.get("auto_resolved", [])) == sorted(self.ids[n] for n in expected.auto_resolved)

    def check_events(self, agent: str, decision: str | None) -> None:
        """Events are only added, and all that one write adds have its revision, its moment and its author."""
        before, self.stored = self.stored, self.rows.of(self.project_id)
        kept, added = self.stored.events[: len(before.events)], self.stored.events[len(before.events) :]
        assert kept == before.events
        assert self.stored.rev == before.rev + bool(added)
        if not added:
            assert self.stored == before
        at = self.clock.stamp(self.clock.now)
        assert [event[:4] for event in added] == [(self.stored.rev, n, at, agent) for n in range(len(added))]
        assert {event.decision for event in added} <= {decision}

    def mentions(self, numbers: Any) -> list[dict[str, str]]:
        return [{"id": self.ids[n], "summary": self.work.nodes[n].summary} for n in numbers]

    def call(self, agent: str, operation: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(self.sessions[agent].call(operation, **arguments))
        return answer

    def told(self, agent: str, operation: str, arguments: dict[str, Any]) -> None:
        """Write a call into the report of a failing run, with nodes by their numbers."""
        written = repr(arguments)
        for n, node_id in self.ids.items():
            written = written.replace(repr(node_id), f"#{n}")
        note(f"at {self.clock.now} {agent}: {operation} {written}")


def _by_id(mentions: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(mentions, key=lambda mention: mention["id"])


def run_machine(
    machine: Callable[[Place], WorkDriver], engine: Engine, budget: settings, *, reader: type[Rows] = Rows
) -> None:
    """Run a machine on a store with a clock of our own."""
    clock = Hand()
    with reader(engine) as rows:
        place = Place(engine.another_store(clock=clock), clock, rows, count(1))
        # It says that it wants a class, and only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(place))
        run_state_machine_as_test(factory, settings=budget)
