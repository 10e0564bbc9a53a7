"""Persons, agents and services under the same names, saying what they like: what a name first acted as decides.

An ordinary run is short and always the same. GROUNDPLAN_PROOF_STEPS gives a longer one, new each time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import count
from random import Random
from typing import Any, cast

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from msgspec.structs import replace

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store import store, transaction
from groundplan.session import Session
from tests.engines import Engine, SqliteEngine
from tests.machines.budget import NOTICED, BoundedRun, SteppingMachine, fixed_settings

pytestmark = [pytest.mark.proof, pytest.mark.slow]

STEPS = 150
NAMES = ("ada", "claude", "ci")
KINDS = tuple(ActorKind)
PERSON, AGENT = ActorKind.PERSON, ActorKind.AGENT
SEEDS = st.integers(0, 2**24 - 1)


class ActorsMachine(SteppingMachine):
    """Several callers at one project; the oracle is a dict of kinds."""

    def __init__(self, engine: Engine, number: int) -> None:
        super().__init__()
        self.engine = engine
        self.project = f"project {number}"
        self.root = engine.session(f"root {number}")
        self.root.call("project.create", name=self.project)
        self.names = [f"{name} {number}" for name in NAMES]
        self.kinds: dict[str, ActorKind] = {}
        self.serial = count(1)

    def choose(self, seed: int) -> tuple[Random, str, ActorKind]:
        """Return the random source of a step, a name, and the kind that somebody claims for it."""
        self.step_number += 1
        random = Random(seed)  # noqa: S311 - not for secrets
        return random, random.choice(self.names), random.choice(KINDS)

    @rule(seed=SEEDS)
    def act(self, seed: int) -> None:
        random, name, claimed = self.choose(seed)
        gives_way = random.random() < 0.3
        actor = local_actor(name, kind=claimed, takes_stored_kind=gives_way)
        operation = random.choice((self.read, self.write, self.configure))
        stored = self.kinds.get(name, claimed)
        is_refused = stored is not claimed and not gives_way and PERSON in (stored, claimed)
        expected = "actor_kind" if is_refused else operation(self.engine.session(actor), stored)
        assert code_of(lambda: operation(self.engine.session(actor), stored, send=True)) == expected
        if expected == "ok" and operation != self.read:
            self.kinds[name] = stored

    def read(self, session: Session, kind: ActorKind, *, send: bool = False) -> str:
        if send:
            session.call("work.query", project=self.project)
        return "ok"

    def write(self, session: Session, kind: ActorKind, *, send: bool = False) -> str:
        if send:
            session.call("work.plan", project=self.project, nodes=[{"ref": "a", "summary": "A"}])
        return "ok"

    def configure(self, session: Session, kind: ActorKind, *, send: bool = False) -> str:
        if send:
            minutes = next(self.serial)
            session.call("work.open", project=self.project, policies={"claim_ttl_minutes": minutes})
        return "agent_not_allowed" if kind is AGENT else "ok"

    @rule(seed=SEEDS)
    def add_member(self, seed: int) -> None:
        _, name, kind = self.choose(seed)
        self.root.call("member.add", scopeId=self.project, userId=name, role="owner", kind=kind.value)
        self.kinds.setdefault(name, kind)

    @rule(seed=SEEDS)
    def issue_token(self, seed: int) -> None:
        _, name, kind = self.choose(seed)
        expected = "ok" if self.kinds.get(name, kind) is kind else "token_kind"
        assert code_of(lambda: self.root.call("token.create", name=name, kind=kind.value, role="viewer")) == expected
        self.kinds.setdefault(name, kind)

    @invariant()
    def the_first_kind_of_each_name_is_stored(self) -> None:
        stored: dict[str, str] = dict(self.engine.as_owner("SELECT id, kind FROM principals"))
        assert {name: stored[name] for name in self.names if name in stored} == self.kinds


def code_of(call: Callable[[], object]) -> str:
    """Return the error code of a call, or ok."""
    try:
        call()
    except GroundplanError as error:
        return error.code
    return "ok"


def run_machine(engine: Engine, steps: settings) -> None:
    serial = count(1)
    factory = cast(
        type[RuleBasedStateMachine], lambda: ActorsMachine(engine, next(serial))
    )  # typed to take a class, but only calls it
    run_state_machine_as_test(factory, settings=steps)


def test_a_name_is_what_it_first_acted_as(engine: Engine, run_to_bound: BoundedRun) -> None:
    run_to_bound("actors", partial(run_machine, engine), STEPS)


def believe_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "identify", lambda actor, _stored: actor)


def refuse_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transaction, "identify", lambda actor, stored: replace(actor, kind=stored or actor.kind))


def forget_who_acted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "store_kind", lambda _: None)


SABOTAGE: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a kind is what the caller says": believe_everybody,
    "the name of a person serves an agent": refuse_nobody,
    "a first act stores nothing": forget_who_acted,
}


@pytest.mark.teeth
@pytest.mark.parametrize("broken", SABOTAGE)
def test_the_machine_notices_a_guard_that_is_switched_off(
    broken: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    engine = SqliteEngine(tmp_path / "plan.db")
    SABOTAGE[broken](monkeypatch)

    with pytest.raises((*NOTICED, *engine.refusals, KeyError)):
        run_machine(engine, settings(fixed_settings(600, in_a_run=60), phases=(Phase.generate,)))
    engine.close()
