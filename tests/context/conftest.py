"""A scope to know facts about, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.context.desk import Facts
from tests.engines import Engine
from tests.work.desk import Hands


@pytest.fixture
def clock() -> Hands:
    """The store's clock."""
    return Hands()


@pytest.fixture
def desk(engine: Engine, clock: Hands) -> Facts:
    """Ada, a person, with an empty draft of her scope atlas; the clock stands until the test moves it."""
    facts = Facts(Session(engine.store_with_clock(clock), local_actor("ada", kind=Kind.PERSON)))
    facts.draft()
    return facts
