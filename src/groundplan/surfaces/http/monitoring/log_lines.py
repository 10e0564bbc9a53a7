"""Log lines on stderr, as text for people or as JSON for programs: one for each request, and one for each event."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any, Literal

from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.errors import Unexpected
from groundplan.surfaces.http.monitoring.request_monitor import ObservedRequest

LogFormat = Literal["text", "json"]

_requests = logging.getLogger("groundplan.requests")
_errors = logging.getLogger("groundplan.errors")


class LineFormatter(logging.Formatter):
    """Writes one line for each record; a traceback follows it in text, and is a field in JSON."""

    def __init__(self, log_format: LogFormat) -> None:
        super().__init__()
        self._is_json = log_format == "json"

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        fields: dict[str, Any] = getattr(record, "fields", {"level": record.levelname.lower()})
        message = record.getMessage()
        trace = self.formatException(record.exc_info) if record.exc_info else ""
        at = format_timestamp(system_clock())
        if self._is_json:
            own = {"message": message} if message else {}
            return json.dumps({"time": at, **fields, **own, **({"traceback": trace} if trace else {})})
        values = " ".join(f"{name}={value}" for name, value in fields.items() if value is not None)
        line = f"{at} {values} {message}".rstrip()
        if not line.isprintable():  # a terminal must not act on what a client sent
            line = line.encode("unicode_escape").decode("ascii")
        return f"{line}\n{trace}" if trace else line


def start_logging(log_format: LogFormat) -> None:
    """Write all log records of the process to stderr."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(LineFormatter(log_format))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    _requests.setLevel(logging.INFO)


def log_request(observed: ObservedRequest) -> None:
    """Log a request after its end."""
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
        _requests.info("", extra={"fields": fields})


def log_exception(where: str) -> Unexpected:
    """Log the exception being handled, and return the error to show."""
    from groundplan.kernel.ids import new_short_id

    error = Unexpected(new_short_id())
    _errors.error("%s: unexpected in %s", error.reference, where, exc_info=True)
    return error
