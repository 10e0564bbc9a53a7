"""What is known of the issuer: when it is asked, and what happens when it does not answer."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from httpx import MockTransport

from groundplan.kernel.errors import Invalid
from groundplan.surfaces.http import issuer
from groundplan.surfaces.http.issuer import (
    KEPT_S,
    KEPT_WITHOUT_ISSUER_S,
    READ_AGAIN_S,
    REST_S,
    IdentityProvider,
    IssuerClient,
    IssuerUnavailable,
    check_issuer,
)
from groundplan.surfaces.http.issuer_tokens import SignedTokenRefused, verify_access_token
from tests.surfaces.http.identity_provider.issuer import ISSUER, SETTINGS, FakeIssuer, describe_key


def list_paths(issuer: FakeIssuer) -> list[str]:
    return [request.url.path.removeprefix("/realm") for request in issuer.requests]


def test_endpoints_and_keys_are_read_once_for_many_tokens() -> None:
    issuer = FakeIssuer()
    for _ in range(5):
        verify_access_token(issuer.provider, issuer.sign_access())

    assert list_paths(issuer) == ["/.well-known/openid-configuration", "/keys"]


def test_a_new_key_of_the_issuer_counts_at_once() -> None:
    issuer = FakeIssuer()
    verify_access_token(issuer.provider, issuer.sign_access())
    issuer.keys, issuer.now_s = [describe_key(number=1)], READ_AGAIN_S + 1

    assert verify_access_token(issuer.provider, issuer.sign_access(number=1)).subject == "ada-1"


def test_unknown_keys_do_not_make_the_server_ask_without_end() -> None:
    issuer = FakeIssuer()
    for _ in range(10):
        with pytest.raises(SignedTokenRefused):
            verify_access_token(issuer.provider, issuer.sign_access(number=2))

    assert list_paths(issuer).count("/keys") == 1


def test_known_keys_go_on_to_count_for_hours_while_the_issuer_is_gone() -> None:
    issuer = FakeIssuer()
    token = issuer.sign_access()
    verify_access_token(issuer.provider, token)
    issuer.is_gone, issuer.now_s = True, KEPT_S + 1

    for _ in range(5):
        assert verify_access_token(issuer.provider, token).subject == "ada-1"
    assert len(issuer.requests) == 3  # one failed attempt, not one for each request
    issuer.now_s = KEPT_WITHOUT_ISSUER_S + 1
    with pytest.raises(IssuerUnavailable):
        verify_access_token(issuer.provider, token)


def test_an_issuer_that_is_gone_is_asked_again_after_a_rest() -> None:
    issuer = FakeIssuer()
    issuer.is_gone = True
    for _ in range(3):
        with pytest.raises(IssuerUnavailable):
            issuer.provider.load_endpoints()
    assert len(issuer.requests) == 1

    issuer.is_gone, issuer.now_s = False, REST_S
    assert issuer.provider.load_endpoints().token == f"{ISSUER}/token"


@pytest.mark.parametrize(
    "changes",
    [
        {"issuer": f"{ISSUER}/"},
        {"issuer": "https://evil.example.org"},
        {"token_endpoint": None},
        {"jwks_uri": 7},
    ],
)
def test_a_document_about_another_issuer_is_refused(changes: dict[str, Any]) -> None:
    issuer = FakeIssuer()
    issuer.document |= changes

    with pytest.raises(IssuerUnavailable):
        issuer.provider.load_endpoints()


@pytest.mark.parametrize(
    "url", ["https://evil.example.org/keys", "http://login.example.org/realm/keys", "file:///etc/passwd", "https:///"]
)
def test_the_server_connects_to_the_issuer_alone(url: str) -> None:
    issuer = FakeIssuer()
    issuer.document["jwks_uri"] = url

    with pytest.raises(IssuerUnavailable):
        verify_access_token(issuer.provider, issuer.sign_access())
    assert len(issuer.requests) == 1


def test_a_host_that_the_configuration_names_is_the_issuers_too() -> None:
    issuer = FakeIssuer(SETTINGS._replace(hosts=("keys.example.org",)))
    issuer.document["jwks_uri"] = "https://keys.example.org/keys"

    assert verify_access_token(issuer.provider, issuer.sign_access()).subject == "ada-1"


@pytest.mark.parametrize(
    "issuer",
    ["", "login.example.org", "http://login.example.org", "https://", "https://a@b", "https://a?b", "https://a#b"],
)
def test_an_issuer_without_encryption_or_with_a_password_is_refused(issuer: str) -> None:
    with pytest.raises(Invalid):
        check_issuer(issuer)
    assert check_issuer("http://localhost:8080/realm") == "http://localhost:8080/realm"


class BadServer(ThreadingHTTPServer):
    """A server whose answers are of no use."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), BadAnswer)
        self.stopping = threading.Event()


class BadAnswer(BaseHTTPRequestHandler):
    """Redirects, sends without end, drop by drop, or no JSON."""

    server: BadServer

    def do_GET(self) -> None:
        if self.path == "/redirect":
            self.send_response(302)
            self.send_header("location", "/json")
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        try:
            if self.path == "/endless":
                while True:
                    self.wfile.write(b" " * 65_536)
            while self.path == "/drip" and not self.server.stopping.wait(0.02):
                self.wfile.write(b" ")
            self.wfile.write(b"<html>")
        except OSError:
            pass  # the client has had enough

    def log_message(self, *_: Any) -> None:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("path", ["redirect", "endless", "drip", "html"])
def test_a_bad_answer_ends_soon_and_clearly(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer, "TIMEOUT_S", 0.3)
    server = BadServer()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}"
    client = IssuerClient(SETTINGS._replace(issuer=address))
    try:
        with pytest.raises(IssuerUnavailable):
            client.get_json(f"{address}/{path}")
    finally:
        client.close()
        server.stopping.set()
        server.shutdown()
        server.server_close()


def test_threads_that_need_the_keys_share_one_request() -> None:
    issuer = FakeIssuer()
    answer, token = issuer.answer, issuer.sign_access()

    def answer_slowly(request: Any) -> Any:
        time.sleep(0.02)
        return answer(request)

    provider = IdentityProvider(SETTINGS, IssuerClient(SETTINGS, MockTransport(answer_slowly)))
    threads = [threading.Thread(target=verify_access_token, args=(provider, token)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert list_paths(issuer) == ["/.well-known/openid-configuration", "/keys"]
