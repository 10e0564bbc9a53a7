"""Lines on standard output, and values as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any

import msgspec

from groundplan.kernel.output_gate import encode
from groundplan.surfaces.cli.failures import escape_control_chars
from groundplan.surfaces.cli.screen.output import Output

EMPTY_CELL = "-"
INDENT = "  "


def echo(*lines: str) -> None:
    """Print lines without wrapping or markup."""
    output = Output()
    for line in lines:
        output.print(escape_control_chars(line))


def echo_list(title: str, lines: Iterable[str]) -> None:
    """Print lines under a title; print nothing if there are none."""
    items = list(lines)
    if items:
        echo("", title, *(f"{INDENT}{line}" for line in items))


def format_title(name: str, summary: str | msgspec.UnsetType) -> str:
    """Return an id or name followed by the summary."""
    return f"{name}  {to_one_line(summary)}" if summary else name


def to_one_line(text: str) -> str:
    """Return a text with all whitespace collapsed, on one line."""
    return " ".join(text.split())


def join_first(names: Sequence[str], count: int) -> str:
    """Return the first `count` names on one line, and the number of the rest."""
    more = f" and {len(names) - count:,} more" if len(names) > count else ""
    return f"{', '.join(names[:count])}{more}"


def format_time(stamp: str) -> str:
    """Return a timestamp up to the minute, in UTC as stored."""
    return escape_control_chars(stamp[:16].replace("T", " "))


def format_value(value: Any) -> str:
    """Return a value of any kind on one line."""
    match value:
        case None | msgspec.UNSET:
            return EMPTY_CELL
        case bool():
            return "yes" if value else "no"
        case Enum():
            return escape_control_chars(str(value.value))
        case str():
            return escape_control_chars(value)
        case list() if all(isinstance(item, str | int | float) for item in value):
            return ", ".join(map(format_value, value)) or EMPTY_CELL
        case int() | float():
            return str(value)
    return escape_control_chars(encode(value).decode("utf-8"))
