"""Log unexpected exceptions: the log has the traceback, and the caller gets a reference to it."""

from __future__ import annotations

import os
import sys

from groundplan.kernel.errors import Unexpected

LOG_VARIABLE = "GROUNDPLAN_LOG"


def log_to_stderr(where: str) -> Unexpected:
    """Write the current exception to stderr, and return the error to show."""
    error, text = _format_exception()
    print(f"groundplan: {error.reference}: unexpected in {where}\n{text}", file=sys.stderr, flush=True)
    return error


def log_exception_to_file() -> Unexpected:
    """Append the current exception to the file that GROUNDPLAN_LOG names, and return the error to show."""
    from groundplan.kernel.clock import format_timestamp, system_clock

    error, text = _format_exception()
    path = os.environ.get(LOG_VARIABLE)
    if not path:
        return Unexpected(error.reference, f"; there is none, so set {LOG_VARIABLE}=FILE and run it again")
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            line = f"{format_timestamp(system_clock())} {error.reference}\n{text}\n"
            os.write(file, line.encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)
    except (OSError, ValueError):  # a log that cannot be written must not hide the error itself
        pass
    return error


def _format_exception() -> tuple[Unexpected, str]:
    # Imported here, because both slow down every start and are needed only after a failure.
    import traceback

    from groundplan.kernel.ids import new_short_id

    return Unexpected(new_short_id()), traceback.format_exc()
