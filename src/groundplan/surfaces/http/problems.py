"""Errors over HTTP: problem details of RFC 9457.

The family of an error decides its status. A status that no family has belongs to HTTP itself: a path without a route,
a wrong method or content type, a body that is too large, a precondition that does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import GroundplanError, Unauthenticated, Unavailable, Vocabulary
from groundplan.surfaces.http.answers import Answer
from groundplan.surfaces.route_paths import PREFIX

PROBLEM_TYPE = b"application/problem+json"
RETRY_AFTER_S = 1


class HttpProblem(Exception):
    """A request that HTTP itself refuses, before any operation does."""

    def __init__(
        self, status: int, code: str, problem: str, *, headers: Mapping[str, str] | None = None, **details: Any
    ) -> None:
        super().__init__(problem)
        self.status = status
        self.code = code
        self.problem = problem
        self.details = details
        self.headers = headers or {}


def unknown_path(path: str) -> HttpProblem:
    """Return the refusal of a path that nothing serves."""
    return HttpProblem(404, "unknown_path", f"there is no such path; {PREFIX}/openapi.json lists them", path=path[:200])


def method_not_allowed(method: str, allowed: Sequence[str]) -> HttpProblem:
    """Return the refusal of a method that a path does not have."""
    names = ", ".join(allowed)
    return HttpProblem(
        405,
        "method_not_allowed",
        f"{method} is not a method of this path; it has {names}",
        headers={"allow": names},
        allowed=list(allowed),
    )


def answer_problem(problem: HttpProblem) -> Answer:
    """Return the answer to a request that HTTP itself refuses."""
    body: dict[str, Any] = {"code": problem.code, "message": problem.problem}
    if problem.details:
        body["details"] = problem.details
    return _build_answer(problem.status, body, problem.headers)


def answer_error(
    error: GroundplanError, vocabulary: Vocabulary, *, status: int | None = None, challenge: str = "Bearer"
) -> Answer:
    """Return the answer with an error of an operation; `status` replaces that of its family.

    `challenge` tells a client without a valid token how to authenticate.
    """
    headers = {}
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = challenge
    if isinstance(error, Unavailable) and error.may_retry:
        headers["retry-after"] = str(RETRY_AFTER_S)
    return _build_answer(status or error.status, error.to_dict(vocabulary), headers)


def get_problem_type(status: int) -> str:
    """Return the address of the description of a status."""
    return f"{PREFIX}/docs#status-{status}"


def _build_answer(status: int, error: Mapping[str, Any], headers: Mapping[str, str]) -> Answer:
    body = {
        "type": get_problem_type(status),
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": error["message"],
        "code": error["code"],
    }
    if "details" in error:
        body["details"] = error["details"]
    return Answer(
        status,
        encode(body),
        [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        PROBLEM_TYPE,
    )
