"""A client that reads its answers is not taken for one that does not, however many answers it reads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from uvicorn.protocols.http.h11_impl import H11Protocol

from groundplan.surfaces.http.slow_clients import ImpatientProtocol

SENT_BYTES = 30_000


class Transport(asyncio.Transport):
    """A transport with a buffer that the test fills and empties."""

    waiting = 0
    is_aborted = False

    def get_write_buffer_size(self) -> int:
        return self.waiting

    def abort(self) -> None:
        self.is_aborted = True


class Loop:
    """A loop whose only timer the test lets pass."""

    def call_later(self, _delay_s: float, run: Callable[..., None], *arguments: Any) -> object:
        self.let_time_pass = lambda: run(*arguments)
        return self


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> ImpatientProtocol:
    """A connection of which only the watch over its reader runs."""
    monkeypatch.setattr(H11Protocol, "data_received", lambda *_: None)
    monkeypatch.setattr(ImpatientProtocol, "_start_timer", lambda _: None)
    made = ImpatientProtocol.__new__(ImpatientProtocol)
    made.transport, made.loop, made.cycle = Transport(), Loop(), None  # type: ignore[assignment] # stand-ins
    return made


def send_answer(connection: ImpatientProtocol) -> None:
    connection.transport.waiting = SENT_BYTES  # type: ignore[attr-defined] # the stand-in
    connection._watch_reader()


def test_a_client_that_read_one_answer_may_wait_for_the_next(connection: Any) -> None:
    send_answer(connection)
    connection.transport.waiting = 0
    connection.data_received(b"GET / HTTP/1.1")
    send_answer(connection)

    connection.loop.let_time_pass()

    assert not connection.transport.is_aborted


def test_a_client_that_asks_again_without_reading_is_left(connection: Any) -> None:
    send_answer(connection)
    connection.data_received(b"GET / HTTP/1.1")
    send_answer(connection)

    connection.loop.let_time_pass()

    assert connection.transport.is_aborted
