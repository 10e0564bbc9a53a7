"""The project that the watch looks at."""

from __future__ import annotations

import pytest

from groundplan.session import Session
from tests.briefing.watch.watch_project import Watch, fill
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.conftest import ADA


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def atlas(engine: Engine, clock: ManualClock) -> Watch:
    fill_once(engine, fill)
    return Watch(Session(engine.store_with_clock(clock), ADA), clock)
