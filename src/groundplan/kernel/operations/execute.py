"""From a request as it came in to an answer: admit it, open the right transaction, run the use case."""

from __future__ import annotations

from typing import Any

import msgspec

from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import NameTaken, NotFound
from groundplan.kernel.input_gate.admit import admit
from groundplan.kernel.operations.frames import framed
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.output_gate import encode, refuse_oversized
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.authorize import authorize_organization, authorize_project
from groundplan.kernel.store.once import Once, once
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

NO_PREFERENCES = Preferences()


def execute(
    store: Store,
    actor: Actor | None,
    operation: Operation[Any, Any],
    arguments: Any,
    preferences: Preferences = NO_PREFERENCES,
) -> Any:
    """Run one operation for one actor.

    Raises:
        GroundplanError: whatever the gate, the access table, the store or the use case refuses.
    """
    request = admit(arguments, operation.input)
    meant = (operation.route and operation.route(request)) or operation
    if meant.otherwise is None:
        return _run(store, actor, meant, request, preferences, operation.name)
    try:
        return _run(store, actor, meant, request, preferences, operation.name)
    except NotFound as error:
        if not _is_of_project(error):
            raise
    try:
        return _run(store, actor, meant.otherwise, request, preferences, operation.name)
    except NameTaken as taken:
        # Somebody may have made it since we looked, and then the request can be served after all.
        try:
            return _run(store, actor, meant, request, preferences, operation.name)
        except NotFound as error:
            raise (taken if _is_of_project(error) else error) from None


def _is_of_project(error: NotFound) -> bool:
    """Whether it is the project itself that is not there, and not something in it."""
    return error.details.get("thing") == "project"


def _run(
    store: Store,
    actor: Actor | None,
    operation: Operation[Any, Any],
    request: Any,
    preferences: Preferences,
    asked_for: str,
) -> Any:
    locate = operation.project
    if operation.effect is Effect.READ:
        return store.read(actor, lambda tx: _read(tx, operation, request, preferences))

    def handle(tx: Transaction) -> Any:
        tx.preferences = preferences
        answer = operation.handler(tx, request)
        if preferences.answer_tokens_max:
            # Before anything is committed: a change that was made must not be answered by a refusal.
            refuse_oversized(encode(framed(operation, answer)), preferences.answer_tokens_max)
        return answer

    return store.write(
        actor,
        None if locate is None else lambda tx: locate(tx, request),
        handle,
        needs=operation.permission,
        op_id=_op_id(operation, request, asked_for),
        on_archived=operation.on_archived,
    )


def _read(tx: Transaction, operation: Operation[Any, Any], request: Any, preferences: Preferences) -> Any:
    tx.preferences = preferences
    if operation.project is None:
        authorize_organization(tx, operation.permission)
    else:
        tx.enter(authorize_project(tx, operation.project(tx, request), operation.permission))
    return operation.handler(tx, request)


def _op_id(operation: Operation[Any, Any], request: Any, asked_for: str) -> Once[Any] | None:
    op_id = getattr(request, "op_id", None)
    if op_id is None:
        return None
    # Under the name that was asked for: sent again, the same request may find its project made and be served otherwise.
    return once(op_id, asked_for, msgspec.structs.replace(request, op_id=None), operation.output)
