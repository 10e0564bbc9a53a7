"""A driver of several agents at one project: every call goes to the product and to the oracle, and both must end alike.

A call that the oracle refuses must fail with one of its codes and change no row. Any other must give the oracle's
answer, add one to the project's revision if it changed anything, and append its events.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
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
from groundplan.work.answers import NAMES_MAX
from groundplan.work.nodes import LOST_MAX
from tests.engines import Engine, SqliteEngine
from tests.machines.budget import SteppingMachine
from tests.machines.store_clock import MillisecondClock, ProjectTime, Reading
from tests.machines.work_calls import (
    NOWHERE,
    item_as_arguments,
    link_as_arguments,
    new_node_as_arguments,
    often,
    operation_as_arguments,
    some_connections,
    some_filter,
    some_items,
    some_node,
    some_operations,
    some_plan,
    some_policies,
    sometimes,
    unfinished,
    with_files,
)
from tests.machines.work_oracle import MS_PER_MINUTE, PEOPLE, ROOT, Answer, Refusal, Work
from tests.machines.work_rows import WorkRows
from tests.machines.work_undo import UndoLog, Write, take_back

AGENTS = (*PEOPLE, "cleo")  # who may not hold a claim without expiry
GOAL = "ship it"
CHECK_CLOCKS = "check the clocks of the programs that write here"
NOT_LOOKED_AT = "and were not looked at; serialise them if they are not"
LOOKED_AT_MIN = 10  # pairs of a plan for whose order the product looks, at least; it may stop then, and says so
NODES_MAX = 16  # enough for many dependencies
HOUR = 60 * MS_PER_MINUTE
WAITS = (1, MS_PER_MINUTE // 2, MS_PER_MINUTE, HOUR - 1, HOUR)
DAY = 24 * HOUR
# By how much the clock of a writer may be wrong.
LEADS = (0, 0, 0, 4 * MS_PER_MINUTE, -4 * MS_PER_MINUTE, 61 * MS_PER_MINUTE, -HOUR, 8 * DAY, 20 * 365 * DAY)
# Operations of the container dialect whose answers have warnings.
WARNING_OPERATIONS = {"container.advance", "container.revert", "container.terminate"}
# Refusals before the lock, which leave leases as they are.
EARLY_CODES = {"agent_not_allowed", "not_found"}

OVERLAP = ("warn", "warn", "avoid", "off")  # the policies about files that others work on

# Weights of the calls.
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
    "undo": 6,
    "redo": 3,
    "send_again": 3,
    "wait": 6,
    "set_clock": 4,
}
SEEDS = st.integers(0, 2**24 - 1)  # from a wider range Hypothesis draws mostly small numbers


class MachineSetup(NamedTuple):
    """One database for all projects of the machines."""

    store: Store
    clock: MillisecondClock
    rows: WorkRows
    serial: count[int]
    knows_uptime: bool


class SentCall(NamedTuple):
    """An answered call with an op_id."""

    agent: str
    operation: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


class JumpEffect(NamedTuple):
    """What a jump of the clock does before a call."""

    agent: str
    reading: Reading
    moved: set[int]  # nodes
    work: Work  # after that


@dataclass(frozen=True)
class UndoAnswer(Answer):
    """The expected answer of an undo or a redo."""

    origin: int | None = None
    origin_rev: int = 0
    undone: int = 0
    is_redo: bool = False


class Expectation(Protocol):
    """Computes the oracle's answer to a call."""

    def __call__(self, work: Work, *, agent: str, now: int) -> Answer: ...


class WorkDriver(SteppingMachine):
    """Drives every mutation. Subclasses add what must hold after each step."""

    weights = WEIGHTS
    oracle = Work
    undoes = True

    def __init__(self, place: MachineSetup) -> None:
        super().__init__()
        self.clock = place.clock
        self.clock.reset()
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
        self.time = ProjectTime(self.clock, knows_uptime=place.knows_uptime)
        self.project_id = self.rows.project_id(self.project)
        self.stored = self.rows.of(self.project_id)
        self.touched = {ROOT}  # by the last call
        self.log = UndoLog()
        self.op_ids = count(1)
        self.sent: list[SentCall] = []

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.begin_with(self.make_rng(seed))

    def begin_with(self, rng: Random) -> None:
        """Create some nodes and policies."""
        for _ in range(2):
            self.plan(rng, nodes_max=6)
        self.set_policies(rng, most=5, overlap=rng.choice(OVERLAP))

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """Take one random step. Separate rules would not do: Hypothesis disables some of them in each run."""
        self.step_number += 1
        rng = self.make_rng(seed)
        (verb,) = rng.choices(list(self.weights), list(self.weights.values()))
        self.act(verb, rng)

    def act(self, verb: str, rng: Random) -> None:
        """Make a call of this kind, or wait if there is nothing to call it on."""
        match verb:
            case "plan" if len(self.work.nodes) < NODES_MAX:
                self.plan(rng)
            case "resolve" | "reopen" | "claim" | "content":
                self.update(rng, verb)
            case "connect":
                self.connect(rng)
            case "move" | "merge" | "drop":
                self.restructure(rng, verb)
            case "take":
                self.take(rng)
            case "set_policies":
                self.set_policies(rng)
            # An undo in a project of its root alone could take back that it was made.
            case "undo" | "redo" if self.undoes and len(self.work.nodes) > 1:
                self.undo(rng, redo=verb == "redo")
            case "send_again" if self.sent:
                self.send_again(rng)
            case "set_clock":
                self.clock.set_ahead(rng.choice(LEADS))
                self.touched = set()
            case _:
                self.wait(rng)

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step. Hypothesis repeats seeds, so the number of the step counts too."""
        return Random(f"{seed} at {self.stored.rev} and {self.clock.now}")  # noqa: S311 - chance, not secrets

    # --- Calls ---

    def plan(self, rng: Random, *, nodes_max: int = 4) -> None:
        planned = with_files(some_plan(rng, self.work, self.ids, nodes_max=nodes_max))

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert [one["ref"] for one in answer["created"]] == [one.ref for one in planned]
            self.ids |= dict(zip(expected.created, (one["id"] for one in answer["created"]), strict=True))

        nodes = [new_node_as_arguments(one, self.ids) for one in planned]
        arguments = {"project": self.project, "nodes": nodes}
        self.perform(rng, "work.plan", arguments, lambda work, **by: work.plan(planned, **by), check)

    def update(self, rng: Random, wish: str) -> None:
        author = rng.choice(AGENTS)
        items = some_items(rng, self.work, author, wish)

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.update(items, agent=agent, now=now, is_person=agent in PEOPLE)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["updated"] == [{"node_id": self.ids[n], "rev": rev} for n, rev in expected.updated]

        arguments = {"updates": [item_as_arguments(item, self.ids) for item in items]}
        self.perform(rng, "work.update", arguments, expect, check, agent=author)

    def connect(self, rng: Random) -> None:
        links = some_connections(rng, self.work)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["applied"] == expected.applied
            assert [(one["from"], one["to"], one["reason"]) for one in answer.get("rejected", ())] == [
                (self.ids[link.source], self.ids[link.target], reason) for link, reason in expected.rejected
            ]

        arguments = {"edges": [link_as_arguments(link, self.ids) for link in links]}
        self.perform(rng, "work.connect", arguments, lambda work, **by: work.connect(links, **by), check)

    def restructure(self, rng: Random, verb: str) -> None:
        operations = some_operations(rng, self.work, verb)
        told = [operation_as_arguments(one, self.ids) for one in operations]

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert answer["applied"] == expected.applied
            assert [(one["op"], one["node_id"]) for one in answer["details"]] == [
                (one["op"], self.ids[n]) for one, n in zip(told, expected.named, strict=True)
            ]

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.restructure(operations, agent=agent, now=now, is_owner=agent in PEOPLE)

        self.perform(rng, "work.restructure", {"operations": told}, expect, check)

    def take(self, rng: Random) -> None:
        def check(answer: dict[str, Any], expected: Answer) -> None:
            taken = [(one["node"]["id"], one["claim"], one["until"]) for one in answer["nodes"]]
            assert taken == [
                (self.ids[n], fence, None if end is None else self.clock.stamp(end))
                for n, fence, end in expected.claimed
            ]

        if sometimes(rng):
            n = some_node(rng, self.work, unfinished(self.work))
            named = {"node_id": self.ids[n]}
            self.perform(rng, "work.claim", named, lambda work, **by: work.take_named(n, **by), check)
            return
        count = rng.choice((1, 1, 2, 50))
        scope = some_node(rng, self.work) if sometimes(rng) else None
        only = some_filter(rng)
        arguments: dict[str, Any] = {"project": self.project, "count": count}
        arguments |= {"scope": self.ids[scope]} if scope is not None else {}
        arguments |= {"filter": only} if only else {}

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            return work.take(agent=agent, now=now, count=count, scope=scope, only=only)

        if often(rng):
            self.perform(rng, "work.claim", arguments, expect, check)
        else:
            self.perform(rng, "work.next", arguments | {"claim": True}, expect, check)

    def set_policies(self, rng: Random, *, most: int = 2, **chosen: str) -> None:
        policies = some_policies(rng, most=most) | chosen

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            if agent not in PEOPLE:
                raise Refusal("agent_not_allowed")
            return work.set_policies(**policies)

        arguments = {"project": self.project, "policies": policies}
        self.perform(rng, "work.open", arguments, expect)

    def undo(self, rng: Random, *, redo: bool) -> None:
        """Take back the last change of somebody, or do it again."""
        found: list[tuple[int, Write]] = []

        def expect(work: Work, *, agent: str, now: int) -> Answer:
            origin, write = self.log.find(agent, redo=redo)
            self.log.refuse_changed(work, write)
            take_back(work, write, agent=agent, now=now)
            found.append((origin, write))
            rev = self.log.writes[origin].rev
            return UndoAnswer(origin=origin, is_redo=redo, undone=write.rev, origin_rev=rev)

        def check(answer: dict[str, Any], expected: Answer) -> None:
            assert isinstance(expected, UndoAnswer)
            assert answer["undone"] == f"{expected.undone}.0"
            assert answer["text"].startswith(f"{'Did again' if redo else 'Undid'} {expected.origin_rev}.0: ")

        arguments = {"project": self.project, "redo": redo}
        self.perform(rng, "briefing.undo", arguments, expect, check)

    def wait(self, rng: Random) -> None:
        """Let time pass, often exactly to the expiry of a claim or just before it."""
        ends = sorted({node.claim.until or 0 for node in self.work.nodes.values() if node.claim})
        moments = [end - before for end in ends for before in (1, 0)]
        self.clock.move(rng.choice([*WAITS, *(moment - self.now for moment in moments if moment > self.now)]))
        self.touched = set()

    def send_again(self, rng: Random) -> None:
        """Repeat a call: it has no second effect; another call with its op_id has none at all."""
        sent = rng.choice(self.sent)
        self.touched = set()
        self.note_call(sent.agent, sent.operation, sent.arguments)
        if sometimes(rng):
            with pytest.raises(GroundplanError) as refused:
                self.call(sent.agent, sent.operation, **self.change_arguments(sent))
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.agent, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_id) == self.stored

    def change_arguments(self, sent: SentCall) -> dict[str, Any]:
        """Return the arguments of another call with the same op_id."""
        return sent.arguments | {"decision": "something else"}

    # --- Sending and checking ---

    def perform(
        self,
        rng: Random,
        operation: str,
        arguments: dict[str, Any],
        expect: Expectation,
        check: Callable[[dict[str, Any], Answer], None] = lambda *_: None,
        *,
        agent: str | None = None,
    ) -> None:
        """Send a call to the product and to the oracle."""
        self.clock.move(rng.choice((1, 0)))
        reading = self.time.read_for_write()
        agent = agent or rng.choice(AGENTS)
        if sometimes(rng) and operation != "briefing.undo":
            arguments |= {"op_id": f"{self.project}, {next(self.op_ids)}"}
        if operation.startswith("work.") and sometimes(rng):  # the dialect that takes one
            arguments |= {"decision": "we talked about it"}
        self.note_call(agent, operation, arguments)
        tried = self.work.copy()
        moved = set() if reading.jump is None else tried.move_leases(reading.jump, agent=agent, now=reading.now)
        tried.rev = self.stored.rev + bool(moved) + 1
        jump = JumpEffect(agent, reading, moved, tried.copy())
        expected: Answer | None = None
        refused: frozenset[str] = frozenset()
        try:
            expected = expect(tried, agent=agent, now=reading.now)
        except Refusal as refusal:
            refused = refusal.codes
        try:
            answer = self.call(agent, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refused, jump)
            return
        assert expected is not None, f"{answer} instead of {' or '.join(refused)}"
        if "op_id" in arguments:
            self.sent.append(SentCall(agent, operation, arguments, answer))
        check(answer, expected)
        if operation.startswith("work.") or operation in WARNING_OPERATIONS:
            self.check_warnings(answer, expected, reading)
        before = self.work.all_nodes()
        self.touched = {n for n, node in tried.all_nodes().items() if node is not before.get(n)}
        self.work = tried
        decision = arguments.get("decision")
        if isinstance(expected, UndoAnswer):
            decision = f"{'redo' if expected.is_redo else 'undo'} of {expected.origin_rev}.0"
        else:
            self.check_outcome(answer, expected)
        self.check_events(decision, jump)
        undo = expected if isinstance(expected, UndoAnswer) else UndoAnswer()
        if undo.origin is not None:
            self.adopt_events(agent, reading)
        self.log.add(Write(self.stored.rev, agent, jump.work, self.work, undo.origin, undo.is_redo))

    def adopt_events(self, agent: str, reading: Reading) -> None:
        """Take over which events a write recorded of each node: the oracle of an undo knows only what the nodes are."""
        numbers = {node_id: n for n, node_id in self.ids.items()}
        everybody = self.work.all_nodes()
        for event in (event for event in self.stored.events if event.rev == self.stored.rev):
            if event.op.startswith("work.") and event.subject in numbers:
                node = everybody[numbers[event.subject]]
                actions = (*node.actions, event.op.partition(".")[2])
                node = replace(
                    node, actions=actions, updated_at=reading.now, updated_by=agent, changed=self.work.writes
                )
                self.work.keep(node)
                everybody[node.n] = node
                self.touched.add(node.n)

    def check_warnings(self, answer: dict[str, Any], expected: Answer, reading: Reading) -> None:
        """Equal warnings are one line, and there are at most five, and one about a clock that jumped."""

        def name(one: int | str | tuple[int, ...]) -> str:
            if isinstance(one, tuple):
                more = f" and {len(one) - NAMES_MAX} more" if len(one) > NAMES_MAX else ""
                return ", ".join(map(name, one[:NAMES_MAX])) + more
            return one if isinstance(one, str) else self.ids[one]

        subjects: dict[str, list[str]] = {}
        for subject, words, other in expected.warnings:
            subjects.setdefault(words.format(name(other)), []).append(name(subject))
        lines = [line for line in answer.get("warnings", []) if not line.endswith(CHECK_CLOCKS)]
        if "policies" not in answer and "root" not in answer:  # opening a project warns of nothing
            assert (lines != answer.get("warnings", [])) == (reading.jump is not None)
        if any(line.endswith(NOT_LOOKED_AT) for line in lines):
            assert expected.pairs_with_files > LOOKED_AT_MIN
            return
        assert len(lines) == min(len(subjects), 5), (lines, subjects, self.ids)
        for words, (first, *others) in subjects.items() if len(subjects) <= 5 else ():
            start = f"{first} and {len(others)} more: " if others else f"{first}: "
            assert [line for line in lines if line.startswith(start) and words in line], (words, first, lines)

    def check_refusal(self, error: GroundplanError, refused: frozenset[str], jump: JumpEffect) -> None:
        """Check that an error has an expected code and that nothing changed but leases after a jump of the clock."""
        assert error.code in refused, f"{error.code}: {error.message}"
        if error.code == "not_actionable":
            self.check_what_holds_back(error)
        self.touched = set()
        if jump.moved and error.code not in EARLY_CODES:
            assert self.rows.of(self.project_id) != self.stored
        if jump.moved and self.rows.of(self.project_id) != self.stored:
            self.touched = jump.moved
            self.work = jump.work
            self.check_events(None, jump)
        assert self.rows.of(self.project_id) == self.stored

    def check_what_holds_back(self, error: GroundplanError) -> None:
        """Check that the refusal of a named node lists the ancestors that wait, and what the nearest waits for."""
        work = self.work
        (n,) = (n for n, node_id in self.ids.items() if node_id == error.details["node_id"])
        waiting = [above for above in work.holders(n) if work.open_deps(above) or work.nodes[above].held is not None]
        held_by = [] if work.nodes[n].resolved else waiting[:5]
        told = error.details.get("held_by", [])
        assert [one["id"] for one in told] == [self.ids[above] for above in held_by]
        for above in held_by[:1]:
            targets = sorted(target for target in work.waits_for(above) if not work.nodes[target].resolved)
            assert (told[0]["waiting_for"], told[0].get("on_hold")) == (self.mentions(targets), work.nodes[above].held)

    def check_outcome(self, answer: dict[str, Any], expected: Answer) -> None:
        """Check what every answer says about other nodes."""
        newly = sorted(expected.newly_actionable, key=self.work.rank)
        assert answer.get("newly_actionable", []) == [
            mention | self.lost(n) for n, mention in zip(newly, self.mentions(newly), strict=True)
        ]
        assert _by_id(answer.get("reopened", [])) == _by_id(self.mentions(expected.reopened))
        assert sorted(answer.get("auto_resolved", [])) == sorted(self.ids[n] for n in expected.auto_resolved)

    def check_events(self, decision: str | None, jump: JumpEffect) -> None:
        """Check that events are only appended, with the revision, time and author of their write."""
        agent, reading, moved, _ = jump
        before, self.stored = self.stored, self.rows.of(self.project_id)
        kept, added = self.stored.events[: len(before.events)], self.stored.events[len(before.events) :]
        assert kept == before.events
        moves, added = added[: len(moved)], added[len(moved) :]  # leases have a write of their own
        assert {event.subject for event in moves if event.op == "work.lease_moved"} == {self.ids[n] for n in moved}
        assert self.stored.rev == before.rev + bool(moves) + bool(added)
        if moves or added:
            self.time.note_write(reading)
        else:
            assert self.stored == before
        at = self.clock.stamp(reading.now)
        for rev, events in ((before.rev + 1, moves), (self.stored.rev, added)):
            assert [event[:4] for event in events] == [(rev, n, at, agent) for n in range(len(events))]
        assert {event.decision for event in added} <= {decision}

    @property
    def now(self) -> int:
        """The time of a read."""
        return self.time.read()

    def lost(self, n: int) -> dict[str, Any]:
        """Return what the mention of a node that can be worked on says of its dropped dependencies."""
        lost = [self.ids[target] for target in self.work.lost(n)]
        return ({"lost": lost[:LOST_MAX]} if lost else {}) | ({"lost_total": len(lost)} if len(lost) > LOST_MAX else {})

    def mentions(self, numbers: Any) -> list[dict[str, str]]:
        return [{"id": self.ids[n], "summary": self.work.nodes[n].summary} for n in numbers]

    def call(self, agent: str, operation: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(self.sessions[agent].call(operation, **arguments))
        return answer

    def note_call(self, agent: str, operation: str, arguments: dict[str, Any]) -> None:
        """Note a call in the report of a failing run, with numbers for ids."""
        written = repr(arguments)
        for n, node_id in self.ids.items():
            written = written.replace(repr(node_id), f"#{n}")
        note(f"at {self.clock.now} {agent}: {operation} {written}")


def _by_id(mentions: list[dict[str, str]]) -> list[dict[str, str]]:
    return sorted(mentions, key=lambda mention: mention["id"])


def run_machine(
    machine: Callable[[MachineSetup], WorkDriver],
    engine: Engine,
    budget: settings,
    *,
    reader: type[WorkRows] = WorkRows,
) -> None:
    """Run a machine on a store with a manual clock."""
    clock = MillisecondClock()
    with reader(engine) as rows:
        store = engine.another_store(clock=clock, uptime=clock.uptime())
        place = MachineSetup(store, clock, rows, count(1), knows_uptime=isinstance(engine, SqliteEngine))
        # It is typed to take a class, but only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(place))
        run_state_machine_as_test(factory, settings=budget)
