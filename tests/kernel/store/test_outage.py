"""Callers of a PostgreSQL that is stopped for a while are served again within two seconds after it is back."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event

import psycopg
import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.postgres.setup import set_up
from groundplan.kernel.store.postgres.store import PostgresStore
from tests.postgres import POLL_S, STOP_TIMEOUT_S, VARIABLE, _account, _wait_until_ready, start_server
from tests.proof import scaled

BACK_S_MAX = float(scaled(60, 2))  # the machine of an ordinary run is busy
CALLERS = 4
GIVE_UP_S = 90.0
OUTAGE_S = float(scaled(1, 75))
ADA = local_actor("ada")


class PrivateServer:
    """A PostgreSQL of one test, which the test can stop and start."""

    def __init__(self) -> None:
        self._server = start_server()
        self.url = self._server.uri()
        self._folder = Path(self._server.address)
        self._status_file = self._folder / "data" / "postmaster.pid"
        # The command line, as the server itself has noted it.
        self._command = shlex.split((self._folder / "data" / "postmaster.opts").read_text(encoding="utf-8"))
        self._started: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Stop it at once, as a crash would."""
        if self._status_file.exists():
            os.kill(int(self._status_file.read_text(encoding="utf-8").split()[0]), signal.SIGQUIT)
        if self._started is not None:
            self._started.wait(STOP_TIMEOUT_S)
        while self._status_file.exists():
            time.sleep(POLL_S)

    def start(self) -> None:
        """Start it and wait until it accepts connections."""
        with (self._folder / "log").open("ab") as log:
            self._started = subprocess.Popen(
                self._command, cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **_account()
            )
        _wait_until_ready(self._started, self._status_file)

    def remove(self) -> None:
        self.stop()
        self._server.stop()


@pytest.fixture
def private(monkeypatch: pytest.MonkeyPatch) -> Iterator[PrivateServer]:
    monkeypatch.delenv(VARIABLE, raising=False)
    made = PrivateServer()
    yield made
    made.remove()


@pytest.mark.slow
@pytest.mark.proof
def test_every_caller_is_served_again_within_two_seconds_after_an_outage(private: PrivateServer) -> None:
    app_url = set_up(private.url, build_schema(), app_role="app").app_url
    with psycopg.connect(private.url, autocommit=True) as owner:
        owner.execute("CHECKPOINT")  # the servers of tests acknowledge a commit before it is on disk
    store = PostgresStore(app_url)
    is_back, served_at = Event(), dict.fromkeys(range(CALLERS), 0.0)

    def call_until_served(caller: int) -> None:
        gives_up_at = time.monotonic() + OUTAGE_S + GIVE_UP_S
        while not (is_back.is_set() and served_at[caller]) and time.monotonic() < gives_up_at:
            with suppress(Unavailable):
                store.read(ADA, lambda tx: None)
                served_at[caller] = time.monotonic() if is_back.is_set() else 0.0

    with ThreadPoolExecutor(CALLERS) as threads:
        calls = [threads.submit(call_until_served, caller) for caller in range(CALLERS)]
        try:
            private.stop()
            is_back.wait(OUTAGE_S)
            private.start()
        finally:
            accepting_at = time.monotonic()
            is_back.set()
        for call in calls:
            call.result()
    store.close()

    assert all(served_at.values()), "not every caller was served again"
    late_s = max(served_at.values()) - accepting_at
    print(f"{CALLERS} callers, outage of {OUTAGE_S:g} s: served again after {late_s:.2f} s, at most {BACK_S_MAX:g} s")
    assert late_s <= BACK_S_MAX, f"{late_s:.2f} s after the server accepted connections"
