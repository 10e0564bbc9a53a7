"""Read the text files of other tools: encodings, line ends, limits, conflict markers, and unstorable characters."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from groundplan.exchange.model import UnreadableSource

FILE_BYTES_MAX = 50_000_000  # the largest of the real files has 4 MB
TITLE_BYTES_MAX = 4096
REPLACEMENT = "\ufffd"

# All but tab, line feed and carriage return, which texts may have; halves of surrogate pairs are no characters.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_UNSTORABLE_IN_TITLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONFLICT_MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_CONFLICT_MIDDLE = "======="


def read_text(path: Path) -> str:
    """Return a file as text with line feeds: UTF-8, or UTF-16 with a byte order mark.

    Raises:
        UnreadableSource: it cannot be opened, is too large, or is not text.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else "no such file"
        raise UnreadableSource(str(path), f"cannot be read: {problem}") from None
    if len(raw) > FILE_BYTES_MAX:
        limit = FILE_BYTES_MAX // 1_000_000
        raise UnreadableSource(str(path), f"is larger than {limit} MB; split it, or archive old items first")
    return _decode(str(path), raw).replace("\r\n", "\n")


def _decode(file: str, raw: bytes) -> str:
    encoding = "utf-8-sig"
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        encoding = "utf-16"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableSource(file, "is not UTF-8 text; save it as UTF-8", line=line) from None


def iter_files(folder: Path, suffix: str) -> Iterator[Path]:
    """Yield the files below a folder whose names end with a suffix, sorted; hidden folders and links are left out."""
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(above) / name
            if name.endswith(suffix) and not path.is_symlink():
                yield path


def find_conflict_marker(text: str) -> int | None:
    """Return the number of the first line that a merge left as a conflict marker, or None."""
    if not any(marker in text for marker in _CONFLICT_MARKERS):
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_CONFLICT_MARKERS):
            return number
    return None


def is_conflict_marker(line: str) -> bool:
    """Return whether a line is one that a merge left behind."""
    return line.startswith(_CONFLICT_MARKERS) or line == _CONFLICT_MIDDLE


def clean_text(text: str) -> str:
    """Return a text with line feeds, in which U+FFFD stands for characters that cannot be stored."""
    if text.isprintable():
        return text
    return _UNSTORABLE.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def clean_title(text: str) -> str:
    """Return a title on one line, without white space around it; U+FFFD stands for control characters."""
    text = text.strip()
    return text if text.isprintable() else _UNSTORABLE_IN_TITLE.sub(REPLACEMENT, text)


def describe_title_changes(before: str, after: str) -> str | None:
    """Return a sentence about what `clean_title` changed, or None if it is not worth one."""
    changes = []
    if before.endswith(("\n", "\r")):
        changes.append("a line break at the end was removed")
    if after.count(REPLACEMENT) > before.count(REPLACEMENT):
        changes.append("control characters were replaced")
    return "; ".join(changes) or None
