"""Bad input on the wire gets a clear answer, and the server goes on."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

import pytest

from groundplan.catalog import build_schema
from groundplan.kernel.actors import local_actor
from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from groundplan.kernel.store.open_store import open_store
from groundplan.session import Session
from groundplan.surfaces.http import rest, slow_clients
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.http.server import open_socket, serve
from groundplan.surfaces.web.server_app import build_server_app

IDLE_CONNECTIONS = 1_000
TIMEOUT_S = 60.0
HEAD_BYTES_MAX = 64 * 1024  # of the parser


class WireServer(NamedTuple):
    """A server on a port of loopback, and a token for it."""

    port: int
    token: str

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=TIMEOUT_S)

    def make_head(self, line: str, *headers: str) -> bytes:
        """Return the head of a request with the token."""
        own = (f"Host: localhost:{self.port}", f"Authorization: Bearer {self.token}", "Connection: close")
        return "\r\n".join((f"{line} HTTP/1.1", *own, *headers, "", "")).encode("latin-1")

    def send(self, *parts: bytes) -> tuple[int, bytes]:
        """Send bytes, and return the status and the body of the answer."""
        with self.connect() as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except OSError:  # the server has answered and does not read the rest
                pass
            return read_answer(connection)

    def post(self, body: bytes, *headers: str) -> tuple[int, bytes]:
        """Send a body that is to create a project."""
        given = ("Content-Type: application/json", f"Content-Length: {len(body)}", *headers)
        return self.send(self.make_head("POST /v1/projects", *given), body)

    def is_fine(self) -> bool:
        """Return whether the server answers as ever."""
        return self.send(self.make_head("GET /v1/projects"))[0] == 200


def read_answer(connection: socket.socket) -> tuple[int, bytes]:
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionResetError:  # what was not read by the server was dropped with the connection
        pass
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]) if head else 0), body


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WireServer]:
    """A server that runs in a thread."""
    db = Path(tmp_path_factory.mktemp("wire")) / "plan.db"
    store = open_store(str(db), build_schema, for_server=True)
    token = Session(store, local_actor("ada")).call("token.create", kind="person", name="ada", trusted=True).secret
    listening = open_socket(0)
    listening.setsockopt(
        socket.SOL_SOCKET, socket.SO_SNDBUF, 16 * 1024
    )  # else the system takes a long answer for a client
    exposure = Exposure(port=listening.getsockname()[1])
    server = build_server_app(store, exposure, actor=local_actor("ada"))
    stops: list[object] = []
    ready = threading.Event()

    def on_ready(stop: object) -> None:
        stops.append(stop)
        ready.set()

    thread = threading.Thread(target=lambda: serve(server.app, [listening], on_ready, exposure=exposure))
    thread.start()
    assert ready.wait(TIMEOUT_S)
    yield WireServer(exposure.port, token)
    stop = stops[0]
    assert callable(stop)
    stop()
    thread.join()
    server.close()
    store.close()


def test_a_body_that_is_declared_too_large_is_refused_before_it_is_sent(wire: WireServer) -> None:
    head = wire.make_head("POST /v1/projects", "Content-Type: application/json", f"Content-Length: {10**12}")
    status, body = wire.send(head)

    assert (status, json.loads(body)["code"]) == (413, "too_large")
    assert wire.is_fine()


def test_a_body_that_grows_too_large_is_refused(wire: WireServer) -> None:
    chunk = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    head = wire.make_head("POST /v1/projects", "Content-Type: application/json", "Transfer-Encoding: chunked")
    status, _ = wire.send(head, *[chunk] * (BODY_BYTES_MAX // 0x10000 + 1))

    assert status in (413, 0)  # 0: the answer was lost with a connection that the client still wrote to
    assert wire.is_fine()


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"name":' * 50_000,
        b'{"name": "\xff\xfe"}',
        b'{"name": "\xed\xa0\x80"}',
        b'{"name": "a", "name": "b"}',
        b'{"name": ' + b"9" * 100_000 + b"}",
        b"\x00" * 1000,
        b"{",
        b"null",
    ],
)
def test_a_body_that_is_no_strict_json_is_refused(wire: WireServer, body: bytes) -> None:
    status, answer = wire.post(body)

    assert (status, json.loads(answer)["status"]) == (400, 400)
    assert wire.is_fine()


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS on a port without it
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",  # without a host
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        b"POST /login HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ],
)
def test_what_is_no_http_is_refused(wire: WireServer, request_bytes: bytes) -> None:
    status, _ = wire.send(request_bytes)

    assert 400 <= status < 500 or status == 0
    assert wire.is_fine()


def test_a_header_without_end_is_refused(wire: WireServer) -> None:
    head = wire.make_head("GET /v1/projects").removesuffix(b"\r\n")
    with wire.connect() as connection:
        connection.sendall(head + b"X: " + b"a" * HEAD_BYTES_MAX)

        assert read_answer(connection)[0] == 400


def test_a_body_that_arrives_after_its_answer_is_not_taken_for_a_head(wire: WireServer) -> None:
    length = 4 * HEAD_BYTES_MAX
    own = f"Host: localhost:{wire.port}\r\nConnection: keep-alive\r\n"
    with wire.connect() as connection:
        connection.sendall(f"POST /no/such/path HTTP/1.1\r\n{own}Content-Length: {length}\r\n\r\n".encode())
        assert receive_answer(connection).startswith(b"HTTP/1.1 404")
        connection.sendall(b"a" * length + f"GET /healthz HTTP/1.1\r\n{own}\r\n".encode())
        assert receive_answer(connection).startswith(b"HTTP/1.1 200")


def receive_answer(connection: socket.socket) -> bytes:
    """Return one whole answer: its head and its body may come apart."""
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += receive_some(connection)
    head, _, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += receive_some(connection)
    return head + b"\r\n\r\n" + body


def receive_some(connection: socket.socket) -> bytes:
    part = connection.recv(65536)
    assert part, "the server closed the connection"
    return part


def test_requests_that_offer_another_protocol_are_answered_in_this_one(wire: WireServer) -> None:
    offer = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")
    own = (f"Host: localhost:{wire.port}", f"Authorization: Bearer {wire.token}", *offer)
    body = b'{"name": "upgraded"}'
    post = (*own, "Content-Type: application/json", f"Content-Length: {len(body)}")
    heads = [
        "\r\n".join((line, *given, "", "")).encode()
        for line, given in (("GET /v1/projects HTTP/1.1", own), ("POST /v1/projects HTTP/1.1", post))
    ]
    with wire.connect() as connection:
        for sent in (heads[0], heads[1] + body, heads[0]):
            connection.sendall(sent)
            assert receive_answer(connection).startswith((b"HTTP/1.1 200", b"HTTP/1.1 201"))
    with wire.connect() as connection:
        for part in (heads[1][:40], heads[1][40:] + body[:5], body[5:]):  # also in parts, and as the first request
            connection.sendall(part)
        assert receive_answer(connection).startswith(b"HTTP/1.1 409")  # there is a project of this name now


def test_requests_that_are_sent_ahead_are_answered_in_order(wire: WireServer) -> None:
    own = f"HTTP/1.1\r\nHost: localhost:{wire.port}\r\n"
    last = f"GET /v1/nothing {own}Connection: close\r\n\r\n"
    with wire.connect() as connection:
        connection.sendall(f"GET /healthz {own}\r\n".encode() * 3 + last.encode())
        answer = b""
        while part := connection.recv(65536):
            answer += part

    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200"] * 3 + [b"404"]


def test_a_second_request_hidden_in_a_body_is_not_answered(wire: WireServer) -> None:
    hidden = wire.make_head("POST /v1/projects", "Content-Type: application/json", "Content-Length: 18")
    head = wire.make_head("GET /v1/projects", "Content-Length: 0", "Transfer-Encoding: chunked")
    wire.send(head, b"0\r\n\r\n", hidden, b'{"name": "hidden"}')
    _, body = wire.send(wire.make_head("GET /v1/projects"))

    assert "hidden" not in [project["name"] for project in json.loads(body)["projects"]]


PLAN = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"graph_open","arguments":{"project":"lied"}}}'
OF_MCP = ("Content-Type: application/json", "Accept: application/json")


@pytest.mark.parametrize("declared", ["{shorter}", "{longer}", "1000000000", "-1", "1e3", "1, 2"])
@pytest.mark.parametrize(("line", "body"), [("POST /mcp", PLAN), ("POST /v1/projects", b'{"name":"lied"}')])
def test_a_body_of_another_length_than_its_head_says_has_no_effect(
    wire: WireServer, line: str, body: bytes, declared: str
) -> None:
    declared = declared.format(shorter=len(body) - 1, longer=len(body) + 1)
    with wire.connect() as connection:
        connection.sendall(wire.make_head(line, *OF_MCP, f"Content-Length: {declared}") + body)
        connection.shutdown(socket.SHUT_WR)
        status, _ = read_answer(connection)
    _, listed = wire.send(wire.make_head("GET /v1/projects"))

    assert status in (0, 400, 413)
    assert "lied" not in [project["name"] for project in json.loads(listed)["projects"]]


def test_a_path_that_is_not_utf_8_is_refused(wire: WireServer) -> None:
    assert wire.send(wire.make_head("GET /v1/projects/%ff%fe/work"))[0] == 400


@pytest.mark.parametrize("sent", [b"", b"GET /login HTTP/1.1\r\n", b"GET /login HTTP/1.1\r\nHost: localhost\r\nX-A: b"])
def test_a_client_that_does_not_finish_its_head_is_sent_away(
    wire: WireServer, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clients, "HEAD_S", 0.2)

    assert wire.send(sent)[0] == 408


def test_a_client_that_does_not_finish_its_second_head_is_sent_away(
    wire: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow_clients, "HEAD_S", 1.0)  # enough for the first head, also on a loaded machine
    with wire.connect() as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        received = b""
        while b"alive" not in received:  # head and body may come one after the other
            received += connection.recv(65536)
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")

        assert read_answer(connection)[0] == 408


def test_a_client_that_does_not_finish_its_body_is_sent_away(wire: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rest, "BODY_S", 0.2)
    head = wire.make_head("POST /v1/projects", "Content-Type: application/json", "Content-Length: 100")
    status, body = wire.send(head, b'{"name"')

    assert (status, json.loads(body)["code"]) == (408, "too_slow")


def read_slowly(wire: WireServer, line: str, pause: Callable[[int], None]) -> tuple[int, int]:
    """Take a part of a long answer and, after a pause, the rest; return its length and how much came.

    `pause` gets the port of the client.
    """
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024)
        connection.settimeout(TIMEOUT_S)
        connection.connect(("127.0.0.1", wire.port))
        connection.sendall(wire.make_head(line))
        begun = connection.recv(1024)
        pause(connection.getsockname()[1])
        head, _, rest = begun.partition(b"\r\n\r\n")
        (length,) = [int(one.split(b":")[1]) for one in head.split(b"\r\n") if one.startswith(b"content-length")]
        came = len(rest)
        try:
            while part := connection.recv(65536):
                came += len(part)
        except ConnectionResetError:
            pass
        return length, came


@pytest.mark.parametrize("line", ["GET /v1/openapi.json", "GET /v1/docs"])
def test_a_client_that_does_not_take_its_answer_is_left(
    wire: WireServer, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports: SimpleQueue[int] = SimpleQueue()
    lose = slow_clients.ImpatientProtocol.connection_lost

    def note_port(protocol: slow_clients.ImpatientProtocol, error: Exception | None) -> None:
        lose(protocol, error)
        ports.put(protocol.client[1] if protocol.client else 0)

    def wait_until_lost(port: int) -> None:
        while ports.get(timeout=TIMEOUT_S) != port:
            pass

    monkeypatch.setattr(slow_clients, "TAKEN_S", 0.2)
    monkeypatch.setattr(slow_clients.ImpatientProtocol, "connection_lost", note_port)

    length, came = read_slowly(wire, line, wait_until_lost)

    assert came < length
    assert wire.is_fine()


def test_a_client_that_takes_its_answer_slowly_gets_all_of_it(wire: WireServer) -> None:
    length, came = read_slowly(wire, "GET /v1/openapi.json", lambda _port: None)

    assert came == length > 100_000


def test_a_thousand_idle_connections_keep_nobody_out(wire: WireServer) -> None:
    idle = [wire.connect() for _ in range(IDLE_CONNECTIONS)]
    try:
        assert wire.is_fine()
    finally:
        for connection in idle:
            connection.close()
    assert wire.is_fine()
