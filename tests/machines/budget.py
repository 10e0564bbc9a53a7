"""How long machines run: a little and always the same in the ordinary tests, as long as one likes in a proof."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

VARIABLE = "GROUNDPLAN_PROOF_STEPS"  # how many steps each machine takes on each store
STEPS_IN_A_RUN = 30


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


def budget(steps: int, *, in_a_run: int = STEPS_IN_A_RUN) -> settings:
    """The same, unless the environment asks for a proof: then as many as it says, and new ones each time."""
    asked = os.environ.get(VARIABLE)
    if asked is None:
        return always(steps, in_a_run=in_a_run)
    return settings(always(int(asked), in_a_run=in_a_run), derandomize=False)
