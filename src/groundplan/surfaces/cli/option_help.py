"""The --help texts of command groups and options."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import copy
from enum import Enum
from typing import Annotated, Any, get_args, get_origin

from msgspec.structs import FieldInfo

from groundplan.kernel.input_gate.types import TypeDescription
from groundplan.kernel.operations.registry import Command, Operation
from groundplan.surfaces.cli.option_types import format_json_shape, resolve_option_type

# The description of each command group, for its own help and for the list of commands.
GROUP_HELP: Mapping[str, str] = {
    "project": "Create, list, show and archive projects.",
    "member": "Manage the members of a project and their roles.",
    "org": "Manage your organization: its people, invitations and settings.",
    "org member": "Manage the people in your organization.",
    "org invitation": "List and revoke invitations.",
    "token": "Create, list and revoke tokens for people, agents and services.",
    "work": "Plan work, find what is ready, claim it and resolve it.",
    "knowledge": "Record what to know about which files, search it and keep it up to date.",
    "purpose": "Manage the theory of change: goals, causes, assumptions, indicators; drafts and published versions.",
    "context": "Record the facts that a plan depends on: values, their sources, and what is missing.",
    "task": "Create tasks, find the next one and move them through their statuses.",
    "feature": "Create features (groups of tasks), find the next one and move them through their statuses.",
    "dependency": "Create and delete dependencies between tasks and features.",
    "section": "Manage the sections of a project, feature or task.",
    "template": "Manage templates of sections and apply them to projects, features and tasks.",
    "tag": "List tags and their uses, and rename them.",
}

# Texts that differ from the description of the argument, because the words of the command already say what it is, or
# because a shell has another way to say it. A key is the full command and the option, or its first word and the option.
OPTION_HELP: Mapping[str, str] = {
    "task id": "The task, by id or by an unambiguous prefix of it.",
    "task overview id": "Show one task. Without it: list tasks.",
    "feature id": "The feature, by id or by an unambiguous prefix of it.",
    "feature overview id": "Show one feature with its tasks. Without it: list features.",
    "project id": "The project, by name or id.",
    "project overview id": "Show one project with its features, by name or id. Without it: list projects.",
    "project update version": "The version that you read, as shown by project show.",
    "project summary": "What the project is for.",
    "feature name": "The name.",
    "feature create project": "The project, by name or id.",
    "task update feature": "The new feature of the task, by id; '' for none.",
    "task update complexity": "How hard it is, from 1 to 10; of two tasks of equal priority, the simpler one is next.",
    "purpose check gate": "A: is it consistent? B: is it ready to run and to measure? Or health, analysis.",
    "knowledge path": "A pattern of the files it covers, such as pay/**, from the current folder; :/src/pay/** is from "
    "the root of the repository.",
    "knowledge match paths": "Patterns of files, such as pay/**, from the current folder; :/src/pay/** is from the "
    "root of the repository.",
    "knowledge update molecule": "The molecule of the atom, by id; '' for none.",
}
TEXT_SOURCES = "@FILE reads it from a file, - from standard input; write @@ for a leading @."


def asks_for_help(said: Collection[str] | None) -> bool:
    """Return whether the arguments ask for help; if they are not known, they may."""
    return said is None or "--help" in said


def find_option_help(words: Sequence[str], option: str) -> str:
    """Return the text that only this command has for an option, or an empty text."""
    return OPTION_HELP.get(" ".join((*words, option)), OPTION_HELP.get(f"{words[0]} {option}", ""))


def build_option_help(
    operation: Operation[Any, Any], command: Command, field: FieldInfo, described: TypeDescription
) -> str:
    """Return the help of an option: the description of the argument, and how the command line takes it."""
    from groundplan.argument_descriptions import describe_argument  # only --help needs it

    text = find_option_help(command.words, get_option_name(command, field))
    form = resolve_option_type(described)
    sentences = [text or describe_argument(operation.name, field.encode_name).replace("`", "")]
    if form.is_json and (shape := format_json_shape(described)):
        sentences.append(f"Shape: {shape}.")
    if field.name in command.texts and not form.is_json:
        sentences.append(TEXT_SOURCES)
    if get_origin(form.kind) is list:
        sentences.append("Several are allowed." if field.name in command.arguments else "Repeatable.")
    if default := _format_default(field):
        sentences.append(f"Default: {default}.")
    return escape_markup(" ".join(sentences))


def describe_parameters(function: Callable[..., Any], words: Sequence[str]) -> list[inspect.Parameter]:
    """Return the parameters of a written command; an option without help gets the description of its argument."""
    _, *parameters = inspect.signature(function, eval_str=True).parameters.values()
    return [_describe_parameter(parameter, ".".join(words)) for parameter in parameters]


def _describe_parameter(parameter: inspect.Parameter, operation: str) -> inspect.Parameter:
    from groundplan.argument_descriptions import describe_argument

    shape = parameter.annotation.__metadata__[0]
    if shape.help:
        return parameter
    described = copy(shape)
    described.help = escape_markup(describe_argument(operation, parameter.name).replace("`", ""))
    return parameter.replace(annotation=Annotated[get_args(parameter.annotation)[0], described])


def get_option_name(command: Command, field: FieldInfo) -> str:
    """Return the name of the option for a field, as a Python name."""
    return command.names.get(field.name, field.name).replace("-", "_")


def escape_markup(text: str) -> str:
    """Return a text in which rich finds no markup."""
    return text.replace("[", "\\[")


def _format_default(field: FieldInfo) -> str:
    value = field.default.value if isinstance(field.default, Enum) else field.default
    return "" if isinstance(value, bool) or not isinstance(value, str | int | float) else str(value)
