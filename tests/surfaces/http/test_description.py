"""The OpenAPI document is valid, complete and always the same, and its page needs no script."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

from openapi_spec_validator import OpenAPIV31SpecValidator

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.http.openapi import build_openapi
from groundplan.surfaces.http.routes import RouteTable
from tests.surfaces.http.client import HttpClient


class Tags(HTMLParser):
    """Collects the tags of a page with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_the_document_is_valid_openapi() -> None:
    OpenAPIV31SpecValidator(build_openapi(RouteTable(OPERATIONS))).validate()


def test_the_document_is_the_same_every_time() -> None:
    first, second = (json.dumps(build_openapi(RouteTable(OPERATIONS))) for _ in range(2))

    assert first == second


def test_every_operation_and_argument_is_described() -> None:
    document = build_openapi(RouteTable(OPERATIONS))
    operations = [one for item in document["paths"].values() for one in item.values()]

    assert {one.name for one in OPERATIONS} <= {one["operationId"] for one in operations}
    for operation in operations:
        assert operation["summary"].endswith("."), operation["operationId"]
        assert operation["tags"][0] in {tag["name"] for tag in document["tags"]}
        for parameter in operation.get("parameters", ()):
            assert "$ref" in parameter or parameter["description"], (operation["operationId"], parameter["name"])


def test_a_limit_of_an_argument_is_in_the_document() -> None:
    paths = build_openapi(RouteTable(OPERATIONS))["paths"]
    parameters = paths["/v1/projects/{project}/work/next"]["get"]["parameters"]
    (count,) = [one["schema"] for one in parameters if one.get("name") == "count"]
    nodes = paths["/v1/projects/{project}/work/nodes"]["post"]["requestBody"]["content"]["application/json"]["schema"]

    assert count == {"type": "integer", "minimum": 1, "maximum": 50}
    assert nodes["properties"]["nodes"]["maxItems"] == 1000


def test_the_document_is_served_to_everybody(http: HttpClient) -> None:
    reply = http.get("/v1/openapi.json", actor="nobody")

    assert reply.headers["content-type"] == "application/json"
    assert reply.json == build_openapi(RouteTable(OPERATIONS))


def test_the_page_has_every_operation_and_no_script(http: HttpClient) -> None:
    reply = http.get("/v1/docs")
    page = reply.body.decode()
    tags = Tags(page).found

    assert reply.headers["content-type"] == "text/html; charset=utf-8"
    assert not [tag for tag, _ in tags if tag in ("script", "style", "iframe", "img", "object", "form")]
    assert not [name for _, given in tags for name in given if name.startswith("on") or name == "style"]
    for operation in OPERATIONS:
        assert f'id="{operation.name}"' in page
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in tags


def test_the_page_may_load_nothing_but_its_own_style(http: HttpClient) -> None:
    policy = http.get("/v1/docs").headers["content-security-policy"]

    assert "default-src 'none'" in policy
    assert "script" not in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    style = http.get("/v1/docs.css")
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert not re.search(rb"@import|url\(", style.body)


def test_the_links_of_the_page_lead_somewhere(http: HttpClient) -> None:
    page = http.get("/v1/docs").body.decode()
    tags = Tags(page).found
    ids = [given["id"] for _, given in tags if "id" in given]

    assert len(set(ids)) == len(ids)
    for tag, given in tags:
        link = given.get("href") or ""
        if tag in ("a", "link"):
            assert link[1:] in ids if link.startswith("#") else http.get(f"/v1/{link}").status == 200
