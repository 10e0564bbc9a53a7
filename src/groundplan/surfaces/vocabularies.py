"""The names of operations on each surface, derived from the registry.

If MCP has no tool for an operation, the hint names its command, which a person can run. Over HTTP every operation has
a route.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import Struct

from groundplan.commands import CALL, Entry, list_commands_of
from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Vocabulary
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from groundplan.kernel.input_gate.types import TypeKind, describe_type
from groundplan.kernel.operations.registry import Operation, Registry, Route, Tool
from groundplan.kernel.wording import PROGRAM


class CliVocabulary(Vocabulary):
    """The vocabulary of the command line: `groundplan purpose draft --project atlas`."""

    def __init__(self, operations: Registry, project: str | None = None) -> None:
        self._operations = operations
        self._project = project

    def within(self, project: str) -> CliVocabulary:
        """Return the vocabulary for answers about a project."""
        return CliVocabulary(self._operations, project)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the command with its arguments in the syntax of a shell."""
        declared = self._operations[operation]
        return spell_command(declared, add_project(declared, arguments, self._project))

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the command as data."""
        declared = self._operations[operation]
        given = add_project(declared, arguments, self._project)
        missing = list_missing(declared, given, fill)
        command = choose_command(declared, given)
        if command is not None:
            names = {field.encode_name: field.name for field in msgspec.structs.fields(declared.input)}
            fixed = {name for name in missing if names[name] in command.fixed}
            missing = [spell_option(command, names[name]) for name in missing if name not in fixed]
        return {"command": self.spell(operation, arguments), **({"fill": missing} if missing else {})}


class McpVocabulary(Vocabulary):
    """The vocabulary of MCP: `toc_version draft`, and as data the tool with its arguments."""

    def __init__(self, operations: Registry, groups: Collection[str] | None = None, project: str | None = None) -> None:
        """`groups` are those whose tools the client has; None: all."""
        self._operations = operations
        self._groups = groups
        self._project = project
        self._commands = CliVocabulary(operations, project)

    def within(self, project: str) -> McpVocabulary:
        """Return the vocabulary for answers about a project."""
        return McpVocabulary(self._operations, self._groups, project)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the name of the tool and the value that selects the operation."""
        tool = self._find_tool(operation)
        if tool is None:
            return self._commands.spell(operation, arguments)
        return f"{tool.name} {tool.selector}" if tool.selector else tool.name

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the tool and its arguments as data."""
        tool = self._find_tool(operation)
        if tool is None:
            return self._commands.call(operation, arguments, fill)
        declared = self._operations[operation]
        given = add_project(declared, arguments, self._project)
        missing = list_missing(declared, given, fill)
        selected = {"operation": tool.selector} if tool.selector else {}
        call = {"tool": tool.name, "arguments": {**selected, **given}}
        return {**call, "fill": missing} if missing else call

    def _find_tool(self, operation: str) -> Tool | None:
        """Return the tool of an operation; None if it has none, or the client does not have it."""
        tool = self._operations[operation].tool
        return tool if tool is not None and (self._groups is None or tool.group in self._groups) else None


class HttpVocabulary(Vocabulary):
    """The vocabulary of HTTP: `POST /v1/projects/atlas/purpose/draft`, and as data with its body."""

    def __init__(self, operations: Registry, project: str | None = None) -> None:
        self._operations = operations
        self._project = project  # of the request that is answered; a hint without a project is about the same one

    def within(self, project: str | None) -> HttpVocabulary:
        """Return the vocabulary for answers to requests about a project."""
        return HttpVocabulary(self._operations, project)

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the method and the path."""
        call = self.call(operation, arguments)
        return f"{call['method']} {call['path']}"

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the method, the path with its query string, and the body if there is one."""
        missing = list_missing(self._find(operation), arguments, fill)
        call = self._build_request(operation, arguments)
        missing = [PROJECT if name in PROJECT_NAMES else name for name in missing]
        if self._project is not None:
            missing = [name for name in missing if name != PROJECT]
        return {**call, "fill": missing} if missing else call

    def _build_request(self, operation: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        chosen = self._choose_variant(operation, arguments)
        project = get_project_field(chosen.input)
        given = {PROJECT if name == project else name: value for name, value in arguments.items()}
        if self._project is not None:
            given.setdefault(PROJECT, self._project)
        route = _choose_route(chosen, given)
        if route is None:
            return {"method": "POST", "path": operation}
        path = fill_path(route.path, lambda name: _spell_in_path(route, name, given.get(name)))
        in_path = list_parameters(route.path)
        used = {PROJECT, *in_path, *route.fixed}
        others = {route.names.get(name, name): value for name, value in given.items() if name not in used}
        if project is not None and project in arguments and PROJECT not in in_path:
            others = {project: arguments[project], **others}
        if route.method in ("GET", "DELETE"):
            return {"method": route.method, "path": path + format_query(others)}
        return {"method": route.method, "path": path, **({"body": others} if others else {})}

    def _choose_variant(self, name: str, arguments: Mapping[str, Any]) -> Operation[Any, Any]:
        """Return the operation, or the variant that the arguments select if that has a separate route."""
        declared = self._find(name)
        if declared.choose_variant is None or not any(variant.http for variant in declared.variants):
            return declared
        try:
            chosen = declared.choose_variant(msgspec.convert(arguments, declared.input))
        except msgspec.ValidationError:  # a hint has only the arguments that are known
            return declared
        return chosen if chosen is not None and chosen.http is not None else declared

    def _find(self, name: str) -> Operation[Any, Any]:
        """Return an operation of the registry, or a variant with a separate route."""
        if name in self._operations:
            return self._operations[name]
        return next(variant for operation in self._operations for variant in operation.variants if variant.name == name)


def add_project(operation: Operation[Any, Any], arguments: Mapping[str, Any], project: str | None) -> dict[str, Any]:
    """Return arguments with the project, if the operation takes one and they name none."""
    name = get_project_field(operation.input)
    return {name: project, **arguments} if name is not None and project is not None else dict(arguments)


def list_missing(operation: Operation[Any, Any], arguments: Mapping[str, Any], fill: Sequence[str]) -> list[str]:
    """Return the names of arguments that a call needs and lacks: required ones, and those of `fill`."""
    required = [field.encode_name for field in msgspec.structs.fields(operation.input) if field.required]
    return [name for name in dict.fromkeys([*required, *fill]) if name not in arguments]


def _choose_route(operation: Operation[Any, Any], given: Mapping[str, Any]) -> Route | None:
    """Return the first route, of the operation or a variant, that accepts the values and whose path they fill."""
    for route in (route for variant in (operation, *operation.variants) for route in variant.routes):
        is_filled = all(name in given for name in list_parameters(route.path))
        if is_filled and route.item_of is None and not any(name in given for name in route.without):
            return route
    return operation.http


def _spell_in_path(route: Route, name: str, value: Any) -> Any:
    # Choices with an ending, as in `/{entityType}s`, stand in a path in lower case.
    return value.lower() if isinstance(value, str) and f"{{{name}}}s" in route.path else value


# --- Paths below /v1: written by one surface, named by all ------------------------------------------------------------

PREFIX = "/v1"
PROJECT = "project"
_PARAMETER = re.compile(r"\{([^{}]+)\}")


def list_parameters(path: str) -> list[str]:
    """Return the names in braces, in order."""
    return _PARAMETER.findall(path)


def get_project_field(shape: type[Struct]) -> str | None:
    """Return the wire name of the project argument in an input type; None if it has none."""
    return next((name for name in PROJECT_NAMES if name in shape.__struct_encode_fields__), None)


def fill_path(path: str, look_up: Callable[[str], Any]) -> str:
    """Return a path below the prefix with its values. A name stays in braces if `look_up` returns None."""

    def replace(match: re.Match[str]) -> str:
        value = look_up(match[1])
        return match[0] if value is None else quote(str(value), safe="")

    return PREFIX + _PARAMETER.sub(replace, path)


def format_query(arguments: Mapping[str, Any]) -> str:
    """Return arguments as a query string in the syntax of the input gate; empty if there are none."""

    pairs = [
        (name, item if isinstance(item, str) else encode(item).decode())
        for name, value in arguments.items()
        for item in (value if isinstance(value, list) and all(isinstance(item, str) for item in value) else [value])
    ]
    return f"?{urlencode(pairs)}" if pairs else ""


# --- Commands, as a shell is given them -------------------------------------------------------------------------------

OBJECTS = (TypeKind.MAP, TypeKind.STRUCT, TypeKind.ANY)


def spell_command(operation: Operation[Any, Any], arguments: Mapping[str, Any], chars_max: int | None = None) -> str:
    """Return the command of an operation with its arguments, ready for a shell.

    One that is longer than `chars_max` keeps its words and positional arguments only, or reads its JSON.
    """
    entry = choose_command(operation, arguments)
    if entry is None:
        called = shlex.join((PROGRAM, CALL, operation.name, encode(arguments).decode()))
        return called if chars_max is None or len(called) <= chars_max else f"{PROGRAM} {CALL} {operation.name} -"
    positional, options = [], []
    fields = {one.encode_name: one for one in msgspec.structs.fields(operation.input)}
    for wire_name, value in arguments.items():
        name = fields[wire_name].name
        is_repeated = _is_repeated(value, fields[wire_name].type)
        texts = [_quote_for_shell(item) for item in (value if is_repeated else [value])]
        if name in entry.arguments:
            positional += texts
        elif name not in entry.fixed:
            option = spell_option(entry, name)
            options += [option] if value is True else [f"{option} {text}" for text in texts]
    spelled = " ".join((PROGRAM, *entry.words, *positional, *options))
    is_short = chars_max is None or len(spelled) <= chars_max
    return spelled if is_short else " ".join((PROGRAM, *entry.words, *positional))


def choose_command(operation: Operation[Any, Any], arguments: Mapping[str, Any]) -> Entry | None:
    """Return the command that accepts the arguments, such as `feature show` for a feature; None if no command does."""
    fields = {one.name: one.encode_name for one in msgspec.structs.fields(operation.input)}
    for entry in list_commands_of(operation.name):
        given = {name: arguments.get(fields[name], value) for name, value in entry.fixed.items()}
        if given == entry.fixed and not any(fields[name] in arguments for name in entry.without):
            return entry
    return None


def spell_option(entry: Entry, name: str) -> str:
    """Return an argument as the usage of its command spells it."""
    return name.upper() if name in entry.arguments else f"--{entry.get_option_name(name)}"


def _is_repeated(value: Any, hint: Any) -> bool:
    """Return whether an option is repeated for each item; a list of objects, or one beside an object, is JSON."""
    if not isinstance(value, list) or any(isinstance(item, dict | list) for item in value):
        return False
    return all(option.kind not in OBJECTS for option in describe_type(hint).options_without_null)


def _quote_for_shell(value: Any) -> str:
    return shlex.quote(value if isinstance(value, str) else encode(value).decode())
