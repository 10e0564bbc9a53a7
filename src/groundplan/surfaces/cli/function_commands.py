"""Commands that are functions of their own: they call several operations, or also use files or a working copy.

What a command takes stands in its signature: `Annotated[type, option("--out", value="FILE", text="…")]`.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from groundplan.commands import Entry
from groundplan.kernel.operations.registry import load_by_name
from groundplan.surfaces.cli.command_line import (
    COMMON_OPTIONS,
    PROJECT_OPTION,
    Command,
    Kind,
    Line,
    Parameter,
    usage_error,
)
from groundplan.surfaces.cli.files import STANDARD_STREAM, read_text
from groundplan.surfaces.cli.invocation import PROJECT, CommandResult, Invocation

# What is completed, by the name of a value.
_KINDS = {"PROJECT": Kind.PROJECT, "FILE": Kind.FILE, **dict.fromkeys(("KEY", "INDICATOR", "ASSUMPTION"), Kind.KEY)}


def build_function_command(entry: Entry, *, with_help: bool) -> Command:
    """Return the command of a function."""
    function = load_by_name(f"{__package__}.{entry.run}")
    if isinstance(function, Command):
        return function
    parameters = list(_list_parameters(function))
    if with_help:
        parameters = [_describe(one, ".".join(entry.words)) for one in parameters]
    implied = next((one for one in parameters if one.key == PROJECT and one.required and one.names), None)
    parameters = [one._replace(required=False) if one is implied else one for one in parameters]
    is_in_project = all(one.key != PROJECT for one in parameters) and entry.in_project
    summary, _, about = (function.__doc__ or "").partition("\n\n")
    return Command(
        entry.words,
        entry.summary or " ".join(summary.split()),
        _make_run(function, is_project_implied=implied is not None),
        tuple(parameters),
        "\n".join(line.removeprefix("    ") for line in about.rstrip().splitlines()),
        entry.synonyms,
        (PROJECT_OPTION, *COMMON_OPTIONS) if is_in_project else COMMON_OPTIONS,
    )


def _make_run(
    function: Callable[..., CommandResult], *, is_project_implied: bool
) -> Callable[[Invocation, Line], CommandResult]:
    def run(invocation: Invocation, line: Line) -> CommandResult:
        values = read_piped(line)
        if is_project_implied and values[PROJECT] is None:
            values[PROJECT] = invocation.find_project()
        return function(invocation, **values)

    return run


def read_piped(line: Line) -> dict[str, Any]:
    """Return the values of a line. What names something or is kept must not be blank; texts may be piped."""
    values = line.convert()
    for one in line.command.parameters:
        if one.is_piped and values[one.key] == STANDARD_STREAM:
            values[one.key] = read_text(one.label).rstrip("\n")
        texts = values[one.key] if one.many and not one.joined else [values[one.key]]
        is_kept = one.fields or one.kind not in (Kind.TEXT, Kind.FILE)
        if is_kept and any(isinstance(text, str) and not text.strip() for text in texts or ()):
            raise usage_error(line.command.words, f"{one.label} is empty")
    return values


def _list_parameters(function: Callable[..., Any]) -> list[Parameter]:
    """Return the parameters of a function, without the invocation, with what their annotations and defaults say."""
    hints = get_type_hints(function, include_extras=True)
    names = function.__code__.co_varnames[1 : function.__code__.co_argcount]
    defaults = dict(zip(reversed(names), reversed(function.__defaults__ or ()), strict=False))
    return [_read_parameter(name, hints[name], defaults) for name in names]


def _read_parameter(name: str, annotation: Any, defaults: dict[str, Any]) -> Parameter:
    annotated, declared = get_args(annotation)
    kinds = [kind for kind in get_args(annotated) or (annotated,) if kind is not NoneType]
    kind = annotated if get_origin(annotated) in (list, Literal) else kinds[0]
    many = get_origin(kind) is list
    kind = get_args(kind)[0] if many else kind
    choices = declared.choices
    if get_origin(kind) is Literal:
        choices = tuple(map(str, get_args(kind)))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        choices = tuple(str(member.value) for member in kind)
    names = declared.names
    if not names and not declared.key:  # an option that is called like its parameter
        names = (f"--{name.replace('_', '-')}",)
    value = "" if kind is bool else declared.value or "|".join(choices) or ("N" if kind in (int, float) else "TEXT")
    result: Parameter = declared._replace(
        names=names,
        value=value if names or value else name.upper(),
        kind=Kind.PROJECT if name == PROJECT else _KINDS.get(value, declared.kind),
        key=name,
        many=many or declared.joined,
        type=kind if kind in (int, float) else str,
        choices=choices,
        required=name not in defaults,
        default=defaults.get(name),
    )
    return result


def _describe(parameter: Parameter, operation: str) -> Parameter:
    """Return a parameter with the description of its argument, if it has no help of its own."""
    from groundplan.argument_descriptions import describe_argument  # only --help needs it

    if parameter.help:
        return parameter
    return parameter._replace(help=describe_argument(operation, parameter.key).replace("`", ""))
