"""Report errors and warnings on stderr; the family of an error decides the exit status."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TextIO

from groundplan.catalog import OPERATIONS
from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.surfaces.respond import respond_with_error
from groundplan.surfaces.vocabularies import CliVocabulary

EXIT_INTERRUPTED = 130  # 128 plus SIGINT, as shells do
EXIT_PIPE_CLOSED = 141  # 128 plus SIGPIPE


class UsageError(Invalid):
    """The command line is invalid."""

    code = "usage"


def report(error: GroundplanError, *, as_json: bool) -> int:
    """Print an error on stderr and return the exit status."""
    vocabulary = CliVocabulary(OPERATIONS)
    if as_json:
        write_line(sys.stderr, respond_with_error(error, group=None, vocabulary=vocabulary).body.decode("utf-8"))
    else:
        write_line(sys.stderr, f"error: {escape_control_chars(error.describe(vocabulary))} ({error.code})")
    return error.exit_code


def print_warning(line: str) -> None:
    """Print a warning on stderr."""
    with suppress(OSError):  # stderr is closed
        write_line(sys.stderr, f"warning: {escape_control_chars(line)}")


def escape_control_chars(text: str) -> str:
    """Return text for a terminal, with control and bidirectional formatting characters escaped."""
    if text.isprintable():
        return text
    return "".join(_escape_char(char) if _is_control(char) else char for char in text)


def _is_control(char: str) -> bool:
    return char not in "\n\t" and (
        ord(char) < 32 or 127 <= ord(char) < 160 or char in _BIDI_CONTROLS or _is_surrogate(char)
    )


def _is_surrogate(char: str) -> bool:
    return "\ud800" <= char <= "\udfff"


def _escape_char(char: str) -> str:
    return f"\\u{ord(char):04x}"


_BIDI_CONTROLS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def write_line(stream: TextIO, text: str) -> None:
    """Write one line in UTF-8, whatever the locale says, because JSON requires it."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(f"{text}\n")
    else:
        stream.flush()
        buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    stream.flush()
