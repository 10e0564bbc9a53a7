"""Who is logged in, how, and what a login allows a browser to do."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import local_actor
from groundplan.surfaces.http import authentication
from groundplan.surfaces.http.exposure import Exposure
from groundplan.surfaces.web.login import CODE_TTL_S, LoginCodes
from groundplan.surfaces.web.render import CONTENT_POLICY
from tests.engines import Engine
from tests.surfaces.web.browser import PORT, Browser

COOKIE = f"groundplan_session_{PORT}"


def make_token(engine: Engine, kind: str = "person", name: str = "ada") -> str:
    return str(engine.session("ada").call("token.create", kind=kind, name=name).secret)


# --- The one-time address --------------------------------------------------------------------------------------------


def test_the_one_time_address_logs_in_and_leaves_no_code_in_the_address(browser: Browser) -> None:
    reply = browser.log_in()

    assert (reply.status, reply.headers["location"]) == (303, "/")
    cookie = reply.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}=gpt_")
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(cookie.split("; "))
    assert browser.get("/").status == 200
    assert browser.get("/v1/projects").json == {"projects": []}


def test_the_one_time_address_works_once(browser: Browser) -> None:
    code = browser.server.codes.issue()
    assert browser.get(f"/login?code={code}").status == 303
    again = browser.get(f"/login?code={code}", cookie="")

    assert (again.status, "set-cookie" in again.headers) == (401, False)


def test_a_preview_does_not_use_the_address_up(browser: Browser) -> None:
    code = browser.server.codes.issue()

    assert browser.send("HEAD", f"/login?code={code}").status == 200
    assert browser.get(f"/login?code={code}").status == 303


def test_a_code_ends_after_its_time() -> None:
    now_s = [0.0]
    codes = LoginCodes(lambda: now_s[0])
    early, late = codes.issue(), codes.issue()
    now_s[0] = CODE_TTL_S - 1
    assert codes.redeem(early)
    now_s[0] = CODE_TTL_S

    assert not codes.redeem(late)


@pytest.mark.parametrize("code", ["", "x", "%00", "%ff", "a" * 5000, "ä"])
def test_no_other_code_logs_in(browser: Browser, code: str) -> None:
    browser.server.codes.issue()

    reply = browser.get(f"/login?code={code}")

    assert (reply.status, "set-cookie" in reply.headers) == (401, False)


def test_behind_a_proxy_there_is_no_one_time_address(engine: Engine) -> None:
    exposure = Exposure(port=PORT, allowed_hosts=("plan.example.org",), proxies=("127.0.0.1",))
    with Browser(engine.store, exposure) as browser:
        address = f"/login?code={browser.server.codes.issue()}"
        assert browser.get(address, x_forwarded_proto="https").status == 401


# --- A token in the login page ---------------------------------------------------------------------------------------


def test_a_token_of_a_person_logs_in(browser: Browser, engine: Engine) -> None:
    reply = browser.submit("/login", {"token": f" {make_token(engine)}\n"})

    assert (reply.status, browser.get("/").status) == (303, 200)


def test_behind_a_proxy_the_cookie_is_for_https_only(engine: Engine) -> None:
    exposure = Exposure(port=PORT, allowed_hosts=("plan.example.org",), proxies=("127.0.0.1",))
    with Browser(engine.store, exposure) as browser:
        form, proxied = {"token": make_token(engine)}, {"host": "plan.example.org", "x_forwarded_proto": "https"}
        past_the_proxy = browser.submit("/login", form, host="plan.example.org")
        reply = browser.submit("/login", form, **proxied)

        assert (past_the_proxy.status, past_the_proxy.code) == (403, "not_encrypted")
        assert browser.get("/healthz", host="plan.example.org").status == 200
        assert reply.headers["set-cookie"].startswith("__Host-groundplan_session=gpt_")
        assert "Secure" in reply.headers["set-cookie"].split("; ")


@pytest.mark.parametrize("kind", ["agent", "service"])
def test_agents_and_services_do_not_log_in(browser: Browser, engine: Engine, kind: str) -> None:
    reply = browser.submit("/login", {"token": make_token(engine, kind, "scout")})

    assert (reply.status, browser.cookies) == (401, {})


def test_a_wrong_token_is_refused_and_not_repeated(browser: Browser) -> None:
    reply = browser.submit("/login", {"token": "gpt_wrong<b>"})

    assert (reply.status, browser.cookies) == (401, {})
    assert b"wrong" not in reply.body


def test_many_wrong_tokens_are_slowed_down_and_a_right_one_is_not(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(authentication, "REFUSALS_PER_S", 0.001)
    monkeypatch.setattr(authentication, "REFUSAL_BURST", 2)
    token = make_token(engine)
    with Browser(engine.store) as browser:
        statuses = [browser.submit("/login", {"token": "x"}).status for _ in range(3)]

        assert statuses == [401, 401, 429]
        assert browser.submit("/login", {"token": token}).status == 303


def test_the_secret_of_a_login_is_no_token(browser: Browser) -> None:
    browser.log_in()
    secret = browser.cookies[COOKIE]

    assert browser.get("/v1/projects", authorization=f"Bearer {secret}", cookie="").status == 401
    assert browser.submit("/login", {"token": secret}, cookie="").status == 401


def test_a_token_is_no_cookie(browser: Browser, engine: Engine) -> None:
    assert browser.get("/v1/projects", cookie=f"{COOKIE}={make_token(engine)}").status == 401


# --- Requests ---------------------------------------------------------------------------------------------------------


def test_a_request_without_a_token_is_refused_and_a_page_leads_to_the_login(browser: Browser) -> None:
    refused = browser.get("/v1/projects")
    assert (refused.status, refused.headers["www-authenticate"]) == (401, "Bearer")
    led = browser.get("/")

    assert (led.status, led.headers["location"]) == (303, "/login")


def test_a_bearer_token_needs_no_proof_of_a_page(browser: Browser, engine: Engine) -> None:
    made = browser.post("/v1/projects", {"name": "atlas"}, authorization=f"Bearer {make_token(engine)}")

    assert made.status == 201


def test_a_login_changes_something_only_with_the_proof_of_its_own_page(browser: Browser, engine: Engine) -> None:
    browser.log_in()
    proof = browser.read_csrf()
    with Browser(engine.store) as other:
        other.log_in()
        foreign = other.read_csrf()

    refused = [
        browser.post("/v1/projects", {"name": "atlas"}, **headers)
        for headers in (
            {},
            {"x_csrf_token": ""},
            {"x_csrf_token": foreign},
            {"x_csrf_token": proof[:-1]},
            {"x_csrf_token": "\xff"},
            {"x_csrf_token": proof, "sec_fetch_site": "same-site"},
            {"x_csrf_token": proof, "sec_fetch_site": "cross-site"},
            {"x_csrf_token": proof, "origin": "http://localhost:9999"},
            {"x_csrf_token": proof, "origin": "null"},
        )
    ]
    assert [reply.status for reply in refused] == [403] * len(refused)
    assert browser.get("/v1/projects").json["projects"] == []
    own = {"origin": "http://localhost:8321", "sec_fetch_site": "same-origin"}

    assert browser.post("/v1/projects", {"name": "atlas"}, x_csrf_token=proof, **own).status == 201


@pytest.mark.teeth
def test_without_the_proof_a_form_of_another_page_would_write(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser.log_in()
    monkeypatch.setattr(authentication, "_require_own_page", lambda _connection, _principal: None)

    assert browser.post("/v1/projects", {"name": "atlas"}).status == 201


def test_logging_out_closes_the_login(browser: Browser) -> None:
    browser.log_in()
    old = dict(browser.cookies)
    proof = browser.read_csrf()
    assert browser.submit("/logout", {}).status == 403
    reply = browser.submit("/logout", {"csrf": proof})

    assert (reply.status, reply.headers["location"], browser.cookies) == (303, "/login", {})
    assert browser.get("/v1/projects", cookie=f"{COOKIE}={old[COOKIE]}").status == 401


@pytest.mark.parametrize("position", [0, 4, 10, 40, -1])
def test_a_tampered_cookie_or_token_is_refused(browser: Browser, engine: Engine, position: int) -> None:
    browser.log_in()
    token = make_token(engine)

    def tamper(secret: str) -> str:
        index = position % len(secret)
        return secret[:index] + ("0" if secret[index] != "0" else "1") + secret[index + 1 :]

    assert browser.get("/v1/projects", cookie=f"{COOKIE}={tamper(browser.cookies[COOKIE])}").status == 401
    assert browser.get("/v1/projects", authorization=f"Bearer {tamper(token)}", cookie="").status == 401


def test_one_principal_is_slowed_down_and_others_are_not(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authentication, "BURST_S", 3_000)
    busy, other = make_token(engine), make_token(engine, "agent", "scout")
    with Browser(engine.store, requests_per_s=0.001) as browser:
        replies = [browser.get("/v1/projects", authorization=f"Bearer {busy}") for _ in range(4)]

        assert [reply.status for reply in replies] == [200, 200, 200, 429]
        assert int(replies[-1].headers["retry-after"]) > 900
        assert replies[-1].code == "too_many_requests"
        assert browser.get("/v1/projects", authorization=f"Bearer {other}").status == 200


def test_every_page_has_the_headers_that_keep_other_pages_out(browser: Browser) -> None:
    browser.log_in()
    for path in ("/", "/login", "/login?code=x", "/logout"):
        headers = browser.get(path).headers
        assert headers["content-security-policy"] == CONTENT_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cross-origin-opener-policy"] == "same-origin"
        assert headers["cache-control"] == "private, no-store"


@pytest.mark.parametrize(
    ("raw", "content_type", "status"),
    [
        (b"token=%ff", "application/x-www-form-urlencoded", 400),
        (b"\xff\xfe", "application/x-www-form-urlencoded", 400),
        (b"&".join(b"a%d=1" % number for number in range(50)), "application/x-www-form-urlencoded", 400),
        (b"token=" + b"a" * 5000, "application/x-www-form-urlencoded", 413),
        (b'{"token": "x"}', "application/json", 415),
        (b"", "text/plain", 415),
    ],
)
def test_a_form_that_is_none_is_refused(browser: Browser, raw: bytes, content_type: str, status: int) -> None:
    assert browser.send("POST", "/login", raw=raw, content_type=content_type).status == status


def test_without_an_actor_nobody_opens_the_one_time_address(engine: Engine) -> None:
    with Browser(engine.store, actor=None) as browser:
        assert browser.log_in().status == 401


def test_the_login_of_a_limited_token_has_its_limits(engine: Engine) -> None:
    ada = engine.session("ada")
    for name in ("atlas", "borealis"):
        ada.call("project.create", name=name)
    secret = ada.call("token.create", kind="person", role="viewer", projects=["atlas"]).secret
    with Browser(engine.store, actor=local_actor("ada")) as browser:
        browser.submit("/login", {"token": secret})
        page = browser.get("/p/atlas/home").body.decode()

        assert browser.get("/").headers["location"] == "/p/atlas/home"
        assert "atlas" in page
        assert "borealis" not in page
        assert browser.get("/p/borealis/home").status == 404
