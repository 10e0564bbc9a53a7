"""What there is can be found by what it says and how it stands, page by page; what is hidden is never found."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.output_gate import count_tokens, encode
from tests.engines import person
from tests.work.containers.desk import Containers
from tests.work.desk import ManualClock, refused


@pytest.fixture
def filled(desk: Containers) -> Containers:
    """Two features with tasks at every status, one node of the graph dialect, and another project."""
    desk.feature("coast", tags="sea", summary="Beaches")
    desk.feature("hills", priority="HIGH", description="Höhe 100% of_it")
    desk.task("Walk the beach", of="coast", tags="sea,wet", description="At low TIDE, of_it.")
    desk.task("draw", of="coast", priority="HIGH", tags="paper")
    desk.task("climb", of="hills", priority="LOW", summary="Before noon")
    desk.task("print", tags="paper,money")
    desk.plan("scale", under="draw")
    desk.advance("draw")
    desk.close("climb")
    desk.terminate("print")
    shop = desk.elsewhere("shop")
    shop.task("sell", tags="money", priority="HIGH")
    return desk


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


def test_tasks_are_found_by_what_is_asked_for(filled: Containers) -> None:
    for what, (asked, names) in FOUND.items():
        meant = {"containerType": "task", "projectId": "atlas", **filled.named(asked)}
        answer = filled.call("container.search", **meant)
        assert (what, filled.names(answer.items), answer.count) == (what, names, len(names))
        if "query" not in asked:
            assert filled.names(filled.call("container.overview", **meant).items) == names, what


def test_whatever_is_found_by_priority_has_that_priority(filled: Containers) -> None:
    assert filled.found(priority="LOW") == ["climb"]


def test_features_are_found_by_what_is_asked_for(filled: Containers) -> None:
    assert filled.found("feature") == ["hills", "coast"]
    assert filled.found("feature", query="beaches") == ["coast"]
    assert filled.found("feature", query="100% OF_IT") == ["hills"]
    assert filled.found("feature", status="CLOSED") == ["hills"]
    assert filled.found("feature", tags="sea") == ["coast"]
    assert filled.found("feature", priority="HIGH") == ["hills"]


def test_projects_are_found_by_words_and_tags(filled: Containers) -> None:
    filled.change_project(tags="maps")

    def projects(**given: Any) -> list[str]:
        return [one.name for one in filled.call("container.search", containerType="project", **given).items]

    assert projects() == ["atlas", "shop"]
    assert projects(query="ATL") == ["atlas"]
    assert projects(tags="maps") == ["atlas"]
    assert projects(query="everything map") == ["atlas"]  # of its goal


def test_a_project_is_found_by_what_it_says_now(desk: Containers) -> None:
    desk.change_project(summary="Charts")

    for query, count in {"charts": 1, "everything": 0}.items():
        assert (query, desk.call("container.search", containerType="project", query=query).count) == (query, count)


def test_without_a_project_everything_that_one_sees_is_found(filled: Containers) -> None:
    assert set(filled.names(filled.call("container.search", containerType="task", tags="money").items)) == {
        "print",
        "sell",
    }
    assert filled.call("container.search", containerType="task").count == 6


def test_pages_joined_are_everything_once(filled: Containers) -> None:
    pages: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = filled.call("container.search", containerType="task", limit=2, offset=offset)
        assert (page.count, page.limit, page.offset) == (6, 2, offset)
        pages += filled.names(page.items)
        offset = page.next_offset
    assert len(pages) == len(set(pages)) == 6
    behind = filled.call("container.search", containerType="task", offset=6)
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


def test_a_question_that_makes_no_sense_is_refused_with_its_field(filled: Containers) -> None:
    for what, (asked, field) in BAD.items():
        error = refused(partial(filled.call, "container.search", **filled.named(asked)))
        assert isinstance(error, Invalid), (what, error)
        assert error.details["field"] == field, what


def test_what_one_may_not_see_is_never_found_nor_counted(filled: Containers) -> None:
    filled.call("member.add", scopeId="shop", userId="cleo", role="viewer")
    cleo = filled.by(person("cleo"))

    assert filled.names(cleo.call("container.search", containerType="task").items) == ["sell"]
    assert cleo.call("container.search", containerType="task", tags="paper").count == 0
    assert [one.name for one in cleo.call("container.search", containerType="project").items] == ["shop"]
    assert cleo.call("container.overview", containerType="feature").count == 0
    hidden: list[tuple[str, dict[str, Any]]] = [
        ("container.search", {"containerType": "task", "projectId": "atlas"}),
        ("container.search", {"containerType": "task", "featureId": filled["coast"]}),
        ("container.overview", {"containerType": "feature", "id": filled["coast"]}),
        ("container.overview", {"containerType": "project", "id": "atlas"}),
        ("container.get", {"containerType": "task", "id": filled["draw"]}),
        ("container.workflow_state", {"containerType": "task", "id": filled["draw"]}),
        ("container.dependencies", {"containerType": "task", "id": filled["draw"]}),
        ("container.update", {"containerType": "task", "id": filled["draw"], "version": 1, "title": "x"}),
        ("container.delete", {"containerType": "task", "id": filled["draw"], "version": 1}),
        ("container.advance", {"containerType": "task", "id": filled["draw"], "version": 1}),
        ("dependency.create", {"fromId": filled["draw"], "toId": filled["sell"]}),
        ("dependency.create", {"fromId": filled["sell"], "toId": filled["draw"]}),
    ]
    for operation, asked in hidden:
        error = refused(partial(cleo.call, operation, **asked))
        if operation == "dependency.create" and asked["fromId"] == filled["sell"]:
            continue  # a viewer may not connect at all
        assert isinstance(error, NotFound), (operation, error)


def test_a_viewer_reads_and_changes_nothing(filled: Containers) -> None:
    filled.call("member.add", scopeId="atlas", userId="cleo", role="viewer")
    cleo = filled.by(person("cleo"))

    assert cleo.status("draw") == "ACTIVE"
    for call in (cleo.advance, cleo.revert, cleo.terminate, cleo.hold, cleo.delete):
        assert refused(partial(call, "draw")).code == "forbidden"
    assert refused(lambda: cleo.task("new")).code == "forbidden"
    assert refused(lambda: cleo.change("draw", title="x")).code == "forbidden"


# --- Long answers ---

CAP = 2_000


def test_long_answers_are_cut_to_the_cap_and_say_where_they_go_on(desk: Containers) -> None:
    desk.feature("coast")
    for place in range(12):
        desk.task(f"t{place}", of="coast", description="d" * 1500)
        desk.hold(f"t{place}", "r" * 500)
    capped = desk.capped(CAP)

    found: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = capped.call("container.search", containerType="task", projectId="atlas", offset=offset)
        assert count_tokens(encode(page)) <= CAP
        found += desk.names(page.items)
        offset = page.next_offset
    assert found == [f"t{place}" for place in range(12)]
    blocked = capped.call("container.blocked_tasks", projectId="atlas")
    assert count_tokens(encode(blocked)) <= CAP
    assert (blocked.count, len(blocked.items)) == (12, blocked.next_offset)


@pytest.mark.parametrize("kind", ["project", "feature"])
def test_an_overview_is_cut_to_the_cap_and_its_pages_are_everything(desk: Containers, kind: str) -> None:
    names = [f"{place} {'n' * 240}" for place in range(30)]
    desk.feature("coast")
    if kind == "feature":
        desk.plan("\n".join(names), under="coast")
    else:
        for name in names:
            desk.feature(name)
    asked = {"containerType": kind, "id": desk["coast"] if kind == "feature" else "atlas", "limit": 100}
    capped = desk.capped(CAP)

    found: list[str] = []
    offset: Any = 0
    while offset is not UNSET:
        page = capped.call("container.overview", **asked, offset=offset)
        assert count_tokens(encode(page)) <= CAP
        found += desk.names(page.tasks if kind == "feature" else page.features)
        offset = page.next_offset
    assert [name for name in found if name != "coast"] == names


def test_one_very_long_task_is_found_listed_and_got_under_the_cap_of_every_answer(desk: Containers) -> None:
    desk.task("walk", summary="s" * 16_000, description="d" * 16_000)
    desk.hold("walk", "r" * 4_000)
    capped = desk.capped(20_000)

    for page in (
        capped.call("container.search", containerType="task", projectId="atlas"),
        capped.call("container.blocked_tasks", projectId="atlas"),
        capped.call("container.get", containerType="task", id=desk["walk"]),
    ):
        assert count_tokens(encode(page)) <= 20_000


# --- Counts ---


def test_counts_are_exact_through_all_moves_in_both_dialects(desk: Containers, clock: ManualClock) -> None:
    desk.feature("coast")
    desk.tasks("a", "b", "c", of="coast")
    desk.plan("d", under="coast", each={"d": {"properties": {"mine": True}}})

    def both(**counts: int) -> None:
        assert desk.counted("coast") == desk.counted() == counts
        shown = desk.call("container.overview", containerType="project", id="atlas")
        assert shown.features[0].task_counts.by_status == shown.task_counts.by_status == counts
        for status, count in counts.items():
            assert len(desk.found(status=status)) == count

    both(NEW=4)
    desk.advance("a")
    both(NEW=3, ACTIVE=1)
    assert desk.by("ben").claim(filter={"mine": True}) == ["d"]
    both(NEW=2, ACTIVE=2)
    clock.move(hours=1)
    both(NEW=3, ACTIVE=1)  # a claim ends by the clock, what was advanced stays
    desk.advance("a")
    both(NEW=3, TO_BE_TESTED=1)
    desk.resolve("a")
    both(NEW=3, CLOSED=1)
    desk.drop("b")
    both(NEW=2, CLOSED=1, WILL_NOT_IMPLEMENT=1)
    desk.reopen("b")
    both(NEW=3, CLOSED=1)
    desk.revert("a")
    both(NEW=3, TO_BE_TESTED=1)
    desk.merge("d", "c")
    both(NEW=2, TO_BE_TESTED=1)
    desk.terminate("coast")
    both(WILL_NOT_IMPLEMENT=3)
    desk.plan("e", under="a")
    both(NEW=2, WILL_NOT_IMPLEMENT=2)
