"""A project whose sections are written, on either engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import Kind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.work.containers.sections.desk import Sections
from tests.work.desk import Hands


@pytest.fixture
def desk(engine: Engine, clock: Hands) -> Sections:
    """Ada, a person, at her project atlas with the tasks walk and draw and the feature coast; the clock stands."""
    session = Session(engine.store_with_clock(clock), local_actor("ada", kind=Kind.PERSON))
    return Sections(engine, session).open()


@pytest.fixture
def three(desk: Sections) -> Sections:
    """The same, and walk has the sections One, Two and Three."""
    for title in ("One", "Two", "Three"):
        desk.add(title, content=f"of {title}")
    return desk
