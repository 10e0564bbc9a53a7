"""Sections are added last or at a free ordinal, one or many at once; a refused request adds none."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.errors import GroundplanError, Invalid
from groundplan.work.containers.sections.section import CONTENT_BYTES_MAX, USAGE_BYTES_MAX
from groundplan.work.requests import SECTIONS_MAX
from tests.answers import to_json
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.sections.client import NOW, NOWHERE, SectionsClient


def field(error: GroundplanError) -> tuple[str, str | None]:
    return error.code, error.details.get("field")


def test_a_section_is_told_with_every_key_of_the_contract(client: SectionsClient) -> None:
    made = client.add("  Notes ", content="Low tide at nine.\n", tags=["tide", "coast", "tide"], usageDescription="Why")

    assert to_json(made) == {
        "id": made.id,
        "entityType": "TASK",
        "entityId": client["walk"],
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
    assert client.list_sections().sections == [made]


@pytest.mark.parametrize(("container", "entity_type"), [("atlas", "PROJECT"), ("coast", "FEATURE"), ("walk", "TASK")])
def test_projects_features_and_tasks_have_sections(client: SectionsClient, container: str, entity_type: str) -> None:
    made = client.add("Notes", to=container)

    assert (made.entity_type, made.entity_id) == (entity_type, client[container])
    assert client.titles(container) == ["Notes"]
    assert [op for op, _, _ in client.history(container)] == ["work.section_added"]


def test_a_project_is_addressed_by_its_name_too(client: SectionsClient) -> None:
    made = client.add("Notes", to="atlas", entityId="atlas")

    assert made.entity_id == client["atlas"]


def test_without_an_ordinal_a_section_stands_behind_the_last(client: SectionsClient) -> None:
    client.add("First", ordinal=7)
    client.add("Second")
    client.add("Before", ordinal=3)

    assert client.positions() == {"Before": (3, 1), "First": (7, 1), "Second": (8, 1)}


def test_a_place_that_is_taken_is_refused_and_the_next_free_one_named(three_sections: SectionsClient) -> None:
    three_sections.add("Four", ordinal=4)
    before = three_sections.rows()

    error = error_of(lambda: three_sections.add("Five", ordinal=1))

    assert isinstance(error, Invalid)
    assert field(error) == ("ordinal_taken", "ordinal")
    assert (error.details["sectionId"], error.details["free"]) == (three_sections["Two"], 3)
    assert "'Two'" in error.message
    assert three_sections.rows() == before


def test_a_section_of_another_container_takes_no_place(three_sections: SectionsClient) -> None:
    assert three_sections.add("Elsewhere", to="draw", ordinal=1).ordinal == 1
    assert three_sections.add("On the feature", to="coast").ordinal == 0


def test_the_version_of_the_container_stays(client: SectionsClient) -> None:
    version = f"SELECT rev FROM work_nodes WHERE id = '{client['walk']}'"
    before = client.engine.as_owner(version)

    client.add("Notes")
    client.update("Notes", title="Tides")
    client.delete("Notes")

    assert client.engine.as_owner(version) == before


def test_history_has_all_that_a_section_says(client: SectionsClient) -> None:
    client.add("Notes", content="x", tags="b,a", contentFormat="CODE", ordinal=2)

    assert client.history() == [
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
def test_what_cannot_be_is_refused_with_its_field(client: SectionsClient, what: str) -> None:
    given, expected = WRONG[what]
    before = client.rows()

    error = error_of(lambda: client.add("Notes", **given))

    assert isinstance(error, Invalid)
    assert field(error) == expected
    assert client.rows() == before


@pytest.mark.parametrize("content", ["", "{}", '{"a": [1, 2.5e400, null]}', "9" * 5_000])
def test_json_is_taken_as_it_is_written(client: SectionsClient, content: str) -> None:
    assert client.add("Notes", contentFormat="JSON", content=content).content == content


def test_what_is_as_long_as_it_may_be_is_kept(client: SectionsClient) -> None:
    longest = {"usageDescription": "ü" * (USAGE_BYTES_MAX // 2), "content": "ü" * (CONTENT_BYTES_MAX // 2)}

    client.add("ü" * 255, **longest, tags=[f"{n:0100}" for n in range(50)])

    (kept,) = client.list_sections().sections
    assert (len(kept.title), len(kept.usage_description), len(kept.content), len(kept.tags)) == (255, 2048, 16384, 50)


@try_each(
    ("given", "thing"),
    [
        ({"entityId": "nowhere"}, "task"),
        ({"entityType": "FEATURE"}, "feature"),
        ({"entityType": "PROJECT", "entityId": "nowhere"}, "project"),
    ],
)
def test_a_container_that_is_not_there_is_not_found(client: SectionsClient, given: dict[str, Any], thing: str) -> None:
    error = error_of(lambda: client.add("Notes", **given))

    assert (error.code, error.details["thing"]) == ("not_found", thing)
    assert thing == "project" or error.details["field"] == "entityId"


def test_many_are_added_in_their_order_or_where_they_ask(three_sections: SectionsClient) -> None:
    made = three_sections.bulk(
        {"title": "Four"},
        {"title": "Nine", "ordinal": 9, "tags": ["a"]},
        {"title": "Five", "contentFormat": "JSON", "content": "[]"},
    )

    assert made.count == 3
    assert [(one.title, one.ordinal) for one in made.sections] == [("Four", 10), ("Nine", 9), ("Five", 11)]
    assert three_sections.titles() == ["One", "Two", "Three", "Nine", "Four", "Five"]
    assert three_sections.read("Nine").tags == ["a"]


def test_many_may_come_as_a_string(client: SectionsClient) -> None:
    client.call("bulk_create", **client.of("walk"), sections='[{"title": "One"}, {"title": "Two", "tags": "a,b"}]')

    assert [(one.title, one.tags) for one in client.list_sections().sections] == [("One", []), ("Two", ["a", "b"])]


@pytest.fixture
def section_zero(client: SectionsClient) -> SectionsClient:
    """The client; walk has the section Zero."""
    client.add("Zero")
    return client


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
def test_of_many_all_are_added_or_none(
    section_zero: SectionsClient, third: dict[str, Any], expected: tuple[str, str]
) -> None:
    before = section_zero.rows()

    error = error_of(lambda: section_zero.bulk({"title": "One"}, {"title": "Two", "ordinal": 5}, third))

    assert isinstance(error, Invalid)
    assert field(error) == expected
    assert section_zero.rows() == before


def test_two_that_ask_for_one_place_are_told_of_each_other(client: SectionsClient) -> None:
    error = error_of(lambda: client.bulk({"title": "One", "ordinal": 3}, {"title": "Two", "ordinal": 3}))

    assert "sections[0]" in error.message
    assert error.details["free"] == 4


@pytest.mark.parametrize(("number", "allowed"), [(0, False), (50, True), (51, False)])
def test_one_to_fifty_are_added_in_one_call(client: SectionsClient, number: int, allowed: bool) -> None:
    def add() -> Any:
        return client.bulk(*({"title": f"s{place}"} for place in range(number)))

    if allowed:
        assert add().count == number
    else:
        assert error_of(add).details["field"] == "sections"


def test_a_container_has_a_hundred_sections_at_most(client: SectionsClient) -> None:
    for _ in range(2):
        client.bulk(*({"title": f"s{place}"} for place in range(50)))
    assert SECTIONS_MAX == client.list_sections().count == 100
    before = client.rows()

    error = error_of(lambda: client.add("One more"))

    assert isinstance(error, Invalid)
    assert (error.code, error.details["limit"]) == ("too_many_sections", 100)
    assert client.rows() == before
    assert client.add("Elsewhere", to="draw").ordinal == 0
