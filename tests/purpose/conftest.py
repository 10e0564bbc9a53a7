"""A project to have a purpose, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.purpose.desk import Purpose
from tests.work.desk import Hands


@pytest.fixture
def clock() -> Hands:
    """The store's clock."""
    return Hands()


@pytest.fixture
def desk(engine: Engine, clock: Hands) -> Purpose:
    """Ada with an empty draft of the purpose of atlas; the clock stands until the test moves it."""
    purpose = Purpose(Session(engine.store_with_clock(clock), local_actor("ada", kind=Kind.PERSON)))
    purpose.session.call("project.create", name="atlas")
    purpose.draft()
    return purpose
