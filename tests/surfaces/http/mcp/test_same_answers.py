"""Every tool and every prompt answers over HTTP with the bytes of stdio."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from groundplan import __version__
from groundplan.catalog import OPERATIONS
from groundplan.kernel.answers import ANSWER_TOKENS_MAX
from groundplan.kernel.operations.registry import Effect, Group
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.session import Session
from groundplan.setting_values import TOOL_GROUPS
from groundplan.skills import SKILL_NAMES
from groundplan.surfaces.mcp.connection import Connection
from groundplan.surfaces.mcp.instructions import build_instructions
from groundplan.surfaces.mcp.tools import RegistryTools
from groundplan.surfaces.vocabularies import McpVocabulary
from tests.access.examples import ROWS, example
from tests.access.test_matrix import placeholder_values, populate_with_purpose
from tests.engines import Engine, SqliteEngine, fill_once
from tests.kernel.tokens.holders import authenticate_token
from tests.manual_clock import ManualClock
from tests.surfaces.http.mcp.client import HANDSHAKE, McpClient, build, create_token
from tests.surfaces.mcp.connection import envelope

CLOCK = ManualClock()


class StdioClient:
    """The protocol of stdio without its pipes: each message is answered at once."""

    def __init__(self, store: Store, token: str) -> None:
        preferences = Preferences(vocabulary=McpVocabulary(OPERATIONS), answer_tokens_max=ANSWER_TOKENS_MAX)
        session = Session(store, authenticate_token(store, token), preferences=preferences)
        self._tools = RegistryTools(OPERATIONS, set(Group), session.execute)

    def result(self, method: str, params: dict[str, Any], *, stateless: bool) -> Any:
        """Return the result of a request on a new connection."""
        sent: list[Any] = []
        connection = Connection(__version__, instructions=build_instructions(self._tools.groups))
        if not stateless:
            connection.receive(build("initialize", {"protocolVersion": HANDSHAKE}, "first"), sent.append)
        for call in connection.receive(build(method, envelope(**params) if stateless else params), sent.append):
            connection.perform(call, self._tools)
        return sent[-1]["result"]


class RepeatedRandomness:
    """Random bytes that are the same for each request with the same seed.

    Each size has a sequence of its own, because the first write to a file also marks its log, with another size.
    """

    def __init__(self) -> None:
        self._seed = ""
        self._by_size: dict[int, random.Random] = {}

    def restart(self, seed: str) -> None:
        self._seed = seed
        self._by_size = {}

    def urandom(self, size: int) -> bytes:
        if size not in self._by_size:
            self._by_size[size] = random.Random(f"{size} {self._seed}")  # noqa: S311 - it must repeat itself
        return self._by_size[size].randbytes(size)


@dataclass
class TwoClients:
    """The same plan over stdio and over HTTP."""

    stdio: StdioClient
    http: McpClient
    session: str
    randomness: RepeatedRandomness

    def ask(self, method: str, params: dict[str, Any], *, stateless: bool = False) -> tuple[Any, Any]:
        """Return both results."""
        self.randomness.restart(f"{method} {params}")
        over_stdio = self.stdio.result(method, params, stateless=stateless)
        self.randomness.restart(f"{method} {params}")
        session = None if stateless else self.session
        return over_stdio, self.http.result(method, params, session=session)


@contextmanager
def connect(one: Store, other: Store, token: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TwoClients]:
    randomness = RepeatedRandomness()
    monkeypatch.setattr(os, "urandom", randomness.urandom)
    with McpClient(other, token, tool_groups=TOOL_GROUPS) as http:
        yield TwoClients(StdioClient(one, token), http, http.open_session(), randomness)


def fill(engine: Engine) -> str:
    populate_with_purpose(engine)
    return create_token(engine.store)


def list_calls(engine: Engine, *, writes: bool) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool and the arguments of each example; what destroys something comes last."""
    named = placeholder_values(engine, "atlas", "ada")
    vocabulary = McpVocabulary(OPERATIONS)
    rows = [row for row in ROWS.values() if row.requested.tool and (row.handled.effect is not Effect.READ) is writes]
    rows.sort(key=lambda row: row.handled.effect is Effect.DESTROY)
    calls = [vocabulary.call(row.requested.name, example(row.name, named)) for row in rows]
    return [(call["tool"], call["arguments"]) for call in calls]


def find_differences(clients: TwoClients, calls: list[tuple[str, dict[str, Any]]]) -> tuple[set[str], dict[str, Any]]:
    """Call each tool, and return those that answered without an error, and the answers that differ."""
    succeeded, different = set(), {}
    for place, (tool, arguments) in enumerate(calls):
        params = {"name": tool, "arguments": arguments}
        stdio, http = clients.ask("tools/call", params, stateless=place % 2 == 0)
        if stdio != http or stdio["content"][0]["text"].encode() != http["content"][0]["text"].encode():
            different[f"{tool} {arguments}"] = (stdio, http)
        if not stdio["isError"]:
            succeeded.add(tool)
    return succeeded, different


@pytest.mark.slow
def test_every_tool_answers_with_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two copies of one file, which stay the same as long as the answers do.
    with closing(SqliteEngine(tmp_path / "one.db")) as first, closing(SqliteEngine(tmp_path / "other.db")) as second:
        fill_once(first, fill)
        token = fill_once(second, fill)
        first.close()
        stores = [SqliteEngine.another_store(one, clock=CLOCK, uptime=CLOCK.uptime) for one in (first, second)]
        with connect(stores[0], stores[1], token, monkeypatch) as clients:
            calls = [*list_calls(second, writes=False), *list_calls(second, writes=True)]
            succeeded, different = find_differences(clients, calls)
            listed = {tool["name"] for tool in clients.http.result("tools/list")["tools"]}

    assert not different
    assert {tool for tool, _ in calls} == listed
    assert len(succeeded) > 0.8 * len(listed)  # some examples come too late, after another has ended their task


def test_reads_answer_with_the_same_bytes_on_both_engines(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    token = fill_once(engine, fill)
    store = engine.store_with_clock(CLOCK)
    with connect(store, store, token, monkeypatch) as clients:
        succeeded, different = find_differences(clients, list_calls(engine, writes=False))

    assert not different
    assert succeeded


@pytest.mark.parametrize("stateless", [False, True], ids=["handshake", "stateless"])
def test_lists_prompts_and_errors_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stateless: bool
) -> None:
    with closing(SqliteEngine(tmp_path / "plan.db")) as lite:
        token = create_token(lite.store)
        asked: list[tuple[str, dict[str, Any]]] = [
            ("tools/list", {}),
            ("prompts/list", {}),
            *(("prompts/get", {"name": name}) for name in SKILL_NAMES),
            ("tools/call", {"name": "graph_context", "arguments": {"node_id": "qqqq00"}}),
            ("tools/call", {"name": "graph_context", "arguments": {"no_such": 1}}),
            *([("server/discover", {})] if stateless else []),
        ]
        with connect(lite.store, lite.store, token, monkeypatch) as clients:
            answers = [clients.ask(method, params, stateless=stateless) for method, params in asked]

    assert [stdio for stdio, _ in answers] == [http for _, http in answers]
