"""A client of the application without a network: one request after the other on one event loop."""

from __future__ import annotations

import asyncio
import json as json_module
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self, TypeVar

from starlette.requests import HTTPConnection
from starlette.routing import Mount

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import Actor
from groundplan.kernel.errors import Unauthenticated
from groundplan.kernel.store.store import Store
from groundplan.surfaces.http.app import build_app
from groundplan.surfaces.http.authentication import Authenticator
from groundplan.surfaces.http.rest import RestApi
from groundplan.surfaces.http.server import Server
from groundplan.surfaces.vocabularies import HttpVocabulary

T = TypeVar("T")

ACTOR = "x-actor"  # a header of the tests, in the place of a token


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cookies: tuple[str, ...] = ()  # each `Set-Cookie`; the headers have the first one

    @property
    def json(self) -> Any:
        return json_module.loads(self.body)

    @property
    def code(self) -> str:
        return str(self.json["code"])


class AppClient:
    """Sends requests to an application."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self._loop = asyncio.new_event_loop()
        self._lifespan = self.app.router.lifespan_context(self.app)
        self._loop.run_until_complete(self._lifespan.__aenter__())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def run(self, awaited: Coroutine[Any, Any, T]) -> T:
        """Run something on the event loop of the client."""
        return self._loop.run_until_complete(awaited)

    def close(self) -> None:
        """Stop the application."""
        self._loop.run_until_complete(self._lifespan.__aexit__(None, None, None))
        self._loop.close()

    def send(
        self,
        method: str,
        target: str,
        body: Any = None,
        *,
        raw: bytes | None = None,
        actor: str | None = None,
        **headers: str,
    ) -> Reply:
        """Send one request; headers are written with underscores. `raw` is a body that is sent as it is."""
        content = raw if raw is not None else b"" if body is None else json_module.dumps(body).encode()
        named = name_headers({"actor": actor, **headers})
        if body is not None:
            named["content-type"] = "application/json"
        return self.send_bytes(method, target, content, named)

    def send_bytes(self, method: str, target: str, content: bytes, headers: Mapping[str, str | None]) -> Reply:
        """Send one request with headers by their own names, of which those without a value are left out."""
        scope = make_scope(method, target, headers)
        if content:
            scope["headers"].append((b"content-length", str(len(content)).encode()))
        messages = [{"type": "http.request", "body": content, "more_body": False}]
        return self._loop.run_until_complete(self._send(scope, messages))

    async def _send(self, scope: dict[str, Any], messages: list[dict[str, Any]]) -> Reply:
        sent: list[Any] = []

        async def receive() -> Any:
            if messages:
                return messages.pop(0)
            return await asyncio.Future()  # the client waits for its answer

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        start, *parts = sent
        pairs = [(name.decode(), value.decode("latin-1")) for name, value in start["headers"]]
        cookies = tuple(value for name, value in pairs if name == "set-cookie")
        body = b"".join(part.get("body", b"") for part in parts)
        return Reply(start["status"], dict(reversed(pairs)), body, cookies)

    def get(self, target: str, **headers: Any) -> Reply:
        return self.send("GET", target, **headers)

    def post(self, target: str, body: Any = None, **headers: Any) -> Reply:
        return self.send("POST", target, body, **headers)

    def patch(self, target: str, body: Any = None, **headers: Any) -> Reply:
        return self.send("PATCH", target, body, **headers)


class FunctionAuthenticator(Authenticator):
    """Believes what a function says of a request."""

    def __init__(self, store: Store, authenticate: Callable[[HTTPConnection], Actor]) -> None:
        super().__init__(store, cookie="unused")
        self._authenticate = authenticate

    def find_actor(self, connection: HTTPConnection) -> Actor:
        return self._authenticate(connection)

    def find_actor_again(self, connection: HTTPConnection) -> Actor:
        return self._authenticate(connection)


class HttpClient(AppClient):
    """Sends requests to REST on a store."""

    def __init__(self, store: Store, find_actor: Callable[[str], Actor | None], actor: str = "ada") -> None:
        def authenticate(connection: HTTPConnection) -> Actor:
            found = find_actor(connection.headers.get(ACTOR, actor))
            if found is None:
                raise Unauthenticated("no token is given; send one as Authorization: Bearer")
            return found

        super().__init__(build_app(Server(store=store, authenticator=FunctionAuthenticator(store, authenticate))))

    @property
    def rest(self) -> RestApi:
        """The part of the application below `/v1`."""
        found = [route.app for route in self.app.routes if isinstance(route, Mount)]
        assert isinstance(found[0], RestApi)
        return found[0]

    def call(
        self, operation: str, arguments: Mapping[str, Any], *, project: str | None = None, actor: str | None = None
    ) -> Reply:
        """Send the request that a hint would name for an operation."""
        request = HttpVocabulary(OPERATIONS, project).call(operation, arguments)
        return self.send(request["method"], request["path"], request.get("body"), actor=actor)


def name_headers(headers: Mapping[str, str | None]) -> dict[str, str | None]:
    """Return headers that tests write with underscores by their own names."""
    names = {"actor": ACTOR}
    return {names.get(name, name.replace("_", "-")): value for name, value in headers.items()}


def make_scope(method: str, target: str, headers: Mapping[str, str | None]) -> dict[str, Any]:
    """Return an ASGI scope as uvicorn makes it."""
    from urllib.parse import unquote

    path, _, query = target.partition("?")
    given = {name: value for name, value in headers.items() if value is not None}
    given.setdefault("host", "localhost:8321")
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": given.get("x-forwarded-proto", "http"),  # as uvicorn does it for a stated proxy
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in given.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 8321),
    }
