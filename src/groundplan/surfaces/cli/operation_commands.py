"""The registry's operations as commands: the words, the arguments and the options come from each entry."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from enum import Enum
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import msgspec
import typer
from msgspec import Meta, Struct, UnsetType

from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.admit import admit
from groundplan.kernel.input_gate.shapes import is_union, peeled
from groundplan.kernel.operations.frames import framed
from groundplan.kernel.operations.registry import Command, Effect, Operation, Registry
from groundplan.surfaces.cli.invocation import Invocation, Outcome, group_callback, with_common_options
from groundplan.surfaces.cli.json_arguments import METAVAR, with_json, with_text

# What a sub-app is about, for its own help and for the list of commands.
DESCRIPTIONS: Mapping[str, str] = {
    "project": "Make, list and put away projects.",
    "member": "Say who is in a project, and as what.",
    "work": "Plan work, see what is next, take it, finish it.",
    "knowledge": "Write down what one must know about which files, find it, keep it fresh.",
}

# What an option means where the operation's own type does not say; behind its words where one command differs.
MEANINGS: Mapping[str, str] = {
    "project": "The project, by name or id.",
    "work open project": "The project, by name or id; one that is not there is made. Without it: all there are.",
    "work onboard project": "The project, by name or id. Without it: the only one, or a list.",
    "name": "The name.",
    "goal": "What it is for, in a sentence.",
    "role": "What they may do.",
    "kind": "What sort of actor they are.",
    "archived": "Archived ones too.",
    "limit": "At most this many.",
    "cursor": "Go on behind this one: the next cursor of the list before.",
    "op_id": "Your own id for this request: sent again, it has no second effect.",
    "node_id": "The node: its id, or a beginning that only one has.",
    "nodes": "The nodes to make: [{ref, summary, parent_ref, depends_on, …}].",
    "updates": "What to change: [{node_id, resolved, add_evidence, …}].",
    "edges": "What to connect: [{from, to, type, remove}].",
    "operations": "What to do: [{op: move|merge|drop, …}].",
    "policies": "How the project wants to be worked in; an owner may say.",
    "filter": "Only nodes with these properties.",
    "work query filter": "Which nodes: {text, resolved, properties, is_actionable, …}.",
    "scope": "Only below this node.",
    "count": "At most this many.",
    "claim": "Take them, so that nobody else is offered them.",
    "lean": "Leave empty and bookkeeping fields out of the answer.",
    "decision": "Why, for the history.",
    "depth": "How many levels below the node.",
    "sort": "In which order.",
    "type": "atom (an area, by its paths) or molecule (a group of atoms).",
    "id": "The id of the atom or molecule.",
    "task": "The task this is done for: the id of a work node.",
    "path": "A pattern of the files it is about, such as 'src/pay/**'; may be given several times.",
    "paths": "The files, each as its path from the root of the repository.",
    "knowledge": "What one must know; @FILE reads it from a file, - from standard input; @@ for an @.",
    "mode": "What becomes of the knowledge that is there.",
    "molecule": "The molecule of the atom, by its id; '' for none.",
    "knowledge search molecule": "Only atoms of this molecule, by its id.",
    "related_atoms": "Other atoms: [{atomId, reason}].",
    "related_molecules": "Other molecules: [{moleculeId, reason}].",
    "version": "The version that you read; if it has changed since, nothing is done.",
    "confirm": "The commit at which the knowledge was seen to be right.",
    "cascade": "Delete the atoms of a molecule with it.",
    "query": "Words that must all be there, in any order.",
    "orphans": "Only atoms that are of no molecule.",
    "include_changelog": "Show the latest entries of the changelog.",
    "changelog_limit": "How many entries.",
    "offset": "Skip so many.",
    "summary": "What changed, and why; @FILE reads it from a file, - from standard input.",
    "commit": "The commit that was looked at.",
    "atoms": "What was seen: [{id, version, freshness, commit, files}].",
}


class Form(NamedTuple):
    """How a field is given on a command line, and what its annotation says about it."""

    kind: Any
    description: str | None = None
    is_json: bool = False
    or_text: bool = False  # one that is given alone is sent as it is, not as a list of one


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
    as_json = set()
    texts: set[str] = set()
    alone: set[str] = set()
    parameters = []
    for field in msgspec.structs.fields(operation.input):
        form = _form(field.type)
        parameter = _parameter(field, form, operation.command)
        wire_names[parameter.name] = field.encode_name
        as_json |= {parameter.name} if form.is_json else set()
        texts |= {parameter.name} if field.name in operation.command.texts else set()
        alone |= {parameter.name} if form.or_text else set()
        parameters.append(parameter)

    def call(invocation: Invocation, **values: Any) -> Outcome:
        given = {name: value for name, value in values.items() if value is not None and value != []}
        given |= {name: given[name][0] for name in alone & given.keys() if len(given[name]) == 1}
        arguments = {wire_names[name]: value for name, value in with_json(with_text(given, texts), as_json).items()}
        with invocation.session(reads_only=_only_reads(operation, arguments)) as session:
            answer = session.call(operation.name, **arguments)

        def draw() -> None:
            from groundplan.surfaces.cli import knowledge_drawing, work_drawing
            from groundplan.surfaces.cli.drawing import draw_answer  # rich, which --json can do without

            if own := {**work_drawing.DRAWINGS, **knowledge_drawing.DRAWINGS}.get(operation.name):
                own(answer)
            else:
                draw_answer(answer, operation, operations)

        return Outcome(framed(operation, answer), draw)

    call.__doc__ = operation.summary
    return with_common_options(call, parameters)


def _only_reads(operation: Operation[Any, Any], arguments: dict[str, Any]) -> bool:
    """Whether such a request changes nothing, so that there must be something to read."""
    meant = operation
    if operation.route is not None:
        strict_json.inspect(arguments)
        meant = operation.route(admit(arguments, operation.input)) or operation
    return all(one.effect is Effect.READ for one in (meant, meant.otherwise) if one is not None)


def _parameter(field: msgspec.structs.FieldInfo, form: Form, command: Command) -> inspect.Parameter:
    name = command.names.get(field.name, field.name).replace("-", "_")
    kind = form.kind
    meaning = MEANINGS.get(" ".join((*command.words, name))) or MEANINGS.get(name, "")
    text = _markup_free(form.description or meaning)
    default: Any = inspect.Parameter.empty
    if not field.required:
        default = field.default if isinstance(field.default, bool) else None
        text += _default_text(field.default)
        kind = kind if isinstance(default, bool) else kind | None
    option = f"--{name.replace('_', '-')}"
    if field.name in command.arguments:
        shape = typer.Argument(metavar=option[2:].upper(), help=text, show_default=False)
    elif default is False:
        shape = typer.Option(option, metavar="", help=text, show_default=False)
    elif bool in (kind, *get_args(kind)):
        shape = typer.Option(f"{option}/--no-{option[2:]}", metavar="", help=text, show_default=False)
    else:
        shape = typer.Option(option, metavar=METAVAR if form.is_json else _metavar(kind), help=text, show_default=False)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, shape])


def _form(hint: Any) -> Form:
    hint, extras = peeled(hint, ())
    description = next((extra.description for extra in extras if isinstance(extra, Meta) and extra.description), None)
    if is_union(hint):
        forms = [_form(option) for option in get_args(hint) if option not in (NoneType, UnsetType)]
        several = [form for form in forms if form.kind == list[str]]
        if several and len(forms) > 1:
            return several[0]._replace(description=description, or_text=True)
        if len(forms) != 1:
            return Form(str, description, is_json=all(form.is_json for form in forms))
        return forms[0]._replace(description=description or forms[0].description)
    if get_origin(hint) is Literal:
        return Form(_choice([value for value in get_args(hint) if value is not None]), description)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return Form(_choice([member.value for member in hint]), description)
    if get_origin(hint) is list:
        item = _form((get_args(hint) or (str,))[0])
        is_plain = item.kind in (str, int, float) and not item.is_json
        return Form(list[item.kind], description) if is_plain else Form(str, description, is_json=True)  # type: ignore[name-defined] # a value
    if get_origin(hint) is dict or (isinstance(hint, type) and issubclass(hint, Struct | dict)):
        return Form(str, description, is_json=True)
    return Form(hint if hint in (int, float, bool) else str, description)


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
