"""Execute a request: parse it, open a transaction, run the use case, and fit the answer to the budget."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.actors import Actor
from groundplan.kernel.budget import Budget, trim
from groundplan.kernel.errors import NameTaken, NotFound
from groundplan.kernel.input_gate.decoders import get_decoder
from groundplan.kernel.input_gate.parse_request import parse_request
from groundplan.kernel.operations.envelopes import wrap
from groundplan.kernel.operations.lean_answers import make_lean, wants_lean
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.output_gate import encode, fits, refuse_oversized
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.authorize import AgentNotAllowed, authorize_organization, authorize_project
from groundplan.kernel.store.idempotency import IdempotentRequest, make_idempotent_request
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction

DEFAULT_PREFERENCES = Preferences()


class ExecutionResult(NamedTuple):
    """An answer, and its JSON in its envelope if it was encoded to measure it or to make it lean."""

    answer: Any
    encoded: bytes | None = None


def execute(
    store: Store,
    actor: Actor | None,
    operation: Operation[Any, Any],
    arguments: Any,
    preferences: Preferences = DEFAULT_PREFERENCES,
) -> ExecutionResult:
    """Run one operation for one actor.

    Raises:
        GroundplanError: the input gate, the access check, the store or the use case refuses the request.
    """
    request = parse_request(arguments, operation.input)
    chosen = (operation.choose_variant and operation.choose_variant(request)) or operation
    run = _Execution(store, actor, request, preferences, operation)
    if chosen.when_project_missing is None:
        return run(chosen)
    try:
        return run(chosen)
    except NotFound as error:
        if not _is_missing_project(error):
            raise
    try:
        return run(chosen.when_project_missing)
    except NameTaken as taken:
        # Another caller may have created the project in the meantime; then the first operation can serve the request.
        try:
            return run(chosen)
        except NotFound as error:
            raise (taken if _is_missing_project(error) else error) from None


def _is_missing_project(error: NotFound) -> bool:
    """Return whether the project is missing, not something in it."""
    return error.details.get("thing") == "project"


class _Execution(NamedTuple):
    """One request, which may be tried with more than one operation."""

    store: Store
    actor: Actor | None
    request: Any
    preferences: Preferences
    requested: Operation[Any, Any]

    def __call__(self, operation: Operation[Any, Any]) -> ExecutionResult:
        try:
            return self._run(operation)
        except AgentNotAllowed as error:
            command = operation.command or self.requested.command
            raise (error if command is None else error.name_command(command.words)) from None

    def _run(self, operation: Operation[Any, Any]) -> ExecutionResult:
        if operation.effect is Effect.READ:
            answer = self.store.read(self.actor, lambda tx: self._read(tx, operation))
            return self._fit(operation.finish(answer) if operation.finish else answer)
        locate = operation.project
        return self.store.write(
            self.actor,
            None if locate is None else lambda tx: locate(tx, self.request) or "",
            lambda tx: self._write(tx, operation),
            needs=operation.permission,
            op_id=self._build_idempotent_request(operation),
            on_archived=operation.on_archived,
        )

    def _read(self, tx: Transaction, operation: Operation[Any, Any]) -> Any:
        tx.preferences = self.preferences
        project = operation.project and operation.project(tx, self.request)
        if project is not None:
            tx.set_project(authorize_project(tx, project, operation.permission))
        else:
            authorize_organization(tx, operation.without_project or operation.permission)
        return operation.handler(tx, self.request)

    def _write(self, tx: Transaction, operation: Operation[Any, Any]) -> ExecutionResult:
        tx.preferences = self.preferences
        # Inside the transaction: an answer that is too large must fail before the change is committed.
        return self._fit(operation.handler(tx, self.request))

    def _fit(self, answer: Any) -> ExecutionResult:
        """Trim an answer to the cap of the caller; encode it only once if it fits."""
        cap = self.preferences.answer_tokens_max
        is_lean = wants_lean(self.request, self.preferences, answer)
        if not cap and not is_lean:
            return ExecutionResult(answer)
        encoded = self._encode(answer, is_lean=is_lean)
        if not fits(encoded, cap):
            trim(answer, Budget.for_answer(cap))
            encoded = self._encode(answer, is_lean=is_lean)
            refuse_oversized(encoded, cap)
        return ExecutionResult(answer, encoded)

    def _encode(self, answer: Any, *, is_lean: bool) -> bytes:
        return encode(wrap(self.requested.group, make_lean(answer) if is_lean else answer))

    def _build_idempotent_request(self, operation: Operation[Any, Any]) -> IdempotentRequest[ExecutionResult] | None:
        op_id = getattr(self.request, "op_id", None)
        if op_id is None:
            return None
        # By the requested name: when sent again, the project may exist and another operation may serve the request.
        body = msgspec.structs.replace(self.request, op_id=None)
        redact = operation.redact or (lambda answer: answer)
        return make_idempotent_request(
            op_id,
            self.requested.name,
            body,
            dump=lambda result: encode(redact(result.answer)),
            load=lambda text: self._fit(get_decoder(operation.output).decode(text)),
        )
