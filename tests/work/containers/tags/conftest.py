"""A project with tags, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.work.containers.tags.client import TagsClient


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> TagsClient:
    """Ada, a person, at her empty project atlas. The clock stands still until the test moves it."""
    return TagsClient(engine, Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON))).open()


@pytest.fixture
def other_project(client: TagsClient) -> TagsClient:
    """Ada at her other project borealis."""
    return TagsClient(client.engine, client.session, "borealis").open()
