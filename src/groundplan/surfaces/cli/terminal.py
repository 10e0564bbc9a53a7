"""Terminal output: tables for lists, name and value pairs for single items."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Any, Literal

import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from groundplan.kernel.operations.registry import Command, Effect, Operation, Registry
from groundplan.kernel.output_gate import encode
from groundplan.surfaces.cli.failures import escape_control_chars

# In a file or a pipe nothing is wrapped, so that a line stays one line for grep.
UNWRAPPED_WIDTH_CHARS = 10_000
EMPTY_CELL = "-"
INDENT = "  "


class _Output(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # handled by the program; rich would exit here


def console() -> Console:
    """Return a console on standard output, with colours only on a terminal and without NO_COLOR."""
    width = None if sys.stdout.isatty() else UNWRAPPED_WIDTH_CHARS
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return _Output(file=sys.stdout, width=width, color_system=colours, highlight=False, markup=False, emoji=False)


def echo(*lines: str) -> None:
    """Print lines without wrapping or markup."""
    output = console()
    for line in lines:
        output.print(Text(escape_control_chars(line)), soft_wrap=True)


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


def draw_answer(answer: Any, command: Command, operations: Registry) -> None:
    """Print the answer of an operation: lists as tables, the rest as pairs."""
    pairs: list[tuple[str, str]] = []
    has_table = False
    for field in msgspec.structs.fields(answer):
        value = getattr(answer, field.name)
        if isinstance(value, list) and all(isinstance(row, msgspec.Struct) for row in value):
            has_table = True
            if value:
                draw_rows(value, command)
            else:
                echo(f"No {_title(field.name, command)} here.{_next_step(command, operations)}")
        elif isinstance(value, msgspec.Struct):
            inner = msgspec.structs.fields(value)
            draw_pairs((_title(part.name, command), _cell(value, part.name)) for part in inner)
        elif not has_table or value not in (None, msgspec.UNSET):  # no line for an empty value beside a table
            pairs.append((_title(field.name, command), _cell(answer, field.name)))
    if pairs:
        draw_pairs(pairs)


def draw_rows(rows: Sequence[msgspec.Struct], command: Command) -> None:
    """Print a table with the columns that the command names, or with all."""
    columns = command.columns or tuple(field.name for field in msgspec.structs.fields(rows[0]))
    cells = [[_cell(row, column) for column in columns] for row in rows]
    draw_table([_title(column, command) for column in columns], cells)


def draw_table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table of values under titles."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(Text(title), overflow="fold")
    for row in rows:
        table.add_row(*(Text(format_value(value)) for value in row))
    console().print(table)


def draw_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names and values side by side."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(escape_control_chars(name)), Text(escape_control_chars(value)))
    console().print(table)


def format_usage(operation: Operation[Any, Any], command: Command) -> str:
    """Return the command line of an operation with only its required arguments."""
    words = ["groundplan", *command.words]
    for field in msgspec.structs.fields(operation.input):
        name = command.names.get(field.name, field.name).replace("_", "-")
        if field.name in command.arguments:
            words.append(name.upper())
        elif field.required and field.name not in command.fixed:
            words.append(f"--{name} {name.upper()}")
    return " ".join(words)


def _next_step(command: Command, operations: Registry) -> str:
    """Return a hint at the first command of the group that writes, or an empty text."""
    for other in operations:
        for candidate in other.commands:
            if other.effect is Effect.WRITE and candidate.words[0] == command.words[0]:
                return f" Next: {format_usage(other, candidate)}"
    return ""


def _title(name: str, command: Command) -> str:
    return command.names.get(name, name).replace("_", " ").replace("-", " ")


def _cell(row: msgspec.Struct, column: str) -> str:
    value = getattr(row, column)
    return format_time(value) if column.endswith("_at") and isinstance(value, str) else format_value(value)


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
