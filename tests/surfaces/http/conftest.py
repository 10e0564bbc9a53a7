"""A client of the application for each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from groundplan.kernel.actors import local_actor
from tests.engines import Engine
from tests.surfaces.http.client import HttpClient


@pytest.fixture
def http(engine: Engine) -> Iterator[HttpClient]:
    """Requests of Ada, whom the store trusts."""
    with HttpClient(engine.store, local_actor) as client:
        yield client
