"""A project to know things about, on either engine. After each test, the index of words is compared with the facts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.knowledge.desk import Knowledge
from tests.knowledge.rows import compare_with_the_facts
from tests.manual_clock import ManualClock

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def open_atlas(engine: Engine) -> Knowledge:
    """Make the project, with some tasks."""
    return Knowledge(Session(engine.store_with_clock(ManualClock()), ADA)).open()


def crowd_atlas(engine: Engine) -> Knowledge:
    """Make the project with some knowledge, and another project."""
    desk = open_atlas(engine)
    desk.molecule("Shop", knowledge="All of it is idempotent.")
    desk.molecule("Pages")
    desk.atom("Cart", "src/cart/**", knowledge="Prices come from outside.", moleculeId="Shop")
    desk.atom("Alone", "src/alone.ts", relatedAtoms={"Cart": "fills it"})
    desk.atom("Gone")
    desk.delete("Gone")
    other = desk.beside("borealis")
    other.molecule("their molecule")
    other.atom("their atom", "src/cart/**", knowledge="the canary sings")
    desk.ids |= {"their task": other.ids["plan"]} | {name: other.ids[name] for name in ("their molecule", "their atom")}
    return desk


@contextmanager
def atlas(engine: Engine, clock: ManualClock, fill: Callable[[Engine], Knowledge]) -> Iterator[Knowledge]:
    """Ada, a person, at her project atlas as it was filled; the clock stands until the test moves it."""
    opened = fill_once(engine, fill)
    desk = Knowledge(Session(engine.store_with_clock(clock), ADA), ids={**opened.ids})
    desk.project_id = opened.project_id
    yield desk
    compare_with_the_facts(engine)


@pytest.fixture
def desk(request: pytest.FixtureRequest, engine: Engine, clock: ManualClock) -> Iterator[Knowledge]:
    """Ada at her project, which is empty unless it is crowded."""
    with atlas(engine, clock, crowd_atlas if "crowded" in request.fixturenames else open_atlas) as desk:
        yield desk


@pytest.fixture
def crowded(desk: Knowledge) -> Knowledge:
    """Shop with Cart in it, Alone in none, Gone, which was deleted; and somebody else's things in another project."""
    return desk
