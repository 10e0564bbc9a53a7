"""A project for knowledge, on each engine. After each test, the word index is compared with the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine, fill_once
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.rows import assert_index_matches_rows
from tests.manual_clock import ManualClock

ADA = local_actor("ada", kind=ActorKind.PERSON)


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


def open_atlas(engine: Engine) -> KnowledgeClient:
    """Create the project with some tasks."""
    return KnowledgeClient(Session(engine.store_with_clock(ManualClock()), ADA)).open()


def crowd_atlas(engine: Engine) -> KnowledgeClient:
    """Create the project with some knowledge, and another project."""
    desk = open_atlas(engine)
    desk.molecule("Shop", knowledge="All of it is idempotent.")
    desk.molecule("Pages")
    desk.atom("Cart", "src/cart/**", knowledge="Prices come from outside.", moleculeId="Shop")
    desk.atom("Alone", "src/alone.ts", relatedAtoms={"Cart": "fills it"})
    desk.atom("Gone")
    desk.delete("Gone")
    other = desk.create_project("borealis")
    other.molecule("their molecule")
    other.atom("their atom", "src/cart/**", knowledge="the canary sings")
    desk.ids |= {"their task": other.ids["plan"]} | {name: other.ids[name] for name in ("their molecule", "their atom")}
    return desk


@contextmanager
def open_client(
    engine: Engine, clock: ManualClock, fill: Callable[[Engine], KnowledgeClient]
) -> Iterator[KnowledgeClient]:
    """Yield Ada, a person, at her project atlas as it was filled. The clock stands still until the test moves it."""
    opened = fill_once(engine, fill)
    desk = KnowledgeClient(Session(engine.store_with_clock(clock), ADA), ids={**opened.ids})
    desk.project_id = opened.project_id
    yield desk
    assert_index_matches_rows(engine)


@pytest.fixture
def client(request: pytest.FixtureRequest, engine: Engine, clock: ManualClock) -> Iterator[KnowledgeClient]:
    """Ada at her project; it is empty unless the test uses `crowded_project`."""
    with open_client(engine, clock, crowd_atlas if "crowded_project" in request.fixturenames else open_atlas) as desk:
        yield desk


@pytest.fixture
def crowded_project(client: KnowledgeClient) -> KnowledgeClient:
    """Shop with Cart in it, Alone without a molecule, Gone, which was deleted; and another actor's project."""
    return client
