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
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Unexpected
from groundplan.kernel.operations.envelopes import add_warnings
from groundplan.kernel.operations.execute import execute
from groundplan.kernel.optimistic_locking import StaleRevision, StaleVersion
from groundplan.kernel.output_gate import encode
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
from groundplan.surfaces.http.routes import Endpoint, RouteTable
from groundplan.surfaces.http.run_operation import OperationPool
from groundplan.surfaces.route_paths import PREFIX
from groundplan.surfaces.vocabularies import HttpVocabulary

Authenticate = Callable[[HTTPConnection], Actor]  # called in a thread; raises Unauthenticated


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

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        head = read_head(scope)
        try:
            endpoint, in_path = self._find_endpoint(head.method, scope)
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

    def _find_endpoint(self, method: str, scope: Any) -> tuple[Endpoint, dict[str, Any]]:
        segments = split_path(get_raw_path(scope))[1:]  # without the prefix
        found = self._table.find(segments)
        if not found:
            raise unknown_path(scope["path"])
        chosen = found.get("GET" if method == "HEAD" else method)
        if chosen is None:
            raise method_not_allowed(method, sorted({*found, *(["HEAD"] if "GET" in found else [])}))
        scope[ROUTE_OF_REQUEST] = PREFIX + chosen[0].route.path
        return chosen

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
