"""The command line of an operation: which of its commands takes some arguments, and how a shell is given it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from groundplan.kernel.answers import encode
from groundplan.kernel.input_gate.types import TypeKind, describe_type
from groundplan.kernel.operations.registry import Command, Operation

PROGRAM = "groundplan"
OBJECTS = (TypeKind.MAP, TypeKind.STRUCT, TypeKind.ANY)


def spell_command(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> str | None:
    """Return the command with its arguments, ready for a shell; None if the operation has no command."""
    command = choose_command(operation, arguments)
    if command is None:
        return None
    positional, options = [], []
    fields = {field.encode_name: field for field in msgspec.structs.fields(operation.input)}
    for wire_name, value in arguments.items():
        name = fields[wire_name].name
        is_repeated = _is_repeated(value, fields[wire_name].type)
        texts = [_quote_for_shell(item) for item in (value if is_repeated else [value])]
        if name in command.arguments:
            positional += texts
        elif name not in command.fixed:
            option = spell_option(command, name)
            options += [option] if value is True else [f"{option} {text}" for text in texts]
    return " ".join((PROGRAM, *command.words, *positional, *options))


def choose_command(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Command | None:
    """Return the command that accepts the arguments, such as `feature get` for a feature."""
    fields = {field.name: field.encode_name for field in msgspec.structs.fields(operation.input)}
    for command in operation.commands:
        given = {name: arguments.get(fields[name], value) for name, value in command.fixed.items()}
        if given == command.fixed and not any(fields[name] in arguments for name in command.without):
            return command
    return operation.command


def spell_option(command: Command, name: str) -> str:
    """Return an argument as the usage of its command spells it."""
    if name in command.arguments:
        return name.upper()
    return f"--{command.names.get(name, name).replace('_', '-')}"


def _is_repeated(value: Any, hint: Any) -> bool:
    """Return whether an option is repeated for each item; a list of objects, or one beside an object, is JSON."""
    if not isinstance(value, list) or any(isinstance(item, dict | list) for item in value):
        return False
    return all(option.kind not in OBJECTS for option in describe_type(hint).options_without_null)


def _quote_for_shell(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else encode(value).decode())
