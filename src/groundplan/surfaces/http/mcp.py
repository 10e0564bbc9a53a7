"""MCP at `/mcp`: the protocol of stdio, with one message in each request.

event loop   read the body (≤ 1 MiB)
thread       authenticate → the input gate → the connection of the session, or one for this request → the operation
event loop   send the answer
"""

from __future__ import annotations

import asyncio
import base64
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from secrets import token_hex
from typing import Any
from urllib.parse import parse_qs

from msgspec.structs import replace
from starlette.requests import HTTPConnection, Request
from starlette.routing import BaseRoute
from starlette.routing import Route as StarletteRoute

from groundplan import __version__
from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Actor
from groundplan.kernel.answers import ANSWER_TOKENS_MAX, encode
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import Invalid, Unauthenticated
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.operations.execute import ExecutionResult, execute
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.preferences import Preferences
from groundplan.setting_values import TOOL_GROUPS_DEFAULT, parse_tools
from groundplan.surfaces.http.answers import (
    JSON_RANGES,
    Answer,
    AnswerSender,
    HttpProblem,
    accepts,
    answer_request,
    method_not_allowed,
    send_answer,
)
from groundplan.surfaces.http.arguments import RequestHead, check_content_type
from groundplan.surfaces.http.front_door import ROUTE_OF_REQUEST
from groundplan.surfaces.http.log_lines import log_exception
from groundplan.surfaces.http.rest import read_body, read_head
from groundplan.surfaces.http.server import Server
from groundplan.surfaces.mcp import protocol
from groundplan.surfaces.mcp.connection import Connection
from groundplan.surfaces.mcp.protocol import HANDSHAKE_REVISIONS, STATELESS_REVISIONS, Message, RpcError, build_error
from groundplan.surfaces.mcp.recovery import recover_request
from groundplan.surfaces.mcp.tools import AnyOperation, RegistryTools
from groundplan.surfaces.vocabularies import McpVocabulary

METHODS = ("POST", "DELETE")  # the server never speaks first, so GET would open a stream without a message
SESSION_HEADER = "mcp-session-id"
REVISION_HEADER = "mcp-protocol-version"
NAMED = ("tools/call", "prompts/get")  # of which the header Mcp-Name repeats the name
REQUEST_CANCELLED = -32800
CANCELLED_BY_CLIENT = "the client cancelled this request"
# The status of an error in the stateless revision; in a session it is 200, because 404 says that the session has ended.
STATUSES = {protocol.METHOD_NOT_FOUND: 404, protocol.INTERNAL_ERROR: 200}


class _LoopCancellation(Cancellation):
    """A cancellation that wakes the event loop, so that the answer does not wait for a blocked thread."""

    def __init__(self) -> None:
        super().__init__()
        self._loop = asyncio.get_running_loop()
        self._heard = asyncio.Event()

    @property
    def is_heard(self) -> bool:
        """True after another request of the client cancelled this one."""
        return self._heard.is_set()

    def cancel(self, reason: str) -> None:
        """Cancel, and wake the event loop. Any thread may call this."""
        super().cancel(reason)
        self._loop.call_soon_threadsafe(self._heard.set)

    async def receive(self, receive: Callable[[], Awaitable[Any]]) -> Any:
        """Receive a message of the client; after a cancellation of its request, return a disconnect."""
        tasks = [asyncio.ensure_future(awaited) for awaited in (receive(), self._heard.wait())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            return {"type": "http.disconnect"} if self.is_heard else tasks[0].result()
        finally:
            for task in tasks:
                task.cancel()


class McpEndpoint:
    """The ASGI application at `/mcp`."""

    def __init__(self, server: Server, sessions: McpSessions, groups: Sequence[str] = TOOL_GROUPS_DEFAULT) -> None:
        """`groups` are the tools of clients that do not choose tools by `/mcp?tools=work,knowledge`."""
        self._server = server
        self._vocabulary = McpVocabulary(OPERATIONS)
        self._preferences = replace(server.preferences, answer_tokens_max=ANSWER_TOKENS_MAX, working_copy=None)
        self._groups = tuple(groups)
        self._tools: dict[frozenset[str], RegistryTools] = {}
        self._sessions = sessions

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        scope[ROUTE_OF_REQUEST] = MCP_PATH
        head = read_head(scope)
        answered = await answer_request(
            self._answer(scope, head, receive),
            self._vocabulary,
            where="a request to MCP",
            challenge=build_challenge(scope),
        )
        if answered is not None:
            await send_answer(send, answered, has_body=head.method != "HEAD")

    async def _answer(self, scope: Any, head: RequestHead, receive: Any) -> Answer | None:
        if head.method not in METHODS:
            raise method_not_allowed(head.method, METHODS)
        body = await read_body(head, receive)
        if body is None:
            return None
        cancellation = _LoopCancellation()
        answered = await self._server.pool.run(
            partial(self._run, scope, head, body, cancellation),
            partial(cancellation.receive, receive),
            lambda: cancellation.cancel(CANCELLED_BY_CLIENT),
        )
        return _refuse_cancelled(_find_id(body)) if answered is None and cancellation.is_heard else answered

    # --- In a thread ----------------------------------------------------------------------------------------------

    def _run(self, scope: Any, head: RequestHead, body: bytes, cancellation: Cancellation) -> Answer:
        connection = HTTPConnection(scope)
        if "authorization" not in head.headers:  # a login is for pages
            self._server.authenticator.limit_refusals(connection)
            raise Unauthenticated("send a token: Authorization: Bearer TOKEN; groundplan token create makes one")
        actor = self._server.authenticator.find_actor(connection)
        tools = self._select_tools(head.query)
        preferences = replace(self._preferences, vocabulary=tools.vocabulary)
        tools = tools.bind(partial(self._execute, actor, preferences))
        if head.method == "POST":
            if not accepts(head.headers.get("accept", ""), JSON_RANGES):
                raise HttpProblem(406, "not_acceptable", "answers are application/json; accept that")
            if body:
                check_content_type(head)
        if _has_session(head.headers):
            return self._answer_in_session(head, body, actor, tools, cancellation)
        return _answer_alone(head, body, tools, cancellation)

    def _answer_in_session(
        self,
        head: RequestHead,
        body: bytes,
        actor: Actor,
        tools: RegistryTools,
        cancellation: Cancellation,
    ) -> Answer:
        """Answer a request of a revision with a handshake."""
        session_id = head.headers.get(SESSION_HEADER)
        if session_id is None:
            opened = Connection(__version__, instructions=tools.instructions)
            answer = _exchange(opened, body, tools, cancellation, check=_refuse_envelope)
            if opened.revision is None:
                return answer
            session_id = self._sessions.open(opened, actor)
            return answer._replace(headers=[(SESSION_HEADER.encode(), session_id.encode())])
        with self._sessions.use(session_id, actor) as session:
            if session is None:
                return _refuse_ended(_find_id(body))
            if head.method == "DELETE":
                self._sessions.end(session)
                return Answer(200, b"")
            return _exchange(session.protocol, body, tools, cancellation)

    def _select_tools(self, query: bytes) -> RegistryTools:
        chosen = parse_qs(query.decode("latin-1")).get("tools") if query else None
        groups = frozenset(parse_tools(",".join(chosen), "tools") if chosen else self._groups)
        if groups not in self._tools:
            tools = RegistryTools(
                OPERATIONS,
                [Group(name) for name in groups],
                self._refuse_unbound,
                log=log_exception,
                explain_groups=lambda names: f"connect to {MCP_PATH}?tools={','.join(names)}",
                has_project=self._preferences.project is not None,
            )
            tools.listing()  # built once, for all requests
            self._tools[groups] = tools
        return self._tools[groups]

    def _execute(
        self,
        actor: Actor,
        preferences: Preferences,
        operation: AnyOperation,
        arguments: Mapping[str, Any],
        cancellation: Cancellation | None,
        warnings: Sequence[str],
    ) -> ExecutionResult:
        return execute(self._server.store, actor, operation, arguments, preferences, cancellation, warnings)

    @staticmethod
    def _refuse_unbound(*_given: Any) -> ExecutionResult:
        raise Unauthenticated("tools run only for an actor")


def _has_session(headers: Mapping[str, str]) -> bool:
    """Return True if the header of a request names a revision with sessions. Older clients send no header."""
    revision = headers.get(REVISION_HEADER)
    return revision is None or revision in HANDSHAKE_REVISIONS


def _answer_alone(head: RequestHead, body: bytes, tools: RegistryTools, cancellation: Cancellation) -> Answer:
    """Answer a request of the stateless revision with a new connection."""
    if head.method != "POST":
        raise method_not_allowed(head.method, ("POST",))
    return _exchange(
        Connection(
            __version__,
            STATELESS_REVISIONS[-1],
            instructions=tools.instructions,
        ),
        body,
        tools,
        cancellation,
        check=partial(_check_headers, head.headers),
        statuses=STATUSES,
    )


def _exchange(
    connection: Connection,
    body: bytes,
    tools: RegistryTools,
    cancellation: Cancellation,
    *,
    check: Callable[[Message], None] = lambda _message: None,
    statuses: Mapping[int, int] | None = None,
) -> Answer:
    """Return the answer to a message on a connection; status 202 if it has none. Without `statuses`, errors are 400."""
    answers: list[Any] = []
    try:
        message = decode(body)
        if type(message) is list:
            raise RpcError(
                protocol.INVALID_REQUEST, "send each message in a request of its own", {"code": "invalid_batch"}
            )
        if type(message) is dict:
            check(message)
        calls = connection.receive(message, answers.append, cancellation)
    except Invalid as error:
        calls = connection.refuse(recover_request(body), error, answers.append)
    except RpcError as error:
        return Answer((statuses or {}).get(error.code, 400), encode(build_error(_find_id(body), error)))
    for call in calls:
        connection.perform(call, tools)
        if call.is_withdrawn:
            return _refuse_cancelled(call.id)
    answer = answers[0] if answers else None
    if answer is None:
        return Answer(202, b"")
    code = answer.get("error", {}).get("code")
    if statuses is not None:
        status = 200 if code is None else statuses.get(code, 400)
    else:
        status = 400 if code in (protocol.INVALID_REQUEST, protocol.PARSE_ERROR) else 200
    return Answer(status, encode(answer))


def _check_headers(headers: Mapping[str, str], message: Message) -> None:
    """Refuse a message that differs from its headers, because a proxy may have decided by them."""
    params = message.get("params")
    params = params if type(params) is dict else {}
    if "id" not in message:
        if headers[REVISION_HEADER] not in STATELESS_REVISIONS:
            raise protocol.unsupported_revision("Unsupported protocol version", headers[REVISION_HEADER])
        return
    if message.get("method") == "initialize":
        raise RpcError(protocol.METHOD_NOT_FOUND, "this revision has no initialize")
    if not protocol.has_envelope(params):
        return  # the connection says what is missing
    named = params.get("name") if message.get("method") in NAMED else None
    for header, expected in (
        (REVISION_HEADER, params["_meta"][protocol.PROTOCOL_VERSION_KEY]),
        ("mcp-method", message.get("method")),
        *([("mcp-name", named)] if named is not None else []),
    ):
        if _decode_header(headers.get(header)) != expected:
            raise _header_mismatch(header)


def _refuse_envelope(message: Message) -> None:
    """Refuse a message whose envelope names the stateless revision if its headers do not."""
    params = message.get("params")
    if type(params) is dict and protocol.has_envelope(params):
        raise _header_mismatch(REVISION_HEADER)


def _header_mismatch(header: str) -> RpcError:
    return RpcError(protocol.HEADER_MISMATCH, f"the header {header} differs from the body", {"header": header})


def _decode_header(value: str | None) -> str | None:
    """Return the text of a header. Text other than plain ASCII is in base64: `=?base64?…?=`."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except ValueError:
        return None


def _refuse_ended(request_id: protocol.RequestId | None) -> Answer:
    ended = RpcError(protocol.INVALID_REQUEST, "this session has ended; initialize again", {"code": "session_ended"})
    return Answer(404, encode(build_error(request_id, ended)))


def _refuse_cancelled(request_id: protocol.RequestId | None) -> Answer:
    return Answer(200, encode(build_error(request_id, RpcError(REQUEST_CANCELLED, "Request cancelled"))))


def _find_id(body: bytes) -> protocol.RequestId | None:
    """Return the id of the request in a body that was refused."""
    request = recover_request(body)
    return None if request is None else protocol.parse_id(request.message)


# --- Sessions ---------------------------------------------------------------------------------------------------------

_RETRY_AFTER = {"retry-after": "5"}


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """The maximum number of sessions, and their maximum idle time."""

    per_principal: int = 20
    per_server: int = 1_000
    idle_s: float = 1_800.0


@dataclass(slots=True, eq=False)
class McpSession:
    """A session. It belongs to a principal and not to a token, which may be renewed during the session."""

    id: str
    owner: tuple[str, str]  # the organization and the actor
    protocol: Connection
    idle_since: float
    running: int = 0  # requests


class McpSessions:
    """The sessions of a server. It is safe in several threads.

    Only revisions with a handshake have sessions. A session is no right: each of its requests is authenticated anew.
    It ends when its client says so, after too long a time without requests, or with the server.
    """

    def __init__(self, limits: SessionLimits | None = None) -> None:
        self._limits = limits or SessionLimits()
        self._lock = threading.Lock()
        self._sessions: dict[str, McpSession] = {}

    def __len__(self) -> int:
        with self._lock:
            self._forget_idle()
            return len(self._sessions)

    def open(self, protocol: Connection, actor: Actor) -> str:
        """Store the connection of a session, and return the id of the session.

        Many clients never end a session. So a principal at its limit loses the one that was idle for the longest time;
        should its client come back, it is told to initialize again.
        """
        owner = (actor.organization, actor.id)
        with self._lock:
            self._forget_idle()
            own = [session for session in self._sessions.values() if session.owner == owner]
            if len(own) >= self._limits.per_principal:
                idle = [session for session in own if not session.running]
                if not idle:
                    raise HttpProblem(
                        429,
                        "too_many_sessions",
                        f"all {len(own)} sessions that you may have are busy; wait for one of them",
                        headers=_RETRY_AFTER,
                        limit=len(own),
                    )
                del self._sessions[min(idle, key=lambda session: session.idle_since).id]
            elif len(self._sessions) >= self._limits.per_server:
                message = "the server has too many open sessions; try again later"
                raise HttpProblem(503, "too_many_sessions", message, headers=_RETRY_AFTER)
            session = McpSession(token_hex(16), owner, protocol, time.monotonic())
            self._sessions[session.id] = session
        return session.id

    @contextmanager
    def use(self, session_id: str, actor: Actor) -> Iterator[McpSession | None]:
        """Keep a session of an actor open within the block; None if it has ended or belongs to another actor."""
        with self._lock:
            session = self._sessions.get(session_id)
            if session is not None and (session.owner != (actor.organization, actor.id) or self._is_too_idle(session)):
                session = None
            if session is not None:
                session.running += 1
        try:
            yield session
        finally:
            if session is not None:
                with self._lock:
                    session.running -= 1
                    session.idle_since = time.monotonic()

    def end(self, session: McpSession) -> None:
        """End a session."""
        with self._lock:
            self._sessions.pop(session.id, None)

    def _forget_idle(self) -> None:
        """Remove the sessions that were idle for too long. The lock is held."""
        for session in [session for session in self._sessions.values() if self._is_too_idle(session)]:
            del self._sessions[session.id]

    def _is_too_idle(self, session: McpSession) -> bool:
        return not session.running and session.idle_since < time.monotonic() - self._limits.idle_s


# --- Protected resource metadata of RFC 9728, for clients that look for an access token -------------------------------

# POST /mcp without a token   401, WWW-Authenticate: Bearer resource_metadata="https://plan.example.org/.well-known/…/mcp"
# GET that address            the resource, and the authorization servers whose tokens it takes, if there are any
#
# The address comes from the request: its `Host` is one that the server answers to, and its scheme is that of the server
# or of a stated proxy.

MCP_PATH = "/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource"


def list_resources(scope: Any) -> tuple[str, str]:
    """Return the ids of the protected resources, which tokens name as audience: the server, and its MCP endpoint."""
    host = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1").lower()
    origin = f"{scope['scheme']}://{host}"
    return origin, origin + MCP_PATH


def build_challenge(scope: Any) -> str:
    """Return the value of `WWW-Authenticate` for an MCP request without a valid token."""
    origin, _ = list_resources(scope)
    has_token = any(name == b"authorization" for name, _ in scope["headers"])
    metadata = f'Bearer resource_metadata="{origin}{METADATA_PATH}{MCP_PATH}"'
    return f'{metadata}, error="invalid_token"' if has_token else metadata


def list_metadata_routes(authorization_servers: Sequence[str] = ()) -> list[BaseRoute]:
    """Return the routes of the metadata. They are public, because a client that asks has no token yet."""

    def make_route(path: str, index: int) -> StarletteRoute:
        async def answer(request: Request) -> Any:
            request.scope[ROUTE_OF_REQUEST] = path
            described: dict[str, Any] = {
                "resource": list_resources(request.scope)[index],
                "resource_name": "Groundplan",
                "bearer_methods_supported": ["header"],
            }
            if authorization_servers:
                described["authorization_servers"] = list(authorization_servers)
            return AnswerSender(Answer(200, encode(described)))

        return StarletteRoute(path, answer, methods=["GET"])

    return [make_route(path, index) for index, path in enumerate((METADATA_PATH, METADATA_PATH + MCP_PATH))]
