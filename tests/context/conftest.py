"""A scope for facts, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.context.client import ContextClient
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def begin_draft(engine: Engine) -> dict[str, str]:
    """Create the draft and return the ids of the client."""
    facts = ContextClient(Session(engine.store_with_clock(ManualClock()), ADA))
    facts.draft()
    return facts.ids


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> ContextClient:
    """Ada, a person, with an empty draft of her scope atlas. The clock stands still until the test moves it."""
    ids = fill_once(engine, begin_draft)
    return ContextClient(Session(engine.store_with_clock(clock), ADA), ids={**ids})
