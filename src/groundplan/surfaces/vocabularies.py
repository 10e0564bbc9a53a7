"""How the surfaces name operations, derived from the registry.

If MCP has no tool for an operation, the hint names its command, which a person can run.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import msgspec

from groundplan.kernel.operations.registry import Command, Operation, Registry
from groundplan.kernel.output_gate import encode

PROGRAM = "groundplan"


class CliVocabulary:
    """The vocabulary of the command line: `groundplan purpose draft --project atlas`."""

    def __init__(self, operations: Registry) -> None:
        self._operations = operations

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the command with its arguments, ready for a shell."""
        found = self._operations[operation]
        command = _choose_command(found, arguments)
        if command is None:
            return operation
        positional, options = [], []
        fields = {field.encode_name: field.name for field in msgspec.structs.fields(found.input)}
        for wire_name, value in arguments.items():
            name = fields[wire_name]
            texts = [_quote_for_shell(one) for one in (value if isinstance(value, list) else [value])]
            if name in command.arguments:
                positional += texts
            elif name not in command.fixed:
                option = f"--{command.names.get(name, name).replace('_', '-')}"
                options += [option] if value is True else [f"{option} {text}" for text in texts]
        return " ".join((PROGRAM, *command.words, *positional, *options))

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the command as data."""
        return {"command": self.spell(operation, arguments)}


class McpVocabulary:
    """The vocabulary of MCP: `toc_version draft`, and as data the tool with its arguments."""

    def __init__(self, operations: Registry) -> None:
        self._operations = operations
        self._commands = CliVocabulary(operations)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the name of the tool and the value that selects the operation."""
        tool = self._operations[operation].tool
        if tool is None:
            return self._commands.spell(operation, arguments)
        return f"{tool.name} {tool.selector}" if tool.selector else tool.name

    def call(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tool and its arguments as data."""
        tool = self._operations[operation].tool
        if tool is None:
            return self._commands.call(operation, arguments)
        selected = {"operation": tool.selector} if tool.selector else {}
        return {"tool": tool.name, "arguments": {**selected, **arguments}}


def _choose_command(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Command | None:
    """Return the command that accepts the arguments, such as `feature get` for a feature."""
    fields = {field.name: field.encode_name for field in msgspec.structs.fields(operation.input)}
    for command in operation.commands:
        given = {name: arguments.get(fields[name], value) for name, value in command.fixed.items()}
        if given == command.fixed and not any(fields[name] in arguments for name in command.without):
            return command
    return operation.command


def _quote_for_shell(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else encode(value).decode())
