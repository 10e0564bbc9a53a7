"""MCP at `/mcp`: from a request to the official server.

event loop   read the body (≤ 1 MiB)
thread       authenticate → the input gate
event loop   find the session → the official server → the method
thread       the operation
event loop   send the answer
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qs

from msgspec.structs import replace
from starlette.requests import HTTPConnection

from groundplan import __version__
from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Actor
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, Unauthenticated
from groundplan.kernel.input_gate.compact_json import decode
from groundplan.kernel.operations.execute import ExecutionResult, execute
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.output_gate import ANSWER_TOKENS_MAX, encode
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.setting_values import TOOL_GROUPS_DEFAULT, parse_tools
from groundplan.surfaces.http.answers import COMMON_HEADERS, Answer, send_answer
from groundplan.surfaces.http.arguments import RequestHead
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.events.commit_listener import CommitListener
from groundplan.surfaces.http.listening.protected_resource import MCP_PATH, build_challenge
from groundplan.surfaces.http.mcp.mcp_request import MCP_REQUEST, SESSION_HEADER, McpRequest, has_session
from groundplan.surfaces.http.mcp.sessions import McpSessions, OpenSession, SessionLimits
from groundplan.surfaces.http.monitoring.log_lines import log_exception
from groundplan.surfaces.http.monitoring.request_monitor import ROUTE_OF_REQUEST, RunningRequests
from groundplan.surfaces.http.problems import HttpProblem, answer_error, answer_problem, method_not_allowed
from groundplan.surfaces.http.request_body import read_body, read_head
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.mcp import protocol
from groundplan.surfaces.mcp.methods import answer_method, describe_server
from groundplan.surfaces.mcp.protocol import INVALID_REQUEST, Message, RequestId, RpcError, build_error, build_result
from groundplan.surfaces.mcp.recovery import recover_request
from groundplan.surfaces.mcp.tools import AnyOperation, RegistryTools
from groundplan.surfaces.vocabularies import McpVocabulary

if TYPE_CHECKING:
    from groundplan.surfaces.http.mcp.official_server import OfficialServer

_SESSION_HEADER = SESSION_HEADER.encode()
METHODS = ("POST", "DELETE")  # the server never speaks first, so GET would open a stream without a message


class _Forwarded(NamedTuple):
    """What the official server answered."""

    status: int
    session_id: str | None


class McpEndpoint:
    """The ASGI application at `/mcp`. The first request loads the official server."""

    def __init__(
        self,
        store: Store,
        authenticator: Authenticator,
        listener: CommitListener,
        *,
        preferences: Preferences,
        hosts: Collection[str],
        pool: OperationPool,
        running: RunningRequests,
        groups: Sequence[str] = TOOL_GROUPS_DEFAULT,
        limits: SessionLimits | None = None,
    ) -> None:
        """`groups` are the tools of a client that does not choose others by `/mcp?tools=work,knowledge`."""
        self._store = store
        self._authenticator = authenticator
        self._vocabulary = McpVocabulary(OPERATIONS)
        self._preferences = replace(
            preferences, vocabulary=self._vocabulary, answer_tokens_max=ANSWER_TOKENS_MAX, working_copy=None
        )
        self._hosts = hosts
        self._pool = pool
        self._groups = tuple(groups)
        self._tools: dict[frozenset[str], RegistryTools] = {}
        self._sessions = McpSessions(
            limits or SessionLimits(), listener, authenticator.find_actor_again, self._end_session, running
        )
        self._server: OfficialServer | None = None
        self._loading = asyncio.Lock()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        scope[ROUTE_OF_REQUEST] = MCP_PATH
        head = read_head(scope)
        try:
            if head.method not in METHODS:
                raise method_not_allowed(head.method, METHODS)
            body = await read_body(head, receive)
            if body is None:
                return
            admitted = await self._pool.run(partial(self._admit, scope, head, body), receive)
            if admitted is None:
                return
            if isinstance(admitted, Answer):
                await send_answer(send, admitted)
                return
            scope[MCP_REQUEST] = admitted
            try:
                await self._handle(scope, head, admitted, _replay(body, receive), _add_headers(send))
            except RpcError as error:
                await send_answer(send, _refuse(error, admitted.id))
        except HttpProblem as problem:
            await send_answer(send, answer_problem(problem), has_body=head.method != "HEAD")

    async def close(self) -> None:
        """End all sessions and the official server."""
        await self._sessions.close()
        if self._server is not None:
            await self._server.stop()

    # --- In a thread ----------------------------------------------------------------------------------------------

    def _admit(self, scope: Any, head: RequestHead, body: bytes) -> McpRequest | Answer:
        """Return a request that may go on, or the answer to one that may not."""
        try:
            connection = HTTPConnection(scope)
            if "authorization" not in head.headers:  # a login is for pages
                self._authenticator.limit_refusals(connection)
                raise Unauthenticated("send a token: Authorization: Bearer TOKEN; groundplan token create makes one")
            actor = self._authenticator.find_actor(connection)
            tools = self._select_tools(head.query).bind(partial(self._execute, actor))
            if head.method == "DELETE":
                return McpRequest(actor, tools, {})
            message = _read_message(head, body, tools)
            return message if isinstance(message, Answer) else McpRequest(actor, tools, message)
        except HttpProblem as problem:
            return answer_problem(problem)
        except GroundplanError as error:
            return answer_error(error, self._vocabulary, challenge=build_challenge(scope))
        except Exception:
            return answer_error(log_exception("a request to MCP"), self._vocabulary)

    def _select_tools(self, query: bytes) -> RegistryTools:
        chosen = parse_qs(query.decode("latin-1")).get("tools") if query else None
        groups = frozenset(parse_tools(",".join(chosen), "tools") if chosen else self._groups)
        if groups not in self._tools:
            tools = RegistryTools(OPERATIONS, [Group(name) for name in groups], self._refuse_unbound, log=log_exception)
            tools.listing()  # built once, for all requests
            self._tools[groups] = tools
        return self._tools[groups]

    def _execute(
        self, actor: Actor, operation: AnyOperation, arguments: Mapping[str, Any], cancellation: Cancellation | None
    ) -> ExecutionResult:
        return execute(self._store, actor, operation, arguments, self._preferences, cancellation)

    @staticmethod
    def _refuse_unbound(*_given: Any) -> ExecutionResult:
        raise Unauthenticated("tools run only for an actor")

    # --- On the event loop ----------------------------------------------------------------------------------------

    async def _handle(self, scope: Any, head: RequestHead, request: McpRequest, receive: Any, send: Any) -> None:
        server = await self._get_server()
        if not has_session(head.headers):
            await server.handle(scope, receive, send)
            return
        connection = _copy_identity(scope)
        session_id = head.headers.get(SESSION_HEADER)
        if session_id is None:
            if not request.opens_session:
                raise RpcError(INVALID_REQUEST, "send initialize first", {"code": "not_initialized"})
            async with self._sessions.reserve(request.actor):
                made = await _forward(server, scope, receive, send)
                if made.session_id is not None and made.status < 400:
                    self._sessions.add(made.session_id, request.actor, connection)
            return
        session = self._sessions.get(session_id, request.actor)
        if session is None:
            refusal = RpcError(INVALID_REQUEST, "this session has ended; initialize again", {"code": "session_ended"})
            await send_answer(send, _refuse(refusal, request.id, status=404))
            return
        with self._sessions.use(session, request.id, connection):
            answered = await _forward(server, scope, receive, send)
        if answered.status == 404 or (head.method == "DELETE" and answered.status < 400):
            self._sessions.forget(session)

    async def _get_server(self) -> OfficialServer:
        if self._server is not None:
            return self._server
        async with self._loading:
            if self._server is None:
                loaded = await asyncio.to_thread(import_module, "groundplan.surfaces.http.mcp.official_server")
                server: OfficialServer = loaded.OfficialServer(
                    version=__version__, hosts=self._hosts, pool=self._pool, log=log_exception
                )
                await server.start()
                self._server = server
        return self._server

    async def _end_session(self, session: OpenSession) -> None:
        await (await self._get_server()).end_session(session.id, session.connection.headers["host"])


def _copy_identity(scope: Any) -> HTTPConnection:
    """Return what proves who sent a request, for a session to keep: without the message, which may be large."""
    return HTTPConnection({name: scope[name] for name in ("type", "method", "path", "headers", "client")})


def _read_message(head: RequestHead, body: bytes, tools: RegistryTools) -> Message | Answer:
    """Return the message of a request, or the answer to one that is no message."""
    message: Any = None
    try:
        message = decode(body)
        if type(message) is list:
            raise RpcError(INVALID_REQUEST, "send each message in a request of its own", {"code": "invalid_batch"})
        if type(message) is not dict:
            raise RpcError(INVALID_REQUEST, "a message must be an object")
        if not protocol.is_response(message):
            protocol.check_shape(message)
        return message
    except Invalid as error:
        return _refuse_unread(head, body, tools, error)
    except RpcError as error:
        return _refuse(error, protocol.parse_id(message) if type(message) is dict else None)


def _refuse_unread(head: RequestHead, body: bytes, tools: RegistryTools, error: Invalid) -> Answer:
    """Answer a body that the input gate refused, as stdio does: a call of a tool gets the error as its result."""
    request = recover_request(body)
    if request is None:
        return _refuse(protocol.unreadable_message(error), None)
    request_id: RequestId = request.message["id"]
    try:
        if request.message["method"] != "tools/call":
            raise protocol.unreadable_message(error)
        value = answer_method(
            tools,
            "tools/call",
            {"name": protocol.parse_params(request.message).get("name")},
            stateless_server=None if has_session(head.headers) else describe_server(__version__),
            refusal=error,
        )
        return Answer(200, encode(build_result(request_id, value)))
    except RpcError as refused:
        return _refuse(refused, request_id)


def _refuse(error: RpcError, request_id: RequestId | None, *, status: int = 400) -> Answer:
    return Answer(status, encode(build_error(request_id, error)))


async def _forward(server: OfficialServer, scope: Any, receive: Any, send: Any) -> _Forwarded:
    """Let the official server answer, and return what it answered."""
    answered = _Forwarded(500, None)

    async def observe(message: Any) -> None:
        nonlocal answered
        if message["type"] == "http.response.start":
            given = next((value for name, value in message["headers"] if name == _SESSION_HEADER), None)
            answered = _Forwarded(message["status"], given.decode() if given else None)
        await send(message)

    await server.handle(scope, receive, observe)
    return answered


def _add_headers(send: Any) -> Callable[[Any], Any]:
    """Return a function that sends an answer with the headers that every answer has."""

    async def add(message: Any) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            missing = [common for common in COMMON_HEADERS if common[0] not in own]
            message = {**message, "headers": [*message["headers"], *missing]}
        await send(message)

    return add


def _replay(body: bytes, receive: Any) -> Callable[[], Any]:
    """Return a function that receives a body which was read before, and then what comes after it."""
    is_read = False

    async def replay() -> Any:
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
