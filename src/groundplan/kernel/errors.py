"""The errors of Groundplan in eight families, and the next steps that they suggest.

    GroundplanError
    ├── Unauthenticated   no actor, or no valid token        401  exit 4
    ├── Forbidden         the actor's role does not allow it 403  exit 4
    ├── NotFound          missing, or hidden from this actor 404  exit 3
    ├── Invalid           the request is malformed           400  exit 2
    ├── Conflict          stale or frozen; read and retry    409  exit 5
    ├── RuleViolated      valid, but a rule forbids it       422  exit 6
    ├── Unavailable       the store cannot serve; retry      503  exit 7
    └── Unexpected        a bug; the log has the cause       500  exit 1

The first seven are refusals; every error that a slice defines belongs to one of them. The family alone decides the HTTP
status, the exit code and the `isError` flag, so no surface branches on a code. `Unexpected` replaces any other
exception: it carries a reference to the log entry and nothing from the exception itself. The server has one more class,
`HttpProblem`, for what HTTP refuses before any operation sees it.

A next step is data: an operation of the registry and its arguments. Slices name operations and know no surface. Each
surface has a `Vocabulary` that turns a step into its own syntax:

    Python (the default)   project.restore
    command line           groundplan project restore --project atlas
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol


class NextStep(NamedTuple):
    """A suggested operation, with its effect as the end of a sentence: `lists the keys`."""

    operation: str
    effect: str
    arguments: Mapping[str, Any] = {}  # by wire name; only those that are known
    fill: tuple[str, ...] = ()  # arguments that the effect needs and only the caller knows, besides required ones


class Vocabulary(Protocol):
    """The names of operations on one surface."""

    def within(self, project: str) -> Vocabulary:
        """Return the vocabulary for an answer about a project, whose name is added to calls that lack one."""
        return self

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return a call as text for use in a sentence."""

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return a call as data that a client can send, with `fill` if it must add arguments before."""

    def tell(self, steps: Iterable[NextStep]) -> str:
        """Return one sentence that describes each step: `member.list lists them; member.add adds one`."""
        return "; ".join(f"{self.spell(step.operation, step.arguments)} {step.effect}" for step in steps)


class OperationNames(Vocabulary):
    """The vocabulary of the Python API: operations by their own names."""

    def spell(self, operation: str, arguments: Mapping[str, Any]) -> str:
        """Return the name of the operation."""
        return operation

    def call(self, operation: str, arguments: Mapping[str, Any], fill: Sequence[str] = ()) -> dict[str, Any]:
        """Return the operation and its arguments."""
        return {"operation": operation, "arguments": dict(arguments)}


OPERATION_NAMES = OperationNames()

Steps = NextStep | Sequence[NextStep]


class GroundplanError(Exception):
    """The base class: a stable code for programs, a sentence for people, and next steps and details for both."""

    code: str = "error"
    contract_code: ClassVar[str | None] = None  # the code in a contract, where the code of the family does not fit
    contract_name: ClassVar[str | None] = None  # the class name in a contract that names its error classes
    has_contract_name: bool = False  # whether the request was about facts, whose contract names its error classes
    lacks_project: bool = False  # whether the request would be understood if it named its project
    status: int = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, problem: str, *, code: str | None = None, next_steps: Steps = (), **details: Any) -> None:
        super().__init__(problem)
        self.problem = problem
        self.next_steps = (next_steps,) if isinstance(next_steps, NextStep) else tuple(next_steps)
        self.details: Mapping[str, Any] = details
        self.project: str | None = None  # that the request was about, if it is known
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """The problem and the next steps with the operation names of the Python API."""
        return self.describe(OPERATION_NAMES)

    def describe(self, vocabulary: Vocabulary) -> str:
        """Return the problem and the next steps with the operation names of a surface."""
        told = self._adapt(vocabulary).tell(self.next_steps)
        return f"{self.problem}; {told}" if self.next_steps else self.problem

    def to_dict(self, vocabulary: Vocabulary = OPERATION_NAMES) -> dict[str, Any]:
        """Return the error as data. Only the names in the next steps differ between surfaces."""
        body: dict[str, Any] = {"code": self.code, "message": self.describe(vocabulary)}
        details = dict(self.details)
        if self.next_steps:
            adapted = self._adapt(vocabulary)
            details["next"] = [adapted.call(step.operation, step.arguments, step.fill) for step in self.next_steps]
        if details:
            body["details"] = details
        return body

    def _adapt(self, vocabulary: Vocabulary) -> Vocabulary:
        return vocabulary if self.project is None else vocabulary.within(self.project)


class Unauthenticated(GroundplanError):
    """The request names no actor, or its token is not accepted."""

    code = "unauthenticated"
    status = 401
    exit_code = 4


class Forbidden(GroundplanError):
    """The actor's role does not allow this."""

    code = "forbidden"
    status = 403
    exit_code = 4


HIDDEN_THINGS = ("organization", "project", "resource of project", "scope", "run")


class NotFound(GroundplanError):
    """The thing does not exist, or this actor may not see it. Both cases give the same answer."""

    code = "not_found"
    status = 404
    exit_code = 3

    def __init__(
        self, thing: str, ref: str, *, near: Sequence[str] = (), hint: str = "", next_steps: Steps = (), **details: Any
    ) -> None:
        if near:
            hint, next_steps = f"did you mean {' or '.join(map(repr, near))}?", ()
            details["near"] = list(near)
        self.hint = hint
        problem = f"no {thing} {ref!r} here" + (f"; {hint}" if hint else "")
        super().__init__(problem, next_steps=next_steps, thing=thing, ref=ref, **details)

    @property
    def may_be_hidden(self) -> bool:
        """True if the thing may exist; what is inside of a project is looked for after the actor was let into it."""
        return self.details.get("thing") in HIDDEN_THINGS


class Invalid(GroundplanError):
    """The request is malformed; sending it again unchanged cannot succeed."""

    code = "invalid"
    status = 400
    exit_code = 2


class MixedProjects(Invalid):
    """One call refers to more than one project."""

    code = "mixed_projects"


class Conflict(GroundplanError):
    """The caller read an older state, or the thing is frozen. The caller must read it again before deciding."""

    code = "conflict"
    status = 409
    exit_code = 5


class NameTaken(Conflict):
    """The name is in use. The actor may be unable to see the thing that has it."""

    code = "name_taken"
    is_told: ClassVar[bool] = True  # to somebody who cannot see it; else it is answered like what is missing


class RuleViolated(GroundplanError):
    """The request is valid, but a rule of the plan forbids it."""

    code = "rule_violated"
    status = 422
    exit_code = 6


class Unavailable(GroundplanError):
    """The store cannot serve the request at this time."""

    code = "unavailable"
    status = 503
    exit_code = 7
    may_retry = True  # false if the request may have had its effect


class Unexpected(GroundplanError):
    """A defect in Groundplan. A reference leads to the log entry; the answer does not show the cause."""

    code = "unexpected"

    def __init__(self, reference: str, hint: str = "") -> None:
        self.reference = reference
        super().__init__(
            f"something went wrong inside Groundplan; look for {reference} in the log{hint}", reference=reference
        )


class StaleVersion(Conflict):
    """The thing is at another version than the one that the caller read."""

    code = "stale_version"

    def __init__(self, thing: str, id_: str, *, current: int, given: int) -> None:
        super().__init__(
            f"{thing} {id_} is at version {current}, not {given}; read it again, then decide",
            id=id_,
            version=given,
            currentVersion=current,
        )


class StaleRevision(Conflict):
    """The thing is at another revision than the one that the caller read."""

    code = "stale_rev"

    def __init__(self, thing: str, advice: str, *, current: int, expected: int, **details: Any) -> None:
        super().__init__(
            f"{thing} is at rev {current}, not {expected}; {advice}, then decide",
            **details,
            expected=expected,
            current=current,
        )


def refuse_stale(thing: str, id_: str, *, current: int, given: int) -> None:
    """Raise StaleVersion if the given version is not the current one."""
    if current != given:
        raise StaleVersion(thing, id_, current=current, given=given)
