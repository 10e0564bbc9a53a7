"""A scope to know facts about, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.context.desk import Facts
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def begin_draft(engine: Engine) -> dict[str, str]:
    """Begin the draft; what the test has in hand then."""
    facts = Facts(Session(engine.store_with_clock(ManualClock()), ADA))
    facts.draft()
    return facts.hand


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Facts:
    """Ada, a person, with an empty draft of her scope atlas; the clock stands until the test moves it."""
    hand = fill_once(engine, begin_draft)
    return Facts(Session(engine.store_with_clock(clock), ADA), hand={**hand})
