"""The registry's operations as commands: the words, the arguments and the options come from each entry."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import typer
from msgspec import Meta, UnsetType

from groundplan.kernel.input_gate.shapes import is_union, peeled
from groundplan.kernel.operations.registry import Command, Effect, Operation, Registry
from groundplan.surfaces.cli.invocation import Invocation, Outcome, group_callback, with_common_options

# What a sub-app is about, for its own help and for the list of commands.
DESCRIPTIONS: Mapping[str, str] = {
    "project": "Make, list and put away projects.",
    "member": "Say who is in a project, and as what.",
}

# What an option means where the operation's own type does not say.
MEANINGS: Mapping[str, str] = {
    "project": "The project, by name or id.",
    "name": "The name.",
    "goal": "What it is for, in a sentence.",
    "role": "What they may do.",
    "kind": "What sort of actor they are.",
    "archived": "Archived ones too.",
    "limit": "At most this many.",
    "cursor": "Go on behind this one: the next cursor of the list before.",
    "op_id": "Your own id for this request: sent again, it has no second effect.",
}


def operation_apps(operations: Registry) -> dict[str, typer.Typer]:
    """One app for each first word, with a command for each operation that has these words."""
    apps: dict[str, typer.Typer] = {}
    for operation in operations:
        if operation.command is None:
            continue
        first, *rest = operation.command.words
        app = apps.get(first)
        if app is None:
            description = DESCRIPTIONS.get(first, f"Work with {first}.")
            app = apps[first] = typer.Typer(invoke_without_command=True, suggest_commands=False, help=description)
            app.callback()(group_callback(description))
        app.command(" ".join(rest), help=_markup_free(operation.summary))(_command(operation, operations))
    return apps


def _command(operation: Operation[Any, Any], operations: Registry) -> Any:
    assert operation.command is not None  # noqa: S101 - the caller looked
    wire_names: dict[str, str] = {}
    parameters = []
    for field in msgspec.structs.fields(operation.input):
        parameter = _parameter(field, operation.command)
        wire_names[parameter.name] = field.encode_name
        parameters.append(parameter)

    def call(invocation: Invocation, **values: Any) -> Outcome:
        from groundplan.surfaces.cli.drawing import draw_answer  # rich, which --json can do without

        arguments = {wire_names[name]: value for name, value in values.items() if value is not None and value != []}
        with invocation.session(reads_only=operation.effect is Effect.READ) as session:
            answer = session.call(operation.name, **arguments)
        return Outcome(answer, lambda: draw_answer(answer, operation, operations))

    call.__doc__ = operation.summary
    return with_common_options(call, parameters)


def _parameter(field: msgspec.structs.FieldInfo, command: Command) -> inspect.Parameter:
    name = command.names.get(field.name, field.name).replace("-", "_")
    kind, description = _kind(field.type)
    text = _markup_free(description or MEANINGS.get(name, ""))
    default: Any = inspect.Parameter.empty
    if not field.required:
        default = field.default if isinstance(field.default, bool) else None
        text += _default_text(field.default)
        kind = kind if isinstance(default, bool) else kind | None
    option = f"--{name.replace('_', '-')}"
    if field.name in command.arguments:
        shape = typer.Argument(metavar=name.upper(), help=text, show_default=False)
    elif default is False:
        shape = typer.Option(option, metavar="", help=text, show_default=False)
    elif bool in (kind, *get_args(kind)):
        shape = typer.Option(f"{option}/--no-{option[2:]}", metavar="", help=text, show_default=False)
    else:
        shape = typer.Option(option, metavar=_metavar(kind), help=text, show_default=False)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shape])


def _kind(hint: Any) -> tuple[Any, str | None]:
    """How a field is typed on a command line, and what its annotation says about it.

    What a shell has no form for (objects, arrays of objects) is typed as JSON; the input gate unwraps it.
    """
    hint, extras = peeled(hint, ())
    description = next((extra.description for extra in extras if isinstance(extra, Meta) and extra.description), None)
    if is_union(hint):
        options = [option for option in get_args(hint) if option not in (NoneType, UnsetType)]
        if len(options) != 1:
            return str, description
        kind, inner = _kind(options[0])
        return kind, description or inner
    if get_origin(hint) is Literal:
        return _choice([value for value in get_args(hint) if value is not None]), description
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _choice([member.value for member in hint]), description
    if get_origin(hint) is list:
        item, _ = _kind((get_args(hint) or (str,))[0])
        return (list[item] if item in (str, int, float) else str), description  # type: ignore[valid-type] # a value
    return (hint if hint in (int, float, bool) else str), description


def _choice(values: list[Any]) -> Any:
    return Literal[tuple(values)] if all(isinstance(value, str) for value in values) else str


def _metavar(kind: Any) -> str | None:
    choices = [value for part in (kind, *get_args(kind)) if get_origin(part) is Literal for value in get_args(part)]
    return "|".join(choices) if choices else None


def _default_text(default: Any) -> str:
    shown = default.value if isinstance(default, Enum) else default
    return f" Default: {shown}." if isinstance(shown, str | int | float) and not isinstance(shown, bool) else ""


def _markup_free(text: str) -> str:
    return text.replace("[", "\\[")
