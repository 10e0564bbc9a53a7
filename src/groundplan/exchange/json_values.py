"""Read JSON values one by one with their lines: the items of a list, one value a line, or several after each other."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NoReturn

from groundplan.exchange.model import BadLines, UnreadableSource
from groundplan.exchange.text_files import is_conflict_marker

_SPACE = " \t\r\n"


def iter_json_values(text: str, file: str, bad: BadLines) -> Iterator[tuple[int, Any]]:
    """Yield the line and value of each JSON value; the items of a list count as values of their own.

    A line outside of a list that is not JSON is a bad line.

    Raises:
        UnreadableSource: a list is not closed, or one of its items is not JSON.
        BadLineFound: a line is not JSON, and bad lines are not skipped.
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
    """A position in a JSON text, and the line that it is in."""

    def __init__(self, text: str, file: str) -> None:
        self.line = 1
        self._text = text
        self._file = file
        self._position = 0
        self._decoder = json.JSONDecoder(parse_constant=_refuse_constant)

    def skip_space(self) -> bool:
        """Move to the next character that is no white space, and return whether there is one."""
        end = self._position
        while end < len(self._text) and self._text[end] in _SPACE:
            end += 1
        self._move(end)
        return end < len(self._text)

    def starts_with(self, char: str) -> bool:
        return self._text.startswith(char, self._position)

    def read_value(self) -> Any:
        """Return the value at the position, and move behind it.

        Raises:
            ValueError: it is not JSON.
        """
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
        """Move to the next line; return the line of an error, and what is wrong with it."""
        end = self._text.find("\n", self._position)
        end = len(self._text) if end < 0 else end
        if is_conflict_marker(self._text[self._position : end].rstrip()):
            found = self.line, "is a conflict marker of a merge; resolve the merge first"
        elif isinstance(error, json.JSONDecodeError):
            found = error.lineno, f"is not JSON: {error.msg} at column {error.colno}"
        else:
            found = self.line, f"is not JSON: {error}"
        self._move(end)
        return found

    def _move(self, position: int) -> None:
        self.line += self._text.count("\n", self._position, position)
        self._position = position


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")
