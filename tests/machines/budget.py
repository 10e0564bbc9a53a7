"""How long machines run, and how they end: a little and always the same ordinarily, as long as one likes in a proof."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.errors import FlakyFailure

from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store.migrations import Dialect
from tests.engines import Engine
from tests.proof import VARIABLE

STEPS_IN_A_RUN = 30
FEWER_ON_POSTGRES = 4

# How a machine ends that noticed something. Ids are random, so a fault that hangs on their order need not show again
# when Hypothesis looks a second time: once will do.
NOTICED = (AssertionError, GroundplanError, pytest.fail.Exception, FlakyFailure)


def always(steps: int, *, in_a_run: int = STEPS_IN_A_RUN) -> settings:
    """So many steps in all, the same ones each time."""
    return settings(
        max_examples=max(1, steps // in_a_run),
        stateful_step_count=in_a_run,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def budget(steps: int, *, in_a_run: int = STEPS_IN_A_RUN, engine: Engine | None = None) -> settings:
    """The same, unless the environment asks for a proof: then as many as it says, and new ones each time.

    A step on PostgreSQL takes eight times as long, so that an ordinary run takes fewer of them there.
    """
    asked = os.environ.get(VARIABLE)
    if asked is None:
        on_postgres = engine is not None and engine.dialect is Dialect.POSTGRES
        return always(steps // FEWER_ON_POSTGRES if on_postgres else steps, in_a_run=in_a_run)
    return settings(always(int(asked), in_a_run=in_a_run), derandomize=False)
