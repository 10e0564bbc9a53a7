"""Read files up to a limit, and write files without overwriting by accident."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError, write_line
from groundplan.surfaces.cli.screen.control_chars import escape_control_chars

STANDARD_STREAM = "-"


def describe_file(file: str) -> str:
    """Return the name of a file for a message."""
    return "standard input" if file == STANDARD_STREAM else quote_text(file)


def read_content(file: str, bytes_max: int) -> bytes:
    """Return the content of a file or of standard input, at most `bytes_max` + 1 bytes."""
    if file != STANDARD_STREAM:
        try:
            with Path(file).open("rb") as opened:
                return opened.read(bytes_max + 1)
        except (OSError, ValueError) as error:
            raise UsageError(f"cannot read {quote_text(file)}: {_describe_os_error(error)}", file=file) from None
    if sys.stdin is None:
        raise UsageError("standard input is closed; name a file")
    if sys.stdin.isatty():
        write_line(sys.stderr, "groundplan: type the document, then press Ctrl-D")
    return sys.stdin.buffer.read(bytes_max + 1)


def refuse_existing(out: str, *, force: bool) -> None:
    """Check the output file before the work is done."""
    if out == STANDARD_STREAM or force:
        return
    try:
        exists = Path(out).exists()
    except (OSError, ValueError):  # opening it reports why
        return
    if exists:
        raise UsageError(f"{quote_text(out)} exists already; to overwrite it, use --force", file=out)


def write_file(out: str, content: bytes, *, force: bool) -> None:
    """Write a file. Without `force` it must not exist."""
    try:
        if force and Path(out).exists() and not Path(out).is_file():
            Path(out).write_bytes(content)  # a device or a pipe cannot be replaced
        elif force:
            _replace(Path(out).resolve(), content)
        else:
            _create(Path(out), content)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {quote_text(out)}: {_describe_os_error(error)}", file=out) from None


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically: the old one stays until the new one is complete."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    _create(temporary, content)
    temporary.replace(path)


def _create(path: Path, content: bytes) -> None:
    """Create a file, and remove it again if it cannot be written completely."""
    # Mode "x" fails if another process has created the file since the check.
    with path.open("xb") as file:
        try:
            file.write(content)
            file.flush()
        except OSError:
            path.unlink(missing_ok=True)
            raise


def print_file(text: str) -> None:
    """Write text to standard output: unchanged, or with control characters escaped on a terminal."""
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
