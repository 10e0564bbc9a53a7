"""A project with a purpose, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.client import PurposeClient

WELL = "dig -> well -> water -> health"
ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def begin_draft(engine: Engine) -> None:
    """Create the project and its draft."""
    purpose = PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA))
    purpose.session.call("project.create", name="atlas")
    purpose.draft()


def draw_well(engine: Engine) -> None:
    """Create the project and a draft with a chain."""
    begin_draft(engine)
    PurposeClient(Session(engine.store_with_clock(ManualClock()), ADA)).draw(WELL)


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> PurposeClient:
    """Ada with an empty draft of the purpose of atlas. The clock stands still until the test moves it."""
    fill_once(engine, begin_draft)
    return PurposeClient(Session(engine.store_with_clock(clock), ADA))


@pytest.fixture
def chain_client(engine: Engine, clock: ManualClock) -> PurposeClient:
    """The same with a chain in the draft: AC1, OP1, OC1 and G1."""
    fill_once(engine, draw_well)
    return PurposeClient(Session(engine.store_with_clock(clock), ADA))
