"""Read lines with bounded memory, and write complete lines.

Both sides use file descriptors. A thread that waits inside a buffered reader holds its lock, and an interpreter that
exits meanwhile aborts. A thread that waits in `os.read` holds no lock.
"""

from __future__ import annotations

import json
import math
import os
import select
import time
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

CHUNK_BYTES = 65_536  # the size of a pipe buffer on Linux

# Kept of a line above the limit: enough to find the id of the request, which clients put at either end.
HEAD_BYTES = 4096
TAIL_BYTES = 512

STALLED_WRITE_TIMEOUT_S = 1.0
STALL_CHECK_MS = 50
UNBLOCKED_BYTES = 4096  # a pipe that is ready takes this many at once, by POSIX at least 512

_to_json = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode


def encode_ascii(message: Any) -> bytes:
    """Return a message as JSON. This encoder is loaded already when the first answer is sent.

    ASCII only: a lone surrogate in the text of a client has no UTF-8 form, but it can be escaped.
    """
    return _to_json(message).encode("ascii")


class TruncatedLine(NamedTuple):
    """The beginning and the end of a line that exceeds the limit."""

    head: bytes
    tail: bytes


class LineReader:
    """A reader of lines from a file descriptor. Only one thread at a time may use it."""

    def __init__(self, fd: int, limit_bytes: int) -> None:
        os.set_blocking(fd, True)  # a parent may have made it non-blocking, where "no data yet" would look like the end
        self._fd = fd
        self._limit_bytes = limit_bytes
        self._line = _LineBuffer(limit_bytes)
        self._whole: deque[bytes | TruncatedLine] = deque()  # read, and not returned yet
        self._has_ended = False

    @property
    def has_line(self) -> bool:
        """True if the next line, or the end, can be returned without waiting for input."""
        return bool(self._whole) or self._has_ended

    def read_line(self) -> bytes | TruncatedLine | None:
        """Return the next line without its newline, or None at the end. The last line may lack a newline."""
        while not self._whole:
            if self._has_ended:
                return None
            self.fill()
        return self._whole.popleft()

    def fill(self) -> None:
        """Wait for input and read the available bytes."""
        chunk = _read_chunk(self._fd)
        if self._line.is_empty and chunk and chunk.find(b"\n") == len(chunk) - 1 <= self._limit_bytes:
            self._whole.append(chunk[:-1])  # exactly one line, as most often
        else:
            self._add(chunk)

    def _add(self, chunk: bytes) -> None:
        line = self._line
        if not chunk:
            self._has_ended = True
            if not line.is_empty:
                self._whole.append(line.pop_line())
            return
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            self._whole.append(line.pop_line())
        line.add(rest)


class _LineBuffer:
    """The bytes read from a line: all of them up to the limit, else its beginning and its end."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._head: bytes | None = None

    @property
    def is_empty(self) -> bool:
        return not self._buffer and self._head is None

    def add(self, piece: bytes) -> None:
        self._buffer += piece
        if self._head is None and len(self._buffer) > self._limit_bytes:
            self._head = bytes(self._buffer[:HEAD_BYTES])
        if self._head is not None:
            self._buffer = self._buffer[-TAIL_BYTES:]

    def pop_line(self) -> bytes | TruncatedLine:
        """Return the line and start a new one."""
        held, head = bytes(self._buffer), self._head
        self._buffer.clear()
        self._head = None
        return held if head is None else TruncatedLine(head, held)


def _read_chunk(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK_BYTES)
    except OSError:  # the terminal or socket is gone, which ends the input
        return b""


class LineWriter:
    """A writer of messages as lines of JSON on its own file descriptor. Any thread may use it."""

    def __init__(self, fd: int, on_lost: Callable[[], None]) -> None:
        self._fd = os.dup(fd)
        os.set_blocking(self._fd, True)  # the flag is shared with other processes, so it is not ours to change
        self._on_lost = on_lost
        self.encode: Callable[[Any], bytes] = encode_ascii  # replaced by a faster one as soon as that is loaded
        self._open = True
        self._give_up_at = math.inf
        self._lock = Lock()
        self._poll = select.poll()
        self._poll.register(self._fd, select.POLLOUT)

    def send(self, message: Any) -> None:
        """Write one message. If the reader is gone, this and all later messages are dropped."""
        line = memoryview(self.encode(message) + b"\n")
        with self._lock:
            try:
                while line and self._open:
                    if self._poll.poll(STALL_CHECK_MS):  # a write would not block now
                        line = line[os.write(self._fd, line[:UNBLOCKED_BYTES]) :]
                    else:  # a stalled client, who is given up if it is time
                        self._open = time.monotonic() < self._give_up_at
            except OSError:
                self._open = False
                self._on_lost()

    def give_up_soon(self) -> None:
        """From now on, wait only for a short time if the client does not read."""
        self._give_up_at = min(self._give_up_at, time.monotonic() + STALLED_WRITE_TIMEOUT_S)

    def has_lost_reader(self) -> bool:
        """Return True if the reader is gone; always False while a line is written, because the write detects it."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            events = self._poll.poll(0) if self._open else []
            return any(event & (select.POLLERR | select.POLLHUP) for _, event in events)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Stop writing after the current line is complete or the client was given up."""
        self.give_up_soon()
        with self._lock:
            self._open = False
            os.close(self._fd)
