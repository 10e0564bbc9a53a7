"""DNS rebinding and other origins: whatever a page of another site makes a browser send, it is refused."""

from __future__ import annotations

import pytest

from groundplan.surfaces.http.exposure import Exposure
from tests.engines import Engine
from tests.surfaces.web.browser import PORT, Browser

OWN = f"http://localhost:{PORT}"
NAVIGATION = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate"}
HEADERS: list[tuple[int, dict[str, str]]] = [
    # The name of a page that was rebound to this address, and its variants.
    *(
        (421, {"host": host})
        for host in (
            "evil.example",
            f"evil.example:{PORT}",
            "localhost.evil.example",
            "evil.example.localhost",
            "127.0.0.1.evil.example",
            "127.0.0.1.nip.io",
            "localhost.",
            "localhost:",
            "localhost:8321:8321",
            "localhost@evil.example",
            "evil.example@localhost",
            "localhost, evil.example",
            "localhost evil.example",
            "localhost/evil",
            "0.0.0.0",  # noqa: S104 - as a name
            "0",
            "127.1",
            "127.0.0.2",
            "2130706433",
            "0x7f000001",
            "[::]",
            "[::1",
            "::1",
            "[::ffff:127.0.0.1]",
            "",
            "*",
            "plan.example.org",
        )
    ),
    # The right name, and another origin.
    *(
        (403, {"origin": origin})
        for origin in (
            "http://evil.example",
            "null",
            "",
            "http://localhost",
            "http://localhost:9999",
            f"http://127.0.0.1:{PORT}",
            f"{OWN}.evil.example",
            f"http://evil.example/{OWN}",
            "file://",
        )
    ),
    # A browser that sends no origin says where the request comes from.
    (403, {"sec_fetch_site": "cross-site", "sec_fetch_mode": "no-cors"}),
    (403, {"sec_fetch_site": "same-site", "sec_fetch_mode": "cors", "origin": OWN}),
    (403, {"sec_fetch_site": "cross-site"}),
    # Its own page, a program, a link that is followed.
    (200, {}),
    (200, {"origin": OWN, "sec_fetch_site": "same-origin", "sec_fetch_mode": "cors"}),
    (200, {"host": f"LOCALHOST:{PORT}"}),
    (200, {"host": f"127.0.0.1:{PORT}"}),
    (200, {"host": f"[::1]:{PORT}"}),
    (200, {"host": "[::1]"}),
    (200, NAVIGATION),
]


def test_only_own_names_and_origins_are_answered(browser: Browser) -> None:
    browser.log_in()

    assert len(HEADERS) >= 30
    assert [(browser.get("/v1/projects", **headers).status, headers) for _, headers in HEADERS] == HEADERS


def test_a_form_of_another_site_is_refused_although_it_navigates(browser: Browser) -> None:
    browser.log_in()

    assert browser.submit("/logout", {"csrf": browser.read_csrf()}, **NAVIGATION).status == 403


@pytest.mark.parametrize("path", ["/", "/login", "/v1/docs", "/v1/openapi.json", "/nothing"])
def test_no_path_is_open_to_a_rebound_name(browser: Browser, path: str) -> None:
    assert browser.get(path, host="evil.example").status == 421


def test_a_configured_name_is_answered(engine: Engine) -> None:
    with Browser(engine.store, Exposure(port=PORT, allowed_hosts=("Plan.example.org",))) as browser:
        assert browser.get("/login", host="plan.example.org").status == 200
        assert browser.get("/login", host="plan.example.org:443").status == 200
        assert browser.get("/login", host="other.example.org").status == 421
