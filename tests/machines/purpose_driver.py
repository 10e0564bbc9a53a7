"""A driver of two people and an agent at the purpose of two projects, on one database.

Every call goes to the product and to the oracle, and both must end alike. A call that the oracle refuses must fail with
its code and details and change no row. Any other must give the oracle's answer, add one to the revision of its project
if it changed anything, and append its events.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from contextlib import ExitStack, closing
from functools import cache
from itertools import count, pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from hypothesis import note, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from groundplan.catalog import build_schema
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.budget import SteppingMachine
from tests.machines.purpose_calls import Batches, some_observations, some_version
from tests.machines.purpose_document import take_in
from tests.machines.purpose_document_calls import Documents
from tests.machines.purpose_oracle import (
    ASSUMPTION_FIELDS,
    INDICATOR_FIELDS,
    NODE_FIELDS,
    NODE_TYPES,
    PROFILES,
    Author,
    CycleRefusal,
    Gate,
    Purpose,
    Refusal,
    Subject,
    Thing,
    Version,
    content_hash,
    edge_order,
    sorted_keys,
)
from tests.machines.purpose_rows import BELOW, PurposeRows, Row
from tests.machines.store_clock import MillisecondClock
from tests.machines.work_calls import rarely, sometimes
from tests.machines.work_driver import SEEDS

ACTORS = {"ada": "person", "ben": "person", "scout": "agent"}
PROJECTS = (0, 1)  # the second has facts in force, and its versions pass both gates
VERSIONS_MAX = 5
IMPORTS_MAX = 3  # documents that are brought one after the other
DAY = 86_400_000
CLOCK_STEPS = (1, 1000, DAY, -5_000)  # the last one: a corrected clock

# Weights of the calls.
WEIGHTS = {"edit": 50, "publish": 20, "draft": 2, "discard": 4, "record": 20, "send again": 3, "wait": 4, "require": 3}

Answer = Callable[[Thing], Any]


class MachineSetup(NamedTuple):
    """One database for all projects of the machines."""

    stores: dict[str, Store]
    clock: MillisecondClock
    rows: PurposeRows
    serial: count[int]
    has_row_security: bool
    elsewhere: Callable[[], Store]  # another database, in a file


class SentCall(NamedTuple):
    """An answered call with an op_id."""

    actor: str
    operation: str
    arguments: Thing
    answer: Thing


class PurposeDriver(SteppingMachine):
    """Drives every change. Subclasses add what must hold after each step.

    Theories are imported if `import` has a weight too.
    """

    weights = WEIGHTS

    def __init__(self, ground: MachineSetup) -> None:
        super().__init__()
        self.clock = ground.clock
        self.clock.reset()
        self.rows = ground.rows
        self.sessions = {
            name: Session(ground.stores[name], local_actor(name, kind=ActorKind(kind))) for name, kind in ACTORS.items()
        }
        self.names = [f"project {next(ground.serial)}" for _ in PROJECTS]
        for name in self.names:
            # The agent may do what an owner may; tests/access has what it may do otherwise.
            self.call("ada", "work.open", project=name, policies={"agents": "owner"})
        self.call("ada", "work.open", project=self.names[0], policies={"profile_min": "light"})
        self.call("ada", "work.open", project=self.names[1], policies={"publish_gates": "AB"})
        run_id = self.call("ada", "context.create_draft", scopeId=self.names[1])["run"]["id"]
        self.call("ada", "context.commit", runId=run_id)
        self.purposes = [
            Purpose(ground.has_row_security, None, "A", profile_min="light"),
            Purpose(ground.has_row_security, run_id, "AB"),
        ]
        found = {one["name"]: one["id"] for one in self.call("ada", "project.list")["projects"]}
        self.project_ids = [found[name] for name in self.names]
        self.stored = self.rows.of(self.project_ids)
        self.project = 0  # of the last call
        self.reader = "ada"
        self.op_ids = count(1)
        self.steps = 0
        self.sent: list[SentCall] = []
        self.frozen: dict[str, dict[str, list[Row]]] = {}  # each version as it was published, by id
        self.keys_given: list[set[str]] = [set() for _ in PROJECTS]

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.first_question = seed
        rng = self.make_rng(seed)
        for project in PROJECTS:
            self.draft(rng, project, source=None)
            self.edit(rng, project, Batches(rng, self.purposes[project], []).first())

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """Take one random step. Separate rules would not do: Hypothesis disables some of them in each run."""
        self.step_number += 1
        rng = self.make_rng(seed)
        self.reader = rng.choice(list(ACTORS))
        project = rng.choice((0, 0, 1))
        purpose = self.purposes[project]
        (verb,) = rng.choices(list(self.weights), list(self.weights.values()))
        if purpose.draft is None and verb not in ("record", "import") and not sometimes(rng):
            verb = "draft"
        match verb:
            case "draft":
                self.draft(rng, project, source=some_version(rng, purpose))
            case "publish":
                self.publish(rng, project)
            case "discard":
                self.discard(rng, project)
            case "import":
                if purpose.draft and not rarely(rng):
                    self.discard(rng, project)
                for _ in range(IMPORTS_MAX):
                    self.take_in(rng, project)
                    if self.purposes[project].draft:  # a refused document leaves its turn to the next one
                        break
            case "record":
                self.record(rng, project)
            case "send again" if self.sent:
                self.send_again(rng)
            case "require":
                self.require_profile(project, rng.choice(("light", "standard", "strict")))
            case "wait":
                self.clock.now += rng.choice(CLOCK_STEPS)
            case _:
                others = [one for one in self.purposes if one is not purpose]
                self.edit(rng, project, Batches(rng, purpose, others).some_batch())

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step. Hypothesis repeats seeds, so the number of the step counts too."""
        self.steps += 1
        return Random(f"{seed} at {self.steps} and {self.clock.now}")  # noqa: S311 - chance, not secrets

    @property
    def today(self) -> str:
        return self.clock.stamp(self.clock.now)[:10]

    # --- Calls ---

    def draft(self, rng: Random, project: int, *, source: int | str | None) -> None:
        if len(self.purposes[project].versions) >= VERSIONS_MAX:
            return
        profile = rng.choice((None, None, "standard", "light", "strict"))
        arguments: Thing = {} if source is None else {"from": source}
        arguments |= {} if profile is None else {"profile": profile}

        def expect(purpose: Purpose, by: Author) -> Answer:
            version = purpose.begin(source, profile, by=by)

            def answer(_: Thing) -> Any:
                (row,) = (
                    row
                    for row in self.rows.of([self.project_ids[project]]).tables["toc_versions"]
                    if row["version_number"] == version.number
                )
                purpose.named(version, row["id"])
                return {"version": self.version(project, version), "rev": version.rev}

            return answer

        self.perform(rng, project, "purpose.draft", arguments, expect)

    def edit(self, rng: Random, project: int, operations: list[Thing]) -> None:
        expected_rev = self.some_rev(rng, project)
        arguments: Thing = {"operations": operations}
        arguments |= {} if expected_rev is None else {"expected_rev": expected_rev}

        def expect(purpose: Purpose, by: Author) -> Answer:
            made = purpose.edit(operations, expected_rev, by=by)

            def answer(told: Thing) -> Any:
                created = []
                for one, row in zip(made, told["created"], strict=True):
                    one["thing"]["id"] = row["id"]
                    ref = {} if one["ref"] is None else {"ref": one["ref"]}
                    created.append({"key": one["key"], "id": row["id"], "kind": one["kind"], **ref})
                    if one["kind"] != "edge":
                        assert one["key"] not in self.keys_given[project]
                        self.keys_given[project].add(one["key"])
                number = purpose.versions[-1].number
                return {"rev": purpose.rev, "version": number, "created": created, "applied": len(operations)}

            return answer

        self.perform(rng, project, "purpose.edit", arguments, expect)

    def publish(self, rng: Random, project: int) -> None:
        label = rng.choice((None, None, "First", "draft" if rarely(rng) else "Zweite „Fassung“"))
        expected_rev = self.some_rev(rng, project)
        detail = "full" if sometimes(rng) else None
        arguments: Thing = {} if label is None else {"label": label}
        arguments |= {} if detail is None else {"detail": detail}
        arguments |= {} if expected_rev is None else {"expected_rev": expected_rev}

        def expect(purpose: Purpose, by: Author) -> Answer:
            gates = purpose.publish(label, expected_rev, by=by)

            def answer(told: Thing) -> Any:
                version = purpose.versions[-1]
                for name, gate, found in zip(purpose.publish_gates, gates, told["gates"], strict=True):
                    self.check_gate(found, name, gate, version, is_full=detail is not None)
                return {"version": self.version(project, version), "rev": version.rev, "gates": told["gates"]}

            return answer

        self.perform(rng, project, "purpose.publish", arguments, expect)
        for version in self.purposes[project].published:
            self.frozen.setdefault(version.id, self.stored.whole(version.id))

    def discard(self, rng: Random, project: int) -> None:
        expected_rev = self.some_rev(rng, project)
        arguments = {} if expected_rev is None else {"expected_rev": expected_rev}

        def expect(purpose: Purpose, _by: Author) -> Answer:
            number = purpose.discard(expected_rev)
            return lambda _: {"discarded": number, "rev": purpose.rev}

        self.perform(rng, project, "purpose.discard", arguments, expect)

    def take_in(self, rng: Random, project: int) -> None:
        purpose = self.purposes[project]
        if len(purpose.versions) >= VERSIONS_MAX:
            return
        others = [one for one in self.purposes if one is not purpose]
        document = Documents(rng, purpose, others, self.today).some_document()
        keys = rng.choice((None, None, None, "same", "new"))

        def expect(purpose: Purpose, by: Author) -> Answer:
            taken = take_in(purpose, document, keys, by=by)

            def answer(told: Thing) -> Any:
                self.learn_ids(project, taken.version)
                purpose.named(taken.version, taken.version.id)
                assert not taken.fresh & self.keys_given[project]
                theory = taken.version.theory
                self.keys_given[project] |= {*theory.nodes, *theory.assumptions, *theory.indicators}
                assert {(one["name"], one["key"]) for one in told["keys"]} == taken.keys
                assert [(one["what"], one["count"]) for one in told["skipped"]] == taken.skipped
                return {name: told[name] for name in ("keys", "skipped")} | {
                    "version": self.version(project, taken.version),
                    "rev": taken.version.rev,
                    "counts": taken.counts,
                    "renamed": taken.renamed,
                }

            return answer

        arguments = {"document": document} | ({} if keys is None else {"keys": keys})
        self.perform(rng, project, "purpose.import", arguments, expect)

    def learn_ids(self, project: int, version: Version) -> None:
        """Learn the ids of an imported version's rows, by number, keys and ends."""
        tables = self.rows.of([self.project_ids[project]]).tables
        (version.id,) = (row["id"] for row in tables["toc_versions"] if row["version_number"] == version.number)
        rows = {name: [row for row in tables[name] if row["toc_version_id"] == version.id] for name in BELOW}
        keys = {row["id"]: row["key"] for row in rows["toc_nodes"]}
        things = {**version.theory.nodes, **version.theory.assumptions, **version.theory.indicators}
        for name in BELOW:
            for row in rows[name]:
                if name == "toc_edges":
                    edge = keys[row["source_node_id"]], keys[row["target_node_id"]], row["edge_type"]
                    version.theory.edges[edge]["id"] = row["id"]
                else:
                    things[row["key"]]["id"] = row["id"]

    def record(self, rng: Random, project: int) -> None:
        given = some_observations(rng, self.purposes[project])
        # A measurement of tomorrow is still of today somewhere.
        latest_day = self.clock.stamp(self.clock.now + DAY)

        def expect(purpose: Purpose, by: Author) -> Answer:
            recorded, affected = purpose.record(given, by=by, latest_day=latest_day)
            told: dict[str, Any] = {"recorded": recorded, "rev": purpose.rev}
            for name, rows in (("decisions", purpose.decisions), ("requests", purpose.requests)):
                if count := len(given.get(name, ())):
                    told[name] = ["{rev}.{n}".format(**one) for one in rows[-count:]]
            return lambda _: told | ({"affected": affected} if affected else {})

        self.perform(rng, project, "purpose.record", dict(given), expect)

    def require_profile(self, project: int, least: str) -> None:
        """Set the least strict profile that the project allows."""
        self.call("ada", "work.open", project=self.names[project], policies={"profile_min": least})
        self.purposes[project].profile_min = least
        self.stored = self.rows.of(self.project_ids)

    def send_again(self, rng: Random) -> None:
        """Repeat a call: it has no second effect; another call with its op_id has none at all."""
        sent = rng.choice(self.sent)
        if sometimes(rng):
            other = {"project": self.names[0], "expected_rev": 10_000, "op_id": sent.arguments["op_id"]}
            with pytest.raises(GroundplanError) as refused:
                self.call(sent.actor, "purpose.discard", **other)
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.actor, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_ids) == self.stored

    def some_rev(self, rng: Random, project: int) -> int | None:
        if not sometimes(rng):
            return None
        rev = self.purposes[project].rev
        return rev if not sometimes(rng) else rev + rng.choice((-1, 1))

    # --- Sending and checking ---

    def perform(
        self, rng: Random, project: int, operation: str, arguments: Thing, expect: Callable[[Purpose, Author], Answer]
    ) -> None:
        """Send a call to the product and to the oracle."""
        actor = rng.choice(list(ACTORS))
        arguments = {"project": rng.choice((self.names, self.project_ids))[project], **arguments}
        if sometimes(rng):
            arguments |= {"op_id": f"{self.names[0]}, {next(self.op_ids)}"}
        note(f"at {self.clock.now} {actor}: {operation} {arguments}")
        self.project = project
        tried = copy.deepcopy(self.purposes[project])
        rev = self.stored.revs[self.project_ids[project]] + 1
        answer_of: Answer | None = None
        refusal: Refusal | None = None
        try:
            now = self.clock.time_after(self.stored.events[self.project_ids[project]])
            answer_of = expect(tried, Author(actor, self.clock.stamp(now), rev))
        except Refusal as raised:
            refusal = raised
        try:
            answer = self.call(actor, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refusal)
            return
        assert answer_of is not None, f"{answer} instead of {refusal}"
        if "op_id" in arguments:
            self.sent.append(SentCall(actor, operation, arguments, answer))
        assert answer == answer_of(answer)
        before = self.purposes[project]
        self.purposes[project] = tried
        # A batch without a change writes nothing.
        self.check_events(actor, project if operation != "purpose.edit" or tried.rev != before.rev else None)

    def check_refusal(self, error: GroundplanError, refusal: Refusal | None) -> None:
        """Check that an error has the expected code and details and that nothing changed."""
        assert refusal is not None, f"{error.code}: {error.message}"
        assert error.code == refusal.code, f"{error.code}: {error.message} instead of {refusal}"
        details = msgspec.to_builtins(error.details)
        if isinstance(refusal, CycleRefusal):
            path = details["path"]
            steps = set(pairwise(path))
            assert path[0] == path[-1]
            assert steps <= refusal.pairs
            assert steps & refusal.new
        gates: list[Gate] = refusal.details.pop("gates", [])
        for gate, told in zip(gates, details.get("gates", ()), strict=True):
            found = {one["code"]: (one["severity"], one["result"], one["refs"]) for one in told["checks"]}
            assert found in (gate.checks, gate.not_passed)
            assert told["counts"] == gate.counts
        assert {name: details[name] for name in refusal.details} == refusal.details
        assert self.rows.of(self.project_ids) == self.stored

    def check_events(self, actor: str, project: int | None) -> None:
        """Check that events are only appended, with the revision, time and author of their write."""
        before, self.stored = self.stored, self.rows.of(self.project_ids)
        for place, id_ in enumerate(self.project_ids):
            told = len(before.events[id_])
            kept, added = self.stored.events[id_][:told], self.stored.events[id_][told:]
            assert kept == before.events[id_]
            assert bool(added) == (place == project)
            assert self.stored.revs[id_] == before.revs[id_] + bool(added)
            at = self.clock.stamp(self.clock.time_after(before.events[id_]))
            assert [event[:4] for event in added] == [(self.stored.revs[id_], n, at, actor) for n in range(len(added))]

    def check_gate(self, told: Thing, name: str, gate: Gate, version: Version, *, is_full: bool = True) -> None:
        """Check a gate result, except for its sentences."""
        assert (told["gate"], told["profile"], told["passed"]) == (name, gate.profile, gate.passed)
        found = {one["code"]: (one["severity"], one["result"], one["refs"]) for one in told["checks"]}
        assert found == (gate.checks if is_full else gate.not_passed)
        assert told["counts"] == gate.counts
        assert list(found) == sorted(found)
        assert (told["score"], told["content_hash"]) == (gate.score, content_hash(version.theory))

    # --- The oracle's purpose as answers ---

    def version(self, project: int, one: Version) -> Thing:
        shown: Thing = {"number": one.number, "label": one.label, "profile": one.profile}
        shown |= {"id": one.id, "project_id": self.project_ids[project]}
        shown["status"] = "DRAFT" if one.is_draft else "PUBLISHED"
        at, by = (one.published.at, one.published.name) if one.published else (None, None)
        others = {"source": one.source, "content_hash": one.content_hash, "context_run": one.context_run}
        others |= {"published_at": at, "published_by": by}
        return shown | {name: value for name, value in others.items() if value is not None}

    def opened(self, project: int, version: Version) -> Thing:
        """Return a version as shown in full, without its health."""
        purpose, theory = self.purposes[project], version.theory
        counts = {type_.lower(): len(theory.of_type(type_)) for type_ in NODE_TYPES}
        counts |= {part: len(getattr(theory, part)) for part in ("edges", "assumptions", "indicators")}
        waivers = purpose.in_force(self.today)
        shown = ("code", "refs", "reason", "owner", "due")
        return {
            "project": self.names[project],
            "rev": version.rev,
            "version": self.version(project, version),
            "versions": [self.version(project, one) for one in purpose.versions],
            "counts": counts,
            "nodes": [
                {
                    "key": key,
                    "id": theory.nodes[key]["id"],
                    "metadata": theory.nodes[key]["metadata"],
                    "assumptions": self.assumptions(purpose, version, key),
                    **said(theory.nodes[key], NODE_FIELDS[:-1]),
                }
                for key in sorted_keys(theory.nodes)
            ],
            "edges": [
                {
                    **dict(zip(("source", "target", "edge_type"), edge, strict=True)),
                    "id": theory.edges[edge]["id"],
                    "assumptions": self.assumptions(purpose, version, edge),
                    **said(theory.edges[edge], ("mechanism", "confidence")),
                }
                for edge in sorted(theory.edges, key=edge_order)
            ],
            "indicators": [
                {
                    "key": key,
                    "id": theory.indicators[key]["id"],
                    "node": theory.indicators[key]["node"],
                    **said(theory.indicators[key], INDICATOR_FIELDS),
                    **self.latest(purpose, key),
                }
                for key in sorted_keys(theory.indicators)
            ],
            **({"waivers": [{name: one[name] for name in shown} for one in waivers]} if waivers else {}),
        }

    def assumptions(self, purpose: Purpose, version: Version, on: Subject) -> list[Thing]:
        found = {key: one for key, one in version.theory.assumptions.items() if one["on"] == on}
        return [
            {"key": key, "id": found[key]["id"], "status": purpose.status(key), **said(found[key], ASSUMPTION_FIELDS)}
            for key in sorted_keys(found)
        ]

    @staticmethod
    def latest(purpose: Purpose, key: str) -> Thing:
        found = purpose.latest(key)
        return {"latest": {"value": found["value"], "as_of": found["as_of"]}} if found else {}

    # --- Reads of the product ---

    def call(self, actor: str, operation: str, /, **arguments: Any) -> Thing:
        answer: Thing = json.loads(msgspec.json.encode(self.sessions[actor].call(operation, **arguments)))
        return answer

    def some_profile(self) -> str:
        return PROFILES[self.question_number % len(PROFILES)]


def said(thing: Thing, fields: tuple[str, ...]) -> Thing:
    """Return the non-empty fields of something."""
    return {name: thing[name] for name in fields if thing[name] is not None}


def run_machine(machine: Callable[[MachineSetup], PurposeDriver], engine: Engine, budget: settings) -> None:
    """Run a machine on two stores with a manual clock."""
    clock = MillisecondClock()
    with PurposeRows(engine) as rows, ExitStack() as opened:

        @cache  # most machines need none
        def elsewhere() -> Store:
            folder = opened.enter_context(TemporaryDirectory(prefix="groundplan-elsewhere-"))
            return opened.enter_context(closing(SqliteStore(Path(folder) / "plan.db", build_schema, clock=clock)))

        two = [engine.another_store(clock=clock) for _ in range(2)]
        stores: dict[str, Store] = {name: two[place % 2] for place, name in enumerate(ACTORS)}
        ground = MachineSetup(stores, clock, rows, count(1), engine.dialect is Dialect.POSTGRES, elsewhere)
        # It is typed to take a class, but only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(ground))
        run_state_machine_as_test(factory, settings=budget)
