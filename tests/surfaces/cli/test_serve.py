"""`groundplan serve` answers on this machine until it is told to end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import ssl
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta
from http.cookiejar import CookieJar
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import groundplan
from groundplan import surfaces
from groundplan.surfaces.cli.setup.serve import PORT
from tests.standby import Standby
from tests.surfaces.cli.conftest import Run

ADDRESS = re.compile(r"https?://127\.0\.0\.1:\d+")
LOGIN = re.compile(r"http://127\.0\.0\.1:\d+/login\?code=\S+")


class RunningServer:
    """The program, its address, and what it printed until it was ready."""

    def __init__(self, program: Standby, *arguments: str) -> None:
        read_end, write_end = os.pipe()
        nothing = os.open(os.devnull, os.O_RDWR)
        self.process = program.start("serve", "--port", "0", *arguments, files=(nothing, nothing, write_end))
        os.close(nothing)
        os.close(write_end)
        self.output = os.fdopen(read_end)
        self.printed = ""
        while "/v1/docs" not in self.printed:
            line = self.output.readline()
            assert line, self.printed
            self.printed += line
        self.address = ADDRESS.findall(self.printed)[0]

    def end(self, told: signal.Signals) -> tuple[int, str]:
        """Send a signal, and return the exit status with what was printed since."""
        return self.process.end(told), self.output.read()


Server = Callable[..., AbstractContextManager[RunningServer]]


@pytest.fixture
def server(tmp_path: Path, program: Standby, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Start the program in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    @contextmanager
    def start(*arguments: str) -> Iterator[RunningServer]:
        running = RunningServer(program, *arguments)
        try:
            with running.output:
                yield running
        finally:
            running.process.stop()

    return start


def ask(address: str, body: bytes | None = None, **headers: str) -> tuple[int, object]:
    request = urllib.request.Request(address, body, headers)  # noqa: S310 - our own server on loopback
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return answer.status, json.load(answer)


@pytest.mark.slow
@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
def test_the_server_answers_keeps_what_was_written_and_ends_when_told(
    server: Server, tmp_path: Path, told: signal.Signals
) -> None:
    with groundplan.open(str(tmp_path / "groundplan.db"), actor="ada") as plan:
        token = plan.token.create(kind="person", name="ada", trusted=True).secret
    with server() as running:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}"}
        assert ask(f"{running.address}/v1/projects", b'{"name": "atlas"}', **headers)[0] == 201
        code, rest = running.end(told)

    assert (code, "Traceback" in rest) == (0, False)
    with groundplan.open(str(tmp_path / "groundplan.db"), actor="ada") as plan:
        assert [project.name for project in plan.project.list().projects] == ["atlas"]


@pytest.mark.slow
def test_the_printed_address_logs_in_as_the_user(server: Server) -> None:
    with server("--person", "ada") as running:
        found = LOGIN.search(running.printed)
        assert found is not None, running.printed
        jar = CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        with browser.open(found[0]) as page:
            assert (page.url, "ada" in page.read().decode()) == (f"{running.address}/", True)
        assert len(jar) == 1
        code, rest = running.end(signal.SIGINT)

    assert (code, "code=" in rest, "gpt_" in rest) == (0, False, False)


def make_certificate(folder: Path) -> None:
    """Write a key and a certificate for this machine, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    key_text = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    (folder / "key.pem").write_bytes(key_text)
    (folder / "cert.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))


@pytest.mark.slow
def test_a_server_with_a_certificate_answers_over_tls_only(server: Server, tmp_path: Path) -> None:
    make_certificate(tmp_path)
    trusting = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    with server("--person", "ada", "--tls-cert", "cert.pem", "--tls-key", "key.pem") as running:
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=trusting), urllib.request.HTTPCookieProcessor(jar := CookieJar())
        )
        found = re.search(r"https://127\.0\.0\.1:\d+/login\?code=\S+", running.printed)
        assert found is not None, running.printed
        with opener.open(found[0]) as page:
            assert page.status == 200
        with pytest.raises(OSError, match=r"disconnect|reset|closed|empty|EOF"):
            urllib.request.urlopen(running.address.replace("https", "http"))  # noqa: S310 - our own server on loopback
        code, rest = running.end(signal.SIGTERM)

    assert [cookie.secure for cookie in jar] == [True]
    assert (code, "Traceback" in rest) == (0, False)


def test_an_address_that_others_reach_is_refused_with_what_is_missing(run: Run) -> None:
    ended = run("serve", "--port", "0", "--host", "0.0.0.0", "--json")  # noqa: S104 - it is refused

    error = json.loads(ended.err)["error"]
    assert (ended.code, error["code"], error["details"]["missing"]) == (2, "unsafe_bind", 3)


@pytest.mark.parametrize(
    "arguments",
    [
        ("--host", "plan.example.org"),
        ("--proxy", "somewhere"),
        ("--tls-cert", "x.pem"),
        ("--tls-cert", "x", "--tls-key", "y"),
        ("--play",),
        ("--demo", "--play", "--once"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(run: Run, arguments: tuple[str, ...]) -> None:
    ended = run("serve", "--port", "0", *arguments)

    assert ended.code == 2
    assert not Path("groundplan.db").exists()


def test_a_port_that_is_taken_is_refused_with_what_to_do(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = run("serve", "--port", str(other.getsockname()[1]), "--json")

    assert (ended.code, json.loads(ended.err)["error"]["code"]) == (7, "port_taken")
    assert "--port" in ended.err


def test_without_the_extra_the_command_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = ("groundplan.surfaces.http", "groundplan.surfaces.web")
    for name in [one for one in sys.modules if one.startswith(parts)]:
        monkeypatch.delitem(sys.modules, name)
    for package in ("http", "web"):  # their new modules leave with this test
        monkeypatch.setattr(surfaces, package, getattr(surfaces, package, None), raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)

    ended = run("serve", "--json")

    assert (ended.code, json.loads(ended.err)["error"]["code"]) == (7, "server_missing")
    assert "groundplan[server]" in ended.err
    assert not Path("groundplan.db").exists()


def test_the_port_is_the_documented_one() -> None:
    guide = Path(__file__).parents[3] / "docs" / "guides" / "rest.md"

    assert f"serve --port {PORT}" in guide.read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_demo_prints_what_to_do_and_ends_cleanly(server: Server, tmp_path: Path) -> None:
    with server("--demo", "--play", "--db", "demo.db") as running:
        while '"$TOKEN"' not in running.printed and '$TOKEN"' not in running.printed:
            running.printed += running.output.readline()
        http, stdio = (json.loads(line) for line in running.printed.splitlines() if "mcpServers" in line)
        code, rest = running.end(signal.SIGINT)

    assert http["mcpServers"]["groundplan"]["url"] == f"{running.address}/mcp"
    arguments = stdio["mcpServers"]["groundplan"]["args"]
    assert arguments[arguments.index("mcp") :] == ["mcp", "--db", str(tmp_path / "demo.db"), "--agent", "claude"]
    assert LOGIN.search(running.printed)
    assert "Three things to try" in running.printed
    assert (code, "Traceback" in rest) == (0, False)


def test_a_demo_can_be_called_once_and_leaves_nothing(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    ended = run("serve", "--demo", "--once", "--json")

    assert [(answer["path"], answer["status"]) for answer in ended.answer["answers"]] == [
        ("/login", 303),
        ("/", 303),
        ("/p/clean-water/home", 200),
        ("/v1/projects", 200),
        ("/v1/openapi.json", 200),
        ("/p/clean-water/plan", 200),
    ]
    assert list(tmp_path.glob("groundplan-demo-*")) == []


def test_a_server_without_a_login_address_cannot_be_called_once(run: Run) -> None:
    assert run("serve", "--once", "--access", "members").code == 2


@pytest.mark.slow
def test_a_server_that_is_told_to_end_does_not_wait_for_slow_clients(server: Server) -> None:
    with server("--log-format", "json") as running:
        where = ("127.0.0.1", int(running.address.rpartition(":")[2]))
        head = b"POST /v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
        with socket.create_connection(where) as slow, socket.create_connection(where):
            slow.sendall(head)
            ask_alive(running.address)
            code, rest = running.end(signal.SIGTERM)
            answer = slow.recv(65536)

    assert (code, "Traceback" in rest) == (0, False)
    assert answer.startswith(b"HTTP/1.1 503 ")
    logged = [json.loads(line) for line in rest.splitlines()]
    assert [line["status"] for line in logged if "route" in line] == [200, 503]


def ask_alive(address: str) -> None:
    with urllib.request.urlopen(f"{address}/healthz") as answer:  # noqa: S310 - our own server on loopback
        assert answer.status == 200
