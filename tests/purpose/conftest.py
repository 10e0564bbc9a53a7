"""A project to have a purpose, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.desk import Purpose

WELL = "dig -> well -> water -> health"
ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def begin_draft(engine: Engine) -> None:
    """Make the project and begin its draft."""
    purpose = Purpose(Session(engine.store_with_clock(ManualClock()), ADA))
    purpose.session.call("project.create", name="atlas")
    purpose.draft()


def draw_well(engine: Engine) -> None:
    """Make the project and begin its draft with a chain."""
    begin_draft(engine)
    Purpose(Session(engine.store_with_clock(ManualClock()), ADA)).draw(WELL)


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Purpose:
    """Ada with an empty draft of the purpose of atlas; the clock stands until the test moves it."""
    fill_once(engine, begin_draft)
    return Purpose(Session(engine.store_with_clock(clock), ADA))


@pytest.fixture
def drawn(engine: Engine, clock: ManualClock) -> Purpose:
    """The same with a chain in the draft: AC1, OP1, OC1 and G1."""
    fill_once(engine, draw_well)
    return Purpose(Session(engine.store_with_clock(clock), ADA))
