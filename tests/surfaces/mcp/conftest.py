"""A server in this process, and the tools behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.surfaces.mcp.peer import GateTools, Peer


@pytest.fixture
def tools() -> Iterator[GateTools]:
    tools = GateTools()
    yield tools
    tools.release.set()  # a failed test must not leave the worker waiting


@pytest.fixture
def peer(tools: GateTools) -> Iterator[Peer]:
    with Peer(tools) as peer:
        yield peer
        tools.release.set()
