"""What operators see: a line for each request, metrics, and whether the server is ready. Never a secret."""

from __future__ import annotations

import io
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from groundplan.surfaces.http import log_lines
from groundplan.surfaces.http.log_lines import LineFormatter, LogLineHandler, log_exception
from groundplan.surfaces.http.metrics import METRICS_TYPE
from tests.engines import Engine
from tests.surfaces.http.client import make_scope
from tests.surfaces.web.browser import LOOPBACK_EXPOSURE, PORT, Browser

METRICS_PORT = 9321


@pytest.fixture
def browser(engine: Engine) -> Iterator[Browser]:
    with Browser(engine.store) as one:
        yield one


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """All log lines in both formats, as they are written during a test."""
    written: list[str] = []

    class Keeper(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.extend(LineFormatter(log_format).format(record) for log_format in ("text", "json"))

    keeper = Keeper()
    caplog.set_level(logging.INFO, "groundplan")
    logging.getLogger().addHandler(keeper)
    yield written
    logging.getLogger().removeHandler(keeper)


def read_metrics(browser: Browser) -> dict[str, float]:
    text = browser.server.metrics.render().decode()
    pairs = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in pairs}


def test_a_request_is_one_line_with_its_route_and_never_with_its_path(
    browser: Browser, engine: Engine, lines: list[str]
) -> None:
    engine.session("ada").call("project.create", name="hidden-name")
    browser.log_in()
    browser.get("/v1/projects/hidden-name/work?lean=true")
    text, encoded = lines[-2:]

    assert {**json.loads(encoded), "time": "", "ms": 0, "bytes": 0} == {
        "time": "",
        "method": "GET",
        "route": "/v1/projects/{project}/work",
        "status": 200,
        "ms": 0,
        "bytes": 0,
        "actor": "ada",
        "address": "127.0.0.1",
    }
    assert "route=/v1/projects/{project}/work status=200" in text
    assert not [line for line in lines if "hidden-name" in line]


def test_no_secret_is_in_any_line(browser: Browser, engine: Engine, lines: list[str]) -> None:
    token = engine.session("ada").call("token.create", kind="person").secret
    code = browser.server.codes.issue()
    browser.get(f"/login?code={code}")
    browser.get(f"/login?code={code}")
    cookie = next(iter(browser.cookies.values()))
    browser.post("/v1/projects", {"name": "secret-body"}, x_csrf_token=browser.read_csrf())
    browser.get("/v1/projects", authorization=f"Bearer {token}")
    browser.get("/v1/projects", authorization=f"Bearer {token[:-1]}")
    browser.get(f"/nothing/{token}")
    browser.submit("/login", {"token": token[:-2]})

    assert len(lines) > 14
    for secret in (token[:-2], code, cookie, browser.read_csrf(), "secret-body"):
        assert not [line for line in lines if secret in line]


def test_an_exception_is_logged_with_the_reference_that_the_caller_gets(lines: list[str]) -> None:
    try:
        raise RuntimeError("broken")
    except RuntimeError:
        error = log_exception("a test")

    assert error.reference in lines[0]
    assert "RuntimeError: broken" in json.loads(lines[1])["traceback"]


class WrittenText(io.StringIO):
    """A stream that knows how often it was written to."""

    writes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        self.was_written.set()
        return super().write(text)

    def __init__(self) -> None:
        super().__init__()
        self.was_written = threading.Event()


@pytest.fixture
def written() -> WrittenText:
    return WrittenText()


@pytest.fixture
def logger(written: WrittenText) -> Iterator[logging.Logger]:
    """A logger of its own, with the handler of the server."""
    handler = LogLineHandler(written)
    handler.setFormatter(logging.Formatter())
    one = logging.Logger("test", logging.INFO)
    one.addHandler(handler)
    yield one
    handler.close()


def test_lines_of_requests_are_written_together_and_in_order(
    logger: logging.Logger, written: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "WRITTEN_EVERY_S", 60.0)  # so that nothing but the end writes them
    for number in range(3):
        logger.info("%s", number)
    assert written.writes == 0

    logger.handlers[0].flush()  # as the server does at its end

    assert (written.getvalue(), written.writes) == ("0\n1\n2\n", 1)


def test_lines_that_cannot_be_written_are_dropped_and_later_ones_are_written(
    logger: logging.Logger, written: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(written, "write", lambda _: (_ for _ in ()).throw(BrokenPipeError))
        logger.info("lost")
        logger.warning("lost, too")
    written.was_written.clear()

    logger.info("kept")

    assert written.was_written.wait(10)
    assert written.getvalue() == "kept\n"


def test_the_end_of_the_log_writes_what_waits(
    logger: logging.Logger, written: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "WRITTEN_EVERY_S", 60.0)
    logger.info("last")

    logger.handlers[0].close()

    assert written.getvalue() == "last\n"


def test_lines_of_requests_are_written_soon(logger: logging.Logger, written: WrittenText) -> None:
    for number in range(2):
        written.was_written.clear()
        logger.info("%s", number)
        assert written.was_written.wait(10)
    logger.handlers[0].flush()

    assert written.getvalue() == "0\n1\n"


def test_an_error_is_written_at_once_and_after_what_came_before_it(
    logger: logging.Logger, written: WrittenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_lines, "WRITTEN_EVERY_S", 60.0)
    logger.info("before")
    logger.error("broken")

    assert written.getvalue() == "before\nbroken\n"


def test_metrics_count_requests_by_route_and_refused_identities(browser: Browser) -> None:
    browser.log_in()
    for _ in range(3):
        browser.get("/v1/projects")
    browser.get("/v1/projects", cookie="", authorization="Bearer wrong")
    browser.get("/no/such/path")
    browser.send("BREW", "/v1/projects")
    found = read_metrics(browser)

    assert found['groundplan_requests_total{method="GET",route="/v1/projects",status="200"}'] == 3
    assert found['groundplan_requests_total{method="GET",route="/v1/projects",status="401"}'] == 1
    assert found['groundplan_requests_total{method="GET",route="none",status="404"}'] == 1
    assert found['groundplan_requests_total{method="other",route="none",status="405"}'] == 1
    assert found['groundplan_request_seconds_count{route="/v1/projects"}'] == 4
    assert found['groundplan_request_seconds_bucket{route="/v1/projects",le="+Inf"}'] == 4
    assert found['groundplan_refused_identities_total{reason="malformed"}'] == 1
    assert found["groundplan_open_streams"] == found["groundplan_requests_running"] == 0


def test_any_number_of_paths_makes_one_label(browser: Browser) -> None:
    for number in range(50):
        browser.get(f"/path-{number}")
        browser.get(f"/v1/path-{number}")

    assert len(browser.server.metrics.render()) < 4000


def test_metrics_need_the_token_of_a_service_or_an_owner(browser: Browser, engine: Engine) -> None:
    ada = engine.session("ada")

    def ask(**token: Any) -> int:
        secret = ada.call("token.create", **token).secret
        return browser.get("/metrics", authorization=f"Bearer {secret}").status

    assert browser.get("/metrics").status == 401
    assert ask(kind="agent", name="scout") == 403
    assert ask(kind="person", name="ben") == 403
    assert ask(kind="service", name="prometheus") == 200
    assert ask(kind="person", name="ada", trusted=True) == 200


def test_on_their_own_port_metrics_need_no_token_and_nothing_else_is_served(engine: Engine) -> None:
    with Browser(engine.store, LOOPBACK_EXPOSURE, metrics_port=METRICS_PORT) as browser:

        def ask(path: str, port: int) -> tuple[int, bytes]:
            scope = make_scope("GET", path, {})
            reply = browser.run(browser._send({**scope, "server": ("127.0.0.1", port)}, []))
            return reply.status, reply.headers["content-type"].encode()

        assert ask("/metrics", METRICS_PORT) == (200, METRICS_TYPE)
        assert ask("/healthz", METRICS_PORT)[0] == ask("/readyz", METRICS_PORT)[0] == 200
        assert ask("/login", METRICS_PORT)[0] == ask("/v1/projects", METRICS_PORT)[0] == 404
        assert ask("/metrics", PORT)[0] == 401


def test_the_server_is_ready_while_its_store_answers(browser: Browser) -> None:
    assert (browser.get("/healthz").body, browser.get("/readyz").body) == (b"alive\n", b"ready\n")


def test_the_server_is_not_ready_without_its_store(engine: Engine) -> None:
    store = engine.another_store()
    with Browser(store) as browser:
        store.close()

        assert browser.get("/healthz").status == 200
        assert browser.get("/readyz").status == 503
