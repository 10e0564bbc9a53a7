"""Every use case, registered once.

An operation says what it is called, what it takes and gives, what it needs, and how each surface reaches it. MCP tools,
command line words, JSON Schemas, the reference pages and the authorization matrix are derived from these entries, so
what is not registered does not exist and what is registered exists everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Generic, TypeVar

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.store.transaction import Transaction

In = TypeVar("In", bound=Struct)
Out = TypeVar("Out")


class Group(StrEnum):
    """Tools that are switched on together with `--tools`."""

    WORK = "work"
    KNOWLEDGE = "knowledge"
    PURPOSE = "purpose"
    CONTEXT = "context"
    CONTAINERS = "containers"
    BRIEFING = "briefing"


class Effect(StrEnum):
    """What calling an operation does; a client shows it before it asks for consent."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"  # takes something away that the caller cannot simply put back


@dataclass(frozen=True, slots=True)
class Tool:
    """How MCP reaches an operation: a tool, and for tools that serve several operations the value that selects it."""

    name: str
    group: Group
    selector: str | None = None  # value of the tool's `operation` argument


@dataclass(frozen=True, slots=True)
class Command:
    """How the command line reaches an operation: `groundplan WORD WORD ARGUMENTS --options`."""

    words: tuple[str, ...]
    summary: str | None = None  # what it does, where these words mean only a part of the operation
    arguments: tuple[str, ...] = ()  # input fields that are given by position
    names: Mapping[str, str] = field(default_factory=dict)  # input field → the option's name where the two differ
    texts: tuple[str, ...] = ()  # input fields that may be read from a file (@FILE) or standard input (-)
    columns: tuple[str, ...] = ()  # what the human table shows of each row; all fields when empty
    fixed: Mapping[str, str] = field(default_factory=dict)  # input fields of which the words say the value already
    without: tuple[str, ...] = ()  # input fields that such a thing has not, so that there is no option for them


@dataclass(frozen=True, slots=True)
class Operation(Generic[In, Out]):
    """One use case."""

    name: str  # thing.verb; slices put their own name in front
    summary: str  # one line for tools/list, --help and the reference
    permission: Permission
    effect: Effect
    input: type[In]
    output: type[Out]
    handler: Callable[[Transaction, In], Out]
    # Which project the request is about, by id or by name; None for an operation on the organization.
    project: Callable[[Transaction, In], str | None] | None = None
    # The permission that a request without a project needs in the organization; None where it must name one.
    without_project: Permission | None = None
    other_outputs: tuple[type, ...] = ()  # what some requests are answered with instead of `output`
    on_archived: bool = False  # whether it may change a project that is archived
    idempotent: bool = False  # the same call again changes nothing more
    # Operations with the same input that need another permission or have another effect, and the function that picks
    # one of them for a request; None for this operation itself.
    variants: tuple[Operation[In, Any], ...] = ()
    choose_variant: Callable[[In], Operation[In, Any] | None] | None = None
    when_project_missing: Operation[In, Any] | None = None  # serves the request where there is no such project
    # Runs after the transaction has ended, on what the handler returned: for work that needs no database.
    finish: Callable[[Any], Any] | None = None
    tool: Tool | None = None
    command: Command | None = None
    aliases: tuple[Command, ...] = ()  # the same under other words: `feature advance` beside `task advance`

    @property
    def group(self) -> Group | None:
        """The group of its tool, which decides the envelope of its answers."""
        return self.tool.group if self.tool else None

    @property
    def commands(self) -> tuple[Command, ...]:
        """Every command that reaches it."""
        return () if self.command is None else (self.command, *self.aliases)


class Registry:
    """The operations of one Groundplan, in the order of their registration."""

    def __init__(self, operations: Iterable[Operation[Any, Any]]) -> None:
        self._by_name: dict[str, Operation[Any, Any]] = {}
        for operation in operations:
            if operation.name in self._by_name:
                raise ValueError(f"operation {operation.name} is registered twice")
            self._by_name[operation.name] = operation

    def __iter__(self) -> Iterator[Operation[Any, Any]]:
        return iter(self._by_name.values())

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Operation[Any, Any]:
        return self._by_name[name]
