"""The server loop: one thread reads and answers cheap requests, the main thread runs the calls.

    stdin ──▶ reader ──ping, initialize, refusals──▶ writer ──▶ stdout
                 └──tools/list, tools/call──▶ queue ──▶ worker ──▶ writer

So `ping` and cancellation are served while a call runs. The worker is the thread that called `serve`: the main thread
in the MCP server, where signals arrive.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, BinaryIO

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, decode
from groundplan.surfaces.exception_log import log_to_stderr
from groundplan.surfaces.mcp import protocol
from groundplan.surfaces.mcp.connection import Call, Connection
from groundplan.surfaces.mcp.interface import Tools
from groundplan.surfaces.mcp.lines import LineWriter, TruncatedLine, read_lines
from groundplan.surfaces.mcp.protocol import build_error
from groundplan.surfaces.stop_signals import STOP_SIGNALS, handle_stop_signals

# Calls read ahead of the worker. Beyond this the reader waits, so that a flooding client fills its pipe and not our
# memory. Its pings wait as well, until the worker catches up.
QUEUED_CALLS_MAX = 256
END_WITHIN_S = 1.8  # after a signal
LOST_READER_CHECK_S = 0.05  # after the end of the input
CLIENT_GONE = "the client is gone"


def serve(
    tools: Tools,
    stdin: BinaryIO,
    stdout: BinaryIO,
    *,
    version: str,
    on_ready: Callable[[], None] | None = None,
) -> int:
    """Serve one connection until its input ends, a signal arrives, or the reader of the answers is gone.

    Requests before the end of the input are still answered, as long as somebody reads the answers. A signal cancels the
    running call, which is answered, and the process ends within two seconds in any case. `on_ready` runs once on the
    worker, right after the answer that opened the connection, for work that should not delay it. Standard output is
    reserved for the protocol: what other code prints goes to stderr.

    Returns:
        The exit status, 0 in all these cases.
    """
    with _reserve_stdout(stdout) as output_fd:
        loop = _ServerLoop(tools, stdin.fileno(), output_fd, version=version, on_ready=on_ready)
        with handle_stop_signals(lambda: loop.stop("the server is stopping"), end_within_s=END_WITHIN_S):
            loop.run()
    return 0


class _ServerLoop:
    def __init__(
        self,
        tools: Tools,
        input_fd: int,
        output_fd: int,
        *,
        version: str,
        on_ready: Callable[[], None] | None,
    ) -> None:
        self._input_fd = input_fd
        self._on_ready = on_ready
        self._jobs: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        # One item for each call that may still be queued. Not a semaphore, which takes several times as long.
        self._free_slots: SimpleQueue[None] = SimpleQueue()
        for _ in range(QUEUED_CALLS_MAX):
            self._free_slots.put(None)
        self._stopping = False
        self._has_ended = threading.Event()
        self._writer = LineWriter(output_fd, on_lost=lambda: self.stop(CLIENT_GONE))
        self._connection = Connection(tools, version, send=self._writer.send, enqueue=self._enqueue)

    def run(self) -> None:
        threading.Thread(target=self._read, name="mcp-reader", daemon=True).start()
        try:
            while not self._stopping and (job := self._jobs.get()) is not None:
                job()
        finally:
            self._has_ended.set()
            self._writer.close()

    def stop(self, reason: str) -> None:
        """Cancel the running call and stop after it. From any thread."""
        self._stopping = True
        self._jobs.put(None)
        self._writer.give_up_soon()
        self._connection.stop(reason)

    def _read(self) -> None:
        # A signal delivered to this thread would be unseen until the worker's next step.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            for line in read_lines(self._input_fd, BODY_BYTES_MAX):
                self._receive(line)
                if self._on_ready is not None and self._connection.revision is not None:
                    self._jobs.put(self._make_ready_job(self._on_ready))
                    self._on_ready = None
        finally:
            self._jobs.put(None)  # after all queued requests
        while not self._has_ended.wait(LOST_READER_CHECK_S):
            if self._writer.has_lost_reader():
                self.stop(CLIENT_GONE)
                return

    def _receive(self, line: bytes | TruncatedLine) -> None:
        try:
            if isinstance(line, TruncatedLine) or (line and not line.isspace()):
                self._dispatch(line)
        except Exception:
            self._writer.send(build_error(None, protocol.internal_error(log_to_stderr("the reader"))))

    def _dispatch(self, line: bytes | TruncatedLine) -> None:
        try:
            message = _decode_line(line)
        except Invalid as error:
            from groundplan.surfaces.mcp.recovery import recover_request  # only needed for refused lines

            is_json = error.code not in protocol.NOT_JSON
            self._connection.refuse(recover_request(line) if is_json else None, error)
        else:
            self._connection.receive(message)

    def _enqueue(self, call: Call) -> None:
        self._free_slots.get()

        def job() -> None:
            self._free_slots.put(None)
            self._connection.perform(call)

        self._jobs.put(job)

    def _make_ready_job(self, on_ready: Callable[[], None]) -> Callable[[], None]:
        def job() -> None:
            try:
                on_ready()
            except GroundplanError:
                pass  # the first call fails the same way and can tell the client
            except Exception:
                log_to_stderr("getting ready")
            from groundplan.kernel.output_gate import encode  # here, because the first answer must not wait for it

            self._writer.encode = encode

        return job


def _decode_line(line: bytes | TruncatedLine) -> Any:
    if isinstance(line, TruncatedLine):
        raise Invalid(
            f"a message may be at most {BODY_BYTES_MAX} bytes long; send less at a time",
            code="too_large",
            limit_bytes=BODY_BYTES_MAX,
        )
    return decode(line)


@contextmanager
def _reserve_stdout(stdout: BinaryIO) -> Iterator[int]:
    """Yield the descriptor for answers.

    File descriptor 1 points to stderr meanwhile, because native code and child processes print to it too.
    """
    previous, sys.stdout = sys.stdout, sys.stderr
    fd = stdout.fileno()
    own = os.dup(fd)
    try:
        if fd == 1:
            _point_to_stderr(fd)
        yield own
    finally:
        if fd == 1:
            os.dup2(own, 1)
        os.close(own)
        sys.stdout = previous


def _point_to_stderr(fd: int) -> None:
    try:
        os.dup2(2, fd)
    except OSError:  # started without a stderr
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, fd)
        os.close(devnull)
