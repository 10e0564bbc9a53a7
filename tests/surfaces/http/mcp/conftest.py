"""A client of MCP over HTTP for each engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import Engine
from tests.surfaces.http.mcp.client import McpClient, create_token


@pytest.fixture
def mcp(engine: Engine) -> Iterator[McpClient]:
    """Requests of Ada, whom the store trusts."""
    with McpClient(engine.store, create_token(engine.store)) as client:
        yield client
