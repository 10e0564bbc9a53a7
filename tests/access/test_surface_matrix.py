"""One matrix for every surface: each operation, asked by everybody, in both organizations, has the status of the table.

The server is the whole one, and each request bears the token of its sender. A write runs to its end and is then
rolled back, so all requests share one database and come in any order; test_matrix.py commits them. `make proof` sends
every request, `make test` the part of this day (`--teeth`).
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from groundplan.__main__ import main
from groundplan.catalog import OPERATIONS
from groundplan.kernel.access import Permission
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.store import authorize
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.postgres.store import PostgresStore
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.sqlite.store import SqliteStore
from groundplan.setting_values import TOOL_GROUPS
from groundplan.surfaces.http import authentication
from groundplan.surfaces.vocabularies import HttpVocabulary, McpVocabulary, spell_command
from tests import teeth
from tests.access.examples import ROWS, example
from tests.access.permissions import RULES
from tests.access.test_matrix import creates_project
from tests.access.two_organizations import Caller, Cell, expected_status, find_names, list_cells, populate
from tests.engines import Engine, SqliteEngine, fill_once
from tests.kernel.tokens.holders import authenticate_token
from tests.surfaces.http.mcp.client import McpClient

SURFACES = ("python", "rest", "mcp")
# By the code of an error: a tool does not tell the status of its family.
STATUSES = {
    "agent_not_allowed": 403,
    "forbidden": 403,
    "not_found": 404,
    "pciv_scope_already_initialized": 409,
    "project_exists": 409,
    "provenance_not_allowed": 422,
}
Send = Callable[[Cell, dict[str, str]], int]  # a request with names for its placeholders → status


@contextmanager
def discard_writes() -> Iterator[None]:
    """Roll every write back after it ran, also one of a store that a command opens."""

    def discard(write_once: Any) -> Any:
        def run_and_discard(store: Any, actor: Any, run: Any, cancellation: Any) -> Any:
            def run_in(tx: Any) -> Any:
                answer = run(tx)
                tx.discarded = True
                return answer

            try:
                return write_once(store, actor, run_in, cancellation)
            finally:
                store.cache.clear()  # it may hold what was rolled back

        return run_and_discard

    with pytest.MonkeyPatch.context() as patched:
        for kind in (SqliteStore, PostgresStore):
            patched.setattr(kind, "_write_once", discard(kind._write_once))
        yield


class Surfaces:
    """The whole server on a filled database, and the ways to ask it."""

    def __init__(self, engine: Engine, tokens: dict[Caller, str]) -> None:
        self._engine, self._tokens = engine, tokens
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(authentication, "REFUSAL_BURST", 1_000_000)  # the anonymous requests have one address
            self._server = McpClient(engine.store, "", tool_groups=TOOL_GROUPS)
        self._actors = {caller: authenticate_token(engine.store, secret) for caller, secret in tokens.items()}
        self._tools = McpVocabulary(OPERATIONS)

    def close(self) -> None:
        self._server.close()

    def send_python(self, cell: Cell, names: dict[str, str]) -> int:
        try:
            session = self._engine.session(self._actors.get(cell.caller))
            session.call(ROWS[cell.row].requested.name, **example(cell.row, names))
        except GroundplanError as refusal:
            return refusal.status
        return 200

    def send_rest(self, cell: Cell, names: dict[str, str]) -> int:
        row = ROWS[cell.row]
        operation = (row.handled if row.handled.http else row.requested).name
        project = names["project"] if RULES[cell.row].in_project and not creates_project(cell.row) else None
        request = HttpVocabulary(OPERATIONS, project).call(operation, example(cell.row, names))
        body = json.dumps(request["body"]).encode() if "body" in request else b""
        headers = {"content-type": "application/json"} if body else {}
        headers |= self._authorize(cell.caller)
        status = self._server.send_bytes(request["method"], request["path"], body, headers).status
        return 200 if status == 201 else status

    def send_mcp(self, cell: Cell, names: dict[str, str]) -> int:
        call = self._tools.call(ROWS[cell.row].requested.name, example(cell.row, names))
        request = {"name": call["tool"], "arguments": call["arguments"]}
        headers = {"authorization": None, **self._authorize(cell.caller)}
        reply = self._server.ask("tools/call", request, **headers)
        if reply.status != 200:
            return reply.status
        result = reply.json["result"]
        return find_status(result["content"][0]["text"]) if result["isError"] else 200

    def send_cli(self, cell: Cell, names: dict[str, str]) -> int:
        return self.run_command(
            cell.caller, ("op", ROWS[cell.row].requested.name, json.dumps(example(cell.row, names)))
        )

    def send_words(self, cell: Cell, names: dict[str, str]) -> int:
        _, *words = shlex.split(spell_command(ROWS[cell.row].requested, example(cell.row, names)))
        return self.run_command(cell.caller, words)

    def run_command(self, caller: Caller, words: Sequence[str]) -> int:
        """Run a command and return the status of its answer."""
        who, organization = caller
        named = ("--agent" if who == "bot" else "--person", who, "--org", str(organization), "--access", "members")
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()) as printed:
            code = main([*words, "--db", self._engine.db, *named, "--json"])
        return 200 if code == 0 else find_status(printed.getvalue().splitlines()[-1])

    def _authorize(self, caller: Caller) -> dict[str, str]:
        return {"authorization": f"Bearer {self._tokens[caller]}"} if caller in self._tokens else {}


def find_status(text: str) -> int:
    """Return the status of an error of a tool; 0 if no cell should have this code."""
    error = json.loads(text)["error"]
    return STATUSES.get(error.get("details", {}).get("reason", error["code"]), 0)


def list_todays_cells(part: str, dialect: Dialect = Dialect.SQLITE) -> list[Cell]:
    """Return a part of the matrix, `3/5` or `all`: other cells every day, spread over rows and callers.

    On PostgreSQL it is a fifth of that, because a request costs eight times as much; another one every five days.
    """
    cells = list(list_cells())
    if part == teeth.ALL:
        return cells
    number, parts = map(int, part.split("/"))
    hashes = {cell: crc32(repr(cell).encode()) for cell in cells}
    of_part = [cell for cell in cells if hashes[cell] % parts == number - 1]
    if dialect is Dialect.SQLITE:
        return of_part
    turn = datetime.now(UTC).toordinal() // parts % parts
    return [cell for cell in of_part if hashes[cell] // parts % parts == turn]


def expected_on(surface: str, cell: Cell) -> int:
    """Return the status of a cell on a surface."""
    expected = expected_status(cell)
    if (
        surface in ("cli", "words")
        and cell.caller.who == "bot"
        and RULES[cell.row].permission is Permission.PROJECT_CREATE
    ):
        return 403  # nobody is responsible for it, as whoever issued its token is on the other surfaces
    if surface == "rest" and cell.row in ("work.open", "work.open as work.configure") and expected in (200, 409):
        # GET and PATCH of a missing project do not create it, so its name is not taken either.
        is_missing = cell.is_foreign or cell.caller.who == "finn"
        return 404 if is_missing else expected
    return expected


def find_differences(engine: Engine, surface: str, cells: list[Cell]) -> dict[Cell, tuple[int, int]]:
    """Return the cells whose status is not that of the permission table, with both."""
    tokens = fill_once(engine, populate)
    names = {(caller, asked): find_names(engine, caller, asked) for _, caller, asked in cells}
    found = {}
    with closing(Surfaces(engine, tokens)) as surfaces, discard_writes():
        send: Send = getattr(surfaces, f"send_{surface}")
        for cell in cells:
            if surface == "mcp" and ROWS[cell.row].requested.tool is None:
                continue
            status = send(cell, names[cell.caller, cell.asked])
            if status != expected_on(surface, cell):
                found[cell] = (status, expected_on(surface, cell))
    return found


@pytest.mark.slow
@pytest.mark.proof
@pytest.mark.parametrize("surface", SURFACES)
def test_everybody_gets_the_status_of_the_permission_table_in_both_organizations(
    engine: Engine, surface: str, request: pytest.FixtureRequest
) -> None:
    cells = list_todays_cells(request.config.option.teeth, engine.dialect)

    assert find_differences(engine, surface, cells) == {}


@pytest.mark.slow
@pytest.mark.parametrize("surface", ["rest", "mcp", "cli", "words"])
def test_an_agent_is_refused_the_same_on_every_surface(engine: Engine, surface: str) -> None:
    cells = [cell for cell in list_cells() if cell.caller == Caller("bot", "local") and cell.asked == "local"]

    assert {cell.row for cell in cells} == ROWS.keys()
    assert find_differences(engine, surface, cells) == {}


def test_the_parts_of_the_matrix_are_the_whole() -> None:
    parts = [list_todays_cells(f"{number}/{teeth.PARTS}") for number in range(1, teeth.PARTS + 1)]

    assert sorted(cell for part in parts for cell in part) == sorted(list_cells())
    assert max(map(len, parts)) < 1.2 * min(map(len, parts))


# --- Sabotage --------------------------------------------------------------------------------------------------------


@pytest.fixture
def lite(tmp_path: Path) -> Iterator[SqliteEngine]:
    """SQLite alone, where no policy of the database hides what Python forgets."""
    with closing(SqliteEngine(tmp_path / "filled.db")) as filled:
        fill_once(filled, populate)  # before a guard is switched off; the test loads what was dumped
    with closing(SqliteEngine(tmp_path / "plan.db")) as made:
        yield made


@pytest.mark.teeth
@pytest.mark.parametrize("surface", SURFACES)
def test_the_matrix_notices_a_role_that_has_more_than_its_permissions(
    lite: SqliteEngine, monkeypatch: pytest.MonkeyPatch, surface: str
) -> None:
    monkeypatch.setattr(authorize, "allows", lambda *_given: True)
    cells = [cell for cell in list_cells() if cell.row == "work.plan"]

    assert {(cell.caller.who, *found) for cell, found in find_differences(lite, surface, cells).items()} == {
        ("cleo", 200, 403)
    }


@pytest.mark.teeth
@pytest.mark.parametrize("surface", SURFACES)
def test_the_matrix_notices_a_project_that_is_looked_up_without_its_tenant(
    lite: SqliteEngine, monkeypatch: pytest.MonkeyPatch, surface: str
) -> None:
    blind = authorize.sql.projects_for_actor.sqlite.replace("p.tenant_id = :tenant_id", ":tenant_id = :tenant_id")
    monkeypatch.setattr(authorize.sql, "projects_for_actor", Query("projects_for_actor", blind))
    cells = [cell for cell in list_cells() if cell.row == "member.list"]

    assert any(cell.is_foreign for cell in find_differences(lite, surface, cells))
