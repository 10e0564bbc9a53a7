"""A driver of persons, an agent and a service at the facts of two scopes, on one database.

Every call goes to the product and to the oracle, and both must end alike. A call that the oracle refuses must fail with
one of its codes and change no row. Any other must give the oracle's answer, add one to the revision of its project if
it changed anything, and append its events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import count
from random import Random
from typing import Any, NamedTuple, cast

import msgspec
import pytest
from hypothesis import note, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from groundplan.context.schemas import ContextView
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from tests.engines import Engine
from tests.machines.budget import SteppingMachine
from tests.machines.context_calls import (
    KEYS,
    POINTERS,
    Ids,
    edit_as_arguments,
    some_agreed_row,
    some_decision,
    some_edit,
    some_first_facts,
    some_restatement,
    some_run,
    some_turn,
)
from tests.machines.context_oracle import (
    KINDS,
    NOWHERE,
    SCOPE_OF_AGENTS,
    SCOPES,
    Artifact,
    Author,
    Constraint,
    EditAnswer,
    Facts,
    Input,
    Name,
    Refusal,
    Run,
    Source,
    Suggestion,
    Valued,
    displaced,
)
from tests.machines.context_rows import VALUE_COLUMNS, ContextRows, Row, Stored
from tests.machines.store_clock import MillisecondClock
from tests.machines.work_calls import often, rarely, sometimes
from tests.machines.work_driver import SEEDS

ACTORS = {"ada": "person", "ben": "person", "scout": "agent", "guide": "agent", "feed": "service"}
RUNS_MAX = 5  # in a scope
CLOCK_STEPS = (1, 1000, -5_000)  # the last one: a corrected clock

# Weights of the calls. The clock mostly stands still, so that times are equal.
WEIGHTS = {
    "draft": 2,
    "copy": 6,
    "restate": 6,
    "rival": 6,
    "turns": 4,
    "edit": 60,
    "decide": 16,
    "commit": 4,
    "partial": 9,
    "discard": 1,
    "delete": 4,
    "reown": 2,
    "send again": 3,
    "wait": 3,
}


def is_a_persons(row: Row) -> bool:
    """Return whether a stored fact has a value that a person set."""
    has_value = any(row[column] is not None for column in VALUE_COLUMNS)
    return has_value and (row["provenance"] == "user-entered" or row["updated_by"] == "user")


class MachineSetup(NamedTuple):
    """One database for all scopes of the machines."""

    stores: dict[str, Store]
    clock: MillisecondClock
    rows: ContextRows
    serial: count[int]


class SentCall(NamedTuple):
    """An answered call with an op_id."""

    actor: str
    operation: str
    arguments: dict[str, Any]
    answer: dict[str, Any]


class ContextDriver(SteppingMachine):
    """Drives every change. Subclasses add what must hold after each step."""

    weights = WEIGHTS

    def __init__(self, place: MachineSetup) -> None:
        super().__init__()
        self.clock = place.clock
        self.clock.reset()
        self.rows = place.rows
        self.sessions = {
            name: Session(place.stores[name], local_actor(name, kind=ActorKind(kind))) for name, kind in ACTORS.items()
        }
        self.facts = Facts()
        self.ids = Ids()
        self.names: dict[int, str] = {}
        for scope in SCOPES:
            self.names[scope] = f"scope {next(place.serial)}"
            begun = self.call("ada", "member.bootstrap", scopeId=self.names[scope])
            self.ids.scopes[scope] = begun["projectId"]
        self.call("ada", "work.open", project=self.names[SCOPE_OF_AGENTS], policies={"agents": "owner"})
        self.project_ids = list(self.ids.scopes.values())
        self.stored = self.rows.of(self.project_ids)
        self.scope = 0  # of the last call
        self.touched: int | None = None  # the run of the last call, if it exists
        self.reader = "ada"
        self.op_ids = count(1)
        self.steps = 0
        self.sent: list[SentCall] = []
        self.committed: dict[int, bytes] = {}  # each run as shown when it was committed
        self.frozen: dict[int, dict[str, list[Row]]] = {}  # and its rows

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.first_question = seed
        rng = self.make_rng(seed)
        for scope in SCOPES:
            self.create(rng, scope, copy_of=None)
            self.edit(rng, self.facts.of(scope)[0].n, self.some_first_facts)

    @rule(seed=SEEDS)
    def step(self, seed: int) -> None:
        """Take one random step. Separate rules would not do: Hypothesis disables some of them in each run."""
        self.step_number += 1
        rng = self.make_rng(seed)
        self.reader = rng.choice(list(ACTORS))
        (verb,) = rng.choices(list(self.weights), list(self.weights.values()))
        drafts = [run for run in self.facts.runs.values() if run.is_draft]
        if not drafts and not rarely(rng):
            verb = "copy"
        elif verb == "decide" and not any(run.suggestions for run in drafts) and not rarely(rng):
            verb = "edit"
        elif verb == "delete" and len(drafts) == len(self.facts.runs) and often(rng):
            verb = "partial"
        match verb:
            case "draft" | "copy":
                scope = rng.choice((0, *SCOPES))
                self.create(rng, scope, copy_of=self.some_original(rng, scope) if verb == "copy" else None)
            case "restate":
                self.restate(rng, rng.choice((0, *SCOPES)))
            case "rival":
                self.rival(rng, rng.choice((0, *SCOPES)))
            case "turns":
                self.turns(rng, rng.choice((0, *SCOPES)))
            case "commit" | "partial":
                self.commit(rng, some_run(rng, self.facts), partial=verb == "partial")
            case "discard" | "delete":
                self.end(rng, some_run(rng, self.facts, draft=verb == "discard"), verb)
            case "reown":
                self.reown(rng, some_run(rng, self.facts))
            case "send again" if self.sent:
                self.send_again(rng)
            case "wait":
                self.clock.now += rng.choice(CLOCK_STEPS)
                self.touched = None
            case "decide":
                self.edit(rng, self.some_undecided(rng), some_decision)
            case _:
                self.edit(rng, some_run(rng, self.facts), self.some_edit)

    def make_rng(self, seed: int) -> Random:
        """Return the random source of a step. Hypothesis repeats seeds, so the number of the step counts too."""
        self.steps += 1
        return Random(f"{seed} at {self.steps}, {self.clock.now} and {self.facts.last_n}")  # noqa: S311 - chance, not secrets

    def some_original(self, rng: Random, scope: int) -> int | str:
        """Return the run to copy, often the one in force."""
        if sometimes(rng):
            return "latest"
        fitting = [run.n for run in self.facts.of(scope)]
        fitting = [n for n in fitting if self.facts.runs[n].inputs] or fitting
        return rng.choice(fitting) if fitting and not rarely(rng) else some_run(rng, self.facts)

    def some_undecided(self, rng: Random) -> int:
        asked = [n for n, run in self.facts.runs.items() if run.suggestions and run.is_draft]
        return rng.choice(asked) if asked and not rarely(rng) else some_run(rng, self.facts)

    def some_edit(self, rng: Random, facts: Facts, run: Run) -> dict[str, Any]:
        return some_edit(rng, facts, run, self.ids, str(self.steps))

    def some_first_facts(self, rng: Random, _facts: Facts, _run: Run) -> dict[str, Any]:
        return some_first_facts(rng, str(self.steps))

    # --- Calls ---

    def create(self, rng: Random, scope: int, *, copy_of: int | str | None) -> None:
        if len(self.facts.of(scope)) >= RUNS_MAX:
            return
        shared = sometimes(rng)
        arguments: dict[str, Any] = {"scopeId": rng.choice((self.names, self.ids.scopes))[scope]}
        arguments |= {"ownership": "shared" if shared else "owned"} if shared or sometimes(rng) else {}
        if copy_of is not None:
            arguments["copyFrom"] = self.ids.rows[copy_of] if isinstance(copy_of, int) else copy_of

        def expect(facts: Facts, by: Author) -> Callable[[dict[str, Any]], Any]:
            original = copy_of if isinstance(copy_of, int) else None
            if copy_of in (None, "latest") and (latest := facts.in_force(scope, self.ids.rows)) is not None:
                original = latest.n
            n = facts.create(scope, shared=shared, copy_of=original, by=by, starts_empty=copy_of == "none")

            def answer(given: dict[str, Any]) -> Any:
                self.ids.rows[n] = given["run"]["id"]
                self.recognize(facts.runs[n])
                self.touched = n
                base = facts.runs[n].base
                return {"run": self.run(facts.runs[n]), "rev": 1, "base": None if base is None else self.ids.rows[base]}

            return answer

        self.perform(rng, scope, "context.create_draft", arguments, expect)

    def edit(
        self,
        rng: Random,
        n: int,
        saying: Callable[[Random, Facts, Run], dict[str, Any]],
        *,
        actor: str | None = None,
    ) -> None:
        run = self.facts.runs.get(n) or self.facts.gone.get(n) or Run(NOWHERE, 0, None, 0, 0)
        given = saying(rng, self.facts, run)
        if sometimes(rng):
            given["expected_rev"] = run.rev if not rarely(rng) else run.rev + rng.choice((-1, 1))
        if not run.is_draft:  # what is decided in a copy that the edit opens has no name in its answer
            given = {part: rows for part, rows in given.items() if part not in ("accept", "reject")}
        arguments = {"runId": self.ids.rows[n], **edit_as_arguments(given, self.ids)}

        def expect(facts: Facts, by: Author) -> Callable[[dict[str, Any]], Any]:
            m, translated = facts.complete(n, given, self.ids.rows, by=by)
            edited = facts.edit(m, translated, by=by)
            opened = m != n
            if opened:
                facts.runs[m].rev = 1  # it is created and edited by one write

            def answer(told: dict[str, Any]) -> Any:
                if opened:
                    self.ids.rows[m] = told["draft"]
                self.learn(edited, told)
                if opened:
                    self.recognize(facts.runs[m])
                self.touched = m
                shown = self.edited(facts.runs[m], edited)
                return shown | ({"draft": self.ids.rows[m], "from": self.ids.rows[n]} if opened else {})

            return answer

        self.perform(rng, run.scope, "context.edit", arguments, expect, actor)

    def restate(self, rng: Random, scope: int) -> None:
        """Say in an empty draft what is in force."""
        latest = self.facts.in_force(scope, self.ids.rows)
        empty = [run.n for run in self.facts.of(scope) if run.is_draft and not run.inputs]
        if latest is None or not empty:
            self.create(rng, scope, copy_of="none")
        else:
            self.edit(rng, empty[0], lambda *_: some_restatement(rng, latest, str(self.steps)))

    def rival(self, rng: Random, scope: int) -> None:
        """Edit drafts that begin alike, and commit all: each is merged with those before it. Their base may go."""
        several = rng.choice((2, 3))
        while len(runs := self.facts.of(scope)) > RUNS_MAX - several:
            latest = self.facts.in_force(scope, self.ids.rows)
            self.end(rng, next(run.n for run in runs if run is not latest), "delete", actor="ada")
        base = self.facts.in_force(scope, self.ids.rows)
        drafts: list[int] = []
        for _ in range(several):
            known = set(self.facts.runs)
            self.create(rng, scope, copy_of=None)
            drafts += self.facts.runs.keys() - known
        agreed = some_agreed_row(rng)

        def agree(*_: Any) -> dict[str, Any]:
            return {"inputs": [dict(agreed)]}

        for n in drafts:
            self.steps += 1  # it marks the rows of an edit
            self.edit(rng, n, agree if sometimes(rng) else self.some_edit)
        for n in drafts:
            self.commit(rng, n, partial=True)
            if base is not None and base.n in self.facts.runs and sometimes(rng):
                self.end(rng, base.n, "delete", actor="ada")

    def turns(self, rng: Random, scope: int) -> None:
        """Let persons and agents write one fact by turns, each with sources of the draft; then an agent commits."""
        drafts = [run.n for run in self.facts.of(scope) if run.is_draft]
        if not drafts:
            self.create(rng, scope, copy_of="latest")
            return
        n, name = drafts[-1], rng.choice((*POINTERS, *KEYS))
        for actor in ("ada", "scout", "ben", "guide"):
            self.steps += 1  # it marks the rows of an edit
            self.edit(rng, n, partial(some_turn, serial=str(self.steps), name=name), actor=actor)
        self.commit(rng, n, partial=True, actor=rng.choice(("scout", "guide", "feed")))

    def commit(self, rng: Random, n: int, *, partial: bool, actor: str | None = None) -> None:
        run = self.facts.runs.get(n)
        arguments: dict[str, Any] = {"runId": self.ids.rows[n]}
        arguments |= {"allowPartial": partial} if partial or sometimes(rng) else {}
        expected_rev = None
        if run is not None and sometimes(rng):
            arguments["expected_rev"] = expected_rev = run.rev if not rarely(rng) else run.rev + 1
        drop = often(rng)
        arguments |= {"allowDrop": drop} if drop or sometimes(rng) else {}
        choices = {} if run is None else self.some_choices(rng, run)
        if choices:
            arguments["resolve"] = {self.spell(name): choice for name, choice in choices.items()}

        def expect(facts: Facts, by: Author) -> Callable[[dict[str, Any]], Any]:
            merged, dropped = facts.commit(
                n, partial=partial, expected_rev=expected_rev, by=by, ids=self.ids.rows, drop=drop, choices=choices
            )

            def answer(told: dict[str, Any]) -> Any:
                self.recognize(facts.runs[n])
                self.touched = n
                shown = {"run": self.run(facts.runs[n]), "missing": facts.runs[n].missing}
                names = {"merged": sorted(map(self.spell, merged)), "dropped": sorted(map(self.spell, dropped))}
                return shown | names | {"warnings": told["warnings"]}

            return answer

        self.perform(rng, run.scope if run else 0, "context.commit", arguments, expect, actor)
        if n in self.facts.runs and not self.facts.runs[n].is_draft and n not in self.committed:
            self.committed[n] = self.view_bytes(n)
            self.frozen[n] = self.stored.below(self.ids.rows[n])

    def some_choices(self, rng: Random, run: Run) -> dict[Name, str]:
        """Return how conflicts are settled: mostly all of them, sometimes some, rarely what is none."""
        _, conflicts = self.facts.differences(run, self.facts.in_force(run.scope, self.ids.rows))
        kept = sorted(conflicts, key=str) if often(rng) else [one for one in sorted(conflicts, key=str) if often(rng)]
        if rarely(rng):
            kept.append(("input", "/nowhere"))
        return {name: rng.choice(("mine", "theirs")) for name in kept}

    def spell(self, name: Name) -> str:
        """Return the name of a row as the product has it."""
        kind, which = name
        if kind == "input":
            return str(which)
        return f"{kind}:{self.ids.rows[which] if isinstance(which, int) else which}"

    def end(self, rng: Random, n: int, verb: str, actor: str | None = None) -> None:
        run = self.facts.runs.get(n)

        def expect(facts: Facts, by: Author) -> Callable[[dict[str, Any]], Any]:
            facts.discard(n, by=by) if verb == "discard" else facts.delete(n, by=by)
            self.touched = None
            return lambda _: {f"{verb.rstrip('e')}ed": self.ids.rows[n]}

        self.perform(rng, run.scope if run else 0, f"context.{verb}", {"runId": self.ids.rows[n]}, expect, actor)

    def reown(self, rng: Random, n: int) -> None:
        ownership = rng.choice((None, "shared", "owned"))
        arguments = {"runId": self.ids.rows[n]} | ({} if ownership is None else {"ownership": ownership})

        def expect(facts: Facts, by: Author) -> Callable[[dict[str, Any]], Any]:
            facts.reown(n, ownership=ownership, by=by)
            self.touched = n
            return lambda _: {"run": self.run(facts.runs[n]), "rev": facts.runs[n].rev}

        scope = self.facts.runs[n].scope if n in self.facts.runs else 0
        self.perform(rng, scope, "context.update_draft", arguments, expect)

    def send_again(self, rng: Random) -> None:
        """Repeat a call: it has no second effect; another call with its op_id has none at all."""
        sent = rng.choice(self.sent)
        self.touched = None
        if sometimes(rng):
            with pytest.raises(GroundplanError) as refused:
                self.call(
                    sent.actor,
                    "context.create_draft",
                    scopeId=self.names[0],
                    ownership="shared",
                    copyFrom=self.ids.rows[NOWHERE],
                    op_id=sent.arguments["op_id"],
                )
            assert refused.value.code == "op_id_reused"
        else:
            assert self.call(sent.actor, sent.operation, **sent.arguments) == sent.answer
        assert self.rows.of(self.project_ids) == self.stored

    # --- Sending and checking ---

    def perform(
        self,
        rng: Random,
        scope: int,
        operation: str,
        arguments: dict[str, Any],
        expect: Callable[[Facts, Author], Callable[[dict[str, Any]], Any]],
        actor: str | None = None,
    ) -> None:
        """Send a call to the product and to the oracle, by an actor of any kind unless one is named."""
        if actor is None:
            actor = rng.choice(list(ACTORS)) if not {"accept", "reject"} & arguments.keys() else self.some_judge(rng)
        if sometimes(rng):
            arguments |= {"op_id": f"{self.names[0]}, {next(self.op_ids)}"}
        self.note_call(actor, operation, arguments)
        tried = self.facts.copy()
        answer_of: Callable[[dict[str, Any]], Any] | None = None
        refused = Refusal(())
        try:
            now = self.clock.time_after(self.stored.events[self.ids.scopes[scope]])
            answer_of = expect(tried, Author(actor, ACTORS[actor], now))
        except Refusal as refusal:
            refused = refusal
        try:
            answer = self.call(actor, operation, **arguments)
        except GroundplanError as error:
            self.check_refusal(error, refused, arguments)
            return
        assert answer_of is not None, f"{answer} instead of {refused}"
        if "op_id" in arguments:
            self.sent.append(SentCall(actor, operation, arguments, answer))
        self.scope = scope
        is_other = tried.runs != self.facts.runs
        self.facts = tried
        assert answer == answer_of(answer)
        self.check_events(actor, scope if is_other else None)

    @staticmethod
    def some_judge(rng: Random) -> str:
        """Return mostly a person; others may not decide."""
        return rng.choice(["ada", "ben", "ada", "ben", *ACTORS])

    def check_refusal(self, error: GroundplanError, refused: Refusal, arguments: dict[str, Any]) -> None:
        """Check that an error has an expected code and that nothing changed."""
        assert error.code in refused.codes, f"{error.code}: {error.message}"
        if error.code == "stale_rev":
            assert error.details["current"] == self.facts.runs[self.n_of(arguments["runId"])].rev
        if error.code == "displaces_user_entered":
            assert [*error.details["pointers"], *error.details["constraints"]] == refused.places[error.code]
        if error.code == "required_inputs_unset":
            assert error.details["pointers"] == refused.places[error.code]
        if error.code == "stale_base":
            named = [conflict["pointer"] for conflict in error.details["conflicts"]]
            assert named == sorted(map(self.spell, refused.places[error.code]))
        assert self.rows.of(self.project_ids) == self.stored
        self.touched = None

    def check_events(self, actor: str, scope: int | None) -> None:
        """Check that events are only appended, with the revision, time and author of their write."""
        before, self.stored = self.stored, self.rows.of(self.project_ids)
        for place, id_ in self.ids.scopes.items():
            told = len(before.events[id_])
            kept, added = self.stored.events[id_][:told], self.stored.events[id_][told:]
            assert kept == before.events[id_]
            assert bool(added) == (place == scope)
            assert self.stored.revs[id_] == before.revs[id_] + bool(added)
            at = self.clock.stamp(self.clock.time_after(before.events[id_]))
            assert [event[:4] for event in added] == [(self.stored.revs[id_], n, at, actor) for n in range(len(added))]
        self.check_values_of_persons(before, actor)

    def check_values_of_persons(self, before: Stored, actor: str) -> None:
        """Check that only persons replace what a person set."""
        if ACTORS[actor] == "person":
            return
        for name in ("pciv_inputs", "pciv_constraints"):
            after = {row["id"]: row for row in self.stored.tables[name]}
            for row in before.tables[name]:
                if is_a_persons(row):
                    now = after.get(row["id"], row)
                    columns = ("provenance", "value_kind", *VALUE_COLUMNS)
                    is_kept = all(now[column] == row[column] for column in columns)
                    assert is_kept or self.is_in_force(before, name, now, columns)
        for project_id in self.project_ids:
            self.check_entries_in_force(before.in_force(project_id), self.stored.in_force(project_id))

    def is_in_force(self, before: Stored, name: str, now: Row, columns: Iterable[str]) -> bool:
        """Return whether a commit took a row from a run that was in force."""
        key = "pointer" if name == "pciv_inputs" else "key"
        in_force = [before.in_force(project_id) for project_id in self.project_ids]
        return any(
            row["run_id"] in in_force and row[key] == now[key] and all(row[column] == now[column] for column in columns)
            for row in before.tables[name]
        )

    def check_entries_in_force(self, old: str | None, new: str | None) -> None:
        """What a person set is in force until a person sets something else, whatever run comes."""
        if old is None or new is None:
            assert old is None, "nobody but a person takes the last run out of force"
            return
        for name, key in (("pciv_inputs", "pointer"), ("pciv_constraints", "key")):
            rows = self.stored.tables[name]
            now = {row[key]: row for row in rows if row["run_id"] == new}
            for row in (row for row in rows if row["run_id"] == old):
                if is_a_persons(row):
                    found = now[row[key]]
                    assert is_a_persons(found) or found["updated_by"] == "user"
                    is_same = all(found[column] == row[column] for column in ("value_kind", *VALUE_COLUMNS))
                    assert is_same or found["updated_at"] >= row["updated_at"]

    def n_of(self, id_: str) -> int:
        """Return the number of an id."""
        return next(n for n, one in self.ids.rows.items() if one == id_)

    # --- Ids of the product ---

    def learn(self, edited: EditAnswer, told: dict[str, Any]) -> None:
        """Learn the ids of what the oracle just created."""
        for part in ("sources", "inputs", "constraints", "artifacts", "suggested"):
            assert len(getattr(edited, part)) == len(told[part])
            for one, row in zip(getattr(edited, part), told[part], strict=True):
                self.ids.rows.setdefault(one if isinstance(one, int) else one[0], row["id"])

    def recognize(self, run: Run) -> None:
        """Learn the ids of a copy's rows, each of which has a unique mark."""
        view, rows = self.view(run.n), self.ids.rows
        found: dict[Any, str] = {one["uri"]: id_ for id_, one in view["sourcesById"].items()}
        found |= {pointer: one["id"] for pointer, one in view["inputsByPointer"].items()}
        found |= {one["key"]: one["id"] for one in view["constraints"]}
        found |= {one["title"]: one["id"] for some in view["artifactsByType"].values() for one in some}
        for one in view.get("suggestions", ()):
            found[one["constraintId"] or found[one["pointer"]], one["createdBy"]] = one["id"]
        marks: dict[int, Any] = {one.n: one.uri for one in run.sources.values()}
        marks |= {one.n: one.pointer for one in run.inputs.values()}
        marks |= {one.n: one.key for one in run.constraints.values()}
        marks |= {one.n: one.title for one in run.artifacts.values()}
        assert found.keys() >= set(marks.values())
        rows |= {n: found[mark] for n, mark in marks.items()}
        about = {one.n: (rows[one.target], one.created_by) for one in run.pending}
        assert found.keys() >= set(about.values())
        rows |= {n: found[mark] for n, mark in about.items()}

    # --- The oracle's facts as answers ---

    def run(self, run: Run) -> dict[str, Any]:
        return {
            "id": self.ids.rows[run.n],
            "scopeId": self.names[run.scope],
            "userId": run.user,
            "status": run.status,
            "allowPartial": run.status == "partial_committed",
            "committedAt": None if run.committed_at is None else self.clock.stamp(run.committed_at),
            "createdAt": self.clock.stamp(run.created_at),
            "updatedAt": self.clock.stamp(run.updated_at),
        }

    def edited(self, run: Run, edited: EditAnswer) -> dict[str, Any]:
        rows = self.ids.rows
        return {
            "run": {"id": rows[run.n], "status": "draft"},
            "sources": [{"id": rows[n]} for n in edited.sources],
            "inputs": [{"id": rows[n], "pointer": pointer} for n, pointer in edited.inputs],
            "constraints": [{"id": rows[n], "key": key} for n, key in edited.constraints],
            "artifacts": [{"id": rows[n]} for n in edited.artifacts],
            "suggested": [self.suggested(*one) for one in edited.suggested],
            "rev": run.rev,
        }

    def suggested(self, n: int, target: Valued, why: str) -> dict[str, Any]:
        if isinstance(target, Input):
            about = {"pointer": target.pointer}
        else:
            about = {"constraint": cast(Constraint, target).key}
        return {"id": self.ids.rows[n], **about, "reason": why}

    def whole(self, run: Run) -> dict[str, Any]:
        """Return a run as a view shows it, without warnings."""
        stamp, rows = self.clock.stamp, self.ids.rows
        types = sorted({one.type for one in run.artifacts.values()})
        told = {
            "run": self.run(run),
            "sourcesById": {rows[n]: self.source(run, one) for n, one in run.sources.items()},
            "inputsByPointer": {pointer: self.input(run, one) for pointer, one in run.inputs.items()},
            "constraints": [
                self.constraint(run, one) for one in self.ordered(run.constraints.values(), lambda one: one.key)
            ],
            "artifactsByType": {
                type_: [
                    self.artifact(run, one)
                    for one in self.ordered(run.artifacts.values(), lambda one: one.created_at)
                    if one.type == type_
                ]
                for type_ in types
            },
            "contextVersionId": stamp(run.updated_at if run.committed_at is None else run.committed_at),
            "missing": run.missing,
            "rev": run.rev,
        }
        if run.pending:
            told["suggestions"] = [
                self.suggestion(run, one)
                for one in self.ordered(run.pending, lambda one: (self.about(run, one), one.created_at))
            ]
        if shown := self.displaced(run):
            told["displaced"] = shown
        return told

    def displaced(self, run: Run) -> list[dict[str, Any]]:
        """What the run in force displaces of what persons had entered, as a view shows it."""
        if run.replaced is None or self.facts.in_force(run.scope, self.ids.rows) is not run:
            return []
        before = self.facts.runs.get(run.replaced) or self.facts.gone[run.replaced]
        return [
            {
                ("pointer" if name.startswith("/") else "constraint"): name,
                **{"change": change, "before": value, "by": run.committed_by},
                "at": self.clock.stamp(cast(int, run.committed_at)),
            }
            for name, change, value in displaced(before, run)
        ]

    def ordered(self, rows: Iterable[Any], key: Callable[[Any], Any]) -> list[Any]:
        return sorted(rows, key=lambda one: (key(one), self.ids.rows[one.n]))

    def value(self, one: Valued | Suggestion) -> dict[str, Any]:
        columns = {f"value{kind.capitalize()}": one.value if kind == one.kind else None for kind in KINDS}
        return {"valueKind": one.kind, **columns, "provenance": one.provenance}

    def source(self, run: Run, one: Source) -> dict[str, Any]:
        return {
            "id": self.ids.rows[one.n],
            "runId": self.ids.rows[run.n],
            "kind": one.kind,
            "title": one.title,
            "uri": one.uri,
            "fileId": None,
            "mimeType": None,
            "sizeBytes": one.size,
            "parseStatus": one.parse_status,
            "excerpt": one.excerpt,
            "rawMeta": one.meta,
            "createdAt": self.clock.stamp(one.created_at),
            "originId": None if one.origin is None else self.ids.rows[one.origin],
        }

    def input(self, run: Run, one: Input) -> dict[str, Any]:
        return {
            "id": self.ids.rows[one.n],
            "runId": self.ids.rows[run.n],
            "pointer": one.pointer,
            "label": one.label,
            "domain": "general",
            "required": one.required,
            "fieldType": one.field_type,
            "options": one.options,
            **self.value(one),
            "updatedBy": one.updated_by,
            "updatedAt": self.clock.stamp(one.updated_at),
            "evidenceSnippet": one.snippet,
            "sourceIds": sorted(self.ids.rows[n] for n in one.sources),
        }

    def constraint(self, run: Run, one: Constraint) -> dict[str, Any]:
        return {
            "id": self.ids.rows[one.n],
            "runId": self.ids.rows[run.n],
            "key": one.key,
            "domain": one.domain,
            "label": one.label,
            **self.value(one),
            "sourceId": None if one.source is None else self.ids.rows[one.source],
            "snippet": one.snippet,
            "updatedBy": one.updated_by,
            "createdAt": self.clock.stamp(one.created_at),
            "updatedAt": self.clock.stamp(one.updated_at),
        }

    def artifact(self, run: Run, one: Artifact) -> dict[str, Any]:
        return {
            "id": self.ids.rows[one.n],
            "runId": self.ids.rows[run.n],
            "type": one.type,
            "title": one.title,
            "payload": one.payload,
            "createdAt": self.clock.stamp(one.created_at),
            "originId": None if one.origin is None else self.ids.rows[one.origin],
        }

    def suggestion(self, run: Run, one: Suggestion) -> dict[str, Any]:
        target = run.target(one.target)
        is_input = isinstance(target, Input)
        return {
            "id": self.ids.rows[one.n],
            "pointer": target.pointer if isinstance(target, Input) else None,
            "key": target.key if isinstance(target, Constraint) else None,
            "constraintId": None if is_input else self.ids.rows[target.n],
            **self.value(one),
            "sourceIds": sorted(self.ids.rows[n] for n in one.sources),
            "snippet": one.snippet,
            "rationale": one.rationale,
            "createdAt": self.clock.stamp(one.created_at),
            "createdBy": one.created_by,
            "updatedBy": one.written_by,
        }

    @staticmethod
    def about(run: Run, one: Suggestion) -> str:
        target = run.target(one.target)
        return target.pointer if isinstance(target, Input) else cast(Constraint, target).key

    # --- Reads of the product ---

    def view(self, n: int) -> dict[str, Any]:
        run = self.facts.runs[n]
        return self.call(self.reader, "context.view", scopeId=self.names[run.scope], runId=self.ids.rows[n])

    def view_bytes(self, n: int) -> bytes:
        """Return a run as shown, to the byte."""
        run = self.facts.runs[n]
        view = self.sessions[self.reader].call("context.view", scopeId=self.names[run.scope], runId=self.ids.rows[n])
        return self.frozen_bytes(view)

    @staticmethod
    def frozen_bytes(view: ContextView) -> bytes:
        """A view without what it displaces, which is shown only while the run is in force."""
        return encode(msgspec.structs.replace(view, displaced=msgspec.UNSET))

    def call(self, actor: str, operation: str, /, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = msgspec.to_builtins(self.sessions[actor].call(operation, **arguments))
        return answer

    def note_call(self, actor: str, operation: str, arguments: dict[str, Any]) -> None:
        """Note a call in the report of a failing run, with numbers for ids."""
        written = repr(arguments)
        for n, id_ in self.ids.rows.items():
            written = written.replace(repr(id_), f"#{n}")
        note(f"at {self.clock.now} {actor}: {operation} {written}")


def run_machine(machine: Callable[[MachineSetup], ContextDriver], engine: Engine, budget: settings) -> None:
    """Run a machine on two stores with a manual clock."""
    clock = MillisecondClock()
    with ContextRows(engine) as rows:
        two = [engine.another_store(clock=clock) for _ in range(2)]
        stores: dict[str, Store] = {name: two[place % 2] for place, name in enumerate(ACTORS)}
        place = MachineSetup(stores, clock, rows, count(1))
        # It is typed to take a class, but only calls it.
        factory = cast(type[RuleBasedStateMachine], lambda: machine(place))
        run_state_machine_as_test(factory, settings=budget)
