"""Hypothesis settings of the machines: few fixed steps ordinarily, many new ones in a proof."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Protocol, TypeVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import FlakyFailure
from hypothesis.stateful import invariant

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine
from tests.proof import VARIABLE

STEPS_IN_A_RUN = 30
FEWER_ON_POSTGRES = 4
ASKED_EVERY = 4  # steps: asking takes most of the time, and what is stored is compared after each step

# The exceptions of a machine that found a fault. Ids are random, so a fault that depends on their order need
# not show again when Hypothesis repeats the run: once is enough.
NOTICED = (AssertionError, GroundplanError, pytest.fail.Exception, FlakyFailure)


class Stepping(Protocol):
    """A machine that counts its steps."""

    step_number: int
    asks_every: int  # so many steps it checks each of its invariants about answers


M = TypeVar("M", bound=Stepping)


def answer_invariant() -> Callable[[Callable[[M], None]], Callable[[M], None]]:
    """Mark an invariant about answers. Where a machine does not ask after each step, each of them has other steps."""

    def mark(check: Callable[[M], None]) -> Callable[[M], None]:
        @wraps(check)
        def check_in_turn(machine: M) -> None:
            if (machine.step_number + len(check.__name__)) % machine.asks_every == 0:
                check(machine)

        marked: Callable[[M], None] = invariant()(check_in_turn)
        return marked

    return mark


def steps_between_questions(engine: Engine) -> int:
    """Return after how many steps a machine asks again: after each one in an ordinary run on SQLite."""
    return ASKED_EVERY if VARIABLE in os.environ or engine.dialect is Dialect.POSTGRES else 1


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

    A step on PostgreSQL takes eight times as long, so an ordinary run takes fewer there.
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        on_postgres = engine is not None and engine.dialect is Dialect.POSTGRES
        return fixed_settings(steps // FEWER_ON_POSTGRES if on_postgres else steps, in_a_run=in_a_run)
    # A fault ends it at once: to make its steps fewer takes longer than to find it, and the ids differ each time.
    phases = (Phase.explicit, Phase.generate)
    return settings(fixed_settings(int(asked), in_a_run=in_a_run), derandomize=False, phases=phases)
