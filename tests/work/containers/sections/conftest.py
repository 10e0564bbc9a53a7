"""A project with tasks and sections, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.work.containers.sections.client import SectionsClient

ADA = local_actor("ada", kind=ActorKind.PERSON)


def open_atlas(engine: Engine) -> dict[str, str]:
    """Create the project with its tasks and its feature; return the ids by name."""
    return SectionsClient(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open().ids


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> SectionsClient:
    """Ada, a person, at her project atlas with the tasks walk and draw and the feature coast. The clock stands."""
    ids = fill_once(engine, open_atlas)
    return SectionsClient(engine, Session(engine.store_with_clock(clock), ADA), ids={**ids})


def add_three(engine: Engine) -> dict[str, str]:
    """Create the project with its sections; return the ids by name."""
    desk = SectionsClient(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open()
    for title in ("One", "Two", "Three"):
        desk.add(title, content=f"of {title}")
    return desk.ids


@pytest.fixture
def three_sections(engine: Engine, clock: ManualClock) -> SectionsClient:
    """The same client; the task walk has the sections One, Two and Three."""
    ids = fill_once(engine, add_three)
    return SectionsClient(engine, Session(engine.store_with_clock(clock), ADA), ids={**ids})
