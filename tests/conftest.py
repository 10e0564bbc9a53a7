"""Tests run on both engines: those that use `engine` or `store` run on SQLite and on PostgreSQL."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

from groundplan.coding_agents import ANY_AGENT, CODING_AGENTS
from groundplan.kernel.store.store import Store
from tests import teeth
from tests.campaigns.table import print_table
from tests.engines import Engine, PostgresEngine, SharedSqliteEngine
from tests.postgres import Server, attach, memory_directory, start_server
from tests.proof import use_hypothesis_profile
from tests.standby import Standby, standby

ROOT_OF_FILES = "PYTEST_DEBUG_TEMPROOT"  # pytest's own variable; --basetemp has precedence
GC_THRESHOLDS = (100_000, 20, 20)  # tests make little garbage; with the usual ones parsing takes three times as long
ON_POSTGRES = {"postgres", "postgres_engine", "team"}  # a test with one of these fixtures needs a server

_SERVER = pytest.StashKey[Server]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--store", choices=["sqlite", "postgres", "both"], default="both", help="which engines to test on")
    parser.addoption("--teeth", default=teeth.ALL, help="which sabotage tests to run: all, today's part, or 1/5 to 5/5")


def pytest_configure(config: pytest.Config) -> None:
    config.option.teeth = teeth.resolve_part(
        config.option.teeth
    )  # before the workers get it: the date may change meanwhile
    for agent in (*CODING_AGENTS, ANY_AGENT):  # else what a test starts inside of one would act as that agent
        os.environ.pop(agent.variable, None)
    use_hypothesis_profile()
    # A shell lets what it starts in the background ignore Ctrl-C, and so would the programs that tests start and end.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if folder := memory_directory():
        os.environ.setdefault(ROOT_OF_FILES, str(folder))
    # One server for all workers: the controller starts it and sends its address to the workers.
    if config.getoption("--store") != "sqlite":
        given = getattr(config, "workerinput", {}).get("postgres")
        config.stash[_SERVER] = attach(given) if given else start_server()


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

    left_out = teeth.tests_of_other_parts(config.option.teeth, items) | {
        item for item in items if other and is_of_other(item)
    }
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    # The long ones first: one that begins at the end lets the other processes wait for it.
    items[:] = sorted((item for item in items if item not in left_out), key=lambda item: not is_long(item))


def is_long(item: pytest.Item) -> bool:
    """Return whether a test is in a module whose tests are all marked `slow`; these stay together."""
    module = item.getparent(pytest.Module)
    return module is not None and any(mark.name == "slow" for mark in module.own_markers)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Collect tests without looking for garbage: what is made stays, and would be gone through again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        gc.enable()


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Let a worker send one report for a test that passed: each of the usual five messages takes both sides time."""
    if not hasattr(item.config, "workerinput"):
        return None
    for report in runtestprotocol(item, log=False, nextitem=nextitem):
        if report.when == "call" or not report.passed:
            item.ihook.pytest_runtest_logreport(report=report)
    return True


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.teeth != teeth.ALL:
        terminalreporter.line(f"sabotage tests: part {config.option.teeth}; all of them run in `make proof`")
    print_table(terminalreporter)


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Server:
    """A real PostgreSQL; the test fails without one."""
    return request.config.stash[_SERVER]


@pytest.fixture(scope="session")
def worker(request: pytest.FixtureRequest) -> str:
    """A name that no other process of this test run has."""
    return f"{getattr(request.config, 'workerinput', {}).get('workerid', 'main')}_{os.getpid()}"


@pytest.fixture(scope="session")
def program() -> Iterator[Standby]:
    """The program, started by forking a process that has loaded its modules."""
    with standby() as made:
        yield made


@pytest.fixture(scope="session")
def postgres_engine(request: pytest.FixtureRequest) -> Iterator[PostgresEngine]:
    """One database for each worker, emptied between tests."""
    server: Server = request.getfixturevalue("postgres")
    with PostgresEngine.on(server, request.getfixturevalue("worker")) as made:
        yield made


@pytest.fixture(scope="session")
def sqlite_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedSqliteEngine]:
    """One file for each worker, emptied between tests."""
    made = SharedSqliteEngine(tmp_path_factory.mktemp("sqlite"))
    yield made
    made.close()


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An unused database with every kind of access to it."""
    shared: SharedSqliteEngine | PostgresEngine = request.getfixturevalue(f"{request.param}_engine")
    yield shared
    shared.reset()


@pytest.fixture
def team(postgres_engine: PostgresEngine) -> Iterator[PostgresEngine]:
    """An unused PostgreSQL database, for tests of PostgreSQL only."""
    yield postgres_engine
    postgres_engine.reset()


@pytest.fixture
def store(engine: Engine) -> Store:
    """The store as the product opens it."""
    return engine.store
