"""Build the commands of the registry's operations: words, arguments and options come from each entry."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from keyword import iskeyword
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
import typer

from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.types import describe_type
from groundplan.kernel.operations.envelopes import wrap
from groundplan.kernel.operations.registry import Command, Effect, Operation, Registry
from groundplan.surfaces.cli.failures import print_warning
from groundplan.surfaces.cli.invocation import (
    PROJECT,
    CommandResult,
    Invocation,
    make_group_callback,
    with_common_options,
)
from groundplan.surfaces.cli.json_arguments import JSON_METAVAR, parse_json_options, read_text_options
from groundplan.surfaces.cli.option_help import (
    GROUP_HELP,
    asks_for_help,
    build_option_help,
    escape_markup,
    get_option_name,
)
from groundplan.surfaces.cli.option_types import OptionType, resolve_option_type

# Without a project these do nothing useful, unless another option says where: then they work in the suggested project.
# The other operations with an optional project look into all of them.
IN_ONE_PROJECT = frozenset(
    {"work.plan", "work.add", "work.next", "work.claim", "work.onboard", "work.analyse", "container.create"}
)
NAMES_A_PLACE = frozenset({PROJECT, "node_id", "feature"})


def build_operation_apps(operations: Registry, said: Collection[str] | None = None) -> dict[str, typer.Typer]:
    """Return an app for each first word, with the commands of the operations below it, some in groups of their own.

    If the arguments are known (`said`), apps whose word does not occur in them stay empty, because building commands
    is slow; and options have no help unless it is asked for.
    """
    with_help = asks_for_help(said)
    apps: dict[tuple[str, ...], typer.Typer] = {}
    for operation in operations:
        for command in operation.commands:
            *group, last = command.words
            if not group:
                continue  # `add_single_commands` adds it
            app = _get_app(apps, tuple(group))
            if said is None or group[0] in said:
                built = _build_command(operation, command, operations, with_help=with_help)
                app.command(last, help=escape_markup(command.summary or operation.summary))(built)
    return {words[0]: app for words, app in apps.items() if len(words) == 1}


def _get_app(apps: dict[tuple[str, ...], typer.Typer], words: tuple[str, ...]) -> typer.Typer:
    """Return the app of a group of commands; a new one is added to the group that it is in."""
    if words not in apps:
        description = GROUP_HELP.get(" ".join(words), f"Work with {words[-1]}.")
        app = apps[words] = typer.Typer(invoke_without_command=True, suggest_commands=False, help=description)
        app.callback()(make_group_callback(description))
        if len(words) > 1:
            _get_app(apps, words[:-1]).add_typer(app, name=words[-1])
    return apps[words]


def add_single_commands(
    app: typer.Typer, operations: Registry, said: Collection[str] | None, *, panel: str | None = None
) -> None:
    """Add the commands of one word. As above, one that does not occur in the arguments has no options."""
    with_help = asks_for_help(said)
    for operation in operations:
        for command in operation.commands:
            if len(command.words) == 1:
                (word,) = command.words
                is_needed = said is None or word in said
                built = _build_command(operation, command, operations, with_help=with_help) if is_needed else _nothing
                app.command(word, help=escape_markup(command.summary or operation.summary), rich_help_panel=panel)(
                    built
                )


def _nothing() -> None:
    """Do nothing, in place of a command that the arguments do not name."""


def _build_command(operation: Operation[Any, Any], command: Command, operations: Registry, *, with_help: bool) -> Any:
    wire_names: dict[str, str] = {}
    fixed: dict[str, str] = {}
    as_json = set()
    texts: set[str] = set()
    patterns: set[str] = set()
    alone: set[str] = set()
    parameters = []
    for field in msgspec.structs.fields(operation.input):
        if field.name in command.fixed:
            fixed[field.encode_name] = command.fixed[field.name]
        if field.name in command.fixed or field.name in command.without:
            continue
        described = describe_type(field.type)
        form = resolve_option_type(described)
        text = build_option_help(operation, command, field, described) if with_help else ""
        parameter = _build_parameter(field, form, command, text)
        wire_names[parameter.name] = field.encode_name
        as_json |= {parameter.name} if form.is_json else set()
        texts |= {parameter.name} if field.name in command.texts else set()
        patterns |= {parameter.name} if field.name in command.patterns else set()
        alone |= {parameter.name} if form.or_text else set()
        parameters.append(parameter)
    if command.my_draft:
        parameters.append(_build_project_of_draft())

    def call(invocation: Invocation, **values: Any) -> CommandResult:
        given = {name: value for name, value in values.items() if value is not None and value != []}
        project_of_draft = given.pop(PROJECT, None) if command.my_draft else None
        given |= {name: given[name][0] for name in alone & given.keys() if len(given[name]) == 1}
        given = parse_json_options(read_text_options(given, texts), as_json)
        given |= {name: _anchor_patterns(given[name]) for name in patterns & given.keys()}
        needs_project = operation.name in IN_ONE_PROJECT and not given.keys() & NAMES_A_PLACE
        if needs_project and (project := invocation.suggest_project()):
            given[PROJECT] = project
        arguments = {**fixed, **{wire_names[name]: value for name, value in given.items()}}
        with invocation.session(reads_only=_is_read_only(operation, arguments)) as session:
            if command.my_draft:
                from groundplan.surfaces.cli.context.open_draft import add_run

                find_project = (lambda: project_of_draft) if project_of_draft else invocation.find_project
                add_run(session, arguments, command.arguments[1:], find_project)
            strict_json.validate_value(arguments)
            result = session.execute(operation, arguments)
        answer, warnings = result.answer, result.warnings

        def draw() -> None:
            from groundplan.surfaces.cli.drawing import View  # rich, which --json does not need
            from groundplan.surfaces.cli.renderers import RENDERERS, draw_answer

            if not hasattr(answer, "warnings"):  # else the view of the answer has them
                for line in warnings:
                    print_warning(line)
            own = RENDERERS.get(operation.name)
            if isinstance(own, View):
                own(answer, str(given.get("project", "")))
            elif own is not None:
                own(answer)
            else:
                draw_answer(answer, command, operations)

        return CommandResult(wrap(operation.group, answer, warnings), draw, encoded=result.encoded)

    call.__doc__ = operation.summary
    return with_common_options(call, parameters)


def _build_project_of_draft() -> inspect.Parameter:
    shape = typer.Option(
        "--project", metavar="TEXT", help="The project of my open draft, by name or id.", show_default=False
    )
    annotation = Annotated[str | None, shape]
    return inspect.Parameter(PROJECT, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def _anchor_patterns(typed: list[str]) -> list[str]:
    """Return typed patterns from the root of the working copy, and print warnings about them."""
    from groundplan.repository.git import WorkingCopy
    from groundplan.surfaces.cli.knowledge.typed_patterns import anchor_pattern

    working_copy = WorkingCopy()
    anchored = [anchor_pattern(pattern, working_copy) for pattern in typed]
    for line in (pattern.warning for pattern in anchored if pattern.warning):
        print_warning(line)
    return [pattern.text for pattern in anchored]


def _is_read_only(operation: Operation[Any, Any], arguments: dict[str, Any]) -> bool:
    """Return whether a request changes nothing, so that a missing database file is an error."""
    chosen = operation
    if operation.choose_variant is not None:
        strict_json.validate_value(arguments)
        chosen = operation.choose_variant(parse_request(arguments, operation.input)) or operation
    may_create_project = chosen.when_project_missing is not None and arguments.get("project") is not None
    return chosen.effect is Effect.READ and not may_create_project


def _build_parameter(
    field: msgspec.structs.FieldInfo, form: OptionType, command: Command, text: str
) -> inspect.Parameter:
    name = get_option_name(command, field)
    kind = form.kind
    default: Any = inspect.Parameter.empty
    if not field.required or (command.my_draft and field.name == "run_id"):
        default = field.default if isinstance(field.default, bool) else None
        kind = kind if isinstance(default, bool) else kind | None
    option = f"--{name.replace('_', '-')}"
    if field.name in command.arguments:
        shape = typer.Argument(metavar=option[2:].upper(), help=text, show_default=False)
    elif default is False:
        shape = typer.Option(option, metavar="", help=text, show_default=False)
    elif bool in (kind, *get_args(kind)):
        shape = typer.Option(f"{option}/--no-{option[2:]}", metavar="", help=text, show_default=False)
    else:
        shape = typer.Option(
            option, metavar=JSON_METAVAR if form.is_json else _build_metavar(kind), help=text, show_default=False
        )
    python_name = f"{name}_" if iskeyword(name) else name  # --from is a valid option, but `from` is a keyword
    return inspect.Parameter(
        python_name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shape]
    )


def _build_metavar(kind: Any) -> str | None:
    choices = [value for part in (kind, *get_args(kind)) if get_origin(part) is Literal for value in get_args(part)]
    return "|".join(choices) if choices else None
