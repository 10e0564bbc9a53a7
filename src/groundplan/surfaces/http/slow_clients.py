"""Close connections of clients that do not complete the head of a request or do not read their answer.

uvicorn waits for both without end, so a thousand open connections would cost memory for ever.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0  # from the connection, or from the first byte of a further request, to the end of the head
TAKEN_S = 20.0  # in which a client takes at least as many bytes of an answer, unless it has all of it
TAKEN_BYTES_MIN = 16 * 1024
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 56\r\n\r\nThe head of the request did not arrive within 10 seconds"
)


class ImpatientProtocol(H11Protocol):
    """A connection with time limits for the head of each request and for reading each answer."""

    _deadline: asyncio.TimerHandle | None = None
    _check: asyncio.TimerHandle | None = None  # whether the client takes its answer
    _has_taken: bool = False  # most of what waited for it, since the check was planned

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Start the time limit of the first head."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """End the time limit when a head is complete."""
        if not self.transport.get_write_buffer_size():
            self._has_taken = True  # all answers before this request
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the time limit."""
        self._stop_timer()
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start to watch a client that reads its answer slowly."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Note that the client has read most of the answer."""
        super().resume_writing()
        self._has_taken = True

    def on_response_complete(self) -> None:
        """Watch a client that has not read the end of its answer, because even a closed connection waits for it."""
        super().on_response_complete()
        self._watch_reader()

    def _watch_reader(self) -> None:
        waiting = self.transport.get_write_buffer_size()
        if self._check is None and waiting:
            self._has_taken = False
            self._check = self.loop.call_later(TAKEN_S, self._check_reader, waiting)

    def _check_reader(self, waiting_before: int) -> None:
        self._check = None
        waiting = self.transport.get_write_buffer_size()
        if waiting and not self._has_taken and waiting > waiting_before - TAKEN_BYTES_MIN:
            self.transport.abort()
        else:
            self._watch_reader()

    def _start_timer(self) -> None:
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(HEAD_S, self._give_up)

    def _stop_timer(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.transport.is_closing() and self._is_waiting():
            self.transport.write(_TOO_SLOW)
            self.transport.close()

    def _is_waiting(self) -> Any:
        return self.cycle is None or self.cycle.response_complete
