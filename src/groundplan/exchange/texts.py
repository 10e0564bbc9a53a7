"""Read the text files of other tools: encodings, line breaks, limits, conflict markers, and single JSON values."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from groundplan.exchange.items import BadLines, UnreadableSource

FILE_BYTES_MAX = 50_000_000  # the largest of the real files has 4 MB

_CONFLICT_MARKERS = ("<<<<<<< ", ">>>>>>> ", "||||||| ")
_CONFLICT_MIDDLE = "======="


def read_text(path: Path) -> str:
    """Return the text of a file with LF as line break. The file is UTF-8, or UTF-16 with a byte order mark."""
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
    """Yield the files below a folder whose names have a suffix, sorted, without hidden folders and links."""
    for above, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(above) / name
            if name.endswith(suffix) and not path.is_symlink():
                yield path


def find_conflict_marker(text: str) -> int | None:
    """Return the number of the first line that is a conflict marker, or None."""
    if not any(marker in text for marker in _CONFLICT_MARKERS):
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(_CONFLICT_MARKERS):
            return number
    return None


def is_conflict_marker(line: str) -> bool:
    """Return True if a line is a conflict marker of a merge."""
    return line.startswith(_CONFLICT_MARKERS) or line == _CONFLICT_MIDDLE


# Read JSON values one by one with their lines: the items of a list, one value a line, or several after each other.

_SPACE = " \t\r\n"


def iter_json_values(text: str, file: str, bad: BadLines) -> Iterator[tuple[int, Any]]:
    """Yield the line and value of each JSON value; each item of a list is a separate value.

    A line outside of a list that is not JSON is a bad line.
    """
    reader = _ValueReader(text, file)
    while reader.skip_space():
        if reader.starts_with("["):
            yield from reader.iter_list()
            continue
        line = reader.line
        try:
            value = reader.read_value()
        except ValueError as error:
            bad.add(file, *reader.skip_line(error))
            continue
        yield line, value


class _ValueReader:
    """A position in a JSON text, and the line of that position."""

    def __init__(self, text: str, file: str) -> None:
        self.line = 1
        self._text = text
        self._file = file
        self._position = 0
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def skip_space(self) -> bool:
        """Move to the next character that is not white space; return False at the end of the text."""
        end = self._position
        while end < len(self._text) and self._text[end] in _SPACE:
            end += 1
        self._move(end)
        return end < len(self._text)

    def starts_with(self, char: str) -> bool:
        return self._text.startswith(char, self._position)

    def read_value(self) -> Any:
        """Read the value at the position, move behind it, and return it."""
        try:
            value, end = self._decoder.raw_decode(self._text, self._position)
        except RecursionError:
            raise ValueError("is nested too deeply") from None
        self._move(end)
        return value

    def iter_list(self) -> Iterator[tuple[int, Any]]:
        """Yield the items of the list at the position with their lines."""
        begin = self.line
        self._move(self._position + 1)
        is_first = True
        while self.skip_space():
            if self.starts_with("]"):
                self._move(self._position + 1)
                return
            if not is_first:
                if not self.starts_with(","):
                    raise UnreadableSource(self._file, "has a list without a comma between two items", line=self.line)
                self._move(self._position + 1)
                self.skip_space()
            is_first = False
            line = self.line
            try:
                value = self.read_value()
            except ValueError as error:
                line, problem = self.skip_line(error)
                raise UnreadableSource(self._file, problem, line=line) from None
            yield line, value
        raise UnreadableSource(self._file, "has a list that is not closed", line=begin)

    def skip_line(self, error: ValueError) -> tuple[int, str]:
        """Move to the next line, and return the line number and the description of an error."""
        end = self._text.find("\n", self._position)
        end = len(self._text) if end < 0 else end
        if is_conflict_marker(self._text[self._position : end].rstrip()):
            problem = self.line, "is a conflict marker of a merge; resolve the merge first"
        elif isinstance(error, json.JSONDecodeError):
            problem = error.lineno, f"is not JSON: {error.msg} at column {error.colno}"
        else:
            problem = self.line, f"is not JSON: {error}"
        self._move(end)
        return problem

    def _move(self, position: int) -> None:
        self.line += self._text.count("\n", self._position, position)
        self._position = position


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


# --- Read files with one JSON object a line: what is wrong with a line is said with its number ------------------------


def read_json_lines(path: Path, bad: BadLines) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the line number and the object of each line. Blank lines are ignored, and bad lines are added to `bad`."""
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if not line.strip():
            continue
        if is_conflict_marker(line):
            bad.add(str(path), number, "is a conflict marker that a merge left; resolve the conflict first")
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            bad.add(str(path), number, "is not JSON")
            continue
        if isinstance(value, dict):
            yield number, value
        else:
            bad.add(str(path), number, "is not a JSON object")


def read_json(path: Path) -> Any:
    """Return the value of a JSON file."""
    text = read_text(path)
    try:
        return json.loads(text)
    except RecursionError:
        raise UnreadableSource(str(path), "is nested too deep") from None
    except json.JSONDecodeError as error:
        for number, line in enumerate(text.split("\n"), 1):
            if is_conflict_marker(line):
                problem = "is a conflict marker that a merge left; resolve the conflict first"
                raise UnreadableSource(str(path), problem, line=number) from None
        raise UnreadableSource(str(path), f"is not JSON: {error.msg}", line=error.lineno) from None
