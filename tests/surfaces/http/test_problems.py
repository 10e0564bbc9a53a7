"""Errors over HTTP are problem details, and show nothing that they should not."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.actors import Actor, local_actor
from groundplan.surfaces.http import rest
from tests.context.client import NOWHERE
from tests.engines import Engine, person
from tests.surfaces.http.client import HttpClient

FIELDS = ["type", "title", "status", "detail", "code"]


def test_a_problem_has_the_fields_of_the_standard_and_a_code(http: HttpClient) -> None:
    reply = http.get("/v1/projects/sumac/work")

    assert (reply.status, reply.headers["content-type"]) == (404, "application/problem+json")
    assert list(reply.json) == [*FIELDS, "details"]
    assert reply.json["title"] == "Not Found"
    assert reply.json["details"] == {"thing": "project", "ref": "sumac"}


def test_the_type_of_a_problem_is_explained_on_the_page(http: HttpClient) -> None:
    page = http.get("/v1/docs").body.decode()

    for target in ("/v1/projects/sumac/work", "/v1/nothing", "/v1/projects/a/work/next?count=x"):
        path, _, anchor = http.get(target).json["type"].partition("#")
        assert path == "/v1/docs"
        assert f'id="{anchor}"' in page


def test_a_next_step_is_a_request_that_can_be_sent(http: HttpClient) -> None:
    http.post("/v1/projects", {"name": "atlas"})
    draft = "/v1/projects/atlas/purpose/draft"
    goal = {"operations": [{"op": "add_node", "node_type": "GOAL", "title": "A map"}]}

    refused = http.patch(draft, goal)
    (step,) = refused.json["details"]["next"]

    assert f"POST {draft}" in refused.json["detail"]
    assert http.send(step["method"], step["path"], step.get("body")).status == 201
    assert http.patch(draft, goal).status == 200


@pytest.mark.parametrize("target", ["/", "/v1", "/v1/", "/v2/projects", "/v1/projects/", "/v1/projects/a/work/foos"])
def test_an_unknown_path_is_a_problem(http: HttpClient, target: str) -> None:
    reply = http.get(target)

    assert (reply.status, reply.code) == (404, "unknown_path")


def test_an_escaped_prefix_is_the_prefix(http: HttpClient) -> None:
    assert http.get("/%761/projects").status == http.get("/v1/projects").status == 200


def test_a_wrong_method_is_told_the_right_ones(http: HttpClient) -> None:
    reply = http.send("PUT", "/v1/projects")

    assert (reply.status, reply.code, reply.headers["allow"]) == (405, "method_not_allowed", "GET, HEAD, POST")
    assert http.send("OPTIONS", "/v1/projects/atlas/work/tasks/x/advance").headers["allow"] == "POST"
    assert http.send("POST", "/v1/docs").headers["allow"] == "GET, HEAD"


def test_who_is_not_known_is_asked_for_a_token(engine: Engine) -> None:
    with HttpClient(engine.store, lambda _name: None) as http:
        reply = http.get("/v1/projects")

    assert (reply.status, reply.code, reply.headers["www-authenticate"]) == (401, "unauthenticated", "Bearer")


def test_who_is_not_known_learns_nothing_about_the_request(engine: Engine) -> None:
    with HttpClient(engine.store, lambda _name: None) as http:
        replies = [
            http.send("POST", "/v1/projects", raw=b"{", content_type="application/json"),
            http.get("/v1/projects", accept="text/html"),
            http.get("/v1/projects/atlas/work/next?count=x"),
        ]

    assert {reply.status for reply in replies} == {401}


@pytest.mark.parametrize(
    ("actor", "method", "target", "body", "name"),
    [
        ("ben", "POST", "/v1/projects/hidden/context/runs", {}, "PcivRlsDeniedError"),
        ("ada", "POST", "/v1/projects/hidden/context/runs", {"copyFrom": 1}, "PcivSchemaMismatchError"),
        ("ada", "GET", f"/v1/projects/hidden/context/runs/{NOWHERE}", None, "PcivRlsDeniedError"),
        ("ada", "GET", "/v1/projects/hidden/context/view", None, "NotFound"),
        ("ada", "DELETE", "/v1/projects/hidden/members/nobody", None, "NotFound"),
        ("ada", "DELETE", "/v1/projects/hidden/members/ada", None, "RuleViolated"),
        ("ben", "GET", "/v1/projects/hidden/work", None, None),
        ("", "GET", "/v1/projects/hidden/context/runs", None, "PcivAuthRequiredError"),
        ("", "GET", "/v1/projects/hidden/work", None, "PcivAuthRequiredError"),
    ],
)
def test_a_problem_with_facts_has_the_name_of_its_class_in_the_contract(
    engine: Engine, actor: str, method: str, target: str, body: Any, name: str | None
) -> None:
    engine.session("ada").call("project.create", name="hidden")
    with HttpClient(engine.store, lambda given: person(given) if given else None) as http:
        refused = http.send(method, target, body, actor=actor)

    assert refused.headers["content-type"] == "application/problem+json"
    assert refused.json.get("name") == name


def test_a_busy_store_says_when_to_come_back(http: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_given: Any, **_named: Any) -> None:
        from groundplan.kernel.errors import Unavailable

        raise Unavailable("the store is too busy", code="store_busy")

    monkeypatch.setattr(rest, "execute", refuse)
    reply = http.get("/v1/projects")

    assert (reply.status, reply.code, reply.headers["retry-after"]) == (503, "store_busy", "1")


def test_a_defect_shows_its_reference_and_nothing_of_its_cause(
    http: HttpClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_given: Any, **_named: Any) -> None:
        raise RuntimeError("SELECT secret FROM safe")

    monkeypatch.setattr(rest, "execute", fail)
    reply = http.get("/v1/projects")

    assert (reply.status, reply.code) == (500, "unexpected")
    assert "secret" not in reply.body.decode()
    logged = caplog.text
    assert reply.json["details"]["reference"] in logged
    assert "secret" in logged


def test_a_defect_while_a_caller_is_identified_is_no_open_door(engine: Engine) -> None:
    def fail(name: str) -> Actor:
        raise RuntimeError(name)

    with HttpClient(engine.store, fail) as http:
        assert http.get("/v1/projects").status == 500


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost", None, 200),
        ("localhost:8321", None, 200),
        ("127.0.0.1:8321", "http://127.0.0.1:8321", 200),
        ("[::1]:8321", None, 200),
        ("LOCALHOST:8321", None, 200),
        ("evil.example", None, 421),
        ("localhost.evil.example:8321", None, 421),
        ("localhost, evil.example", None, 421),
        ("", None, 421),
        ("127.0.0.1:8321", "http://evil.example", 403),
        ("127.0.0.1:8321", "http://localhost:8321", 403),
        ("127.0.0.1:8321", "http://127.0.0.1:9999", 403),
        ("127.0.0.1:8321", "null", 403),
    ],
)
def test_a_page_of_another_site_is_turned_away(http: HttpClient, host: str, origin: str | None, status: int) -> None:
    given = {"host": host} | ({} if origin is None else {"origin": origin})

    assert http.get("/v1/projects", **given).status == status


def test_the_actor_comes_from_the_seam_and_never_from_the_request(engine: Engine) -> None:
    with HttpClient(engine.store, lambda _name: local_actor("ben")) as http:
        made = http.post("/v1/projects", {"name": "atlas"})
        claimed = http.post("/v1/projects", {"name": "sumac", "actor": "ada"})

    assert made.json["project"]["created_by"] == "ben"
    assert claimed.code == "unknown_argument"
