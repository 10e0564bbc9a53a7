"""A proof runs each machine for the steps that it was asked for, asks every question, and reports what it found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from tests.campaigns.table import PROPERTY, CampaignRow
from tests.engines import SqliteEngine
from tests.machines import budget
from tests.machines.budget import ASKED_EVERY, BoundedRun, SteppingMachine, answer_invariant
from tests.machines.work_driver import SEEDS
from tests.proof import VARIABLE

STEPS = 250
CHOICES = 16  # more than a run asks, and a multiple of the steps between two questions


class AskingMachine(SteppingMachine):
    """Notes at which steps it asks, and which of some questions."""

    asked: list[tuple[int, int]]

    @initialize(seed=SEEDS)
    def begin(self, seed: int) -> None:
        self.first_question = seed

    @rule()
    def step(self) -> None:
        self.step_number += 1

    @answer_invariant()
    def a_question_is_asked(self) -> None:
        self.asked.append((self.step_number, self.question_number % CHOICES))


@pytest.fixture
def rows(monkeypatch: pytest.MonkeyPatch) -> list[CampaignRow]:
    """The lines of the table, in a proof of some steps that needs three databases."""
    monkeypatch.setenv(VARIABLE, str(STEPS))
    monkeypatch.setattr(budget, "STEPS_ON_A_DATABASE", 100)
    return []


@pytest.fixture
def bounded(tmp_path: Path, rows: list[CampaignRow]) -> BoundedRun:
    def record(name: str, value: Any) -> None:
        assert name == PROPERTY
        rows.append(CampaignRow(*value))

    return BoundedRun(SqliteEngine(tmp_path / "plan.db"), record)


def run_asking(steps: settings) -> None:
    run_state_machine_as_test(AskingMachine, settings=steps)


def test_a_proof_takes_as_many_steps_as_it_was_asked_for(bounded: BoundedRun, rows: list[CampaignRow]) -> None:
    AskingMachine.asked = []
    sizes: list[int] = []

    def run(steps: settings) -> None:
        sizes.append(steps.max_examples * steps.stateful_step_count)
        run_asking(steps)

    bounded("asking", run, 10)

    assert len(sizes) >= 3
    assert max(sizes) <= 100
    ((name, steps, steps_min, differences, _),) = rows
    assert (name, steps_min, differences) == ("asking machine, SQLite", STEPS, 0)
    assert steps >= STEPS


def test_every_question_comes_in_turn_where_a_machine_asks_after_some_steps(
    bounded: BoundedRun, rows: list[CampaignRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    AskingMachine.asked = []
    monkeypatch.setattr(SteppingMachine, "asks_every", ASKED_EVERY)
    # Each run begins with any question and asks most of them, so after some forty none is left.
    monkeypatch.setenv(VARIABLE, str(8 * STEPS))

    bounded("asking", run_asking, 10)

    assert {step % ASKED_EVERY for step, _ in AskingMachine.asked} == {-len("a_question_is_asked") % ASKED_EVERY}
    assert {question for _, question in AskingMachine.asked} == set(range(CHOICES))


def test_a_difference_is_in_the_table_and_ends_the_run(bounded: BoundedRun, rows: list[CampaignRow]) -> None:
    class FaultyMachine(RuleBasedStateMachine):
        @rule()
        def step(self) -> None:
            raise AssertionError("a difference")

    with pytest.raises(AssertionError, match="a difference"):
        bounded("faulty", lambda steps: run_state_machine_as_test(FaultyMachine, settings=steps), 10)

    assert [(row.violations, row.is_met) for row in rows] == [(1, False)]
