"""A project with work and a purpose, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.briefing.line.client import PlanClient
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock

WELL = "dig -> well -> water -> health"  # AC1, OP1, OC1 and G1
ADA = local_actor("ada", kind=ActorKind.PERSON)


def fill_atlas(engine: Engine) -> dict[str, str]:
    """Create the project with a draft of a theory and a tree of work; return the ids of the nodes by name."""
    plan = PlanClient(Session(engine.store_with_clock(ManualClock()), ADA))
    plan.work.open(goal="water for everybody")
    plan.purpose.draft()
    plan.purpose.draw(WELL)
    plan.work.plan(
        """
        phase
          drill
            rent
            train
          pump
        loose
        """
    )
    return plan.work.ids


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


@pytest.fixture
def plan(engine: Engine, clock: ManualClock) -> PlanClient:
    """Ada at atlas: dig leads to health, and the work has a tree below phase and a loose node."""
    ids = fill_once(engine, fill_atlas)
    made = PlanClient(Session(engine.store_with_clock(clock), ADA))
    made.work.ids.update(ids)
    return made
