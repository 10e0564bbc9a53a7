"""Every way Groundplan says no.

    GroundplanError
    ├── Unauthenticated   who are you?                       401  exit 4
    ├── Forbidden         known, but the role is too small   403  exit 4
    ├── NotFound          absent, or hidden from this actor  404  exit 3
    ├── Invalid           the request itself is malformed    400  exit 2
    ├── Conflict          stale or frozen; read and retry    409  exit 5
    ├── RuleViolated      well-formed, but the plan forbids  422  exit 6
    ├── Unavailable       the store did not answer; retry    503  exit 7
    └── Unexpected        a defect of ours, by reference     500  exit 1

The first seven are refusals, and every refusal a slice defines belongs to one of them. The family alone decides the
HTTP status, the exit code and the `isError` flag, so no surface ever branches on a code. `Unexpected` is what a caller
sees of any other exception: a reference to look for in the log, and nothing that was in the exception.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from groundplan.kernel.next_steps import OPERATION_NAMES, NextStep, Vocabulary, describe

Steps = NextStep | Sequence[NextStep]


class GroundplanError(Exception):
    """A refusal: a stable code for programs, a sentence for people, what to do next and details for both."""

    code: str = "error"
    contract_code: ClassVar[str | None] = None  # what a contract calls this very refusal, where its family will not do
    contract_name: ClassVar[str | None] = None  # the same for a contract that names the classes of its refusals
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, problem: str, *, code: str | None = None, next_steps: Steps = (), **details: Any) -> None:
        super().__init__(problem)
        self.problem = problem
        self.next_steps = (next_steps,) if isinstance(next_steps, NextStep) else tuple(next_steps)
        self.details: Mapping[str, Any] = details
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """What is wrong and what to do, in the words of the Python API."""
        return self.describe(OPERATION_NAMES)

    def describe(self, vocabulary: Vocabulary) -> str:
        """Say what is wrong and what to do, in the words of a surface."""
        return f"{self.problem}; {describe(self.next_steps, vocabulary)}" if self.next_steps else self.problem

    def body(self, vocabulary: Vocabulary = OPERATION_NAMES) -> dict[str, Any]:
        """Return the error as data: the same on every surface, but for the words of what to do next."""
        body: dict[str, Any] = {"code": self.code, "message": self.describe(vocabulary)}
        details = dict(self.details)
        if self.next_steps:
            details["next"] = [vocabulary.call(step.operation, step.arguments) for step in self.next_steps]
        if details:
            body["details"] = details
        return body


class Unauthenticated(GroundplanError):
    """Nobody said who is acting."""

    code = "unauthenticated"
    status = 401
    exit_code = 4


class Forbidden(GroundplanError):
    """The actor is known here, but their role does not allow this."""

    code = "forbidden"
    status = 403
    exit_code = 4


class NotFound(GroundplanError):
    """There is no such thing, or this actor may not know that there is. The two read exactly alike."""

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


class Invalid(GroundplanError):
    """The request itself is malformed; sending it again unchanged cannot succeed."""

    code = "invalid"
    status = 400
    exit_code = 2


class MixedProjects(Invalid):
    """One call is about one project."""

    code = "mixed_projects"


class Conflict(GroundplanError):
    """The world moved on, or the thing is frozen: read again, then decide."""

    code = "conflict"
    status = 409
    exit_code = 5


class NameTaken(Conflict):
    """Something of that name is there already, whether the actor may see it or not."""

    code = "name_taken"


class RuleViolated(GroundplanError):
    """The request is well-formed, but a rule of the plan forbids it."""

    code = "rule_violated"
    status = 422
    exit_code = 6


class Unavailable(GroundplanError):
    """The store cannot serve this now."""

    code = "unavailable"
    status = 503
    exit_code = 7


class Unexpected(GroundplanError):
    """A defect. The reference leads to the log; nothing of the cause is shown."""

    code = "unexpected"

    def __init__(self, reference: str, hint: str = "") -> None:
        self.reference = reference
        super().__init__(
            f"something went wrong inside Groundplan; look for {reference} in the log{hint}", reference=reference
        )
