"""Commands of operations: what they take comes from the input of the operation, and from the table of commands."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, NamedTuple

import msgspec
from msgspec.structs import FieldInfo

from groundplan.catalog import OPERATIONS
from groundplan.commands import TODAY, Entry
from groundplan.kernel.answers import encode
from groundplan.kernel.clock import format_timestamp, system_clock
from groundplan.kernel.input_gate import strict_json
from groundplan.kernel.input_gate.request import PROJECT_NAMES, parse_request
from groundplan.kernel.input_gate.types import TypeDescription, TypeKind, describe_type
from groundplan.kernel.operations.envelopes import wrap
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.operations.schema import HiddenInSchema
from groundplan.kernel.wording import find_nearest, quote_text
from groundplan.surfaces.cli.command_line import COMMON_OPTIONS, Command, Kind, Line, Parameter, argument, option
from groundplan.surfaces.cli.failures import UsageError, print_warning, write_line
from groundplan.surfaces.cli.files import JSON_METAVAR, parse_json_options, read_text_options
from groundplan.surfaces.cli.invocation import PROJECT, CommandResult, Invocation

# Without a project these do nothing useful, unless another option says where: then they work in the suggested project.
# The other operations with an optional project look into all of them.
IN_ONE_PROJECT = frozenset({"work.plan", "work.next", "work.claim", "work.onboard", "work.analyse", "container.create"})
NAMES_A_PLACE = frozenset({PROJECT, "node_id", "feature"})
RUN = "run"
LEAN = "lean"  # configured or not, a person has no reason to take it back for one command
DAY_CHARS = len("2026-11-15")
SHAPE_NAMES_MAX = 8  # a hint, not the reference
TEXT_SOURCES = "@FILE reads it from a file, - from standard input; write @@ for a leading @."
_NUMBERS = {TypeKind.INTEGER: (int, "N"), TypeKind.NUMBER: (float, "N")}
_KINDS = {PROJECT: Kind.PROJECT, "tag": Kind.TAG, "node_id": Kind.NODE, "id": Kind.NODE}
_KINDS |= dict.fromkeys(("indicator", "assumption", "node"), Kind.KEY)

# Of a command whose project follows from what it names. It decides what an old id or a short one means.
OWN_PROJECT = option(
    "--project", "-P", value="TEXT", text="The project, by name or id, in which to look up ids.", kind=Kind.PROJECT
)


class Form(NamedTuple):
    """How a field is given on the command line."""

    type: type = str
    value: str = "TEXT"
    choices: tuple[str, ...] = ()
    many: bool = False
    is_json: bool = False
    is_switch: bool = False
    or_text: bool = False  # a single value is sent as a text, not as a list


class Input(NamedTuple):
    """A field of the input of an operation, and how it is given."""

    field: FieldInfo
    form: Form
    path: str  # on the wire, for its description
    in_item: bool = False


JSON_FORM = Form(value=JSON_METAVAR, is_json=True)


def choose_form(described: TypeDescription) -> Form:
    """Return how a field of this type is given."""
    match described.kind:
        case TypeKind.UNION:
            forms = [choose_form(one) for one in described.options_without_null]
            several = [form for form in forms if form.many and form.type is str]
            if several and len(forms) > 1:
                return several[0]._replace(or_text=True)
            return forms[0] if len(forms) == 1 else JSON_FORM if all(form.is_json for form in forms) else Form()
        case TypeKind.CHOICE:
            choices = tuple(value for value in described.choices if value is not None)
            is_text = all(isinstance(value, str) for value in choices)
            return Form(value="|".join(choices), choices=choices) if is_text else Form()
        case TypeKind.ARRAY if described.item is not None:
            # Items of any type and choices are taken as texts: the operation itself checks each.
            is_text = described.item.kind in (TypeKind.ANY, TypeKind.CHOICE)
            item = Form() if is_text else choose_form(described.item)
            is_plain = not (item.is_json or item.many or item.is_switch)
            return item._replace(many=True) if is_plain else JSON_FORM
        case TypeKind.MAP | TypeKind.STRUCT | TypeKind.ANY:
            return JSON_FORM
        case TypeKind.BOOLEAN:
            return Form(value="", is_switch=True)
    number, value = _NUMBERS.get(described.kind, (str, "TEXT"))
    return Form(number, value)


def choose_item(described: TypeDescription) -> TypeDescription:
    """Return the description of the items of a list, which need not be given."""
    (several,) = described.options_without_null
    assert several.item is not None  # noqa: S101 - for the type checker
    return several.item


def build_operation_command(entry: Entry, *, with_help: bool) -> Command:
    """Return the command of an operation."""
    operation = OPERATIONS[entry.operation]
    inputs = _list_inputs(operation, entry)
    parameters = tuple(_build_parameter(operation, entry, key, one, with_help) for key, one in inputs.items())
    paths = {*entry.fixed, *(one.path for one in inputs.values())}
    if operation.project is not None and not {*PROJECT_NAMES} & paths and entry.words[0] != PROJECT:
        parameters += (OWN_PROJECT,)
    run = partial(_run, operation, entry, inputs)
    return Command(entry.words, entry.summary or operation.summary, run, parameters, common=COMMON_OPTIONS)


def _list_inputs(operation: Operation[Any, Any], entry: Entry) -> dict[str, Input]:
    """Return what the command takes, by the name of its option: the fields of the input, or of one item in it."""
    fields = {one.name: one for one in msgspec.structs.fields(operation.input)}
    inputs = {}
    if entry.item_of:
        items = fields.pop(entry.item_of)
        shape: Any = choose_item(describe_type(items.type)).type
        for one in msgspec.structs.fields(shape):
            path = f"{items.encode_name}[].{one.encode_name}"
            inputs[_get_key(entry, one)] = Input(one, choose_form(describe_type(one.type)), path, in_item=True)
    for one in fields.values():
        form = choose_form(describe_type(one.type))
        is_shown = one.name not in entry.fixed and one.name not in entry.without
        if is_shown and not (entry.item_of and form.is_json):
            inputs[_get_key(entry, one)] = Input(one, form, one.encode_name)
    return inputs


def _get_key(entry: Entry, field: FieldInfo) -> str:
    return entry.get_option_name(field.name).replace("-", "_")


def _build_parameter(operation: Operation[Any, Any], entry: Entry, key: str, one: Input, with_help: bool) -> Parameter:
    name, form = key.replace("_", "-"), one.form
    is_argument = one.field.name in entry.arguments
    # They need not be given where the project is known, or the draft is the caller's own.
    is_implied = (key == PROJECT and not is_argument) or (key == RUN and entry.in_my_draft)
    is_required = one.field.required or one.field.name in entry.needs
    can_be_off = form.is_switch and one.field.default is not False and key != LEAN
    return Parameter(
        () if is_argument else (f"--{name}", "-P") if key == PROJECT else (f"--{name}",),
        name.upper() if is_argument else form.value,
        _build_help(operation, entry, key, one) if with_help else "",
        _KINDS.get(key, Kind.TEXT),
        form.many,
        is_required and not is_implied and one.field.name not in entry.defaults,
        key=key,
        type=form.type,
        choices=form.choices,
        fields=(one.path,),
        off=f"--no-{name}" if can_be_off else "",
    )


def _run(
    operation: Operation[Any, Any], entry: Entry, inputs: Mapping[str, Input], invocation: Invocation, line: Line
) -> CommandResult:
    given = {key: value for key, value in line.convert().items() if value is not None}
    own_project = {} if PROJECT in inputs or PROJECT not in given else {PROJECT: given.pop(PROJECT)}
    given |= {key: given[key][0] for key in given if inputs[key].form.or_text and len(given[key]) == 1}
    defaults = {key: one.field.name for key, one in inputs.items() if one.field.name in entry.defaults}
    given = {key: _get_default(entry.defaults[name]) for key, name in defaults.items()} | given
    keys = {one.field.name: key for key, one in inputs.items()}
    given = read_text_options(given, {keys[name] for name in entry.texts})
    given = parse_json_options(given, {key for key, one in inputs.items() if one.form.is_json})
    given |= {key: _anchor_patterns(given[key]) for name in entry.patterns if (key := keys[name]) in given}
    if PROJECT not in given and PROJECT in inputs and inputs[PROJECT].field.required:
        given[PROJECT] = invocation.find_project()
    elif operation.name in IN_ONE_PROJECT and not given.keys() & NAMES_A_PLACE:
        given |= {PROJECT: project} if (project := invocation.suggest_project()) else {}
    wire_names = {field.name: field.encode_name for field in msgspec.structs.fields(operation.input)}
    arguments: dict[str, Any] = {wire_names[name]: value for name, value in entry.fixed.items()}
    arguments |= {inputs[key].path: value for key, value in given.items() if not inputs[key].in_item} | own_project
    if entry.item_of:
        item = {inputs[key].field.encode_name: value for key, value in given.items() if inputs[key].in_item}
        arguments[wire_names[entry.item_of]] = [item]
    # What an item is recorded for exists already, so a missing file is not created.
    reads_only = bool(entry.item_of) or _is_read_only(operation, arguments)
    with invocation.session(reads_only=reads_only) as session:
        if entry.in_my_draft:
            from groundplan.surfaces.cli.context.open_draft import add_run

            add_run(
                session, arguments, entry.arguments[1:], lambda: own_project.get(PROJECT) or invocation.find_project()
            )
        strict_json.validate_value(arguments)
        result = session.execute(operation, arguments)

    def draw() -> None:
        from groundplan.surfaces.cli.renderers import draw_answer

        if not hasattr(result.answer, "warnings"):  # else the view of the answer has them
            for text in result.warnings:
                print_warning(text)
        draw_answer(operation, entry, result.answer, str(given.get(PROJECT, "")))

    return CommandResult(wrap(operation.group, result.answer, result.warnings), draw, encoded=result.encoded)


def call(
    invocation: Invocation,
    name: Annotated[str, argument("NAME", "The operation, such as briefing.titles.")],
    arguments: Annotated[
        str,
        argument("ARGUMENTS", "Its arguments, as a JSON object; @FILE reads it from a file, - from standard input."),
    ] = "{}",
) -> CommandResult:
    """Call any operation with JSON, and print its answer as JSON: `groundplan op NAME '{…}'`.

    The reference names all operations and their arguments. Most have commands of their own.
    """
    if name not in OPERATIONS:
        near = find_nearest(name, OPERATIONS.names)
        slice_ = f"{name.partition('.')[0]}."
        within = [one for one in OPERATIONS.names if one.startswith(slice_)]
        known = within or sorted({f"{one.partition('.')[0]}.…" for one in OPERATIONS.names})
        hint = f"; did you mean {near}?" if near else f"; there are {', '.join(known)}"
        raise UsageError(f"there is no operation {quote_text(name)}{hint}", near=near)
    operation = OPERATIONS[name]
    given = parse_json_options({"ARGUMENTS": arguments}, {"ARGUMENTS"})["ARGUMENTS"]
    strict_json.validate_value(given)
    with invocation.session(reads_only=_is_read_only(operation, given)) as session:
        result = session.execute(operation, given)
    data = wrap(operation.group, result.answer, result.warnings)
    encoded = result.encoded or encode(data)
    return CommandResult(data, lambda: write_line(sys.stdout, encoded.decode("utf-8").rstrip("\n")), encoded=encoded)


def _get_default(default: Any) -> Any:
    return format_timestamp(system_clock())[:DAY_CHARS] if default == TODAY else default


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
    may_create_project = chosen.when_project_missing is not None and arguments.get(PROJECT) is not None
    return chosen.effect is Effect.READ and not may_create_project


# --- Help -----------------------------------------------------------------------------------------------------------


def _build_help(operation: Operation[Any, Any], entry: Entry, key: str, one: Input) -> str:
    """Return the description of the argument, and how the command line takes it."""
    from groundplan.argument_descriptions import describe_argument
    from groundplan.surfaces.cli.help import find_option_help

    field, form = one.field, one.form
    text = find_option_help(entry.words, key) or describe_argument(operation.name, one.path).replace("`", "")
    sentences = [text]
    if form.is_json and (shape := format_json_shape(describe_type(field.type))):
        sentences.append(f"Shape: {shape}.")
    if field.name in entry.texts and not form.is_json:
        sentences.append(TEXT_SOURCES)
    if form.many:
        sentences.append("Several are allowed." if field.name in entry.arguments else "Repeatable.")
    default = entry.defaults.get(field.name) or getattr(field.default, "value", field.default)
    default = "today" if default == TODAY else "my open draft" if key == RUN and entry.in_my_draft else default
    if isinstance(default, str | int | float) and not isinstance(default, bool) and str(default):
        sentences.append(f"Default: {default}.")
    return " ".join(sentences)


def format_json_shape(described: TypeDescription) -> str:
    """Return the shape of an object or of a list of objects, such as `[{ref, summary, …}]`; else an empty text."""
    options = described.options_without_null
    if len(options) == 1 and options[0].item is not None:
        inside = format_json_shape(options[0].item)
        return f"[{inside}]" if inside and options[0].kind is TypeKind.ARRAY else ""
    if any(option.kind is not TypeKind.STRUCT for option in options):
        return ""
    if len(options) > 1:
        tags = [str(option.type.__struct_config__.tag) for option in options]
        return f"{{{options[0].type.__struct_config__.tag_field}: {'|'.join(_shorten(tags))}, …}}"
    fields = msgspec.structs.fields(options[0].type)
    return f"{{{', '.join(_shorten([field.encode_name for field in fields if not _is_hidden(field)]))}}}"


def _is_hidden(field: FieldInfo) -> bool:
    return any(isinstance(extra, HiddenInSchema) for extra in describe_type(field.type).extras)


def _shorten(names: list[str]) -> list[str]:
    return names if len(names) <= SHAPE_NAMES_MAX else [*names[:SHAPE_NAMES_MAX], "…"]
