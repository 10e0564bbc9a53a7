"""Read files, JSON and standard input up to a limit, and write files without overwriting by accident."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX, decode
from groundplan.kernel.wording import quote_text
from groundplan.surfaces.cli.failures import UsageError, write_line
from groundplan.surfaces.cli.screen.text import escape_control_chars

STANDARD_STREAM = "-"


def describe_file(file: str) -> str:
    """Return the name of a file for a message."""
    return "standard input" if file == STANDARD_STREAM else quote_text(file)


def read_content(file: str, bytes_max: int = BODY_BYTES_MAX, *, option: str = "", what: str = "document") -> bytes:
    """Return the content of a file or of standard input, at most `bytes_max` + 1 bytes, for an option."""
    if file == STANDARD_STREAM:
        if sys.stdin is None:
            raise _unreadable("standard input is closed; name a file", file, option)
        if sys.stdin.isatty():
            write_line(sys.stderr, f"groundplan: type the {what}{option and ' for '}{option}, then press Ctrl-D")
        return sys.stdin.buffer.read(bytes_max + 1)
    try:
        with Path(file).open("rb") as opened:
            return opened.read(bytes_max + 1)
    except (OSError, ValueError) as error:
        raise _unreadable(f"cannot read {quote_text(file)}: {_describe_os_error(error)}", file, option) from None


def _unreadable(problem: str, file: str, option: str) -> UsageError:
    return UsageError(f"{option}: {problem}", option=option) if option else UsageError(problem, file=file)


def decode_text(raw: bytes, source: str) -> str:
    """Return the text in the content of a source."""
    _check_size(raw, source)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{source} is not UTF-8", source=source) from None


def _check_size(raw: bytes, source: str) -> None:
    if len(raw) > BODY_BYTES_MAX:
        raise Invalid(
            f"{source} has more than {BODY_BYTES_MAX} bytes, the most that a call takes; shorten it",
            code="too_large",
            limit_bytes=BODY_BYTES_MAX,
        )


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


JSON_METAVAR = "JSON|@FILE|-"
FILE_PREFIX = "@"


def parse_json_options(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the values of options, with those in `names` parsed as JSON."""
    piped = [name for name in names if values.get(name) == STANDARD_STREAM]
    if len(piped) > 1:
        raise UsageError(
            f"{_format_option(piped[0])} and {_format_option(piped[1])} cannot both be read from standard input; "
            "use a file"
        )
    return {
        name: _read_json(_format_option(name), value) if name in names and isinstance(value, str) else value
        for name, value in values.items()
    }


def read_text_options(values: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
    """Return the values of options, with those in `names` read from files or standard input."""
    return {name: _read_text(_format_option(name), value) if name in names else value for name, value in values.items()}


def read_text(option: str, file: str = STANDARD_STREAM) -> str:
    """Return the text in a file or standard input, for an option."""
    return decode_text(read_content(file, option=option, what="text"), describe_file(file))


def _read_text(option: str, given: str) -> str:
    if given == STANDARD_STREAM:
        return read_text(option)
    if given.startswith(FILE_PREFIX * 2) or not given.startswith(FILE_PREFIX):
        return given.removeprefix(FILE_PREFIX) if given.startswith(FILE_PREFIX) else given
    try:
        return read_text(option, given[1:])
    except UsageError as error:
        raise UsageError(
            f"{error.message}; for a text that starts with {FILE_PREFIX}, write {FILE_PREFIX * 2}", option=option
        ) from None


def _read_json(option: str, given: str) -> Any:
    if given == STANDARD_STREAM or given.startswith(FILE_PREFIX):
        file = given.removeprefix(FILE_PREFIX)
        source = describe_file(file) if given == STANDARD_STREAM else file
        return _decode_json(read_content(file, option=option, what="JSON"), source, option)
    try:
        return _decode_json(given.encode("utf-8", "surrogateescape"), option, option)
    except Invalid as error:
        if error.code == "invalid_json" and _is_file(given):
            raise UsageError(
                f"{option} {quote_text(given)} is a file name; to read the file, write {FILE_PREFIX}{given}",
                option=option,
            ) from None
        raise


def _decode_json(raw: bytes, source: str, option: str) -> Any:
    _check_size(raw, source)
    try:
        return decode(raw.removeprefix(b"\xef\xbb\xbf"))
    except Invalid as error:
        sentence = error.message.replace("the request", source, 1)
        raise Invalid(sentence, code=error.code, **{**error.details, "option": option}) from None


def _is_file(given: str) -> bool:
    try:
        return Path(given).is_file()
    except (OSError, ValueError):  # not a valid file name
        return False


def _format_option(name: str) -> str:
    return name if name.isupper() else f"--{name.replace('_', '-')}"  # a positional argument is in capitals
