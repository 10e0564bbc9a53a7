"""Files that commands read and write: no more is read than a limit allows, and nothing is written over by accident."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError, escape_control_chars, write_line

STANDARD_STREAM = "-"

ForceOption = Annotated[
    bool, typer.Option("--force", metavar="", help="Write over a file that is there.", show_default=False)
]


def describe_file(file: str) -> str:
    """A file in a sentence."""
    return "standard input" if file == STANDARD_STREAM else quote_text(file)


def read_content(file: str, bytes_max: int) -> bytes:
    """What is in a file, or on standard input. Of one that is too large there is a byte more than it may have.

    Raises:
        UsageError: it cannot be read.
    """
    if file != STANDARD_STREAM:
        try:
            with Path(file).open("rb") as opened:
                return opened.read(bytes_max + 1)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {quote_text(file)}: {_describe_os_error(error)}", file=file) from None
    if sys.stdin is None:
        raise UsageError("the document is to be read from standard input, which is closed; name a file")
    if sys.stdin.isatty():
        write_line(sys.stderr, "groundplan: type the document; Ctrl-D ends it")
    return sys.stdin.buffer.read(bytes_max + 1)


def refuse_existing(out: str, *, force: bool) -> None:
    """Look before the work is done, so that it is not done for nothing.

    Raises:
        UsageError: the file is there, and nobody said that it may be written over.
    """
    if out == STANDARD_STREAM or force:
        return
    try:
        is_there = Path(out).exists()
    except (OSError, ValueError):  # opening it says why
        return
    if is_there:
        raise UsageError(f"{quote_text(out)} is there already; --force writes over it", file=out)


def write_file(out: str, content: bytes, *, force: bool) -> None:
    """Write a file, a new one unless it may be written over.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        if force and Path(out).exists() and not Path(out).is_file():
            Path(out).write_bytes(content)  # a device or a pipe, which nothing can stand in for
        elif force:
            _replace(Path(out).resolve(), content)
        else:
            _create(Path(out), content)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {quote_text(out)}: {_describe_os_error(error)}", file=out) from None


def _replace(path: Path, content: bytes) -> None:
    """A file instead of the one that is there, which stays whole until the new one is."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    _create(beside, content)
    beside.replace(path)


def _create(path: Path, content: bytes) -> None:
    """A new file, or none where it cannot be written whole."""
    # Made by whoever comes first: what appears between the look and here is not written over either.
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def print_file(text: str) -> None:
    """A file on standard output: byte for byte, but for somebody at a terminal, who is shown what is not printable."""
    if sys.stdout.isatty():
        text = escape_control_chars(text.replace("\r\n", "\n"))
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        buffer.write(text.encode())
    sys.stdout.flush()


def _describe_os_error(error: OSError | ValueError) -> str:
    return str(error.strerror) if isinstance(error, OSError) else "no such file"
