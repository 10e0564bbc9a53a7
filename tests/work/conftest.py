"""A project to work in, on either engine. After every test that used it, what is kept is compared with the facts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.work.desk import Hands, Work
from tests.work.recount import recomputed, stored


@pytest.fixture
def clock() -> Hands:
    """The store's clock."""
    return Hands()


@pytest.fixture
def work(engine: Engine, clock: Hands) -> Iterator[Work]:
    """Ada, a person, at her empty project atlas; the clock stands until the test moves it."""
    session = Session(engine.store_with_clock(clock), local_actor("ada", kind=Kind.PERSON))
    desk = Work(session)
    desk.open(goal="a map of everything")
    yield desk
    assert stored(engine) == recomputed(engine)
