"""Report errors and warnings on stderr; the family of an error decides the exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from groundplan.kernel.errors import OPERATION_NAMES, GroundplanError, Invalid, Unavailable, Vocabulary
from groundplan.surfaces.cli.screen.text import escape_control_chars
from groundplan.surfaces.stop_signals import CommandCancelled

EXIT_INTERRUPTED = 130  # 128 plus SIGINT, as shells do
EXIT_PIPE_CLOSED = 141  # 128 plus SIGPIPE


class UsageError(Invalid):
    """The command line is invalid."""

    code = "usage"


def run_guarded(run: Callable[[], int], *, as_json: bool, load_names: Callable[[], Vocabulary]) -> int:
    """Run a command and return its exit status; whatever it raises is reported on stderr, with names for hints."""
    try:
        return _run_logged(run)
    except GroundplanError as error:
        return _report_quietly(error, as_json=as_json, load_names=load_names)
    except CommandCancelled as cancelled:
        _report_quietly(cancelled.error, as_json=as_json, load_names=load_names)
        return cancelled.exit_code
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return EXIT_PIPE_CLOSED


def _run_logged(run: Callable[[], int]) -> int:
    try:
        return run()
    except (GroundplanError, BrokenPipeError):
        raise
    except Exception:
        from groundplan.surfaces.exception_log import log_exception_to_file

        raise log_exception_to_file() from None


def _report_quietly(error: GroundplanError, *, as_json: bool, load_names: Callable[[], Vocabulary]) -> int:
    try:
        return report(error, as_json=as_json, load_names=load_names)
    except OSError:  # stderr is closed
        return error.exit_code


@contextmanager
def report_lost_output() -> Iterator[None]:
    """Report an answer that could not be written: what the command did stays done."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        drop_output()
        raise Unavailable(
            f"the answer could not be written: {error.strerror}; the command itself has completed", code="output_failed"
        ) from None


def drop_output() -> None:
    """Send what is still to be printed nowhere: the interpreter would flush it at exit, and print an error."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def ensure_streams() -> None:
    """Open closed streams. Else the next opened file would get the descriptor, and all that is printed."""
    if sys.stdout is None or sys.stderr is None:
        devnull = Path(os.devnull).open("w")  # noqa: SIM115 - for the rest of the process
        sys.stdout, sys.stderr = sys.stdout or devnull, sys.stderr or devnull


def report(error: GroundplanError, *, as_json: bool, load_names: Callable[[], Vocabulary] | None = None) -> int:
    """Print an error on stderr and return the exit status; hints name commands, or what `load_names` loads."""
    vocabulary = (load_names or load_vocabulary)() if error.next_steps else OPERATION_NAMES
    if as_json:
        from groundplan.surfaces.respond import respond_with_error  # few commands fail

        write_line(sys.stderr, respond_with_error(error, group=None, vocabulary=vocabulary).body.decode("utf-8"))
    else:
        write_line(sys.stderr, f"error: {escape_control_chars(error.describe(vocabulary))} ({error.code})")
    return error.exit_code


def load_vocabulary() -> Vocabulary:
    """Return how the command line names operations. It loads them all, so only what names one asks for it."""
    from groundplan.catalog import OPERATIONS
    from groundplan.surfaces.vocabularies import CliVocabulary

    return CliVocabulary(OPERATIONS)


def print_warning(line: str) -> None:
    """Print a warning on stderr."""
    with suppress(OSError):  # stderr is closed
        write_line(sys.stderr, f"warning: {escape_control_chars(line)}")


def write_line(stream: TextIO, text: str) -> None:
    """Write one line in UTF-8, whatever the locale says, because JSON requires it."""
    buffer = getattr(stream, "buffer", None)
    if buffer is None:
        stream.write(f"{text}\n")
    else:
        stream.flush()
        buffer.write(f"{text}\n".encode("utf-8", "backslashreplace"))
    stream.flush()
