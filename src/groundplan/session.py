"""The Python API: a session of one actor on one store.

with groundplan.open("plan.db", actor="ada") as plan:
    plan.project.create(name="atlas")
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from msgspec import Struct

from groundplan.catalog import OPERATIONS, build_schema
from groundplan.kernel.actors import LOCAL_ORGANIZATION, Access, Actor, ActorKind, local_actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import NotFound
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.strict_json import validate_value
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.execute import DEFAULT_PREFERENCES, ExecutionResult, execute
from groundplan.kernel.operations.registry import Operation, Registry
from groundplan.kernel.organizations.organization import OrganizationId
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.open_store import open_store
from groundplan.kernel.store.store import Store
from groundplan.verbs import Verbs


class WriteWarning(UserWarning):
    """A write was done that somebody should look at: it contains a secret, or makes a project that no person owns."""


def _issue_warning(line: str) -> None:
    warnings.warn(line, WriteWarning, stacklevel=4)  # the caller of a method of a session


class Session(Verbs):
    """One actor on one store. Operations of the registry are called by name or as methods."""

    def __init__(
        self,
        store: Store,
        actor: Actor | None,
        operations: Registry = OPERATIONS,
        *,
        preferences: Preferences = DEFAULT_PREFERENCES,
    ) -> None:
        self.store = store
        self.actor = actor
        self.operations = operations
        self.preferences = preferences
        self.warn: Callable[[str], None] = _issue_warning

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation by name. Its arguments are checked like every request."""
        if operation not in self.operations:
            raise NotFound("operation", operation)
        validate_value(arguments)
        return self.run(self.operations[operation], arguments)

    def run(self, operation: Operation[Any, Any], arguments: Any) -> Any:
        """Run an operation with checked arguments, and return its answer."""
        result = self.execute(operation, arguments)
        for line in result.warnings:
            self.warn(line)
        return result.answer

    def execute(
        self,
        operation: Operation[Any, Any],
        arguments: Any,
        cancellation: Cancellation | None = None,
        warnings: Sequence[str] = (),
    ) -> ExecutionResult:
        """Run an operation and return its answer, with its JSON if it was encoded. `cancellation` can end it early."""
        return execute(self.store, self.actor, operation, arguments, self.preferences, cancellation, warnings)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def open(  # noqa: A001 - groundplan.open() is the public name
    db: str,
    *,
    actor: str | None,
    kind: ActorKind | str = ActorKind.PERSON,
    access: Access | str = Access.OPEN,
    organization: str = LOCAL_ORGANIZATION,
) -> Session:
    """Open a file or a `postgresql://` URL as an actor of an organization; every call without an actor is refused."""
    given = {"actor": actor, "kind": kind, "access": access, "organization": organization}
    validate_value(given)
    options = parse_request(given, _ActorOptions)
    named = None
    if options.actor is not None:
        named = local_actor(options.actor, kind=options.kind, access=options.access, organization=options.organization)
    return Session(open_store(db, build_schema), named)


class _ActorOptions(Struct, forbid_unknown_fields=True):
    actor: Name | None
    kind: ActorKind
    access: Access
    organization: OrganizationId
