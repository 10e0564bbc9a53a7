"""Ctrl-C, SIGTERM and time limits of commands."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import local_actor
from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.operations.registry import Registry
from groundplan.kernel.store.transaction import Transaction
from groundplan.surfaces.cli.invocation import CommandSession
from groundplan.surfaces.cli.screen.progress import SHOWN_AFTER_S
from groundplan.surfaces.stop_signals import CommandCancelled, cancel_on_signals
from tests.engines import Engine
from tests.standby import Standby
from tests.surfaces.cli import waiting_program
from tests.surfaces.cli.conftest import Run
from tests.surfaces.cli.everyday.test_terminal import on_terminal
from tests.surfaces.mcp.slow_program import SLOW_WRITE

PATIENCE_S = 20.0
TOO_SHORT_S = "0.000001"


@contextmanager
def hold_organization(engine: Engine) -> Iterator[None]:
    """Hold the lock that creating a project needs."""
    has_lock, may_end = threading.Event(), threading.Event()

    def hold(_tx: Transaction) -> None:
        has_lock.set()
        may_end.wait(PATIENCE_S)

    store = engine.another_store()
    options = {"needs": Permission.PROJECT_CREATE, "cancellation": Cancellation(NO_LIMIT_S)}
    holder = threading.Thread(target=store.write, args=(local_actor("ada"), None, hold), kwargs=options)
    holder.start()
    assert has_lock.wait(PATIENCE_S)
    try:
        yield
    finally:
        may_end.set()
        holder.join()


class WaitingCommand:
    """A command that waits for the lock."""

    def __init__(self, engine: Engine, program: Standby) -> None:
        output, error, nothing = os.pipe(), os.pipe(), os.open(os.devnull, os.O_RDONLY)
        arguments = ("--db", engine.db, "--json", "project", "create", "beacon")
        self._started = program.start(*arguments, files=(nothing, output[1], error[1]), module=waiting_program.__name__)
        for written in (nothing, output[1], error[1]):
            os.close(written)
        self._output, self._error = os.fdopen(output[0]), os.fdopen(error[0])
        assert self._output.readline() == "begins\n"

    def end(self, told: signal.Signals) -> tuple[int, str, str]:
        """Send a signal, and return the exit status with what was printed since."""
        status = self._started.end(told)
        with self._output, self._error:
            return status, self._output.read(), self._error.read()


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_cancels_the_operation_and_the_command_says_so(
    engine: Engine, program: Standby, stop: signal.Signals, status: int
) -> None:
    with hold_organization(engine):
        *ended, error = WaitingCommand(engine, program).end(stop)

        assert ended == [status, ""]
        assert json.loads(error)["error"]["code"] == "cancelled"
    assert engine.as_owner("SELECT count(*) FROM projects") == [(0,)]


@pytest.mark.slow
def test_a_terminal_shows_within_half_a_second_that_an_operation_takes_long(engine: Engine) -> None:
    assert SHOWN_AFTER_S < 0.5
    command = ((sys.executable, "-m", "groundplan"), "--db", engine.db, "--access", "open")
    with hold_organization(engine), on_terminal(*command, "project", "create", "beacon") as terminal:
        terminal.read_until("project create, 0 s; Ctrl-C cancels")
        os.killpg(terminal.process.pid, signal.SIGINT)  # else it would go on when the lock is free
        terminal.read_all()

    assert terminal.process.returncode == 130
    assert engine.as_owner("SELECT count(*) FROM projects") == [(0,)]


@pytest.mark.parametrize(("stop", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_stops_a_long_statement(engine: Engine, stop: signal.Signals, status: int) -> None:
    engine.session("ada").call("project.create", name="atlas")
    before = signal.getsignal(stop)
    session = CommandSession(engine.store, local_actor("ada"), Registry([*OPERATIONS, SLOW_WRITE]))
    main_thread = threading.get_ident()

    def send_signal() -> None:
        while signal.getsignal(stop) == before:  # else the signal would end the test itself
            time.sleep(0.001)
        time.sleep(0.1)  # the statement runs
        signal.pthread_kill(main_thread, stop)

    sender = threading.Thread(target=send_signal, daemon=True)
    sender.start()
    with pytest.raises(CommandCancelled) as refused:
        session.call("slow.write", project="atlas")
    sender.join()

    assert refused.value.exit_code == status
    assert engine.as_owner("SELECT rev FROM projects") == [(1,)]
    assert signal.getsignal(stop) == before


def test_a_signal_after_the_commit_does_not_turn_success_into_an_error(engine: Engine) -> None:
    session = engine.session("ada")
    with cancel_on_signals(None) as cancellation:
        session.execute(OPERATIONS["project.create"], {"name": "atlas"}, cancellation)
        signal.raise_signal(signal.SIGINT)

    assert cancellation.is_cancelled
    assert engine.as_owner("SELECT name FROM projects") == [("atlas",)]


@pytest.fixture
def facts(run: Run, tmp_path: Path) -> Path:
    """A file that can be imported."""
    assert run("project", "create", "atlas").code == 0
    draft = run("context", "draft", "--project", "atlas", "--json").answer["run"]["id"]
    # Enough of them that writing them takes longer than the shortest limit.
    inputs = json.dumps([{"pointer": f"/{n}", "label": "A", "value": "1"} for n in range(200)])
    for words in (
        ("edit", draft, "--inputs", inputs),
        ("commit", draft, "--allow-partial"),
        ("export", "--project", "atlas", "--out", "facts.json"),
    ):
        assert run("context", *words).code == 0
    return tmp_path / "facts.json"


def test_a_write_has_the_configured_limit(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_WRITE_TIMEOUT_S", TOO_SHORT_S)

    assert run("project", "create", "atlas", "--json").error == (7, "time_limit")


def test_an_import_has_only_the_limit_that_it_is_given(run: Run, facts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDPLAN_WRITE_TIMEOUT_S", TOO_SHORT_S)
    import_facts = ("context", "import", str(facts), "--project", "atlas", "--json")

    assert run(*import_facts, "--timeout", "0.001").error == (7, "time_limit")
    assert run(*import_facts).code == 0
