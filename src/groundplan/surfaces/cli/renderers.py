"""The views of all operations, and the one for operations without a view of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from groundplan.kernel.operations.registry import Command, Effect, Operation, Registry
from groundplan.surfaces.cli.briefing import coverage, events, inbox, search, throughline, undo
from groundplan.surfaces.cli.briefing import task as task_briefing
from groundplan.surfaces.cli.context import answers as context_answers
from groundplan.surfaces.cli.drawing import Fields, Part, Rows, print_parts
from groundplan.surfaces.cli.knowledge import answers as knowledge_answers
from groundplan.surfaces.cli.purpose import answers as purpose_answers
from groundplan.surfaces.cli.tokens import RENDERERS as TOKEN_RENDERERS
from groundplan.surfaces.cli.work import containers, graph, sections, workflow

RENDERERS: Mapping[str, Callable[[Any], None]] = {
    **graph.RENDERERS,
    **context_answers.RENDERERS,
    **knowledge_answers.RENDERERS,
    **purpose_answers.RENDERERS,
    **containers.RENDERERS,
    **workflow.RENDERERS,
    **sections.RENDERERS,
    **task_briefing.RENDERERS,
    **TOKEN_RENDERERS,
    **events.RENDERERS,
    **inbox.RENDERERS,
    **throughline.RENDERERS,
    **coverage.RENDERERS,
    **search.RENDERERS,
    **undo.RENDERERS,
}


def draw_answer(answer: Any, command: Command, operations: Registry) -> None:
    """Print the answer of an operation: lists as tables, the rest as pairs."""
    print_parts(_list_parts(answer, command, operations))


def _list_parts(answer: Any, command: Command, operations: Registry) -> Iterator[Part]:
    pairs: list[str] = []
    has_table = False
    for field in msgspec.structs.fields(answer):
        value = getattr(answer, field.name)
        if isinstance(value, list) and all(isinstance(row, msgspec.Struct) for row in value):
            has_table = True
            names = command.columns or (value[0].__struct_fields__ if value else ())
            columns = [(_format_column_title(name, command), f"{{{name}}}") for name in names]
            empty = f"No {_format_column_title(field.name, command)} here.{_suggest_next_step(command, operations)}"
            yield from Rows(field.name, *columns, empty=empty)(answer)
        elif isinstance(value, msgspec.Struct):
            yield from _list_pairs(value, value.__struct_fields__, command)
        elif not has_table or value not in (None, msgspec.UNSET):  # no line for an empty value beside a table
            pairs.append(field.name)
    yield from _list_pairs(answer, pairs, command)


def _list_pairs(item: msgspec.Struct, names: Iterable[str], command: Command) -> Iterator[Part]:
    """Yield fields side by side, also those without a value."""
    return Fields(*((_format_column_title(name, command), f"{{{name}}}") for name in names))(item)


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


def _suggest_next_step(command: Command, operations: Registry) -> str:
    """Return a hint at the first command of the group that writes, or an empty text."""
    for other in operations:
        for candidate in other.commands:
            if other.effect is Effect.WRITE and candidate.words[0] == command.words[0]:
                return f" Next: {format_usage(other, candidate)}"
    return ""


def _format_column_title(name: str, command: Command) -> str:
    return command.names.get(name, name).replace("_", " ").replace("-", " ")
