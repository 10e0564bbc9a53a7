"""One set of tests for both engines: what asks for `engine` or `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from groundplan.kernel.store.store import Store
from tests import teeth
from tests.engines import Engine, PostgresEngine, SqliteEngine
from tests.postgres import Server, attach, start_server
from tests.standby import Standby, standby

MEMORY = Path("/dev/shm")  # noqa: S108 - pytest makes a folder of its own inside
MEMORY_BYTES_MIN = 1 << 30
ROOT_OF_FILES = "PYTEST_DEBUG_TEMPROOT"  # pytest's own variable; --basetemp goes before it
ON_POSTGRES = {"postgres", "postgres_engine", "team"}  # what asks for one of them has nothing to do without a server

_SERVER = pytest.StashKey[Server]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=["sqlite", "postgres", "both"], default="both", help="which engines to test on")
    parser.addoption("--teeth", default=teeth.ALL, help="which sabotage tests to run: all, today's part, or 1/5 to 5/5")


def pytest_configure(config: pytest.Config) -> None:
    config.option.teeth = teeth.part(config.option.teeth)  # before the workers are told: the day may end meanwhile
    if has_room(MEMORY):
        os.environ.setdefault(ROOT_OF_FILES, str(MEMORY))
    # One server for all workers: the controller starts it, and the workers are told where it is.
    if config.getoption("--store") != "sqlite":
        given = getattr(config, "workerinput", {}).get("postgres")
        config.stash[_SERVER] = attach(given) if given else start_server()


def has_room(folder: Path) -> bool:
    """Whether tests can have their files there. On a disk SQLite waits for it at each commit, as it should."""
    if not os.access(folder, os.W_OK | os.X_OK):
        return False
    found = os.statvfs(folder)
    runs_programs = not found.f_flag & os.ST_NOEXEC  # some tests make one
    return runs_programs and found.f_bavail * found.f_frsize >= MEMORY_BYTES_MIN


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:  # xdist is not typed
    if _SERVER in node.config.stash:
        node.workerinput["postgres"] = node.config.stash[_SERVER].address


def pytest_unconfigure(config: pytest.Config) -> None:
    if _SERVER in config.stash:
        config.stash[_SERVER].stop()  # does nothing in a worker


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    only = config.getoption("--store")
    other = {"sqlite": "postgres", "postgres": "sqlite"}.get(only)

    def is_of_other(item: pytest.Item) -> bool:
        callspec = getattr(item, "callspec", None)
        asks_for_server = other == "postgres" and not ON_POSTGRES.isdisjoint(getattr(item, "fixturenames", ()))
        return asks_for_server or (callspec is not None and callspec.params.get("engine") == other)

    left_out = teeth.not_in(config.option.teeth, items) | {item for item in items if other and is_of_other(item)}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.teeth != teeth.ALL:
        terminalreporter.line(f"sabotage tests: part {config.option.teeth}; all of them run in `make proof`")


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Server:
    """A real PostgreSQL. Without one this fails, and so does the test."""
    return request.config.stash[_SERVER]


@pytest.fixture(scope="session")
def worker(request: pytest.FixtureRequest) -> str:
    """A name that no other process of this test run has."""
    return f"{getattr(request.config, 'workerinput', {}).get('workerid', 'main')}_{os.getpid()}"


@pytest.fixture(scope="session")
def program() -> Iterator[Standby]:
    """The program, started by a fork of one that has read its modules already."""
    with standby() as made:
        yield made


@pytest.fixture(scope="session")
def postgres_engine(request: pytest.FixtureRequest) -> Iterator[PostgresEngine]:
    """One database for each worker, emptied between tests."""
    server: Server = request.getfixturevalue("postgres")
    with PostgresEngine.on(server, request.getfixturevalue("worker")) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """A database that nobody has used yet, and ways to get at it from every side."""
    if request.param == "sqlite":
        lite = SqliteEngine(tmp_path / "plan.db")
        yield lite
        lite.close()
    else:
        shared: PostgresEngine = request.getfixturevalue("postgres_engine")
        yield shared
        shared.reset()


@pytest.fixture
def team(postgres_engine: PostgresEngine) -> Iterator[PostgresEngine]:
    """A PostgreSQL database that nobody has used yet, for what only PostgreSQL has."""
    yield postgres_engine
    postgres_engine.reset()


@pytest.fixture
def store(engine: Engine) -> Store:
    """The store as the product opens it."""
    return engine.store
