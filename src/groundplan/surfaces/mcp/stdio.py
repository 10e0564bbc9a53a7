"""The server loop: one thread reads the requests and answers pings, another one runs the calls.

    stdin ──▶ reader ──ping, refusals──▶ writer ──▶ stdout
                └──tools/call──▶ queue ──▶ worker ──▶ writer

So `ping` and cancellation are served while a call runs. The reader is the thread that called `serve`: the main thread
in the MCP server, where signals arrive.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, BinaryIO, TypeAlias

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.surfaces.exception_log import log_to_stderr
from groundplan.surfaces.mcp import protocol
from groundplan.surfaces.mcp.connection import Call, Connection
from groundplan.surfaces.mcp.lines import LineReader, LineWriter, TruncatedLine
from groundplan.surfaces.mcp.methods import Tools
from groundplan.surfaces.mcp.protocol import build_error
from groundplan.surfaces.mcp.recovery import recover_request
from groundplan.surfaces.stop_signals import STOP_SIGNALS, handle_stop_signals

# Calls read ahead of the worker. Beyond this the reader waits, so that a flooding client fills its pipe and not our
# memory. Its pings wait as well, until the worker catches up.
QUEUED_CALLS_MAX = 256
END_WITHIN_S = 1.8  # after a signal
LOST_READER_CHECK_S = 0.05  # after the end of the input
CLIENT_GONE = "the client is gone"
WORKER_NAME = "mcp-worker"

Job: TypeAlias = Callable[[], None]


def serve(
    tools: Tools,
    stdin: BinaryIO,
    stdout: BinaryIO,
    *,
    version: str,
    instructions: str = "",
    on_ready: Callable[[], None] | None = None,
) -> int:
    """Serve one connection until its input ends, a signal arrives, or the client closes the output.

    Requests before the end of the input are still answered, as long as somebody reads the answers. A signal cancels the
    running call, which is answered, and the process ends within two seconds in any case. `on_ready` runs once on the
    worker, right after the answer that opened the connection, for work that should not delay it. Standard output is
    reserved for the protocol: what other code prints goes to stderr.

    Returns:
        The exit status, 0 in all these cases.
    """
    with _reserve_stdout(stdout) as output_fd:
        loop = _ServerLoop(
            tools, stdin.fileno(), output_fd, version=version, instructions=instructions, on_ready=on_ready
        )
        with handle_stop_signals(lambda: loop.stop("the server is stopping"), end_within_s=END_WITHIN_S):
            loop.run()
    return 0


class _ServerLoop:
    """The thread that reads, and the worker that runs one call after the other.

    `stop` takes no lock, because a signal may call it on a thread that has it.
    """

    def __init__(
        self,
        tools: Tools,
        input_fd: int,
        output_fd: int,
        *,
        version: str,
        instructions: str,
        on_ready: Callable[[], None] | None,
    ) -> None:
        self._input_fd = input_fd
        self._input = LineReader(input_fd, BODY_BYTES_MAX)
        self._on_ready = on_ready
        self._tools = tools
        self._stopping = False
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        # One item for each call that may still be queued. Not a semaphore, which takes several times as long.
        self._free_slots: SimpleQueue[None] = SimpleQueue()
        for _ in range(QUEUED_CALLS_MAX):
            self._free_slots.put(None)
        self._alarm = _Alarm()  # wakes the thread that waits for input
        self._has_ended = threading.Event()
        self._failure: BaseException | None = None
        self._writer = LineWriter(output_fd, on_lost=lambda: self.stop(CLIENT_GONE))
        self._connection = Connection(version, instructions=instructions)

    def run(self) -> None:
        threading.Thread(target=self._work, name=WORKER_NAME, daemon=True).start()
        try:
            self._read()
            self._jobs.put(None)  # after all queued calls
            self._wait_for_worker()
            if self._failure is not None:
                raise self._failure
        finally:
            self._writer.close()

    def stop(self, reason: str) -> None:
        """Cancel the running call and stop after it. Any thread and any signal handler may call this."""
        self._stopping = True
        self._jobs.put(None)
        self._free_slots.put(None)
        self._alarm.ring()
        self._writer.give_up_soon()
        self._connection.stop(reason)

    def _is_over(self) -> bool:
        return self._stopping or self._has_ended.is_set()

    def _work(self) -> None:
        # A signal delivered to this thread would be unseen until the next step of the main thread.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            while not self._stopping and (job := self._jobs.get()) is not None:
                self._free_slots.put(None)
                if not self._stopping:
                    job()
        except BaseException as error:
            self._failure = error
        finally:
            self._has_ended.set()
            self._free_slots.put(None)
            self._alarm.ring()

    def _read(self) -> None:
        """Read lines and queue their calls until the input ends or the server stops."""
        poll = select.poll()
        for fd in (self._input_fd, self._alarm.fd):
            poll.register(fd, select.POLLIN)
        while not self._is_over():
            if not self._input.has_line:
                ready = {fd for fd, _ in poll.poll()}
                if self._input_fd in ready:
                    self._input.fill()
                if self._alarm.fd in ready:
                    self._alarm.silence()
            elif (line := self._input.read_line()) is None:
                return
            else:
                for job in self._receive(line):
                    self._free_slots.get()  # here a client waits that sends more than is done
                    if self._is_over():
                        return
                    self._jobs.put(job)

    def _wait_for_worker(self) -> None:
        """Wait for the end of the worker, or stop it if the client has closed the output."""
        while not self._has_ended.wait(LOST_READER_CHECK_S):
            if self._writer.has_lost_reader():
                self.stop(CLIENT_GONE)
                return

    def _receive(self, line: bytes | TruncatedLine) -> list[Job]:
        """Answer a line, or return the jobs that will answer it."""
        jobs: list[Job] = []
        try:
            if isinstance(line, TruncatedLine) or (line and not line.isspace()):
                jobs += [partial(self._connection.perform, call, self._tools) for call in self._dispatch(line)]
        except Exception:
            self._writer.send(build_error(None, protocol.internal_error(log_to_stderr("the reader"))))
        if self._on_ready is not None and self._connection.revision is not None:
            jobs.append(self._make_ready_job(self._on_ready))
            self._on_ready = None
        return jobs

    def _dispatch(self, line: bytes | TruncatedLine) -> list[Call]:
        try:
            message = strict_json.decode(_require_whole(line))
        except Invalid as error:
            is_json = error.code not in protocol.NOT_JSON
            return self._connection.refuse(recover_request(line) if is_json else None, error, self._send)
        return self._connection.receive(message, self._send)

    def _send(self, answer: Any) -> None:
        if answer is not None:
            self._writer.send(answer)

    def _make_ready_job(self, on_ready: Callable[[], None]) -> Callable[[], None]:
        def job() -> None:
            try:
                on_ready()
            except GroundplanError:
                pass  # the first call fails the same way and can tell the client
            except Exception:
                log_to_stderr("getting ready")
            # Here, because the first answer must not wait for it.
            from groundplan.kernel.answers import encode

            self._writer.encode = encode

        return job


class _Alarm:
    """An alarm that wakes a thread waiting for input. It is closed with the last thread that may use it."""

    def __init__(self) -> None:
        self.fd, self._ringing_fd = os.pipe()
        os.set_blocking(self._ringing_fd, False)  # a signal handler rings it

    def ring(self) -> None:
        with suppress(BlockingIOError):  # it is ringing
            os.write(self._ringing_fd, b"\0")

    def silence(self) -> None:
        os.read(self.fd, 4096)

    def __del__(self) -> None:
        os.close(self.fd)
        os.close(self._ringing_fd)


def _require_whole(line: bytes | TruncatedLine) -> bytes:
    if isinstance(line, TruncatedLine):
        raise Invalid(
            f"a message may be at most {BODY_BYTES_MAX} bytes long; send less at a time",
            code="too_large",
            limit_bytes=BODY_BYTES_MAX,
        )
    return line


@contextmanager
def _reserve_stdout(stdout: BinaryIO) -> Iterator[int]:
    """Yield the file descriptor for answers.

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
