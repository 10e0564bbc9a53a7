"""Close connections of clients that do not finish the head of a request, send a huge one, or do not take their answer.

uvicorn waits for all of it without end, so a thousand open connections would cost memory for ever.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from httptools import HttpParserUpgrade
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HEAD_BYTES_MAX = 64 * 1024  # of the address and the headers of a request
HEAD_S = 10.0  # from the connection, or from the first byte of a further request, to the end of the head
TAKEN_S = 20.0  # in which a client takes at least as many bytes of an answer, unless it has all of it
TAKEN_BYTES_MIN = 16 * 1024
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: 56\r\n\r\nThe head of the request did not arrive within 10 seconds"
)


class ImpatientConnection(asyncio.Protocol):
    """A connection with a time limit for the head of each request, and for taking each answer.

    It is mixed into a protocol of uvicorn.
    """

    transport: asyncio.Transport
    loop: asyncio.AbstractEventLoop
    cycle: Any  # the last request and its answer; None before the first one

    _deadline: asyncio.TimerHandle | None = None
    _check: asyncio.TimerHandle | None = None  # whether the client takes its answer
    _has_taken: bool = False  # most of what waited for it, since the check was planned

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's own
        """Start the time of the first head."""
        super().connection_made(transport)
        self._start_timer()

    def data_received(self, data: bytes) -> None:
        """Stop the time when a head is complete."""
        if not self.transport.get_write_buffer_size():
            self._has_taken = True  # all answers before this request
        super().data_received(data)
        if self._is_waiting():
            self._start_timer()
        else:
            self._stop_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the time."""
        self._stop_timer()
        if self._check is not None:
            self._check.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Watch a client that takes its answer more slowly than it is sent."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """Note that the client took most of what was sent."""
        super().resume_writing()
        self._has_taken = True

    def on_response_complete(self) -> None:
        """Watch a client that has not taken the end of its answer: also a closed connection waits for that."""
        super().on_response_complete()  # type: ignore[misc] # of the protocol
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

    def _is_waiting(self) -> bool:
        return self.cycle is None or bool(self.cycle.response_complete)


class SlowParserProtocol(ImpatientConnection, H11Protocol):
    """A connection whose requests are parsed in Python."""


class HeadTooLarge(Exception):
    """The head of a request is too large; raised within the parser, which then answers 400."""


class ImpatientProtocol(ImpatientConnection, HttpToolsProtocol):
    """A connection whose requests are parsed by a library in C. It has no limit for the size of a head, so it is here.

    When a client offers another protocol, the library expects that one after the head, and would drop the body of a
    request. Such a connection is continued with the parser in Python, which reads on in HTTP/1.1.
    """

    _head_bytes: int = 0  # received of a head that is not complete
    _part: bytes = b""  # that is being parsed
    _is_in_body: bool = False
    _is_continued: bool = False  # with the other parser

    def data_received(self, data: bytes) -> None:
        """Refuse a head that grows too large."""
        self._part = data
        if not self._is_in_body:
            self._head_bytes += len(data)
        super().data_received(data)
        self._part = b""
        if self._is_continued:
            self._stop_timer()
        elif self._head_bytes > HEAD_BYTES_MAX and not self._is_in_body and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large")

    def on_headers_complete(self) -> None:
        """Refuse a head that is too large, although all of it is here."""
        is_large = max(self._head_bytes, len(self._part)) > HEAD_BYTES_MAX  # perhaps: a body may follow the head
        if is_large and len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES_MAX:
            raise HeadTooLarge
        self._head_bytes, self._is_in_body = 0, True
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Expect the next head."""
        self._head_bytes, self._is_in_body = 0, False
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        """Return True, so that uvicorn leaves every request that offers another protocol to the next method."""
        return True

    def handle_websocket_upgrade(self) -> None:
        """Continue the connection with the other parser. uvicorn calls this while it handles HttpParserUpgrade."""
        if not self._is_waiting():  # for requests that were sent ahead of this one; the client can send it again
            self.cycle.keep_alive = False
            return
        error = sys.exc_info()[1]
        rest = self._part[error.args[0] :] if isinstance(error, HttpParserUpgrade) else b""
        lines = [b"%s %s HTTP/%s" % (self.parser.get_method(), self.url, self.parser.get_http_version().encode())]
        lines += [b"%s: %s" % header for header in self.headers]
        self._is_continued = True
        self.connections.discard(self)
        if self._check is not None:
            self._check.cancel()
        following = SlowParserProtocol(self.config, self.server_state, self.app_state, self.loop)
        self.transport.set_protocol(following)
        following.connection_made(self.transport)
        following.data_received(b"\r\n".join([*lines, b"", rest]))
