"""The REST API: from a request to the answer of its operation.

event loop   find the route, read the body (≤ 1 MiB)
thread       authenticate → collect the arguments → execute → encode, tag, compress
event loop   send the answer
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace
from starlette.requests import HTTPConnection

from groundplan.kernel.actors import Actor
from groundplan.kernel.answers import encode
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, StaleRevision, StaleVersion, Unexpected
from groundplan.kernel.operations.envelopes import add_warnings
from groundplan.kernel.operations.execute import execute
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.answers import Answer, send_answer
from groundplan.surfaces.http.arguments import RequestHead, collect_arguments, split_path
from groundplan.surfaces.http.monitoring.request_monitor import ROUTE_OF_REQUEST
from groundplan.surfaces.http.negotiation import JSON_RANGES, accepts
from groundplan.surfaces.http.operation_answers import build_answer
from groundplan.surfaces.http.problems import (
    HttpProblem,
    answer_error,
    answer_problem,
    method_not_allowed,
    unknown_path,
)
from groundplan.surfaces.http.request_body import read_body, read_head
from groundplan.surfaces.http.routes import Endpoint, RequestedEndpoint, RouteTable
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.route_paths import PREFIX
from groundplan.surfaces.vocabularies import HttpVocabulary

Authenticate = Callable[[HTTPConnection], Actor]  # called in a thread; raises Unauthenticated
_RAW_PREFIX = f"{PREFIX}/".encode()


class RestApi:
    """The ASGI application below `/v1`."""

    def __init__(
        self,
        store: Store,
        authenticate: Authenticate,
        table: RouteTable,
        *,
        preferences: Preferences,
        vocabulary: HttpVocabulary,
        pool: OperationPool,
        log: Callable[[], Unexpected],
    ) -> None:
        self._store = store
        self._authenticate = authenticate
        self._table = table
        self._preferences = preferences
        self._vocabulary = vocabulary
        self._pool = pool
        self._log = log

    def find_endpoint(self, scope: Any) -> RequestedEndpoint | None:
        """Return the endpoint of a request below the prefix; None if it must be refused."""
        try:
            return self._table.find(scope["method"], split_path(get_raw_path(scope))[1:])  # without the prefix
        except Invalid:
            return None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        await self.answer(self.find_endpoint(scope), scope, receive, send)

    async def answer(self, requested: RequestedEndpoint | None, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request to an endpoint, or refuse it."""
        head = read_head(scope)
        try:
            endpoint, in_path = requested or self._refuse(scope)
            scope[ROUTE_OF_REQUEST] = endpoint.template
            body = await read_body(head, receive)
        except HttpProblem as problem:
            answer: Answer | None = answer_problem(problem)
        except GroundplanError as error:
            answer = answer_error(error, self._vocabulary)
        else:
            answer = None if body is None else await self._run(scope, endpoint, in_path, head, body, receive)
        if answer is not None:
            await send_answer(send, answer, has_body=head.method != "HEAD")

    async def _run(
        self, scope: Any, endpoint: Endpoint, in_path: Any, head: RequestHead, body: bytes, receive: Any
    ) -> Answer | None:
        cancellation = Cancellation()
        call = partial(self._answer, scope, endpoint, in_path, head, body, cancellation)
        return await self._pool.run(call, receive, lambda: cancellation.cancel("the client disconnected"))

    def _refuse(self, scope: Any) -> RequestedEndpoint:
        methods = self._table.list_methods(split_path(get_raw_path(scope))[1:])
        if not methods:
            raise unknown_path(scope["path"])
        raise method_not_allowed(scope["method"], methods)

    def _answer(
        self,
        scope: Any,
        endpoint: Endpoint,
        in_path: Any,
        head: RequestHead,
        body: bytes,
        cancellation: Cancellation,
    ) -> Answer:
        """Return the answer to a request, whatever happens. Runs in a thread."""
        vocabulary = self._vocabulary
        has_precondition = False
        try:
            actor = self._authenticate(HTTPConnection(scope))
            _refuse_other_formats(head)
            arguments = collect_arguments(endpoint, in_path, head, body)
            has_precondition = arguments.has_precondition
            vocabulary = vocabulary.within(arguments.project)
            result = execute(
                self._store,
                actor,
                endpoint.operation,
                arguments.values,
                replace(self._preferences, vocabulary=vocabulary),
                cancellation,
                within=arguments.project,
            )
            encoded = result.encoded or encode(add_warnings(result.answer, result.warnings))
            return build_answer(endpoint, head, arguments, result.answer, encoded)
        except HttpProblem as problem:
            return answer_problem(problem)
        except (StaleRevision, StaleVersion) as error:
            return answer_error(error, vocabulary, status=412 if has_precondition else None)
        except GroundplanError as error:
            return answer_error(error, vocabulary)
        except Exception:
            return answer_error(self._log(), vocabulary)


class RestFirst:
    """An ASGI application around another that answers requests to REST itself.

    Most requests are for REST, and one look into its table costs less than the comparison with every other route.
    """

    def __init__(self, app: Any, rest: RestApi) -> None:
        self._app = app
        self._rest = rest

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, or pass it on."""
        is_below = scope["type"] == "http" and get_raw_path(scope).startswith(_RAW_PREFIX)
        if is_below and (requested := self._rest.find_endpoint(scope)) is not None:
            await self._rest.answer(requested, scope, receive, send)
        else:
            await self._app(scope, receive, send)


def get_raw_path(scope: Any) -> bytes:
    """Return the path before it was decoded: a name in it may contain a slash."""
    raw: bytes | None = scope.get("raw_path")
    if raw is None:
        from urllib.parse import quote

        return quote(scope["path"]).encode()
    return raw.partition(b"?")[0]


def _refuse_other_formats(head: RequestHead) -> None:
    if not accepts(head.headers.get("accept", "*/*"), JSON_RANGES):
        raise HttpProblem(406, "not_acceptable", "answers are application/json; accept that, or leave out Accept")
