"""An organization for templates, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.engines import Engine
from tests.manual_clock import ManualClock
from tests.work.containers.templates.client import TemplatesClient


@pytest.fixture
def client(engine: Engine, clock: ManualClock) -> TemplatesClient:
    """Ada, a person, in an organization without own templates. The clock stands still until the test moves it."""
    return TemplatesClient(Session(engine.store_with_clock(clock), local_actor("ada", kind=ActorKind.PERSON)))


@pytest.fixture
def release_template(client: TemplatesClient) -> TemplatesClient:
    """The same client; the template Release exists."""
    client.create("Release")
    return client
