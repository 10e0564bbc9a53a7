"""Lines of the connection: whole, however the pipe cuts them, and within their limit."""

from __future__ import annotations

import os
import threading

import pytest

from groundplan.surfaces.mcp.lines import LineReader, TruncatedLine

LIMIT_BYTES = 64


def read_pieces(*pieces: bytes) -> list[bytes | TruncatedLine]:
    """Return the lines of a pipe to which the pieces are written, each after the one before was read."""
    reader, writer = os.pipe()
    found: list[bytes | TruncatedLine] = []
    is_read = threading.Semaphore(0)
    read_chunk = os.read

    def read(fd: int, size: int) -> bytes:
        is_read.release()
        return read_chunk(fd, size)

    def write() -> None:
        for piece in pieces:
            is_read.acquire()
            os.write(writer, piece)
        os.close(writer)

    thread = threading.Thread(target=write)
    thread.start()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "read", read)
        found += iter(LineReader(reader, LIMIT_BYTES).read_line, None)
    thread.join()
    os.close(reader)
    return found


@pytest.mark.parametrize(
    ("pieces", "lines"),
    [
        ([b"a\n"], [b"a"]),
        ([b"\n"], [b""]),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\n", b"c\n"], [b"ab", b"c"]),
        ([b"a\nb", b"c\n", b"d"], [b"a", b"bc", b"d"]),
        ([b"x" * LIMIT_BYTES + b"\n"], [b"x" * LIMIT_BYTES]),
    ],
)
def test_lines_are_whole_however_they_arrive(pieces: list[bytes], lines: list[bytes]) -> None:
    assert read_pieces(*pieces) == lines


@pytest.mark.parametrize("pieces", [[b"x" * LIMIT_BYTES + b"y\n"], [b"x" * LIMIT_BYTES, b"y\n"]])
def test_a_line_above_the_limit_is_truncated_and_the_next_one_is_whole(pieces: list[bytes]) -> None:
    truncated, after = read_pieces(*pieces, b"a\n")

    assert isinstance(truncated, TruncatedLine)
    assert after == b"a"
