"""A project whose sections are written, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, filled_once
from tests.work.containers.sections.desk import Sections
from tests.work.desk import ManualClock

ADA = local_actor("ada", kind=ActorKind.PERSON)


def open_atlas(engine: Engine) -> dict[str, str]:
    """Make the project with the tasks and the feature; the ids by name."""
    return Sections(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open().ids


@pytest.fixture
def desk(engine: Engine, clock: ManualClock) -> Sections:
    """Ada, a person, at her project atlas with the tasks walk and draw and the feature coast; the clock stands."""
    ids = filled_once(engine, open_atlas)
    return Sections(engine, Session(engine.store_with_clock(clock), ADA), ids={**ids})


def add_three(engine: Engine) -> dict[str, str]:
    """Make the project and add the sections; the ids by name."""
    desk = Sections(engine, Session(engine.store_with_clock(ManualClock()), ADA)).open()
    for title in ("One", "Two", "Three"):
        desk.add(title, content=f"of {title}")
    return desk.ids


@pytest.fixture
def three(engine: Engine, clock: ManualClock) -> Sections:
    """The same desk, and walk has the sections One, Two and Three."""
    ids = filled_once(engine, add_three)
    return Sections(engine, Session(engine.store_with_clock(clock), ADA), ids={**ids})
