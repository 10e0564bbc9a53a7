"""How a command fails: a sentence on stderr and an exit status that the error's family decides."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from groundplan.kernel.errors import GroundplanError, Invalid, Unexpected
from groundplan.kernel.output_gate import encode

LOG_VARIABLE = "GROUNDPLAN_LOG"
INTERRUPTED = 130  # 128 and the number of SIGINT, as shells count
PIPE_CLOSED = 141  # the same for SIGPIPE


class Usage(Invalid):
    """The command line itself cannot be understood."""

    code = "usage"


def report(error: GroundplanError, *, as_json: bool) -> int:
    """Tell what went wrong and return the exit status."""
    if as_json:
        write(sys.stderr, encode({"error": error.body()}).decode("utf-8"))
    else:
        write(sys.stderr, f"error: {printable(error.message)} ({error.code})")
    return error.exit_code


def recorded() -> Unexpected:
    """What may be shown of the exception being handled. The whole of it goes to the log, where there is one."""
    from groundplan.kernel.ids import short_id

    error = Unexpected(short_id())
    if path := os.environ.get(LOG_VARIABLE):
        _log(path, error.details["reference"])
    else:
        error.message += f"; there is none, so set {LOG_VARIABLE}=FILE and run it again"
    return error


def _log(path: str, reference: str) -> None:
    import traceback

    from groundplan.kernel.clock import stamp, system_clock

    text = f"{stamp(system_clock())} {reference}\n{traceback.format_exc()}\n"
    try:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, text.encode("utf-8", "backslashreplace"))
        finally:
            os.close(file)
    except (OSError, ValueError):  # a log that cannot be written must not hide the error itself
        pass


def printable(text: str) -> str:
    """Text for a terminal: control characters and marks that turn the direction of writing are spelled out."""
    if text.isprintable():
        return text
    return "".join(_spelled(char) if _is_control(char) else char for char in text)


def _is_control(char: str) -> bool:
    return char not in "\n\t" and (ord(char) < 32 or 127 <= ord(char) < 160 or char in _DIRECTION or _is_half(char))


def _is_half(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _spelled(char: str) -> str:
    return f"\\u{ord(char):04x}"


_DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def write(stream: TextIO, text: str) -> None:
    """One line, in UTF-8 whatever the terminal's own idea is: JSON has no other encoding."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(f"{text}\n")
    else:
        stream.flush()
        buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    stream.flush()
