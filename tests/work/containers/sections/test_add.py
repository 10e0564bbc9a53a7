"""Sections are added behind the last one or at a free place, one by one or many at once, and nothing when refused."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.work.containers.sections.requests import CONTENT_BYTES_MAX, USAGE_BYTES_MAX
from groundplan.work.requests import SECTIONS_MAX
from tests.work.cases import try_each
from tests.work.containers.sections.desk import NOW, NOWHERE, Sections, told
from tests.work.desk import refused


def field(error: GroundplanError) -> tuple[str, str | None]:
    return error.code, error.details.get("field")


def test_a_section_is_told_with_every_key_of_the_contract(desk: Sections) -> None:
    made = desk.add("  Notes ", content="Low tide at nine.\n", tags=["tide", "coast", "tide"], usageDescription="Why")

    assert told(made) == {
        "id": made.id,
        "entityType": "TASK",
        "entityId": desk["walk"],
        "title": "Notes",
        "usageDescription": "Why",
        "content": "Low tide at nine.\n",
        "contentFormat": "MARKDOWN",
        "ordinal": 0,
        "tags": ["coast", "tide"],
        "version": 1,
        "createdAt": NOW,
        "modifiedAt": NOW,
    }
    assert desk.listed().sections == [made]


@pytest.mark.parametrize(("container", "entity_type"), [("atlas", "PROJECT"), ("coast", "FEATURE"), ("walk", "TASK")])
def test_projects_features_and_tasks_have_sections(desk: Sections, container: str, entity_type: str) -> None:
    made = desk.add("Notes", to=container)

    assert (made.entity_type, made.entity_id) == (entity_type, desk[container])
    assert desk.titles(container) == ["Notes"]
    assert [op for op, _, _ in desk.history(container)] == ["work.section_added"]


def test_a_project_is_addressed_by_its_name_too(desk: Sections) -> None:
    made = desk.add("Notes", to="atlas", entityId="atlas")

    assert made.entity_id == desk["atlas"]


def test_without_an_ordinal_a_section_stands_behind_the_last(desk: Sections) -> None:
    desk.add("First", ordinal=7)
    desk.add("Second")
    desk.add("Before", ordinal=3)

    assert desk.places() == {"Before": (3, 1), "First": (7, 1), "Second": (8, 1)}


def test_a_place_that_is_taken_is_refused_and_the_next_free_one_named(three: Sections) -> None:
    three.add("Four", ordinal=4)
    before = three.rows()

    error = refused(lambda: three.add("Five", ordinal=1))

    assert isinstance(error, Invalid)
    assert field(error) == ("ordinal_taken", "ordinal")
    assert (error.details["sectionId"], error.details["free"]) == (three["Two"], 3)
    assert "'Two'" in error.message
    assert three.rows() == before


def test_a_section_of_another_container_takes_no_place(three: Sections) -> None:
    assert three.add("Elsewhere", to="draw", ordinal=1).ordinal == 1
    assert three.add("On the feature", to="coast").ordinal == 0


def test_the_version_of_the_container_stays(desk: Sections) -> None:
    version = f"SELECT rev FROM work_nodes WHERE id = '{desk['walk']}'"
    before = desk.engine.as_owner(version)

    desk.add("Notes")
    desk.update("Notes", title="Tides")
    desk.delete("Notes")

    assert desk.engine.as_owner(version) == before


def test_history_has_all_that_a_section_says(desk: Sections) -> None:
    desk.add("Notes", content="x", tags="b,a", contentFormat="CODE", ordinal=2)

    assert desk.history() == [
        (
            "work.section_added",
            None,
            {
                "ordinal": 2,
                "title": "Notes",
                "usage_description": "",
                "content_format": "CODE",
                "content": "x",
                "tags": ["a", "b"],
            },
        )
    ]


WRONG: dict[str, tuple[dict[str, Any], tuple[str, str]]] = {
    "no title": ({"title": " "}, ("invalid_argument", "title")),
    "a title that is too long": ({"title": "ü" * 256}, ("too_long", "title")),
    "a use that is too long": (
        {"usageDescription": "ü" * (USAGE_BYTES_MAX // 2 + 1)},
        ("too_long", "usageDescription"),
    ),
    "content that is too long": ({"content": "ü" * (CONTENT_BYTES_MAX // 2 + 1)}, ("too_long", "content")),
    "an unknown format": ({"contentFormat": "HTML"}, ("invalid_argument", "contentFormat")),
    "JSON that is none": ({"contentFormat": "JSON", "content": "{a: 1}"}, ("invalid_json", "content")),
    "a number that is none": ({"contentFormat": "JSON", "content": "NaN"}, ("invalid_json", "content")),
    "JSON without an end": ({"contentFormat": "JSON", "content": "[" * 32_768}, ("invalid_json", "content")),
    "51 tags": ({"tags": [f"t{n}" for n in range(51)]}, ("too_many", "tags")),
    "a tag that is too long": ({"tags": "x" * 101}, ("too_long", "tags")),
    "an ordinal below nothing": ({"ordinal": -1}, ("invalid_argument", "ordinal")),
    "an unknown type": ({"entityType": "NODE"}, ("invalid_argument", "entityType")),
    "something unknown": ({"summary": "x"}, ("unknown_argument", "summary")),
}


@try_each("what", WRONG)
def test_what_cannot_be_is_refused_with_its_field(desk: Sections, what: str) -> None:
    given, expected = WRONG[what]
    before = desk.rows()

    error = refused(lambda: desk.add("Notes", **given))

    assert isinstance(error, Invalid)
    assert field(error) == expected
    assert desk.rows() == before


@pytest.mark.parametrize("content", ["", "{}", '{"a": [1, 2.5e400, null]}', "9" * 5_000])
def test_json_is_taken_as_it_is_written(desk: Sections, content: str) -> None:
    assert desk.add("Notes", contentFormat="JSON", content=content).content == content


def test_what_is_as_long_as_it_may_be_is_kept(desk: Sections) -> None:
    longest = {"usageDescription": "ü" * (USAGE_BYTES_MAX // 2), "content": "ü" * (CONTENT_BYTES_MAX // 2)}

    desk.add("ü" * 255, **longest, tags=[f"{n:0100}" for n in range(50)])

    (kept,) = desk.listed().sections
    assert (len(kept.title), len(kept.usage_description), len(kept.content), len(kept.tags)) == (255, 2048, 16384, 50)


@try_each(
    ("given", "thing"),
    [
        ({"entityId": "nowhere"}, "task"),
        ({"entityType": "FEATURE"}, "feature"),
        ({"entityType": "PROJECT", "entityId": "nowhere"}, "project"),
    ],
)
def test_a_container_that_is_not_there_is_not_found(desk: Sections, given: dict[str, Any], thing: str) -> None:
    error = refused(lambda: desk.add("Notes", **given))

    assert (error.code, error.details["thing"]) == ("not_found", thing)
    assert thing == "project" or error.details["field"] == "entityId"


def test_many_are_added_in_their_order_or_where_they_ask(three: Sections) -> None:
    made = three.bulk(
        {"title": "Four"},
        {"title": "Nine", "ordinal": 9, "tags": ["a"]},
        {"title": "Five", "contentFormat": "JSON", "content": "[]"},
    )

    assert made.count == 3
    assert [(one.title, one.ordinal) for one in made.sections] == [("Four", 10), ("Nine", 9), ("Five", 11)]
    assert three.titles() == ["One", "Two", "Three", "Nine", "Four", "Five"]
    assert three.read("Nine").tags == ["a"]


def test_many_may_come_as_a_string(desk: Sections) -> None:
    desk.call("bulk_create", **desk.of("walk"), sections='[{"title": "One"}, {"title": "Two", "tags": "a,b"}]')

    assert [(one.title, one.tags) for one in desk.listed().sections] == [("One", []), ("Two", ["a", "b"])]


@pytest.fixture
def zero(desk: Sections) -> Sections:
    """The desk, and walk has the section Zero."""
    desk.add("Zero")
    return desk


@try_each(
    ("third", "expected"),
    [
        ({"title": ""}, ("invalid_argument", "sections[2].title")),
        ({}, ("missing_argument", "sections[2].title")),
        ({"title": "x", "content": "ü" * 20_000}, ("too_long", "sections[2].content")),
        ({"title": "x", "contentFormat": "JSON", "content": "x"}, ("invalid_json", "sections[2].content")),
        ({"title": "x", "tags": ["x" * 101]}, ("too_long", "sections[2].tags")),
        ({"title": "x", "ordinal": 0}, ("ordinal_taken", "sections[2].ordinal")),
        ({"title": "x", "ordinal": 5}, ("ordinal_taken", "sections[2].ordinal")),
        ({"title": "x", "id": NOWHERE}, ("unknown_argument", "sections[2].id")),
    ],
)
def test_of_many_all_are_added_or_none(zero: Sections, third: dict[str, Any], expected: tuple[str, str]) -> None:
    before = zero.rows()

    error = refused(lambda: zero.bulk({"title": "One"}, {"title": "Two", "ordinal": 5}, third))

    assert isinstance(error, Invalid)
    assert field(error) == expected
    assert zero.rows() == before


def test_two_that_ask_for_one_place_are_told_of_each_other(desk: Sections) -> None:
    error = refused(lambda: desk.bulk({"title": "One", "ordinal": 3}, {"title": "Two", "ordinal": 3}))

    assert "sections[0]" in error.message
    assert error.details["free"] == 4


@pytest.mark.parametrize(("number", "allowed"), [(0, False), (50, True), (51, False)])
def test_one_to_fifty_are_added_in_one_call(desk: Sections, number: int, allowed: bool) -> None:
    def add() -> Any:
        return desk.bulk(*({"title": f"s{place}"} for place in range(number)))

    if allowed:
        assert add().count == number
    else:
        assert refused(add).details["field"] == "sections"


def test_a_container_has_a_hundred_sections_at_most(desk: Sections) -> None:
    for _ in range(2):
        desk.bulk(*({"title": f"s{place}"} for place in range(50)))
    assert SECTIONS_MAX == desk.listed().count == 100
    before = desk.rows()

    error = refused(lambda: desk.add("One more"))

    assert isinstance(error, Invalid)
    assert (error.code, error.details["limit"]) == ("too_many_sections", 100)
    assert desk.rows() == before
    assert desk.add("Elsewhere", to="draw").ordinal == 0
