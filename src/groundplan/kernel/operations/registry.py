"""The registry of operations: one entry for each use case.

An operation declares its name, input, output, permission, and how MCP and HTTP call it; its commands are in
`commands.py`. MCP tools, commands, REST routes, JSON Schemas and the reference pages are derived from these entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from importlib import import_module
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, TypedDict, TypeVar, Unpack, get_args, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.access import Permission
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.transaction import Transaction

In = TypeVar("In", bound=Struct)
Out = TypeVar("Out")

FACTS = ("context", "member")  # the first words of the operations that the contract of facts is about

PROJECT_FIELDS = ("project", "project_id", "scope_id")  # what a request calls its project, by group of tools

# Chosen by the caller; the same request with the same id has one effect, even if sent again.
OpId = Annotated[str, Meta(min_length=1, max_length=200)] | None

# The tokens of the whole answer, to which a briefing is added that uses what is left of them.
AnswerBudget = Annotated[int, Meta(ge=200, le=20_000)] | None


def load_by_name(name: str) -> Any:
    """Import the module of a name such as `groundplan.work.kinds:TASK`, and return its attribute."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


class Group(StrEnum):
    """Groups of tools that `--tools` enables."""

    WORK = "work"
    KNOWLEDGE = "knowledge"
    PURPOSE = "purpose"
    CONTEXT = "context"
    CONTAINERS = "containers"
    BRIEFING = "briefing"


class Effect(StrEnum):
    """The effect of an operation; a client shows it before it asks for consent."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"  # removes something that the caller cannot simply restore


class Tool(Struct, frozen=True):
    """The MCP tool of an operation, and the value that selects the operation if the tool has several."""

    name: str
    group: Group
    selector: str | None = None  # value of the tool's `operation` argument


TODAY = "{today}"  # the day of the command, as a default


class Route(Struct, frozen=True):
    """The method and path of an operation over HTTP: `GET /projects/{project}/work/next`.

    A name in braces is an input field by its wire name. `{project}` is the project, under whatever name the input has
    it; if the input has none, the path must name the project that the request is about.
    """

    method: str
    path: str
    fixed: Mapping[str, str] = field(default_factory=dict)  # wire name → fixed value
    names: Mapping[str, str] = field(default_factory=dict)  # wire name → name in the body, if they differ
    summary: str | None = None  # if the route is only a part of the operation
    without: tuple[str, ...] = ()  # wire names that it does not show, because it refuses them
    item_of: str | None = None  # the input field, a list, of which such a request has exactly one item
    # For a request that creates something: its path, in which `{thing.id}` is a field of the answer and `*` its only
    # object. The status is then 201.
    location: str | None = None


class AnswerWithoutProject(Exception):
    """Raised where the project of a request is looked for: nothing is to be written, and this is the answer."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer


class Operation(Struct, Generic[In, Out], frozen=True):
    """An operation: its handler, its types, and its names on the surfaces."""

    name: str  # thing.verb; names in a slice start with its name
    summary: str  # one line for tools/list, --help and the reference
    permission: Permission
    effect: Effect
    input: type[In]
    output: type[Out]
    handler: Callable[[Transaction, In], Out]
    # Returns the project of a request, by id or name; None for an operation on the organization.
    project: Callable[[Transaction, In], str | None] | None = None
    # The permission in the organization for a request without a project; None if the project is required.
    without_project: Permission | None = None
    other_outputs: tuple[type, ...] = ()  # types that some requests return instead of `output`
    on_archived: bool = False  # whether it may change an archived project
    idempotent: bool = False  # repeating the call changes nothing
    # Operations with the same input and another permission or effect, and the function that chooses one of them for a
    # request; it returns None for this operation itself.
    variants: tuple[Operation[In, Any], ...] = ()
    choose_variant: Callable[[In], Operation[In, Any] | None] | None = None
    when_project_missing: Operation[In, Any] | None = None  # serves the request if the project does not exist
    # Runs before the transaction of a write, for what may take a while; its result is `tx.prepared`.
    prepare: Callable[[In, Preferences], Any] | None = None
    # Runs on the result of the handler after the transaction has ended, for work that needs no database.
    finish: Callable[[Any], Any] | None = None
    # Returns an answer without its secrets, as it may be stored for its op_id.
    redact: Callable[[Any], Any] | None = None
    tool: Tool | None = None
    # The words of the command with which a person does the same, for a variant that no command calls.
    person_words: Callable[[Any], tuple[str, ...]] | None = None
    http: Route | None = None
    other_routes: tuple[Route, ...] = ()  # such as the one for requests without a project

    @property
    def group(self) -> Group | None:
        """The group of its tool, which decides the envelope of answers."""
        return self.tool.group if self.tool else None

    @property
    def uses_fact_error_names(self) -> bool:
        """Whether its errors have the names of the contract of facts, which is also that of the members of a scope."""
        return self.name.partition(".")[0] in FACTS

    @property
    def routes(self) -> tuple[Route, ...]:
        """The routes of the operation over HTTP."""
        return () if self.http is None else (self.http, *self.other_routes)


class OperationOptions(TypedDict, Generic[In], total=False):
    """The options of a declaration; `Operation` describes each."""

    without_project: Permission | None
    on_archived: bool
    idempotent: bool
    variants: tuple[Operation[In, Any], ...]
    choose_variant: Callable[[In], Operation[In, Any] | None]
    when_project_missing: Operation[In, Any]
    prepare: Callable[[In, Preferences], Any]
    finish: Callable[[Any], Any]
    redact: Callable[[Any], Any]
    tool: Tool
    person_words: Callable[[Any], tuple[str, ...]]
    http: Route
    other_routes: tuple[Route, ...]


def declare(
    handler: Callable[[Transaction, In], Out],
    *,
    name: str,
    summary: str,
    permission: Permission,
    effect: Effect,
    input: type[In] | None = None,  # noqa: A002 - the name of the field that it sets
    project: Callable[[Transaction, In], str | None] | UnsetType | None = UNSET,
    **options: Unpack[OperationOptions[In]],
) -> Operation[In, Out]:
    """Return the operation of a handler.

    Its input is the type of the function's request, or a subclass of it that is given. Its output is what the
    function, or else `finish`, returns; the types of a union after the first are its other outputs. Its project is a
    field of the request (see `PROJECT_FIELDS`) unless `project` says otherwise; None is for one that creates a project.
    """
    _transaction, request_type, *_result = get_type_hints(handler, include_extras=True).values()
    input_type: type[In] = input or request_type
    output, *other_outputs = _list_outputs(options.get("finish", handler))
    if project is UNSET:
        field_name = next((known for known in PROJECT_FIELDS if known in input_type.__struct_fields__), None)
        project = None if field_name is None else lambda _tx, request: getattr(request, field_name)
    return Operation(
        name=name,
        summary=summary,
        permission=permission,
        effect=effect,
        input=input_type,
        output=output,
        other_outputs=tuple(other_outputs),
        handler=handler,
        project=project,
        **options,
    )


def _list_outputs(function: Callable[..., Any]) -> tuple[Any, ...]:
    result = get_type_hints(function)["return"]
    types = get_args(result) if isinstance(result, UnionType) else (result,)
    return (result,) if NoneType in types else types


class Registry:
    """Operations by name, in the order of registration.

    `sources` are operations by name, each with the module and attribute that has it, such as
    `groundplan.work.graph.next:OPERATION`. It is imported when the operation is first asked for.
    """

    def __init__(
        self, operations: Iterable[Operation[Any, Any]] = (), *, sources: Mapping[str, str] | None = None
    ) -> None:
        self._sources = dict(sources or {})
        self._loaded: dict[str, Operation[Any, Any]] = {}
        for operation in operations:
            if operation.name in self:
                raise ValueError(f"operation {operation.name} is registered twice")
            self._loaded[operation.name] = operation
        self.names = (*self._sources, *self._loaded)

    def __iter__(self) -> Iterator[Operation[Any, Any]]:
        return map(self.__getitem__, self.names)

    def __contains__(self, name: object) -> bool:
        return name in self._loaded or name in self._sources

    def __getitem__(self, name: str) -> Operation[Any, Any]:
        operation = self._loaded.get(name)
        return self._load(name) if operation is None else operation

    def _load(self, name: str) -> Operation[Any, Any]:
        operation: Operation[Any, Any] = load_by_name(self._sources[name])
        if operation.name != name:
            raise ValueError(f"operation {operation.name} is registered as {name}")
        self._loaded[name] = operation
        return operation
