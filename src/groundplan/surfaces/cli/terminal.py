"""Answers as people read them: a list as a table, one thing as pairs of name and value."""

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

# Where output goes to a file or a pipe, nothing is folded: a line stays a line for whoever searches in it.
UNWRAPPED_WIDTH_CHARS = 10_000
EMPTY_CELL = "-"
INDENT = "  "


class _Output(Console):
    def on_broken_pipe(self) -> None:
        raise BrokenPipeError  # for the program to end quietly; rich would end it here


def console() -> Console:
    """Standard output. Colours only where there is a terminal and nobody asked to leave them out."""
    width = None if sys.stdout.isatty() else UNWRAPPED_WIDTH_CHARS
    colours: Literal["auto"] | None = None if os.environ.get("NO_COLOR") else "auto"
    return _Output(file=sys.stdout, width=width, color_system=colours, highlight=False, markup=False, emoji=False)


def echo(*lines: str) -> None:
    """Plain sentences, as they are."""
    output = console()
    for line in lines:
        output.print(Text(escape_control_chars(line)), soft_wrap=True)


def echo_list(title: str, lines: Iterable[str]) -> None:
    """Lines under a title; nothing where there are none."""
    found = list(lines)
    if found:
        echo("", title, *(f"{INDENT}{line}" for line in found))


def format_title(name: str, summary: str | msgspec.UnsetType) -> str:
    """What something is called, behind its id."""
    return f"{name}  {to_one_line(summary)}" if summary else name


def to_one_line(text: str) -> str:
    """A text on one line, as it must be where lines mean something."""
    return " ".join(text.split())


def draw_answer(answer: Any, command: Command, operations: Registry) -> None:
    """The answer of an operation to a command, each part in the form that suits it."""
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
        elif not has_table or value not in (None, msgspec.UNSET):  # a table needs no line about what is not there
            pairs.append((_title(field.name, command), _cell(answer, field.name)))
    if pairs:
        draw_pairs(pairs)


def draw_rows(rows: Sequence[msgspec.Struct], command: Command) -> None:
    """A table with the columns that the command names, or with all there are."""
    columns = command.columns or tuple(field.name for field in msgspec.structs.fields(rows[0]))
    cells = [[_cell(row, column) for column in columns] for row in rows]
    draw_table([_title(column, command) for column in columns], cells)


def draw_table(titles: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table of values under titles."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    for title in titles:
        table.add_column(Text(title), overflow="fold")
    for row in rows:
        table.add_row(*(Text(format_value(value)) for value in row))
    console().print(table)


def draw_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Names and values side by side."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(escape_control_chars(name)), Text(escape_control_chars(value)))
    console().print(table)


def format_usage(operation: Operation[Any, Any], command: Command) -> str:
    """How to call an operation by a command, with nothing but what it must be given."""
    words = ["groundplan", *command.words]
    for field in msgspec.structs.fields(operation.input):
        name = command.names.get(field.name, field.name).replace("_", "-")
        if field.name in command.arguments:
            words.append(name.upper())
        elif field.required and field.name not in command.fixed:
            words.append(f"--{name} {name.upper()}")
    return " ".join(words)


def _next_step(command: Command, operations: Registry) -> str:
    """The first way to change that this is empty."""
    for other in operations:
        for twin in other.commands:
            if other.effect is Effect.WRITE and twin.words[0] == command.words[0]:
                return f" Next: {format_usage(other, twin)}"
    return ""


def _title(name: str, command: Command) -> str:
    return command.names.get(name, name).replace("_", " ").replace("-", " ")


def _cell(row: msgspec.Struct, column: str) -> str:
    value = getattr(row, column)
    return format_time(value) if column.endswith("_at") and isinstance(value, str) else format_value(value)


def format_time(stamp: str) -> str:
    """Up to the minute, in UTC as stored: the rest is for programs, which read JSON."""
    return escape_control_chars(stamp[:16].replace("T", " "))


def format_value(value: Any) -> str:
    """A value of any kind on one line."""
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
