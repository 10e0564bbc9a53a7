"""Containers are found by text and by status, page by page; hidden ones are never found."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Invalid, NotFound
from tests.engines import person
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.containers.client import ContainersClient


@pytest.fixture
def filled_project(client: ContainersClient) -> ContainersClient:
    """Two features with tasks at every status, a node of the graph dialect, and another project."""
    client.feature("coast", tags="sea", summary="Beaches")
    client.feature("hills", priority="HIGH", description="Höhe 100% of_it")
    client.task("Walk the beach", of="coast", tags="sea,wet", description="At low TIDE, of_it.")
    client.task("draw", of="coast", priority="HIGH", tags="paper")
    client.task("climb", of="hills", priority="LOW", summary="Before noon")
    client.task("print", tags="paper,money")
    client.plan("scale", under="draw")
    client.advance("draw")
    client.close("climb")
    client.terminate("print")
    shop = client.create_project("shop")
    shop.task("sell", tags="money", priority="HIGH")
    return client


FOUND: dict[str, tuple[dict[str, Any], list[str]]] = {
    "everything": ({}, ["draw", "Walk the beach", "print", "climb", "scale"]),
    "a word of a title": ({"query": "WALK"}, ["Walk the beach"]),
    "all words": ({"query": "beach tide"}, ["Walk the beach"]),
    "not all words": ({"query": "beach noon"}, []),
    "a word of a summary": ({"query": "noon"}, ["climb"]),
    "an underscore": ({"query": "of_it"}, ["Walk the beach"]),
    "NEW": ({"status": "NEW"}, ["Walk the beach", "scale"]),
    "ACTIVE": ({"status": "active"}, ["draw"]),
    "CLOSED": ({"status": "CLOSED"}, ["climb"]),
    "WILL_NOT_IMPLEMENT": ({"status": "WILL_NOT_IMPLEMENT"}, ["print"]),
    "HIGH": ({"priority": "HIGH"}, ["draw"]),
    "MEDIUM": ({"priority": "medium"}, ["Walk the beach", "print"]),
    "a tag": ({"tags": "paper"}, ["draw", "print"]),
    "one of several tags": ({"tags": ["wet", "money"]}, ["Walk the beach", "print"]),
    "tags in a string of json": ({"tags": '["wet","money"]'}, ["Walk the beach", "print"]),
    "a tag of another case": ({"tags": "PAPER"}, []),
    "a feature": ({"featureId": "@coast"}, ["draw", "Walk the beach", "scale"]),
    "all together": ({"featureId": "@coast", "status": "ACTIVE", "tags": "paper", "query": "dr"}, ["draw"]),
}


def test_tasks_are_found_by_what_is_asked_for(filled_project: ContainersClient) -> None:
    for what, (asked, names) in FOUND.items():
        meant = {"containerType": "task", "projectId": "atlas", **filled_project.insert_ids(asked)}
        answer = filled_project.call("container.search", **meant)
        assert (what, filled_project.names(answer.items), answer.count) == (what, names, len(names))
        if "query" not in asked:
            assert filled_project.names(filled_project.call("container.overview", **meant).items) == names, what


def test_whatever_is_found_by_priority_has_that_priority(filled_project: ContainersClient) -> None:
    assert filled_project.search(priority="LOW") == ["climb"]


def test_features_are_found_by_what_is_asked_for(filled_project: ContainersClient) -> None:
    assert filled_project.search("feature") == ["hills", "coast"]
    assert filled_project.search("feature", query="beaches") == ["coast"]
    assert filled_project.search("feature", query="100% OF_IT") == ["hills"]
    assert filled_project.search("feature", status="CLOSED") == ["hills"]
    assert filled_project.search("feature", tags="sea") == ["coast"]
    assert filled_project.search("feature", priority="HIGH") == ["hills"]


def test_projects_are_found_by_words_and_tags(filled_project: ContainersClient) -> None:
    filled_project.change_project(tags="maps")

    def projects(**given: Any) -> list[str]:
        return [one.name for one in filled_project.call("container.search", containerType="project", **given).items]

    assert projects() == ["atlas", "shop"]
    assert projects(query="ATL") == ["atlas"]
    assert projects(tags="maps") == ["atlas"]
    assert projects(query="everything map") == ["atlas"]  # text of its goal


def test_a_project_is_found_by_what_it_says_now(client: ContainersClient) -> None:
    client.change_project(summary="Charts")

    for query, count in {"charts": 1, "everything": 0}.items():
        assert (query, client.call("container.search", containerType="project", query=query).count) == (query, count)


def test_without_a_project_everything_that_one_sees_is_found(filled_project: ContainersClient) -> None:
    assert set(
        filled_project.names(filled_project.call("container.search", containerType="task", tags="money").items)
    ) == {
        "print",
        "sell",
    }
    assert filled_project.call("container.search", containerType="task").count == 6


def test_pages_joined_are_everything_once(filled_project: ContainersClient) -> None:
    pages: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = filled_project.call("container.search", containerType="task", limit=2, offset=offset)
        assert (page.count, page.limit, page.offset) == (6, 2, offset)
        pages += filled_project.names(page.items)
        offset = page.next_offset
    assert len(pages) == len(set(pages)) == 6
    behind = filled_project.call("container.search", containerType="task", offset=6)
    assert (behind.items, behind.count, behind.next_offset) == ([], 6, UNSET)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "limit 0": ({"containerType": "task", "limit": 0}, "limit"),
    "limit 101": ({"containerType": "task", "limit": 101}, "limit"),
    "a negative offset": ({"containerType": "task", "offset": -1}, "offset"),
    "no status": ({"containerType": "task", "projectId": "atlas", "status": "DONE"}, "status"),
    "a status of features": ({"containerType": "task", "projectId": "atlas", "status": "READY_TO_PROD"}, "status"),
    "no priority": ({"containerType": "task", "priority": "MOST"}, "priority"),
    "a priority of projects": ({"containerType": "project", "priority": "LOW"}, "priority"),
    "a feature of features": ({"containerType": "feature", "featureId": "@coast"}, "featureId"),
    "33 words": ({"containerType": "task", "query": "word " * 33}, "query"),
    "51 tags": ({"containerType": "task", "tags": [str(one) for one in range(51)]}, "tags"),
}


def test_a_question_that_makes_no_sense_is_refused_with_its_field(filled_project: ContainersClient) -> None:
    for what, (asked, field) in BAD.items():
        error = error_of(partial(filled_project.call, "container.search", **filled_project.insert_ids(asked)))
        assert isinstance(error, Invalid), (what, error)
        assert error.details["field"] == field, what


def test_what_one_may_not_see_is_never_found_nor_counted(filled_project: ContainersClient) -> None:
    filled_project.call("member.add", scopeId="shop", userId="cleo", role="viewer")
    cleo = filled_project.by(person("cleo"))

    assert filled_project.names(cleo.call("container.search", containerType="task").items) == ["sell"]
    assert cleo.call("container.search", containerType="task", tags="paper").count == 0
    assert [one.name for one in cleo.call("container.search", containerType="project").items] == ["shop"]
    assert cleo.call("container.overview", containerType="feature").count == 0
    hidden: list[tuple[str, dict[str, Any]]] = [
        ("container.search", {"containerType": "task", "projectId": "atlas"}),
        ("container.search", {"containerType": "task", "featureId": filled_project["coast"]}),
        ("container.overview", {"containerType": "feature", "id": filled_project["coast"]}),
        ("container.overview", {"containerType": "project", "id": "atlas"}),
        ("container.get", {"containerType": "task", "id": filled_project["draw"]}),
        ("container.workflow_state", {"containerType": "task", "id": filled_project["draw"]}),
        ("container.dependencies", {"containerType": "task", "id": filled_project["draw"]}),
        ("container.update", {"containerType": "task", "id": filled_project["draw"], "version": 1, "title": "x"}),
        ("container.delete", {"containerType": "task", "id": filled_project["draw"], "version": 1}),
        ("container.advance", {"containerType": "task", "id": filled_project["draw"], "version": 1}),
        ("dependency.create", {"fromId": filled_project["draw"], "toId": filled_project["sell"]}),
        ("dependency.create", {"fromId": filled_project["sell"], "toId": filled_project["draw"]}),
    ]
    for operation, asked in hidden:
        error = error_of(partial(cleo.call, operation, **asked))
        if operation == "dependency.create" and asked["fromId"] == filled_project["sell"]:
            continue  # a viewer may not connect at all
        assert isinstance(error, NotFound), (operation, error)


def test_a_viewer_reads_and_changes_nothing(filled_project: ContainersClient) -> None:
    filled_project.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    cleo = filled_project.by(person("cleo"))

    assert cleo.status("draw") == "ACTIVE"
    for call in (cleo.advance, cleo.revert, cleo.terminate, cleo.hold, cleo.delete):
        assert error_of(partial(call, "draw")).code == "forbidden"
    assert error_of(lambda: cleo.task("new")).code == "forbidden"
    assert error_of(lambda: cleo.change("draw", title="x")).code == "forbidden"


# --- Long answers ---

CAP = 2_000


def test_long_answers_are_cut_to_the_cap_and_say_where_they_go_on(client: ContainersClient) -> None:
    client.feature("coast")
    for place in range(12):
        client.task(f"t{place}", of="coast", description="d" * 1500)
        client.hold(f"t{place}", "r" * 500)
    capped = client.with_cap(CAP)

    found: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = capped.call("container.search", containerType="task", projectId="atlas", offset=offset)
        assert count_tokens(encode(page)) <= CAP
        found += client.names(page.items)
        offset = page.next_offset
    assert found == [f"t{place}" for place in range(12)]
    blocked = capped.call("container.blocked_tasks", projectId="atlas")
    assert count_tokens(encode(blocked)) <= CAP
    assert (blocked.count, len(blocked.items)) == (12, blocked.next_offset)


@pytest.mark.parametrize("kind", ["project", "feature"])
def test_an_overview_is_cut_to_the_cap_and_its_pages_are_everything(client: ContainersClient, kind: str) -> None:
    names = [f"{place} {'n' * 240}" for place in range(30)]
    client.feature("coast")
    if kind == "feature":
        client.plan("\n".join(names), under="coast")
    else:
        for name in names:
            client.feature(name)
    asked = {"containerType": kind, "id": client["coast"] if kind == "feature" else "atlas", "limit": 100}
    capped = client.with_cap(CAP)

    found: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = capped.call("container.overview", **asked, offset=offset)
        assert count_tokens(encode(page)) <= CAP
        found += client.names(page.tasks if kind == "feature" else page.features)
        offset = page.next_offset
    assert [name for name in found if name != "coast"] == names


def test_one_very_long_task_is_found_listed_and_got_under_the_cap_of_every_answer(client: ContainersClient) -> None:
    client.task("walk", summary="s" * 16_000, description="d" * 16_000)
    client.hold("walk", "r" * 4_000)
    capped = client.with_cap(20_000)

    for page in (
        capped.call("container.search", containerType="task", projectId="atlas"),
        capped.call("container.blocked_tasks", projectId="atlas"),
        capped.call("container.get", containerType="task", id=client["walk"]),
    ):
        assert count_tokens(encode(page)) <= 20_000


# --- Counts ---


def test_counts_are_exact_through_all_moves_in_both_dialects(client: ContainersClient, clock: ManualClock) -> None:
    client.feature("coast")
    client.tasks("a", "b", "c", of="coast")
    client.plan("d", under="coast", each={"d": {"properties": {"mine": True}}})

    def both(**counts: int) -> None:
        assert client.count_by_status("coast") == client.count_by_status() == counts
        shown = client.call("container.overview", containerType="project", id="atlas")
        assert shown.features[0].task_counts.by_status == shown.task_counts.by_status == counts
        for status, count in counts.items():
            assert len(client.search(status=status)) == count

    both(NEW=4)
    client.advance("a")
    both(NEW=3, ACTIVE=1)
    assert client.by("ben").claim(filter={"mine": True}) == ["d"]
    both(NEW=2, ACTIVE=2)
    clock.move(hours=1)
    both(NEW=3, ACTIVE=1)  # a claim expires, the status stays
    client.advance("a")
    both(NEW=3, TO_BE_TESTED=1)
    client.resolve("a")
    both(NEW=3, CLOSED=1)
    client.drop("b")
    both(NEW=2, CLOSED=1, WILL_NOT_IMPLEMENT=1)
    client.reopen("b")
    both(NEW=3, CLOSED=1)
    client.revert("a")
    both(NEW=3, TO_BE_TESTED=1)
    client.merge("d", "c")
    both(NEW=2, TO_BE_TESTED=1)
    client.terminate("coast")
    both(WILL_NOT_IMPLEMENT=3)
    client.plan("e", under="a")
    both(NEW=2, WILL_NOT_IMPLEMENT=2)
