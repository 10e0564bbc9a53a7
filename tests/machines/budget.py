"""How far machines run: few fixed steps ordinarily, many new ones in a proof."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, invariant

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.migrations import Dialect
from tests.campaigns.table import PROPERTY, CampaignRow, report_campaign
from tests.engines import Engine
from tests.proof import VARIABLE

STEPS_IN_A_RUN = 30
FEWER_ON_POSTGRES = 4
ASKED_EVERY = 4  # steps: asking takes most of the time, and what is stored is compared after each step
# Readers of rows and lists of projects take longer the more runs a database has seen: after this many it is emptied.
STEPS_ON_A_DATABASE = 1_500

# The exceptions of a machine that found a fault. Ids are random, so a fault that depends on their order need
# not show again when Hypothesis repeats the run: once is enough. Each step draws one number, so a run that draws fewer
# than the one before it ended with a fault as well.
NOTICED = (AssertionError, GroundplanError, pytest.fail.Exception, Flaky)

RunMachine = Callable[[settings], None]


class SteppingMachine(RuleBasedStateMachine):
    """A machine that counts its steps."""

    asks_every = 1  # so many steps it checks each of its invariants about answers
    steps_in_all: ClassVar[int] = 0  # of all machines of this process

    def __init__(self) -> None:
        super().__init__()
        self.step_number = 0
        self.first_question = 0  # another one in each run, since a run is too short for all of them

    @property
    def question_number(self) -> int:
        """Which question an invariant about answers asks next."""
        return self.first_question + self.step_number // self.asks_every

    def teardown(self) -> None:
        SteppingMachine.steps_in_all += self.step_number


M = TypeVar("M", bound=SteppingMachine)


def answer_invariant() -> Callable[[Callable[[M], None]], Callable[[M], None]]:
    """Mark an invariant about answers. Where a machine does not ask after each step, each of them has other steps.

    A fault that lasts is found a few steps later; one that ends before the next question is found by another run.
    """

    def mark(check: Callable[[M], None]) -> Callable[[M], None]:
        @wraps(check)
        def check_in_turn(machine: M) -> None:
            if (machine.step_number + len(check.__name__)) % machine.asks_every == 0:
                check(machine)

        marked: Callable[[M], None] = invariant()(check_in_turn)
        return marked

    return mark


def is_proof() -> bool:
    return VARIABLE in os.environ


def fixed_settings(steps: int, *, in_a_run: int = STEPS_IN_A_RUN) -> settings:
    """Return settings for so many steps in all, the same each time."""
    return settings(
        max_examples=max(1, steps // in_a_run),
        stateful_step_count=in_a_run,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def budget(steps: int, *, in_a_run: int = STEPS_IN_A_RUN, engine: Engine | None = None) -> settings:
    """Return the same, or in a proof as many steps as the environment says, new ones each time.

    A step on PostgreSQL takes four times as long, so an ordinary run takes fewer there.
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        on_postgres = engine is not None and engine.dialect is Dialect.POSTGRES
        return fixed_settings(steps // FEWER_ON_POSTGRES if on_postgres else steps, in_a_run=in_a_run)
    return new_settings(int(asked), in_a_run=in_a_run)


def new_settings(steps: int, *, in_a_run: int = STEPS_IN_A_RUN) -> settings:
    """Return settings for so many steps in all, others each time."""
    # A fault ends it at once: to make its steps fewer takes longer than to find it, and the ids differ each time.
    phases = (Phase.explicit, Phase.generate)
    return settings(fixed_settings(steps, in_a_run=in_a_run), derandomize=False, phases=phases)


class BoundedRun:
    """Runs a machine for its ordinary steps, or in a proof for as many as the environment says.

    A proof takes one empty database after the other, counts the steps, and puts them into the table of campaigns.
    """

    def __init__(self, engine: Engine, record_property: Callable[[str, Any], None]) -> None:
        self._engine = engine
        self._record_property = record_property
        self._begun_at = time.monotonic()
        self._begun_with = SteppingMachine.steps_in_all

    def __call__(self, name: str, run: RunMachine, steps: int, *, in_a_run: int = STEPS_IN_A_RUN) -> None:
        if not is_proof():
            run(budget(steps, in_a_run=in_a_run, engine=self._engine))
            return
        steps_min = int(os.environ[VARIABLE])
        try:
            while (left := steps_min - self.steps) > 0:
                run(new_settings(max(in_a_run, min(left, STEPS_ON_A_DATABASE)), in_a_run=in_a_run))
                self._engine.reset()
        except BaseException:
            self._record_property(PROPERTY, list(self._build_row(name, steps_min, differences=1)))
            raise
        report_campaign(self._record_property, self._build_row(name, steps_min, differences=0))

    @property
    def steps(self) -> int:
        """The steps so far."""
        return SteppingMachine.steps_in_all - self._begun_with

    def _build_row(self, name: str, steps_min: int, *, differences: int) -> CampaignRow:
        store = "SQLite" if self._engine.dialect is Dialect.SQLITE else "PostgreSQL"
        minutes = (time.monotonic() - self._begun_at) / 60
        return CampaignRow(f"{name} machine, {store}", self.steps, steps_min, differences, f"{minutes:.1f} minutes")
