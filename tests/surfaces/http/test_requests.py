"""From a request to its answer: path, query string, body and headers."""

from __future__ import annotations

import gzip
import json

import pytest

from groundplan.kernel.input_gate.strict_json import BODY_BYTES_MAX
from tests.surfaces.http.client import HttpClient

NODES = "/v1/projects/atlas/work/nodes"


@pytest.fixture
def atlas(http: HttpClient) -> HttpClient:
    assert http.post("/v1/projects", {"name": "atlas"}).status == 201
    return http


def plan(http: HttpClient, summary: str = "Walk north", **headers: str) -> str:
    reply = http.post(NODES, {"nodes": [{"ref": "a", "summary": summary}]}, **headers)
    assert reply.status == 201
    return str(reply.json["created"][0]["id"])


def test_a_project_is_created_and_its_location_answers(http: HttpClient) -> None:
    made = http.post("/v1/projects", {"name": "atlas", "goal": "Map the coast"})

    assert (made.status, made.json["project"]["name"]) == (201, "atlas")
    assert http.get(made.headers["location"]).json["root"]["summary"] == "Map the coast"


def test_a_scope_is_bootstrapped_with_its_first_draft_or_without(http: HttpClient) -> None:
    made = http.post("/v1/scopes", {"scopeId": "atlas", "draft": True})

    assert (made.status, made.headers["location"]) == (201, "/v1/projects/atlas/members")
    assert made.json["role"] == "owner"
    assert http.get(made.headers["location"]).json["members"][0]["role"] == "owner"
    assert http.get(f"/v1/projects/atlas/context/runs/{made.json['runId']}").json["run"]["status"] == "draft"
    assert "runId" not in http.post("/v1/scopes", {"scopeId": "borealis"}).json
    again = http.post("/v1/scopes", {"scopeId": "atlas"})
    assert (again.status, again.code, again.json["name"]) == (409, "pciv_scope_already_initialized", "Conflict")


def test_every_answer_forbids_caches_and_guesses(atlas: HttpClient) -> None:
    for reply in (atlas.get("/v1/projects"), atlas.get("/v1/nothing"), atlas.get("/v1/docs"), atlas.get("/")):
        assert reply.headers["cache-control"] == "private, no-store"
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_one_planned_node_has_a_location_and_several_have_none(atlas: HttpClient) -> None:
    one = atlas.post(NODES, {"nodes": [{"ref": "a", "summary": "A"}]})
    two = atlas.post(NODES, {"nodes": [{"ref": "a", "summary": "A"}, {"ref": "b", "summary": "B"}]})

    assert one.headers["location"] == f"{NODES}/{one.json['created'][0]['id']}"
    assert (two.status, "location" in two.headers) == (201, False)


def test_one_node_is_changed_under_its_own_path(atlas: HttpClient) -> None:
    node = plan(atlas)

    changed = atlas.patch(f"{NODES}/{node}", {"resolved": True, "decision": "Walked it"})

    assert changed.json["updated"] == [{"node_id": node, "rev": 2}]
    assert atlas.get(f"{NODES}/{node}").json["node"]["resolved"] is True
    assert "Walked it" in atlas.get(f"{NODES}/{node}/history").body.decode()


def test_names_in_a_path_may_contain_anything_that_a_name_may(http: HttpClient) -> None:
    for name in ("a/b", "über alles", "50 %", "a?b#c", "tasks"):
        assert http.post("/v1/projects", {"name": name}).status == 201
        (found,) = [one for one in http.get("/v1/organization/work").json["projects"] if one["name"] == name]
        quoted = "".join(f"%{byte:02X}" for byte in name.encode())
        assert http.get(f"/v1/projects/{quoted}/work").json["root"]["id"] == found["id"]


def test_a_name_in_a_path_is_normalized_like_every_name(http: HttpClient) -> None:
    http.post("/v1/projects", {"name": "caf\u00e9"})
    node = http.post("/v1/projects/cafe%CC%81/work/nodes", {"nodes": [{"ref": "a", "summary": "A"}]}).json["created"][0]

    assert http.get(f"/v1/projects/cafe%CC%81/work/nodes/{node['id']}").status == 200


def test_a_query_string_has_numbers_booleans_lists_and_objects(atlas: HttpClient) -> None:
    node = plan(atlas)
    atlas.patch(f"{NODES}/{node}", {"properties": {"area": "north"}})

    found = atlas.get('/v1/projects/atlas/work/next?count=2&filter={"area":"north"}')
    assert [offer["node"]["id"] for offer in found.json["nodes"]] == [node]
    paths = atlas.get("/v1/projects/atlas/knowledge/context?paths=a.py&paths=b.py&includeChangelog=true")
    assert paths.json["unmatchedPaths"] == ["a.py", "b.py"]
    one = atlas.get("/v1/projects/atlas/knowledge/context?paths=a.py")
    assert one.json["unmatchedPaths"] == ["a.py"]


@pytest.mark.parametrize(
    ("method", "target", "body", "field"),
    [
        ("POST", "/v1/projects?name=b", {"name": "b"}, "name"),
        ("POST", "/v1/projects/atlas/archive", {"project": "atlas"}, "project"),
        ("PUT", "/v1/projects/atlas/members/ben", {"scopeId": "atlas", "role": "viewer"}, "scopeId"),
        ("PUT", "/v1/projects/atlas/members/ben", {"userId": "ben", "role": "viewer"}, "userId"),
        ("GET", "/v1/projects/atlas/work/next?count=1&count=2", None, "count"),
        ("GET", "/v1/projects/atlas/work/next?project=atlas", None, "project"),
    ],
)
def test_an_argument_that_is_given_twice_is_refused(
    atlas: HttpClient, method: str, target: str, body: object, field: str
) -> None:
    refused = atlas.send(method, target, body)

    assert (refused.status, refused.code, refused.json["details"]["field"]) == (400, "duplicate_argument", field)


def test_an_idempotency_key_gives_one_effect_and_the_same_answer(atlas: HttpClient) -> None:
    first, second = plan(atlas, idempotency_key="k1"), plan(atlas, idempotency_key='"k1"')

    assert first == second
    assert atlas.get(NODES).json["total"] == 2  # with the root
    other = atlas.post(NODES, {"nodes": [{"ref": "a", "summary": "B"}]}, idempotency_key="k1")
    assert (other.status, other.json["title"]) == (409, "Conflict")
    twice = atlas.post(NODES, {"nodes": [{"ref": "a", "summary": "B"}], "op_id": "k2"}, idempotency_key="k2")
    assert (twice.status, twice.code) == (400, "duplicate_argument")


def test_get_never_writes(atlas: HttpClient) -> None:
    plan(atlas)
    claimed = atlas.get("/v1/projects/atlas/work/next?claim=true")
    configured = atlas.get('/v1/projects/atlas/work?policies={"claims":"enforced"}')

    assert (claimed.status, claimed.code) == (400, "read_only")
    assert claimed.json["details"]["next"] == [{"method": "POST", "path": "/v1/projects/atlas/work/claims"}]
    assert (configured.status, configured.code) == (400, "read_only")
    assert configured.json["details"]["next"] == [{"method": "PATCH", "path": "/v1/projects/atlas/work"}]
    assert atlas.get("/v1/projects/sumac/work").status == 404
    assert atlas.patch("/v1/projects/sumac/work", {"policies": {"claims": "enforced"}}).status == 404
    assert [one["name"] for one in atlas.get("/v1/projects").json["projects"]] == ["atlas"]
    assert atlas.send("PUT", "/v1/projects/sumac/work", {"goal": "Berries"}).status == 200
    assert atlas.get("/v1/projects/sumac/work").status == 200


def test_what_an_id_names_must_be_in_the_project_of_the_path(atlas: HttpClient) -> None:
    node = plan(atlas)
    atlas.post("/v1/projects", {"name": "sumac"})
    elsewhere = f"/v1/projects/sumac/work/nodes/{node}"

    read = atlas.get(elsewhere)
    written = atlas.patch(elsewhere, {"summary": "South"}, idempotency_key="k")
    assert [(one.status, one.code) for one in (read, written)] == [(404, "not_found")] * 2
    assert atlas.patch(f"{NODES}/{node}", {"summary": "South"}, idempotency_key="k").status == 200
    # Also when the answer is kept: the same request under another project is another request.
    assert atlas.patch(elsewhere, {"summary": "South"}, idempotency_key="k").status == 404
    assert atlas.get(f"/v1/projects/nowhere/work/nodes/{node}").status == 404


def test_a_cursor_that_was_changed_or_is_of_another_caller_is_refused(atlas: HttpClient) -> None:
    atlas.post("/v1/projects/atlas/work/nodes", {"nodes": [{"ref": f"n{n}", "summary": "Walk"} for n in range(3)]})
    cursor = atlas.get("/v1/projects/atlas/work/nodes?limit=1").json["next_cursor"]
    last = "A" if cursor[-1] != "A" else "B"

    def follow(text: str, actor: str = "ada") -> tuple[int, str]:
        reply = atlas.get(f"/v1/projects/atlas/work/nodes?limit=1&cursor={text}", actor=actor)
        return reply.status, reply.json.get("code", "")

    assert follow(cursor) == (200, "")
    assert {follow(cursor[:-1] + last), follow(cursor[1:]), follow(cursor, "ben"), follow("x" * 513)} == {
        (400, "invalid_cursor")
    }


def test_long_answers_are_compressed_for_clients_that_accept_it(atlas: HttpClient) -> None:
    atlas.post(NODES, {"nodes": [{"ref": f"n{i}", "summary": f"Walk mile {i}"} for i in range(50)]})

    plain = atlas.get(NODES)
    packed = atlas.get(NODES, accept_encoding="br, gzip;q=0.8")
    assert json.loads(gzip.decompress(packed.body)) == plain.json
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert len(packed.body) < len(plain.body) / 2
    for refused in ("gzip;q=0", "identity", "br"):
        assert "content-encoding" not in atlas.get(NODES, accept_encoding=refused).headers
    assert "content-encoding" not in atlas.get("/v1/projects/atlas/members", accept_encoding="gzip").headers


def test_head_has_the_headers_of_get_and_no_body(atlas: HttpClient) -> None:
    get, head = atlas.get("/v1/projects"), atlas.send("HEAD", "/v1/projects")

    assert (head.status, head.body) == (200, b"")
    assert head.headers == get.headers


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("*/*", 200),
        ("application/json", 200),
        ("text/html, application/*;q=0.5", 200),
        ("text/html,application/xhtml+xml,*/*;q=0.8", 200),
        ("text/html", 406),
        ("application/json;q=0, text/html", 406),
        ("application/json;q=0, */*", 406),
    ],
)
def test_only_json_is_served(http: HttpClient, accept: str, status: int) -> None:
    assert http.get("/v1/projects", accept=accept).status == status


@pytest.mark.parametrize(
    ("raw", "content_type", "status", "code"),
    [
        (b'{"name":"a"}', "text/plain", 415, "unsupported_media_type"),
        (b'{"name":"a"}', "application/json; charset=latin-1", 415, "unsupported_media_type"),
        (b"name=a", "application/x-www-form-urlencoded", 415, "unsupported_media_type"),
        (b'{"name":"a"', "application/json", 400, "invalid_json"),
        (b'{"name":"a","name":"b"}', "application/json", 400, "duplicate_key"),
        (b'["name"]', "application/json", 400, "invalid_body"),
        (b'{"name":"\xff"}', "application/json", 400, "invalid_utf8"),
        (b'{"name":"\\u0000"}', "application/json", 400, "control_character"),
        (b'{"name":' + b"[" * 40 + b"]" * 40 + b"}", "application/json", 400, "too_deep"),
        (b'{"name":"a","colour":1}', "application/json", 400, "unknown_argument"),
        (b'{"name":"a","goal":' + b" " * BODY_BYTES_MAX + b'"b"}', "application/json", 413, "too_large"),
    ],
)
def test_a_body_that_is_no_object_in_strict_json_is_refused(
    http: HttpClient, raw: bytes, content_type: str, status: int, code: str
) -> None:
    refused = http.send("POST", "/v1/projects", raw=raw, content_type=content_type)

    assert (refused.status, refused.code) == (status, code)
    assert http.get("/v1/projects").json == {"projects": []}


def test_a_body_of_utf8_may_say_so(http: HttpClient) -> None:
    for number, charset in enumerate(("utf-8", '"UTF-8"')):
        raw = b'{"name":"a%d"}' % number
        assert (
            http.send("POST", "/v1/projects", raw=raw, content_type=f"application/json; charset={charset}").status
            == 201
        )


def test_a_method_without_a_body_refuses_one(atlas: HttpClient) -> None:
    refused = atlas.send("DELETE", "/v1/projects/atlas/members/ben", {"userId": "ben"})

    assert (refused.status, refused.code) == (400, "unexpected_body")


@pytest.mark.parametrize("target", ["/v1/projects/%FF/work", "/v1/projects/a/work/tags/%C3", "/v1/projects?x=%FF"])
def test_an_address_that_is_not_utf8_is_refused(atlas: HttpClient, target: str) -> None:
    assert (atlas.get(target).status, atlas.get(target).code) == (400, "invalid_utf8")


def test_a_control_character_in_an_address_is_refused(atlas: HttpClient) -> None:
    for target in ("/v1/projects/atlas/work/tags/a%00b", "/v1/organization/work/tags?projectId=a%07"):
        assert (atlas.get(target).status, atlas.get(target).code) == (400, "control_character")
