"""Answers over HTTP: status, headers and bytes, which are compressed if it is worthwhile and the client accepts it.

Errors are problem details of RFC 9457. The family of an error decides its status. `HttpProblem` is an error with any
other status, which belongs to HTTP itself: a path without a route, a wrong method or content type, a body that is too
large, a precondition that does not hold.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Awaitable, Mapping, Sequence
from hashlib import blake2b
from http import HTTPStatus
from typing import Any, NamedTuple, TypeVar

from msgspec import Struct

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import OPERATION_NAMES, GroundplanError, Unauthenticated, Unavailable, Vocabulary
from groundplan.kernel.operations.envelopes import get_contract_name
from groundplan.surfaces.http.log_lines import log_exception
from groundplan.surfaces.vocabularies import PREFIX

JSON_TYPE = b"application/json"
COMPRESSED_BYTES_MIN = 1024  # below it, the header of gzip and the time cost more than the bytes
GZIP_LEVEL = 4  # a third of the time of level 6 for a twentieth more bytes
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # 16: with the header of gzip, which has no time in it

Headers = list[tuple[bytes, bytes]]

# On every answer that does not say otherwise: no cache may keep it, and no browser may take it for another type.
COMMON_HEADERS: Headers = [
    (b"cache-control", b"private, no-store"),
    (b"x-content-type-options", b"nosniff"),
]


class Answer(NamedTuple):
    """A complete answer."""

    status: int
    body: bytes
    headers: Sequence[tuple[bytes, bytes]] = ()  # besides those that every answer has
    content_type: bytes = JSON_TYPE


def compress(body: bytes) -> bytes:
    """Return bytes compressed by gzip. Equal bytes give equal results."""
    compressor = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW)
    return compressor.compress(body) + compressor.flush()


async def send_answer(send: Any, answer: Answer, *, has_body: bool = True) -> None:
    """Send an answer. `has_body` is False for HEAD, whose answers have only the headers of GET."""
    own = {name for name, _ in answer.headers}
    headers = [*(common for common in COMMON_HEADERS if common[0] not in own), *answer.headers]
    if answer.status not in (204, 304):
        headers += [(b"content-type", answer.content_type), (b"content-length", b"%d" % len(answer.body))]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body if has_body else b""})


class AnswerSender:
    """An answer as an ASGI application, which Starlette accepts as the response of an endpoint."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    async def __call__(self, scope: Any, _receive: Any, send: Any) -> None:
        """Send the answer."""
        await send_answer(send, self._answer, has_body=scope["method"] != "HEAD")


# --- Problems ---------------------------------------------------------------------------------------------------------

PROBLEM_TYPE = b"application/problem+json"
RETRY_AFTER_S = 1
CHALLENGE = "Bearer"
T = TypeVar("T")


class HttpProblem(GroundplanError):
    """A refusal by HTTP, before any operation runs, with its status and headers."""

    def __init__(
        self, status: int, code: str, problem: str, *, headers: Mapping[str, str] | None = None, **details: Any
    ) -> None:
        super().__init__(problem, code=code, **details)
        self.status = status
        self.headers = headers or {}


def unknown_path(path: str) -> HttpProblem:
    """Return the error for a path without a route."""
    return HttpProblem(404, "unknown_path", f"there is no such path; {PREFIX}/openapi.json lists them", path=path[:200])


def method_not_allowed(method: str, allowed: Sequence[str]) -> HttpProblem:
    """Return the error for a method that a path does not allow."""
    names = ", ".join(allowed)
    return HttpProblem(
        405,
        "method_not_allowed",
        f"{method} is not a method of this path; it has {names}",
        headers={"allow": names},
        allowed=list(allowed),
    )


async def answer_request(
    work: Awaitable[T], vocabulary: Vocabulary, *, where: str = "a request", challenge: str = CHALLENGE
) -> T | Answer:
    """Return the result of `work`, or the answer for the error that it raises. `where` goes to the log of a defect."""
    try:
        return await work
    except GroundplanError as error:
        return answer_error(error, vocabulary, challenge=challenge)
    except Exception:
        return answer_error(log_exception(where), vocabulary)


def answer_error(
    error: GroundplanError,
    vocabulary: Vocabulary = OPERATION_NAMES,
    *,
    status: int | None = None,
    challenge: str = CHALLENGE,
    is_named: bool = False,
) -> Answer:
    """Return the answer for an error. `status` replaces the status of the error.

    `challenge` tells a client without a valid token how to authenticate. Errors about facts (`is_named`) have the name
    that their contract gives them, and so has every one that asks for a token.
    """
    headers = dict(error.headers) if isinstance(error, HttpProblem) else {}
    if isinstance(error, Unauthenticated):
        headers["www-authenticate"] = challenge
    if isinstance(error, Unavailable) and error.may_retry:
        headers["retry-after"] = str(RETRY_AFTER_S)
    described = error.to_dict(vocabulary)
    status = status or error.status
    body = {
        "type": get_problem_type(status),
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": described["message"],
        "code": described["code"],
    }
    if is_named or isinstance(error, Unauthenticated):
        body["name"] = get_contract_name(error)
    if "details" in described:
        body["details"] = described["details"]
    return Answer(status, encode(body), encode_headers(headers), PROBLEM_TYPE)


def encode_headers(headers: Mapping[str, str]) -> Headers:
    """Return headers in the form in which they are sent."""
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


def get_problem_type(status: int) -> str:
    """Return the URL that describes a status."""
    return f"{PREFIX}/docs#status-{status}"


# --- Content negotiation ----------------------------------------------------------------------------------------------

JSON_RANGES = ("application/json", "application/*", "*/*")  # the most specific first
GZIP_CODINGS = ("gzip", "x-gzip", "*")


def accepts(header: str, names: Sequence[str]) -> bool:
    """Return True if a header accepts the first of some names that it lists."""
    if header in names:  # what most clients send
        return True
    qualities: dict[str, float] = {}
    for part in header.split(","):
        name, *parameters = part.split(";")
        qualities[name.strip().lower()] = _read_quality(parameters)
    return next((qualities[name] > 0 for name in names if name in qualities), False)


def _read_quality(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0


# --- Entity tags ------------------------------------------------------------------------------------------------------

# `"r42.9f86d081884c7d65"` is revision 42 of a thing, and what this answer says about it. The first part is the revision
# (or version) that the answer contains; `If-Match` compares it with what is stored. The second part is a hash of the
# answer, because an answer can change without a write: a claim expires, or a day ends. So `If-None-Match` is true only
# if the answer has the same bytes. An answer in gzip has a tag of its own, as RFC 9110 asks of strong tags.

HASH_BYTES = 8
GZIP_SUFFIX = "-gzip"
ANY = "*"
_TAG = re.compile(r'"r(\d{1,16})(?:\.[0-9a-f]+)?(?:-gzip)?"')
_LISTED = re.compile(r'\s*((?:W/)?"[\x21\x23-\x7e\x80-\xff]*")\s*(?:,|$)')


def find_revision(answer: Any) -> int | None:
    """Return the `rev` or `version` of an answer, or of the only object in it that has one."""
    if (own := _get_revision(answer)) is not None:
        return own
    if not isinstance(answer, Struct):
        return None
    inside = [_get_revision(getattr(answer, name)) for name in answer.__struct_fields__]
    revisions = [revision for revision in inside if revision is not None]
    return revisions[0] if len(revisions) == 1 else None


def find_item_revision(answer: Struct) -> int | None:
    """Return the revision of the only item in the answer of an operation on a list."""
    for name in answer.__struct_fields__:
        items = getattr(answer, name)
        if isinstance(items, list) and len(items) == 1 and (revision := _get_revision(items[0])) is not None:
            return revision
    return None


def _get_revision(value: Any) -> int | None:
    if isinstance(value, Struct):
        for name in ("rev", "version"):
            if type(revision := getattr(value, name, None)) is int:
                return revision
    return None


def build_tag(revision: int | None, body: bytes | None) -> str | None:
    """Return the entity tag of an answer from its revision and a hash of its body. A write has only the revision."""
    parts = [] if revision is None else [f"r{revision}"]
    if body is not None:
        parts.append(blake2b(body, digest_size=HASH_BYTES).hexdigest())
    return f'"{".".join(parts)}"' if parts else None


def mark_compressed(tag: str) -> str:
    """Return the entity tag of the same answer in gzip."""
    return f'{tag[:-1]}{GZIP_SUFFIX}"'


def is_unchanged(if_none_match: str, tag: str) -> bool:
    """Return True if the client already has this answer, compressed or not."""
    return if_none_match.strip() == ANY or any(
        given.removeprefix("W/") in (tag, mark_compressed(tag)) for given in parse_tags(if_none_match)
    )


def read_expected_revision(if_match: str) -> int | None:
    """Return the revision in `If-Match`; None if any revision is accepted."""
    if if_match.strip() == ANY:
        return None
    tags = parse_tags(if_match)
    if len(tags) > 1:
        raise HttpProblem(400, "invalid_if_match", "If-Match has several entity tags; send the one that you read")
    match = _TAG.fullmatch(tags[0]) if tags else None
    if match is None:
        raise HttpProblem(
            412,
            "precondition_failed",
            'If-Match is no ETag with a revision, such as "r42"; read it again and send its ETag unchanged',
        )
    return int(match[1])


def parse_tags(header: str) -> list[str]:
    """Return the entity tags in a header."""
    tags: list[str] = []
    at = 0
    while at < len(header):
        match = _LISTED.match(header, at)
        if match is None:
            raise HttpProblem(
                400, "invalid_entity_tag", 'an entity tag stands in quotes, such as "r42"; send the ETag as you got it'
            )
        tags.append(match[1])
        at = match.end()
    return tags
