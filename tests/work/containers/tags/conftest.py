"""A project with tags, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.work.containers.tags.desk import Tags
from tests.work.desk import ManualClock


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Tags:
    """Ada, a person, at her empty project atlas; the clock stands until the test moves it."""
    return Tags(engine, Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON))).open()


@pytest.fixture
def other(desk: Tags) -> Tags:
    """Ada at another project of hers, borealis."""
    return Tags(desk.engine, desk.session, "borealis").open()
