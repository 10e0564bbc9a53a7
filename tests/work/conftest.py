"""A project on each engine. After every test, the stored derived columns are compared with recomputed ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.work.client import WorkClient
from tests.work.derived_columns import read_derived, read_nodes, recompute_derived

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def open_atlas(engine: Engine) -> dict[str, str]:
    """Open the project and return its ids by name."""
    desk = WorkClient(Session(engine.store_with_clock(ManualClock()), ADA))
    desk.open(goal="a map of everything")
    return desk.ids


@pytest.fixture
def work(engine: Engine, clock: ManualClock) -> Iterator[WorkClient]:
    """Ada, a person, at her empty project atlas. The clock stands still until the test moves it."""
    ids = fill_once(engine, open_atlas)
    yield WorkClient(Session(engine.store_with_clock(clock), ADA), ids={**ids})
    rows = read_nodes(engine)
    assert read_derived(engine, rows) == recompute_derived(engine, rows)
