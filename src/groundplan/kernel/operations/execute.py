"""Execute a request: parse it, open a transaction, call the handler, and fit the answer to its cap.

A lean answer has no null, empty and bookkeeping fields in its JSON. The class of an answer takes part by declaring
`bookkeeping`, the names of its fields that a lean answer omits; the classes inside it may declare their own, and one
with a method `select_lean` says which part of it is shown. Answers without it are made lean by their slice. In Python
the answer itself stays whole, so that a field that is always there in its class is always there.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace

from groundplan import providers
from groundplan.kernel.actors import Actor
from groundplan.kernel.answers import Budget, encode, fits, refuse_oversized, trim
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, NameTaken, NotFound
from groundplan.kernel.input_gate.request import PROJECT_NAMES, parse_request, read_project_name, separate_project
from groundplan.kernel.input_gate.types import get_decoder
from groundplan.kernel.operations.envelopes import add_warnings, wrap
from groundplan.kernel.operations.registry import AnswerWithoutProject, Effect, Operation
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.secrets import SecretMatch, check_secrets, find_secrets
from groundplan.kernel.store.authorize import AgentNotAllowed, authorize_organization, authorize_project
from groundplan.kernel.store.idempotency import IdempotentRequest, find_stored_answer, make_idempotent_request
from groundplan.kernel.store.store import Store
from groundplan.kernel.store.transaction import Transaction, set_time_of_read
from groundplan.kernel.wording import PROGRAM

DEFAULT_PREFERENCES = Preferences()

A = TypeVar("A")


class ExecutionResult(msgspec.Struct, frozen=True):
    """An answer, and its JSON in its envelope if the answer was encoded.

    `warnings` are about every operation alike. The JSON has them, and so has the answer if it has a field for them.
    """

    answer: Any
    encoded: bytes | None = None
    warnings: Sequence[str] = ()


def execute(
    store: Store,
    actor: Actor | None,
    operation: Operation[Any, Any],
    arguments: Any,
    preferences: Preferences = DEFAULT_PREFERENCES,
    cancellation: Cancellation | None = None,
    warnings: Sequence[str] = (),
    *,
    within: str | None = None,
) -> ExecutionResult:
    """Run one operation for one actor. If `within` is given, the request must be about this project, by id or name.

    A request may name that project itself, also if its operation finds it from what the request names. One that has to
    name its project and does not is about the project of the session, if the preferences name one. With
    `cancellation`, another thread can end it, or the caller sets its limit. `warnings` about how the request was read
    become those of the answer.
    """
    try:
        return _execute(store, actor, operation, arguments, preferences, cancellation, warnings, within)
    except Invalid as error:
        if preferences.project is None or within is not None or not _lacks_project(error):
            raise
        if any(arguments.get(name) is not None for name in PROJECT_NAMES):  # the project that it names does not help
            raise
    name = next((name for name in PROJECT_NAMES if name in operation.input.__struct_encode_fields__), PROJECT_NAMES[0])
    named = {**arguments, name: preferences.project}
    return _execute(store, actor, operation, named, preferences, cancellation, warnings, within)


def _lacks_project(error: Invalid) -> bool:
    """Return whether a request was refused because it names no project."""
    is_missing = error.code == "missing_argument" and error.details.get("field") in PROJECT_NAMES
    return is_missing or error.lacks_project


def _execute(
    store: Store,
    actor: Actor | None,
    operation: Operation[Any, Any],
    arguments: Any,
    preferences: Preferences,
    cancellation: Cancellation | None,
    warnings: Sequence[str],
    within: str | None,
) -> ExecutionResult:
    if operation.project is not None and within is None:
        arguments, within = separate_project(arguments, operation.input.__struct_encode_fields__)
    request = parse_request(arguments, operation.input)
    chosen = (operation.choose_variant and operation.choose_variant(request)) or operation
    limited = _limit_answer(request, preferences)
    run = _Execution(store, actor, request, limited, operation, cancellation, warnings, within)
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
            raise (taken if taken.is_told and _is_missing_project(error) else error) from None


def _limit_answer(request: Any, preferences: Preferences) -> Preferences:
    """Return the preferences with the cap of the request if it is smaller than that of the session."""
    budget: int | None = getattr(request, "budget", None)
    if budget is None or 0 < preferences.answer_tokens_max <= budget:
        return preferences
    return replace(preferences, answer_tokens_max=budget)


def _is_missing_project(error: NotFound) -> bool:
    """Return True if the project itself is missing, and not something in it."""
    return error.details.get("thing") == "project"


COMMAND_CHARS_MAX = 200  # of a command in a refusal; a longer one is named without its options


class _Execution(msgspec.Struct, frozen=True):
    """One request. It may be tried with several variants of an operation."""

    store: Store
    actor: Actor | None
    request: Any
    preferences: Preferences
    requested: Operation[Any, Any]
    cancellation: Cancellation | None
    warnings: Sequence[str]
    within: str | None

    def __call__(self, operation: Operation[Any, Any]) -> ExecutionResult:
        try:
            return self._run(operation)
        except AnswerWithoutProject as found:
            return self._warn_and_fit(found.answer, self.warnings)
        except AgentNotAllowed as error:
            if "command" in error.details:
                raise
            raise error.name_command(self._find_command(operation)) from None

    def _find_command(self, operation: Operation[Any, Any]) -> str:
        """Return the command with which a person does what is requested, without options if it would be long."""
        if operation.person_words is not None:
            return shlex.join((PROGRAM, *operation.person_words(self.request)))
        given = {
            field.encode_name: msgspec.to_builtins(value)
            for field in msgspec.structs.fields(self.request)
            if field.name != "op_id" and (value := getattr(self.request, field.name)) != field.default
        }
        return providers.spell_command(operation, self.requested, given, COMMAND_CHARS_MAX)

    def _run(self, operation: Operation[Any, Any]) -> ExecutionResult:
        if operation.effect is Effect.READ:
            answer = self.store.read(self.actor, lambda tx: self._read(tx, operation), cancellation=self.cancellation)
            if isinstance(answer, ExecutionResult):
                return answer
            return self._warn_and_fit(operation.finish(answer) if operation.finish else answer, self.warnings)
        secrets = find_secrets(self.request)  # before the lock
        prepared = operation.prepare(self.request, self.preferences) if operation.prepare else None
        return self.store.write(
            self.actor,
            None if operation.project is None else lambda tx: self._locate(tx, operation) or "",
            lambda tx: self._write(tx, operation, secrets, prepared),
            needs=operation.permission,
            op_id=self._build_idempotent_request(operation),
            on_archived=operation.on_archived,
            limit_s=self.preferences.write_timeout_s,
            cancellation=self.cancellation,
        )

    def _locate(self, tx: Transaction, operation: Operation[Any, Any]) -> str | None:
        """Return the project of the request; None for an operation on the organization."""
        tx.preferences, tx.named_project = self.preferences, self.within or read_project_name(self.request)
        project = operation.project and operation.project(tx, self.request)
        if self.within is not None and project not in (None, self.within):
            access = authorize_project(tx, project, operation.permission)
            if self.within not in (access.id, access.name):
                hint = "what the request names belongs to another project"
                raise NotFound("resource of project", self.within, hint=hint)
        return project

    def _read(self, tx: Transaction, operation: Operation[Any, Any]) -> Any:
        project = self._locate(tx, operation)
        if project is not None:
            tx.set_project(authorize_project(tx, project, operation.permission))
            set_time_of_read(tx)
        else:
            authorize_organization(tx, operation.without_project or operation.permission)
        op_id = self._build_idempotent_request(operation)
        stored = op_id and find_stored_answer(tx, op_id)  # of the write that the same request was the first time
        return self._handle(tx, operation) if stored is None else stored

    def _write(
        self, tx: Transaction, operation: Operation[Any, Any], secrets: list[SecretMatch], prepared: Any
    ) -> ExecutionResult:
        tx.preferences = self.preferences
        tx.prepared = prepared
        secret_warnings = check_secrets(tx, self.request, secrets)
        answer = _warn_about_clock(tx, self._handle(tx, operation))
        warnings = [*self.warnings, *secret_warnings, *tx.warnings]
        # Inside the transaction: an answer that is too large must fail before the change is committed.
        return self._warn_and_fit(answer, warnings)

    def _handle(self, tx: Transaction, operation: Operation[Any, Any]) -> Any:
        try:
            return operation.handler(tx, self.request)
        except GroundplanError as error:
            if tx.has_project:
                error.project = tx.project.name  # for its next steps
            raise

    def _warn_and_fit(self, answer: Any, warnings: Sequence[str]) -> ExecutionResult:
        """Return the result with warnings about the request, which the answer has too if its class has a field."""
        if warnings and hasattr(answer, "warnings"):
            answer.warnings = [*warnings, *(answer.warnings or ())]
        return self._fit(answer, warnings)

    def _fit(self, answer: Any, warnings: Sequence[str] = ()) -> ExecutionResult:
        """Trim an answer to the cap of the caller. An answer that fits is encoded only once."""
        cap = self.preferences.answer_tokens_max
        is_lean = wants_lean(self.request, self.preferences, answer)
        if not cap and not is_lean:
            return ExecutionResult(answer, None, warnings)
        encoded = self._encode(answer, warnings, is_lean=is_lean)
        if not fits(encoded, cap):
            trim(answer, Budget.for_answer(cap).reserve({"warnings": warnings}))
            encoded = self._encode(answer, warnings, is_lean=is_lean)
            refuse_oversized(encoded, cap)
        return ExecutionResult(answer, encoded, warnings)

    def _encode(self, answer: Any, warnings: Sequence[str], *, is_lean: bool) -> bytes:
        return encode(wrap(self.requested.group, make_lean(answer) if is_lean else answer, warnings))

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
            dump=lambda result: encode(add_warnings(redact(result.answer), result.warnings)),
            load=lambda text: self._fit(get_decoder(operation.output).decode(text), _load_warnings(text, operation)),
        )


def _warn_about_clock(tx: Transaction, answer: A) -> A:
    """Return the answer of a write; if the clock jumped and the answer can have warnings, it has one about that."""
    if tx.clock_jump is not None and hasattr(answer, "warnings"):
        answer.warnings = [*(answer.warnings or ()), tx.clock_jump.describe()]
    return answer


def _load_warnings(text: str, operation: Operation[Any, Any]) -> list[str]:
    """Return the warnings of a stored answer whose class has no field for warnings."""
    if "warnings" in operation.output.__struct_fields__:
        return []
    stored: list[str] = get_decoder(dict[str, Any]).decode(text).get("warnings", [])
    return stored


def wants_lean(request: Any, preferences: Preferences, answer: Any) -> bool:
    """Return True if the answer is to be lean: the request decides, else the session."""
    if getattr(type(answer), "bookkeeping", None) is None or not hasattr(request, "lean"):
        return False
    return preferences.lean if request.lean is None else bool(request.lean)


def make_lean(value: Any) -> Any:
    """Return a value as plain data without the null, empty and bookkeeping fields of Structs.

    The contents of a dict are data of a caller, in which null has its own meaning; so they are kept.
    """
    if isinstance(value, Struct):
        if (select := getattr(value, "select_lean", None)) is not None:
            value = select()
        omitted: Collection[str] = getattr(type(value), "bookkeeping", ())
        names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
        fields = {wire: make_lean(getattr(value, name)) for name, wire in names if name not in omitted}
        return {wire: field for wire, field in fields.items() if not _is_empty(field)}
    if isinstance(value, list):
        return [make_lean(item) for item in value]
    if isinstance(value, dict):
        return {name: make_lean(item) for name, item in value.items()}
    return value


def _is_empty(value: Any) -> bool:
    return value is UNSET or value is None or (isinstance(value, str | list | dict) and not value)
