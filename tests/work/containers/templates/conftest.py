"""An organization to have templates, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.work.containers.templates.desk import Templates
from tests.work.desk import ManualClock


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Templates:
    """Ada, a person, in an organization without any template of its own; the clock stands until the test moves it."""
    return Templates(Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON)))


@pytest.fixture
def release(desk: Templates) -> Templates:
    """The same, and there is the template Release."""
    desk.create("Release")
    return desk
