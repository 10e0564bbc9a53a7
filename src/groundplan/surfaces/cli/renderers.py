"""The view of each answer, and the one for operations without a view of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from groundplan.catalog import OPERATIONS
from groundplan.commands import COMMANDS, Entry
from groundplan.kernel.operations.registry import Effect, Operation, load_by_name
from groundplan.kernel.wording import PROGRAM
from groundplan.surfaces.cli.drawing import Fields, Part, Rows, View, print_parts
from groundplan.surfaces.cli.invocation import CommandResult

# The module with the view of an operation, by its name or the first part of that; a command loads no other.
VIEWS: Mapping[str, str] = {
    "work": "work",
    **dict.fromkeys(("container", "dependency", "section", "template", "tag"), "containers"),
    "knowledge": "knowledge.answers",
    "context": "context.answers",
    "purpose": "purpose.views",
    "token": "tokens",
    **dict.fromkeys(("event", "organization", "briefing"), "briefing"),
    "briefing.throughline": "throughline",
}


def find_view(operation: str) -> Callable[[Any], None] | None:
    """Return the view of an operation; None if its answer is drawn as tables and pairs."""
    module = VIEWS.get(operation) or VIEWS.get(operation.partition(".")[0])
    if module is None:
        return None
    view: Callable[[Any], None] | None = load_by_name(f"{__package__}.{module}:RENDERERS").get(operation)
    return view


def show_answer(operation: str, answer: Any, encoded: bytes | None = None) -> CommandResult:
    """Return an answer as the result of a command that is a function, drawn as the operation has it."""
    view = find_view(operation)
    assert view is not None, operation  # noqa: S101 - such a command is for an operation with a view
    return CommandResult(answer, lambda: view(answer), encoded=encoded)


def draw_answer(operation: Operation[Any, Any], entry: Entry, answer: Any, project: str = "") -> None:
    """Print the answer of an operation: with its view, else lists as tables, and the rest as pairs."""
    view = find_view(operation.name)
    if isinstance(view, View):
        view(answer, project)
    elif view is not None:
        view(answer)
    else:
        print_parts(list_parts(answer, entry))


def list_parts(answer: Any, entry: Entry) -> Iterator[Part]:
    """Yield an answer without a view of its own: lists as tables, the rest as pairs."""
    pairs: list[str] = []
    has_table = False
    for field in msgspec.structs.fields(answer):
        value = getattr(answer, field.name)
        if isinstance(value, list) and all(isinstance(row, msgspec.Struct) for row in value):
            has_table = True
            names = entry.columns or (value[0].__struct_fields__ if value else ())
            columns = [(_format_column_title(name, entry), f"{{{name}}}") for name in names]
            empty = "" if value else f"No {_format_column_title(field.name, entry)} here.{_suggest_next_step(entry)}"
            yield from Rows(field.name, *columns, empty=empty)(answer)
        elif isinstance(value, msgspec.Struct):
            yield from _list_pairs(value, value.__struct_fields__, entry)
        elif not has_table or value not in (None, msgspec.UNSET):  # no line for an empty value beside a table
            pairs.append(field.name)
    yield from _list_pairs(answer, pairs, entry)


def _list_pairs(item: msgspec.Struct, names: Iterable[str], entry: Entry) -> Iterator[Part]:
    """Yield fields side by side, also those without a value."""
    return Fields(*((_format_column_title(name, entry), f"{{{name}}}") for name in names))(item)


def format_usage(operation: Operation[Any, Any], entry: Entry) -> str:
    """Return the command line of an operation with only its required arguments."""
    words = [PROGRAM, *entry.words]
    for field in msgspec.structs.fields(operation.input):
        name = entry.get_option_name(field.name)
        if field.name in entry.arguments:
            words.append(name.upper())
        elif field.required and field.name not in entry.fixed:
            words.append(f"--{name} {name.upper()}")
    return " ".join(words)


def _suggest_next_step(entry: Entry) -> str:
    """Return a hint at the first command of the group that writes, or an empty text."""
    for other in COMMANDS:
        if other.operation and not other.item_of and other.words[0] == entry.words[0]:
            operation = OPERATIONS[other.operation]
            if operation.effect is Effect.WRITE:
                return f" Next: {format_usage(operation, other)}"
    return ""


def _format_column_title(name: str, entry: Entry) -> str:
    return entry.get_option_name(name).replace("_", " ").replace("-", " ")
