"""A project to work in, on either engine. After every test that used it, what is kept is compared with the facts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, filled_once
from tests.work.desk import ManualClock, Work
from tests.work.recount import nodes, recomputed, stored

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def open_atlas(engine: Engine) -> dict[str, str]:
    """Open the project; the ids by name."""
    desk = Work(Session(engine.store_with_clock(ManualClock()), ADA))
    desk.open(goal="a map of everything")
    return desk.ids


@pytest.fixture
def work(engine: Engine, clock: ManualClock) -> Iterator[Work]:
    """Ada, a person, at her empty project atlas; the clock stands until the test moves it."""
    ids = filled_once(engine, open_atlas)
    yield Work(Session(engine.store_with_clock(clock), ADA), ids={**ids})
    rows = nodes(engine)
    assert stored(engine, rows) == recomputed(engine, rows)
