"""A project to have a purpose, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.engines import Engine, filled_once
from tests.purpose.desk import Purpose
from tests.work.desk import Hands

ADA = local_actor("ada", kind=Kind.PERSON)


@pytest.fixture
def clock() -> Hands:
    """The store's clock."""
    return Hands()


def begin_draft(engine: Engine) -> None:
    """Make the project and begin its draft."""
    purpose = Purpose(Session(engine.store_with_clock(Hands()), ADA))
    purpose.session.call("project.create", name="atlas")
    purpose.draft()


@pytest.fixture
def desk(engine: Engine, clock: Hands) -> Purpose:
    """Ada with an empty draft of the purpose of atlas; the clock stands until the test moves it."""
    filled_once(engine, begin_draft)
    return Purpose(Session(engine.store_with_clock(clock), ADA))
