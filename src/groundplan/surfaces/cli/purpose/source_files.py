"""Find and read the source files below some paths, within limits. Links are not followed, and nothing is executed."""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.repository.rules.folder import to_display_path
from groundplan.surfaces.cli.failures import UsageError

FILES_MAX = 20_000
FILE_BYTES_MAX = 1 << 20
PROBE_BYTES = 8_192  # a NUL byte in them means that a file is binary
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages", "venv"})  # the code of others

UTF_8 = "utf-8-sig"  # drops a byte order mark
_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    *((mark, "utf-32") for mark in (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)),
    *((mark, "utf-16") for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)),
)

# O_NONBLOCK: opening a pipe in place of a file must not block.
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class CodeFile(NamedTuple):
    """A file: its text, or the reason why it was not read; and whether the user named it, or a folder above it."""

    name: str
    suffix: str
    text: str = ""
    skipped: str = ""
    is_named: bool = False


def read_source_files(paths: Sequence[str], suffixes: Collection[str]) -> Iterator[CodeFile]:
    """Yield the named files, and those below the named folders that have one of the suffixes."""
    seen: set[str] = set()
    named = {os.path.normpath(path) for path in paths}
    for path in paths:
        for found in _list_files(path, suffixes):
            name = os.path.normpath(found)
            if name in seen:
                continue
            seen.add(name)
            if len(seen) > FILES_MAX:
                raise UsageError(f"--code takes at most {FILES_MAX} files; name fewer folders", limit=FILES_MAX)
            yield _read(found, is_named=name in named)


def _list_files(path: str, suffixes: Collection[str]) -> Iterator[str]:
    """Yield the files of a path, in a fixed order."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a path with a NUL raises only here
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UsageError(f"cannot read {quote_text(path)}: {reason}", file=to_display_path(path)) from None
    if not stat.S_ISDIR(mode):
        yield path
        return
    for above, folders, files in os.walk(path):
        folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS and not one.startswith("."))
        yield from (str(Path(above, one)) for one in sorted(files) if Path(one).suffix in suffixes)


def _read(path: str, *, is_named: bool) -> CodeFile:
    """Read a file. Only a link that the user named is followed."""
    file = CodeFile(to_display_path(path), Path(path).suffix, is_named=is_named)
    try:
        descriptor = os.open(path, _READ_FLAGS | (0 if is_named else os.O_NOFOLLOW))
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return file._replace(skipped="is not a regular file")
            raw = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        is_link = not is_named and Path(path).is_symlink()
        reason = "is a symbolic link, which is not followed" if is_link else f"cannot be read: {error.strerror}"
        return file._replace(skipped=reason)
    encoding = _find_encoding(raw)
    if encoding == UTF_8 and b"\0" in raw[:PROBE_BYTES]:
        return file._replace(skipped="is binary")
    if len(raw) > FILE_BYTES_MAX:
        return file._replace(skipped=f"is larger than {FILE_BYTES_MAX} bytes")
    return file._replace(text=raw.decode(encoding, "replace"))


def _find_encoding(raw: bytes) -> str:
    """Return the encoding that the byte order mark of a file names, else UTF-8."""
    return next((encoding for mark, encoding in _BYTE_ORDER_MARKS if raw.startswith(mark)), UTF_8)
