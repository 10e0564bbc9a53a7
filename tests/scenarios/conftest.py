"""Servers for agents, on the database of the test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.engines import Engine
from tests.scenarios.agents import Agent, Serve
from tests.standby import Standby


@pytest.fixture
def serve(engine: Engine, program: Standby) -> Iterator[Serve]:
    """Start a server on the engine's database, for a name with a stored role or with other flags."""
    with ExitStack() as servers:

        def start(name: str | None, *flags: str) -> Agent:
            named = ("--agent", name) if name else ()
            return servers.enter_context(Agent(program, engine.db, *(flags or ("--access", "members")), *named))

        yield start
