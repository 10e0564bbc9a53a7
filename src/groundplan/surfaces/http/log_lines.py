"""Log lines on stderr, as text for people or as JSON for programs: one line for each request and each event."""

from __future__ import annotations

import json
import logging
import sys
import threading
from contextlib import suppress
from typing import Any, Literal, NamedTuple, TextIO

from groundplan.kernel.clock import read_timestamp, system_clock
from groundplan.kernel.errors import Unexpected
from groundplan.kernel.ids import new_short_id

LogFormat = Literal["text", "json"]

WRITTEN_EVERY_S = 0.05  # lines of requests are written together, because each write lets another thread take over

_requests = logging.getLogger("groundplan.requests")
_errors = logging.getLogger("groundplan.errors")


class ObservedRequest(NamedTuple):
    """A completed request. The route is a template, because a path may be private."""

    method: str
    route: str
    status: int
    seconds: float
    bytes: int
    actor: str | None
    address: str | None


class LineFormatter(logging.Formatter):
    """A formatter that writes one line for each record. A traceback follows it as text, or is a field in JSON."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._is_json = log_format == "json"

    def format(self, record: logging.LogRecord) -> str:
        """Return the line for a record."""
        fields: dict[str, Any] = getattr(record, "fields", {"level": record.levelname.lower()})
        message = record.getMessage()
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        at = read_timestamp(system_clock)
        if self._is_json:
            own = {"message": message} if message else {}
            return json.dumps({"time": at, **fields, **own, **({"traceback": trace} if trace else {})})
        values = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
        line = f"{at} {values} {message}".rstrip()
        if not line.isprintable():  # a terminal must not act on what a client sent
            line = line.encode("unicode_escape").decode("ascii")
        return f"{line}\n{trace}" if trace else line


class LogLineHandler(logging.Handler):
    """A log handler whose thread writes several lines at once; warnings and errors are written immediately.

    Lines that cannot be written are lost: a log that nobody takes must not fill the memory.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._lines: list[str] = []  # that wait, in order; guarded by the lock of the handler
        self._has_lines = threading.Event()
        self._is_closed = threading.Event()
        threading.Thread(target=self._run, name="log", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue or write a record. The lock is held."""
        try:
            self._lines.append(self.format(record))
        except Exception:
            self.handleError(record)
        if record.levelno >= logging.WARNING:
            self.flush()
        elif len(self._lines) == 1:
            self._has_lines.set()

    def flush(self) -> None:
        """Write the queued lines. `logging` also calls this at the end of the process."""
        self.acquire()
        try:
            lines, self._lines = self._lines, []
            self._has_lines.clear()
            if lines:
                with suppress(OSError, ValueError):  # the reader of stderr is gone, the disk is full, or it is closed
                    self._stream.write("".join(f"{line}\n" for line in lines))
                    self._stream.flush()
        finally:
            self.release()

    def close(self) -> None:
        """Write the queued lines, and end the thread."""
        self.flush()
        self._is_closed.set()
        self._has_lines.set()
        super().close()

    def _run(self) -> None:
        while self._has_lines.wait() and not self._is_closed.wait(WRITTEN_EVERY_S):
            self.flush()


def start_logging(log_format: LogFormat) -> LogLineHandler:
    """Write all log records of the process to stderr. The handler must be flushed before the process ends."""
    handler = LogLineHandler(sys.stderr)
    handler.setFormatter(LineFormatter(log_format))
    root = logging.getLogger()
    for former in root.handlers:
        former.close()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _requests.setLevel(logging.INFO)
    return handler


def log_request(observed: ObservedRequest) -> None:
    """Log a completed request."""
    if _requests.isEnabledFor(logging.INFO):
        fields = {
            "method": observed.method,
            "route": observed.route,
            "status": observed.status,
            "ms": round(observed.seconds * 1000, 1),
            "bytes": observed.bytes,
            "actor": observed.actor,
            "address": observed.address,
        }
        # Made here and not by `info`, which first looks for the line of code that calls it.
        record = logging.LogRecord(_requests.name, logging.INFO, "", 0, "", (), None)
        record.fields = fields
        _requests.handle(record)


def log_exception(where: str) -> Unexpected:
    """Log the current exception, and return the error to show."""
    error = Unexpected(new_short_id())
    _errors.error("%s: unexpected in %s", error.reference, where, exc_info=True)
    return error
