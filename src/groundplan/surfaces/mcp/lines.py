"""Lines in, lines out: bounded memory on the way in, one whole line at a time on the way out.

Both sides work on file descriptors. A thread that waits inside a buffered reader holds its lock, and an
interpreter that exits meanwhile aborts; a thread that waits in `os.read` holds nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from threading import Lock
from typing import Any, NamedTuple

CHUNK_BYTES = 65_536  # what a pipe holds on Linux

# Of a line above the limit: enough to see in front whose request it is, or behind it, as far as clients differ.
HEAD_BYTES = 4096
TAIL_BYTES = 512

STALLED_WRITE_TIMEOUT_S = 1.0

# ASCII only: a lone surrogate in a client's text has no UTF-8 form, but it has an escape.
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class TruncatedLine(NamedTuple):
    """What is kept of a line above the limit."""

    head: bytes
    tail: bytes


def read_lines(fd: int, limit_bytes: int) -> Iterator[bytes | TruncatedLine]:
    """Each line without its newline, the last one also when it has none."""
    os.set_blocking(fd, True)  # a parent may have left it otherwise, and "nothing yet" is no end
    line = _LineBuffer(limit_bytes)
    while chunk := _read_chunk(fd):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line.add(end)
            yield line.taken()
        line.add(rest)
    if last := line.taken():
        yield last


class _LineBuffer:
    """A line as far as it has come: all of it up to the limit, beyond that its two ends."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._held = bytearray()
        self._head: bytes | None = None

    def add(self, piece: bytes) -> None:
        self._held += piece
        if self._head is None and len(self._held) > self._limit_bytes:
            self._head = bytes(self._held[:HEAD_BYTES])
        if self._head is not None:
            self._held = self._held[-TAIL_BYTES:]

    def taken(self) -> bytes | TruncatedLine:
        """The line, which is forgotten here: the next piece begins another one."""
        held, head = bytes(self._held), self._head
        self._held.clear()
        self._head = None
        return held if head is None else TruncatedLine(head, held)


def _read_chunk(fd: int) -> bytes:
    try:
        return os.read(fd, CHUNK_BYTES)
    except OSError:  # the terminal or socket behind it is gone, which ends the input like any other end
        return b""


class LineWriter:
    """Messages as lines of JSON, from any thread, on a descriptor of its own."""

    def __init__(self, fd: int, on_lost: Callable[[], None]) -> None:
        self._fd = os.dup(fd)
        os.set_blocking(self._fd, True)
        self._on_lost = on_lost
        self._open = True
        self._lock = Lock()

    def send(self, message: Any) -> None:
        """Write one message. When nobody reads any more, this and all further ones are dropped."""
        line = _encode(message).encode("ascii") + b"\n"
        with self._lock:
            try:
                while line and self._open:
                    line = line[os.write(self._fd, line) :]
            except OSError:
                self._open = False
                self._on_lost()

    def close(self) -> None:
        """Write no more, and let a line that is half written end first.

        A client that has stalled can hold that line back for ever, so the wait is bounded. The descriptor is
        then left open: a closed number could be given to another file under the thread that still writes.
        """
        if self._lock.acquire(timeout=STALLED_WRITE_TIMEOUT_S):
            self._open = False
            os.close(self._fd)
            self._lock.release()
