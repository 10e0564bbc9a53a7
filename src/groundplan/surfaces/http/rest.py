"""The REST API: it turns a request into an operation, and its answer into a response.

event loop   find the route, read the body (≤ 1 MiB)
thread       authenticate → collect the arguments → execute → encode, tag, compress
event loop   send the answer
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace
from starlette.requests import HTTPConnection

from groundplan.kernel.answers import encode
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, StaleRevision, StaleVersion
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.kernel.operations.envelopes import add_warnings
from groundplan.kernel.operations.execute import execute
from groundplan.surfaces.http.answers import (
    COMPRESSED_BYTES_MIN,
    GZIP_CODINGS,
    JSON_RANGES,
    Answer,
    Headers,
    HttpProblem,
    accepts,
    answer_error,
    answer_request,
    build_tag,
    compress,
    find_item_revision,
    find_revision,
    is_unchanged,
    mark_compressed,
    method_not_allowed,
    read_expected_revision,
    send_answer,
    unknown_path,
)
from groundplan.surfaces.http.arguments import Arguments, RequestHead, collect_arguments, split_path
from groundplan.surfaces.http.front_door import ROUTE_OF_REQUEST
from groundplan.surfaces.http.routes import Endpoint, RequestedEndpoint, RouteTable
from groundplan.surfaces.http.server import Server
from groundplan.surfaces.vocabularies import PROJECT, fill_path

BODY_S = 30.0  # a client that sends more slowly holds memory for too long


def read_head(scope: Any) -> RequestHead:
    """Return the method, the query string and the headers of a request. A repeated header becomes a list."""
    headers: dict[str, str] = {}
    for raw_name, value in scope["headers"]:
        name = raw_name.decode("latin-1")
        text = value.decode("latin-1")
        headers[name] = f"{headers[name]}, {text}" if name in headers else text
    return RequestHead(scope["method"], scope["query_string"], headers)


async def read_body(head: RequestHead, receive: Any) -> bytes | None:
    """Return the body; None if the client disconnects before its end."""
    declared = head.headers.get("content-length", "")
    if declared.isdigit() and (len(declared) > 15 or int(declared) > BODY_BYTES_MAX):
        raise _too_large()
    if not declared and "transfer-encoding" not in head.headers:
        return b""
    try:
        async with asyncio.timeout(BODY_S):
            return await _receive_body(receive)
    except TimeoutError:
        raise HttpProblem(
            408, "too_slow", f"the body did not arrive within {BODY_S:g} s", headers={"connection": "close"}
        ) from None


async def _receive_body(receive: Any) -> bytes | None:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > BODY_BYTES_MAX:
            raise _too_large()
        if not message.get("more_body"):
            return b"".join(parts)


def _too_large() -> HttpProblem:
    return HttpProblem(
        413,
        "too_large",
        f"the body has more than {BODY_BYTES_MAX} bytes; send it in smaller batches",
        headers={"connection": "close"},
        limit_bytes=BODY_BYTES_MAX,
    )


# --- Find the operation and run it ------------------------------------------------------------------------------------

# Answers a request with the values in its path; None if it has sent its answer itself.
Handler = Callable[[Any, Any, Any, Mapping[str, Any]], Awaitable[Answer | None]]


class RestApi:
    """The ASGI application below `/v1`."""

    def __init__(self, server: Server, table: RouteTable, handlers: Mapping[str, Handler]) -> None:
        """`handlers` are the ASGI applications for endpoints without an operation, by name."""
        self._server = server
        self._table = table
        self._handlers = handlers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        answered = await answer_request(self._answer(scope, receive, send), self._server.vocabulary)
        if answered is not None:
            await send_answer(send, answered, has_body=scope["method"] != "HEAD")

    async def _answer(self, scope: Any, receive: Any, send: Any) -> Answer | None:
        endpoint, in_path = self._find_endpoint(scope)
        scope[ROUTE_OF_REQUEST] = endpoint.template
        if not isinstance(endpoint, Endpoint):
            return await self._handlers[endpoint.name](scope, receive, send, in_path)
        head = read_head(scope)
        body = await read_body(head, receive)
        if body is None:
            return None
        cancellation = Cancellation()
        call = partial(self._run, scope, endpoint, in_path, head, body, cancellation)
        return await self._server.pool.run(call, receive, lambda: cancellation.cancel("the client disconnected"))

    def _find_endpoint(self, scope: Any) -> RequestedEndpoint:
        segments = split_path(get_raw_path(scope))[1:]  # without the prefix
        requested = self._table.find(scope["method"], segments)
        if requested is not None:
            return requested
        methods = self._table.list_methods(segments)
        raise method_not_allowed(scope["method"], methods) if methods else unknown_path(scope["path"])

    def _run(
        self,
        scope: Any,
        endpoint: Endpoint,
        in_path: Any,
        head: RequestHead,
        body: bytes,
        cancellation: Cancellation,
    ) -> Answer:
        """Run the operation of a request in a thread."""
        vocabulary = self._server.vocabulary
        has_precondition = False
        try:
            actor = self._server.authenticator.find_actor(HTTPConnection(scope))
            _refuse_other_formats(head)
            arguments = collect_arguments(endpoint, in_path, head, body)
            has_precondition = arguments.has_precondition
            vocabulary = vocabulary.within(arguments.project)
            result = execute(
                self._server.store,
                actor,
                endpoint.operation,
                arguments.values,
                replace(self._server.preferences, vocabulary=vocabulary),
                cancellation,
                within=arguments.project,
            )
            encoded = result.encoded or encode(add_warnings(result.answer, result.warnings))
            return build_answer(endpoint, head, arguments, result.answer, encoded)
        except GroundplanError as error:
            is_unmet = has_precondition and isinstance(error, StaleRevision | StaleVersion)
            return answer_error(
                error, vocabulary, status=412 if is_unmet else None, is_named=endpoint.operation.uses_fact_error_names
            )


def get_raw_path(scope: Any) -> bytes:
    """Return the path before decoding, because a decoded name may contain a slash."""
    raw: bytes | None = scope.get("raw_path")
    return quote(scope["path"]).encode() if raw is None else raw.partition(b"?")[0]


def _refuse_other_formats(head: RequestHead) -> None:
    if not accepts(head.headers.get("accept", "*/*"), JSON_RANGES):
        raise HttpProblem(406, "not_acceptable", "answers are application/json; accept that, or leave out Accept")


# --- The answer: status, location, entity tag, and gzip for long ones -------------------------------------------------

VARY = (b"vary", b"Accept-Encoding")


def build_answer(endpoint: Endpoint, head: RequestHead, arguments: Arguments, answer: Any, encoded: bytes) -> Answer:
    """Return the HTTP answer of an operation; `encoded` is its answer as JSON."""
    revision = find_revision(answer) if endpoint.route.item_of is None else find_item_revision(answer)
    tag = build_tag(revision, encoded if endpoint.reads else None)
    if endpoint.reads and tag is not None:
        _check_if_match(head, revision)
        if "if-none-match" in head.headers and is_unchanged(head.headers["if-none-match"], tag):
            return Answer(304, b"", [(b"etag", tag.encode()), VARY])
    headers: Headers = []
    status = 200
    if endpoint.route.location is not None:
        status = 201
        location = fill_path(endpoint.route.location, lambda name: _look_up(name, endpoint, arguments, answer))
        if "{" not in location:
            headers.append((b"location", location.encode()))
    if len(encoded) > COMPRESSED_BYTES_MIN:
        headers.append(VARY)
        if accepts(head.headers.get("accept-encoding", ""), GZIP_CODINGS):
            headers.append((b"content-encoding", b"gzip"))
            encoded = compress(encoded)
            tag = tag and mark_compressed(tag)
    if tag is not None:
        headers.append((b"etag", tag.encode()))
    return Answer(status, encoded, headers)


def _check_if_match(head: RequestHead, revision: int | None) -> None:
    if "if-match" in head.headers:
        expected = read_expected_revision(head.headers["if-match"])
        if expected is not None and expected != revision:
            raise HttpProblem(412, "precondition_failed", f"it is at revision {revision}, not {expected}")


def _look_up(name: str, endpoint: Endpoint, arguments: Arguments, answer: Any) -> Any:
    """Return a value for the Location header: a field of the answer by its dotted name, or a parameter of the path."""
    first, _, rest = name.partition(".")
    if name == PROJECT:
        return arguments.project
    if not rest:
        return endpoint.spell_parameter(name, arguments.values.get(name))
    inside = (
        [getattr(answer, field) for field in answer.__struct_fields__] if first == "*" else [getattr(answer, first)]
    )
    holder = next((part for part in inside if isinstance(part, list) or hasattr(part, rest)), None)
    if isinstance(holder, list):  # several created things have no common address
        holder = holder[0] if len(holder) == 1 else None
    return getattr(holder, rest, None)
