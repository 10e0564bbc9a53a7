"""Tags are counted wherever they are used, and what has one is named."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.errors import Invalid, NotFound
from groundplan.kernel.output_gate import count_tokens, encode
from groundplan.work.containers.tags import list as listing
from groundplan.work.containers.tags import usage
from tests.work.cases import try_each
from tests.work.containers.tags.desk import Tags, told
from tests.work.desk import refused

CAP = 1_000


@pytest.fixture
def tagged(desk: Tags, other: Tags) -> Tags:
    """Atlas with tags on all four things that have some; borealis with one of them too."""
    desk.task("root", "coast")
    desk.feature("map", "coast", "print")
    desk.task("walk", "coast", "north")
    desk.task("draw", "print")
    desk.section("walk", "Notes", "coast", "Draft")
    desk.section("root", "Why", "coast")
    other.task("fly", "coast", "Sky")
    return desk


def test_tags_are_told_most_used_first_then_by_name_across_all_projects(tagged: Tags) -> None:
    assert list(tagged.counts().items()) == [("coast", 6), ("print", 2), ("Draft", 1), ("Sky", 1), ("north", 1)]
    assert told(tagged.run(listing.OPERATION))["tags"][0] == {"tag": "coast", "count": 6}


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
    tagged: Tags, entity_type: str, counts: dict[str, int]
) -> None:
    assert tagged.counts(entityType=entity_type) == counts


def test_tags_of_one_project_are_those_of_that_project(tagged: Tags) -> None:
    assert tagged.counts(projectId="borealis") == {"coast": 1, "Sky": 1}
    assert tagged.counts(projectId=tagged.ids["atlas"], entityType="TASK") == {"coast": 1, "north": 1, "print": 1}


def test_a_project_without_tags_has_an_empty_list(desk: Tags) -> None:
    assert told(desk.run(listing.OPERATION)) == {"tags": [], "count": 0}
    assert desk.counts(projectId="atlas") == {}


def test_the_usage_of_a_tag_names_all_that_has_it(tagged: Tags) -> None:
    answer = told(tagged.run(usage.OPERATION, tag=" coast "))

    atlas = tagged.ids["atlas"]
    assert (answer["tag"], answer["count"], "left_out" in answer) == ("coast", 6, False)
    mine = [one for one in answer["entities"] if one["projectId"] == atlas]
    assert mine == [
        {"id": atlas, "type": "PROJECT", "title": "atlas", "projectId": atlas},
        {"id": tagged.ids["map"], "type": "FEATURE", "title": "map", "projectId": atlas},
        {"id": tagged.ids["walk"], "type": "TASK", "title": "walk", "projectId": atlas},
        {"id": tagged.ids["Why"], "type": "SECTION", "title": "Why", "projectId": atlas},
        {"id": tagged.ids["Notes"], "type": "SECTION", "title": "Notes", "projectId": atlas},
    ]
    assert [one["title"] for one in answer["entities"] if one not in mine] == ["fly"]
    assert tagged.usage("print", projectId="atlas") == [("FEATURE", "map"), ("TASK", "draw")]


def test_case_matters_and_an_unknown_tag_is_not_found_with_what_was_probably_meant(tagged: Tags) -> None:
    for tag, near in (("Coast", ["coast"]), ("coats", ["coast"]), ("draft", ["Draft"]), ("zzz", [])):
        error = refused(partial(tagged.usage, tag))
        assert isinstance(error, NotFound)
        assert (error.details["field"], error.details.get("near", [])) == ("tag", near)


def test_a_tag_of_another_project_is_not_found_in_this_one(tagged: Tags) -> None:
    error = refused(lambda: tagged.usage("Sky", projectId="atlas"))

    assert isinstance(error, NotFound)
    assert "near" not in error.details


def test_archived_projects_count_only_where_they_are_named(tagged: Tags) -> None:
    tagged.session.call("project.archive", project="borealis")

    assert "Sky" not in tagged.counts()
    assert tagged.counts(projectId="borealis") == {"coast": 1, "Sky": 1}
    assert isinstance(refused(lambda: tagged.usage("Sky")), NotFound)


@try_each(("given", "field"), [({"entityType": "EPIC"}, "entityType"), ({"tag": "x"}, "tag")])
def test_what_a_list_cannot_be_asked_is_refused(desk: Tags, given: dict[str, str], field: str) -> None:
    error = refused(lambda: desk.counts(**given))

    assert isinstance(error, Invalid)
    assert error.details["field"] == field


@try_each("tag", ["", "x" * 256])
def test_a_tag_that_cannot_be_one_is_refused(desk: Tags, tag: str) -> None:
    error = refused(lambda: desk.usage(tag))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "tag"


def test_text_that_means_something_to_a_database_is_only_text(desk: Tags) -> None:
    odd = ["100%", "a_b", "it's", '"quoted"', "[x", "Ünïcode", "日本"]
    desk.task("walk", *odd)

    assert desk.counts() == dict.fromkeys(sorted(odd), 1)
    for tag in odd:
        assert desk.usage(tag) == [("TASK", "walk")]
    assert refused(lambda: desk.usage("100_")).details["near"] == ["100%"]


def test_usage_names_a_hundred_and_counts_them_all(desk: Tags) -> None:
    desk.crowd(102, "coast")
    desk.section("root", "Notes", "coast")

    answer = desk.run(usage.OPERATION, tag="coast")

    assert (answer.count, len(answer.entities), answer.left_out) == (103, 100, {"entities": 3})
    shortened = desk.capped(CAP).run(usage.OPERATION, tag="coast")
    assert count_tokens(encode({"success": True, "data": shortened})) <= CAP
    assert (shortened.count, len(shortened.entities) + shortened.left_out["entities"]) == (103, 103)


def test_a_long_list_of_tags_is_cut_and_says_how_many_are_missing(desk: Tags) -> None:
    desk.task("walk", *(f"{n:x>100}" for n in range(50)))

    answer = desk.capped(CAP).run(listing.OPERATION)

    assert count_tokens(encode({"success": True, "data": answer})) <= CAP
    assert 0 < len(answer.tags) == 50 - answer.left_out["tags"]
    assert answer.count == 50
