"""Hypothesis settings of the machines: few fixed steps ordinarily, many new ones in a proof."""

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

# The exceptions of a machine that found a fault. Ids are random, so a fault that depends on their order need
# not show again when Hypothesis repeats the run: once is enough.
NOTICED = (AssertionError, GroundplanError, pytest.fail.Exception, FlakyFailure)


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
    return settings(fixed_settings(int(asked), in_a_run=in_a_run), derandomize=False)
