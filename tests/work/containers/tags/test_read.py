"""Tags are counted on everything that has them, and the usage of a tag is listed."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.errors import Invalid, NotFound
from groundplan.work.containers import tags
from groundplan.work.containers import tags as listing
from tests.answers import to_json
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.tags.client import TagsClient

CAP = 1_000


@pytest.fixture
def tagged_project(client: TagsClient, other_project: TagsClient) -> TagsClient:
    """Atlas with tags on a project, a feature, tasks and sections; borealis with one of these tags."""
    client.task("root", "coast")
    client.feature("map", "coast", "print")
    client.task("walk", "coast", "north")
    client.task("draw", "print")
    client.section("walk", "Notes", "coast", "Draft")
    client.section("root", "Why", "coast")
    other_project.task("fly", "coast", "Sky")
    return client


def test_tags_are_told_most_used_first_then_by_name_across_all_projects(tagged_project: TagsClient) -> None:
    assert list(tagged_project.counts().items()) == [("coast", 6), ("print", 2), ("Draft", 1), ("Sky", 1), ("north", 1)]
    assert to_json(tagged_project.run(listing.LIST))["tags"][0] == {"tag": "coast", "count": 6}


@pytest.mark.parametrize(
    ("entity_type", "counts"),
    [
        ("PROJECT", {"coast": 1}),
        ("FEATURE", {"coast": 1, "print": 1}),
        ("TASK", {"coast": 2, "Sky": 1, "north": 1, "print": 1}),
        ("SECTION", {"coast": 2, "Draft": 1}),
    ],
)
def test_tags_of_one_type_count_what_has_that_type_and_a_node_without_a_kind_is_a_task(
    tagged_project: TagsClient, entity_type: str, counts: dict[str, int]
) -> None:
    assert tagged_project.counts(entityType=entity_type) == counts


def test_tags_of_one_project_are_those_of_that_project(tagged_project: TagsClient) -> None:
    assert tagged_project.counts(projectId="borealis") == {"coast": 1, "Sky": 1}
    assert tagged_project.counts(projectId=tagged_project.ids["atlas"], entityType="TASK") == {
        "coast": 1,
        "north": 1,
        "print": 1,
    }


def test_a_project_without_tags_has_an_empty_list(client: TagsClient) -> None:
    assert to_json(client.run(listing.LIST)) == {"tags": [], "count": 0}
    assert client.counts(projectId="atlas") == {}


def test_the_usage_of_a_tag_names_all_that_has_it(tagged_project: TagsClient) -> None:
    answer = to_json(tagged_project.run(tags.USAGE, tag=" coast "))

    atlas = tagged_project.ids["atlas"]
    assert (answer["tag"], answer["count"], "left_out" in answer) == ("coast", 6, False)
    mine = [one for one in answer["entities"] if one["projectId"] == atlas]
    assert mine == [
        {"id": atlas, "type": "PROJECT", "title": "atlas", "projectId": atlas},
        {"id": tagged_project.ids["map"], "type": "FEATURE", "title": "map", "projectId": atlas},
        {"id": tagged_project.ids["walk"], "type": "TASK", "title": "walk", "projectId": atlas},
        {"id": tagged_project.ids["Why"], "type": "SECTION", "title": "Why", "projectId": atlas},
        {"id": tagged_project.ids["Notes"], "type": "SECTION", "title": "Notes", "projectId": atlas},
    ]
    assert [one["title"] for one in answer["entities"] if one not in mine] == ["fly"]
    assert tagged_project.usage("print", projectId="atlas") == [("FEATURE", "map"), ("TASK", "draw")]


def test_case_matters_and_an_unknown_tag_is_not_found_with_what_was_probably_meant(tagged_project: TagsClient) -> None:
    for tag, near in (("Coast", ["coast"]), ("coats", ["coast"]), ("draft", ["Draft"]), ("zzz", [])):
        error = error_of(partial(tagged_project.usage, tag))
        assert isinstance(error, NotFound)
        assert (error.details["field"], error.details.get("near", [])) == ("tag", near)


def test_a_tag_of_another_project_is_not_found_in_this_one(tagged_project: TagsClient) -> None:
    error = error_of(lambda: tagged_project.usage("Sky", projectId="atlas"))

    assert isinstance(error, NotFound)
    assert "near" not in error.details


def test_archived_projects_count_only_where_they_are_named(tagged_project: TagsClient) -> None:
    tagged_project.session.call("project.archive", project="borealis")

    assert "Sky" not in tagged_project.counts()
    assert tagged_project.counts(projectId="borealis") == {"coast": 1, "Sky": 1}
    assert isinstance(error_of(lambda: tagged_project.usage("Sky")), NotFound)


@try_each(("given", "field"), [({"entityType": "EPIC"}, "entityType"), ({"tag": "x"}, "tag")])
def test_what_a_list_cannot_be_asked_is_refused(client: TagsClient, given: dict[str, str], field: str) -> None:
    error = error_of(lambda: client.counts(**given))

    assert isinstance(error, Invalid)
    assert error.details["field"] == field


@try_each("tag", ["", "x" * 256])
def test_a_tag_that_cannot_be_one_is_refused(client: TagsClient, tag: str) -> None:
    error = error_of(lambda: client.usage(tag))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "tag"


def test_text_that_means_something_to_a_database_is_only_text(client: TagsClient) -> None:
    odd = ["100%", "a_b", "it's", '"quoted"', "[x", "Ünïcode", "日本"]
    client.task("walk", *odd)

    assert client.counts() == dict.fromkeys(sorted(odd), 1)
    for tag in odd:
        assert client.usage(tag) == [("TASK", "walk")]
    assert error_of(lambda: client.usage("100_")).details["near"] == ["100%"]


def test_usage_names_a_hundred_and_counts_them_all(client: TagsClient) -> None:
    client.plan_many(102, "coast")
    client.section("root", "Notes", "coast")

    answer = client.run(tags.USAGE, tag="coast")

    assert (answer.count, len(answer.entities), answer.left_out) == (103, 100, {"entities": 3})
    shortened = client.with_cap(CAP).run(tags.USAGE, tag="coast")
    assert count_tokens(encode({"success": True, "data": shortened})) <= CAP
    assert (shortened.count, len(shortened.entities) + shortened.left_out["entities"]) == (103, 103)


def test_a_long_list_of_tags_is_cut_and_says_how_many_are_missing(client: TagsClient) -> None:
    client.task("walk", *(f"{n:x>100}" for n in range(50)))

    answer = client.with_cap(CAP).run(listing.LIST)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert 0 < len(answer.tags) == 50 - answer.left_out["tags"]
    assert answer.count == 50
