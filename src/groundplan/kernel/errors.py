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


class GroundplanError(Exception):
    """A refusal: a stable code for programs, a sentence that says what to do for people, details for both."""

    code: str = "error"
    contract_code: ClassVar[str | None] = None  # what a contract calls this very refusal, where its family will not do
    contract_name: ClassVar[str | None] = None  # the same for a contract that names the classes of its refusals
    status: ClassVar[int] = 500
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, code: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details
        if code is not None:
            self.code = code

    def body(self) -> dict[str, Any]:
        """The error as data, the same on every surface."""
        body: dict[str, Any] = {"code": self.code, "message": self.message}
        if self.details:
            body["details"] = dict(self.details)
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

    def __init__(self, thing: str, ref: str, *, near: Sequence[str] = (), hint: str = "", **details: Any) -> None:
        if near:
            hint = f"did you mean {' or '.join(map(repr, near))}?"
            details["near"] = list(near)
        self.hint = hint
        super().__init__(f"no {thing} {ref!r} here" + (f"; {hint}" if hint else ""), thing=thing, ref=ref, **details)


class Invalid(GroundplanError):
    """The request itself is malformed; sending it again unchanged cannot succeed."""

    code = "invalid"
    status = 400
    exit_code = 2


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

    def __init__(self, reference: str) -> None:
        super().__init__(
            f"something went wrong inside Groundplan; look for {reference} in the log", reference=reference
        )
