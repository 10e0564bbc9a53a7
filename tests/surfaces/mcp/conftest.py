"""A server in this process, and its tools."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.surfaces.mcp.connection import GateTools, ThreadConnection


@pytest.fixture
def tools() -> Iterator[GateTools]:
    tools = GateTools()
    yield tools
    tools.release.set()  # a failed test must not leave the worker waiting


@pytest.fixture
def connection(tools: GateTools) -> Iterator[ThreadConnection]:
    with ThreadConnection(tools) as connection:
        yield connection
        tools.release.set()
