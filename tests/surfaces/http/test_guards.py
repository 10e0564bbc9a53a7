"""Guards of the HTTP surface, each with a test that switches it off; and many callers at once."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import pytest
from starlette.routing import Match, Mount

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import local_actor
from groundplan.kernel.operations.execute import execute
from groundplan.surfaces.http import app, rest, routes
from groundplan.surfaces.http.routes import RouteTable
from tests.engines import Engine
from tests.surfaces.http.client import ACTOR, HttpClient, make_scope
from tests.surfaces.web.browser import Browser

CALLERS = 40


def test_many_callers_at_once_are_never_mixed_up(engine: Engine) -> None:
    async def create(app: Any, name: str) -> str:
        body = json.dumps({"name": name}).encode()
        scope = make_scope("POST", "/v1/projects", {ACTOR: name, "content-type": "application/json"})
        scope["headers"].append((b"content-length", str(len(body)).encode()))
        waiting = [{"type": "http.request", "body": body}]
        parts: list[bytes] = []

        async def receive() -> Any:
            return waiting.pop() if waiting else await asyncio.Future()

        async def send(message: Any) -> None:
            parts.append(message.get("body", b""))

        await app(scope, receive, send)
        return str(json.loads(b"".join(parts))["project"]["created_by"])

    async def create_all(app: Any) -> list[str]:
        return await asyncio.gather(*(create(app, name) for name in names))

    names = [f"caller-{number}" for number in range(CALLERS)]
    with HttpClient(engine.store, local_actor) as http:
        assert http.run(create_all(http.app)) == names


@pytest.fixture
def elsewhere(http: HttpClient) -> str:
    """The path of a node of atlas below another project."""
    for name in ("atlas", "sumac"):
        http.post("/v1/projects", {"name": name})
    made = http.post("/v1/projects/atlas/work/nodes", {"nodes": [{"ref": "a", "summary": "A"}]})
    return f"/v1/projects/sumac/work/nodes/{made.json['created'][0]['id']}"


@pytest.mark.teeth
def test_without_the_check_a_path_would_lead_into_another_project(
    http: HttpClient, elsewhere: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert http.get(elsewhere).status == 404

    def execute_anywhere(*given: Any, within: str | None) -> Any:
        return execute(*given)

    monkeypatch.setattr(rest, "execute", execute_anywhere)

    assert http.get(elsewhere).status == 200


@pytest.mark.teeth
def test_without_the_restriction_get_would_write(http: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert http.get("/v1/projects/sumac/work").status == 404
    monkeypatch.setattr(routes, "_restrict", routes._without_envelope)
    monkeypatch.setattr(http.rest, "_table", RouteTable(OPERATIONS))

    assert http.get("/v1/projects/sumac/work").status == 200  # created


@pytest.mark.teeth
def test_without_the_list_of_hosts_a_rebound_name_would_be_answered(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "refuse_other_host", lambda _hosts, _scope: None)
    with HttpClient(engine.store, local_actor) as http:
        assert http.get("/v1/projects", host="evil.example").status == 200


def test_no_address_of_rest_is_also_one_of_another_part(engine: Engine, subtests: pytest.Subtests) -> None:
    """REST is asked first, so another part would never see such a request."""
    with Browser(engine.store) as browser:
        others = [route for route in browser.app.routes if not isinstance(route, Mount)]
        assert len(others) > 10
        for endpoint in RouteTable(OPERATIONS).endpoints:
            path = re.sub(r"\{\w+\}", "x", endpoint.template)
            with subtests.test(path):
                scope = make_scope(endpoint.route.method, path, {})
                assert not [route for route in others if route.matches(scope)[0] is not Match.NONE]
