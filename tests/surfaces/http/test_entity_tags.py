"""ETag, If-Match and If-None-Match."""

from __future__ import annotations

import pytest

from tests.surfaces.http.client import HttpClient, Reply

WORK = "/v1/projects/atlas/work"
DRAFT = "/v1/projects/atlas/purpose/draft"


@pytest.fixture
def node(http: HttpClient) -> str:
    """The path of a node of Ada's."""
    http.post("/v1/projects", {"name": "atlas"})
    made = http.post(f"{WORK}/nodes", {"nodes": [{"ref": "a", "summary": "Walk north"}]})
    return made.headers["location"]


def outcome(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.code


def test_a_change_with_the_tag_that_was_read_succeeds_once(http: HttpClient, node: str) -> None:
    tag = http.get(node).headers["etag"]

    first = http.patch(node, {"summary": "Walk south"}, if_match=tag)
    second = http.patch(node, {"summary": "Walk west"}, if_match=tag)

    assert (first.status, first.headers["etag"]) == (200, '"r2"')
    assert outcome(second) == (412, "stale_rev")
    assert http.get(node).json["node"]["summary"] == "Walk south"
    assert http.patch(node, {"summary": "Walk west"}, if_match=first.headers["etag"]).status == 200


def test_a_stale_revision_in_the_body_stays_a_conflict(http: HttpClient, node: str) -> None:
    http.patch(node, {"summary": "Walk south"})

    assert outcome(http.patch(node, {"summary": "Walk west", "expected_rev": 1})) == (409, "stale_rev")


def test_the_tag_of_a_compressed_answer_works_as_well(http: HttpClient, node: str) -> None:
    http.patch(node, {"properties": {"notes": "north " * 400}})
    tag = http.get(node, accept_encoding="gzip").headers["etag"]

    assert tag.endswith('-gzip"')
    assert tag != http.get(node).headers["etag"]
    assert http.get(node, accept_encoding="gzip", if_none_match=tag).status == 304
    assert http.patch(node, {"summary": "Walk south"}, if_match=tag).status == 200


def test_a_reader_who_has_the_answer_gets_no_second_copy(http: HttpClient, node: str) -> None:
    tag = http.get(node).headers["etag"]

    for header in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = http.get(node, if_none_match=header)
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
    http.patch(node, {"summary": "Walk south"})
    assert http.get(node, if_none_match=tag).status == 200


def test_an_answer_without_a_revision_has_a_tag_of_its_bytes(http: HttpClient, node: str) -> None:
    tag = http.get("/v1/projects").headers["etag"]

    assert http.get("/v1/projects", if_none_match=tag).status == 304
    http.post("/v1/projects", {"name": "sumac"})
    assert http.get("/v1/projects", if_none_match=tag).status == 200


def test_a_tag_stands_for_the_version_that_a_contract_asks_for(http: HttpClient, node: str) -> None:
    task = http.post(f"{WORK}/tasks", {"title": "Draw"}).headers["location"]
    tag = http.get(task).headers["etag"]

    assert http.post(f"{task}/advance", if_match=tag).status == 200
    assert outcome(http.post(f"{task}/advance", if_match=tag)) == (412, "stale_version")
    assert outcome(http.post(f"{task}/advance", {"version": 1})) == (409, "stale_version")
    assert outcome(http.post(f"{task}/advance")) == (400, "missing_argument")


def test_a_draft_is_edited_and_published_at_its_tag(http: HttpClient, node: str) -> None:
    tag = http.post(DRAFT).headers["etag"]
    goal = {"operations": [{"op": "add_node", "node_type": "GOAL", "title": "A map"}]}

    edited = http.patch(DRAFT, goal, if_match=tag)
    assert edited.status == 200
    assert http.get("/v1/projects/atlas/purpose", if_match=edited.headers["etag"]).status == 200
    for stale in (
        http.patch(DRAFT, goal, if_match=tag),
        http.post(f"{DRAFT}/publish", if_match=tag),
        http.send("DELETE", DRAFT, if_match=tag),
    ):
        assert outcome(stale) == (412, "stale_rev")
    assert outcome(http.get("/v1/projects/atlas/purpose", if_match=tag)) == (412, "precondition_failed")


@pytest.mark.parametrize(
    ("header", "status", "code"),
    [
        ("*", 200, ""),
        ('W/"r1"', 412, "precondition_failed"),
        ('"0123456789abcdef"', 412, "precondition_failed"),
        ('"r99"', 412, "stale_rev"),
        ('"r1", "r2"', 400, "invalid_if_match"),
        ("r1", 400, "invalid_entity_tag"),
        ('"r1', 400, "invalid_entity_tag"),
    ],
)
def test_a_precondition_holds_fails_or_is_refused(
    http: HttpClient, node: str, header: str, status: int, code: str
) -> None:
    reply = http.patch(node, {"summary": "Walk south"}, if_match=header)

    assert (reply.status, "" if reply.status == 200 else reply.code) == (status, code)


def test_a_precondition_that_nothing_compares_is_refused_and_not_ignored(http: HttpClient, node: str) -> None:
    assert outcome(http.post(f"{WORK}/claims", if_match='"r1"')) == (400, "unused_precondition")
    twice = http.patch(node, {"summary": "Walk south", "expected_rev": 1}, if_match='"r1"')
    assert outcome(twice) == (400, "duplicate_argument")
