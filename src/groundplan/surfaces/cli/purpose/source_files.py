"""Find and read the source files below some paths, within limits. Links are not followed, and nothing is executed."""

from __future__ import annotations

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

# O_NONBLOCK: opening a pipe in place of a file must not block.
_READ_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class CodeFile(NamedTuple):
    """A file: its text, or the reason why it was not read."""

    name: str
    suffix: str
    text: str = ""
    skipped: str = ""


def read_source_files(paths: Sequence[str], suffixes: Collection[str]) -> Iterator[CodeFile]:
    """Yield the named files, and those below the named folders that have one of the suffixes.

    Raises:
        UsageError: a path does not exist, or there are too many files.
    """
    seen: set[str] = set()
    for path in paths:
        for found, is_named in _list_files(path, suffixes):
            name = os.path.normpath(found)
            if name in seen:
                continue
            seen.add(name)
            if len(seen) > FILES_MAX:
                raise UsageError(f"--code takes at most {FILES_MAX} files; name fewer folders", limit=FILES_MAX)
            yield _read(found, follow=is_named)


def _list_files(path: str, suffixes: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield the files of a path, in a fixed order, and whether the user named it. A named link is followed."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a path with a NUL raises only here
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a path"
        raise UsageError(f"cannot read {quote_text(path)}: {reason}", file=to_display_path(path)) from None
    if not stat.S_ISDIR(mode):
        yield path, True
        return
    for above, folders, files in os.walk(path):
        folders[:] = sorted(one for one in folders if one not in SKIPPED_FOLDERS and not one.startswith("."))
        yield from ((str(Path(above, one)), False) for one in sorted(files) if Path(one).suffix in suffixes)


def _read(path: str, *, follow: bool) -> CodeFile:
    name, suffix = to_display_path(path), Path(path).suffix
    try:
        file = os.open(path, _READ_FLAGS | (0 if follow else os.O_NOFOLLOW))
        with os.fdopen(file, "rb") as opened:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return CodeFile(name, suffix, skipped="is not a regular file")
            raw = opened.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        is_link = not follow and Path(path).is_symlink()
        reason = "is a symbolic link, which is not followed" if is_link else f"cannot be read: {error.strerror}"
        return CodeFile(name, suffix, skipped=reason)
    if b"\0" in raw[:PROBE_BYTES]:
        return CodeFile(name, suffix, skipped="is binary")
    if len(raw) > FILE_BYTES_MAX:
        return CodeFile(name, suffix, skipped=f"is larger than {FILE_BYTES_MAX} bytes")
    return CodeFile(name, suffix, raw.decode("utf-8", "replace"))
