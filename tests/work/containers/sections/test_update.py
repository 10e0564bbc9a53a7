"""A section is updated at the version that was read, and each update adds one to the version."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Conflict, Invalid
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.sections.client import NOWHERE, SectionsClient


def test_every_field_can_be_changed_and_the_rest_stays(three_sections: SectionsClient, clock: ManualClock) -> None:
    before = three_sections.read("Two")
    clock.move(minutes=1)
    changes = {
        "title": "Second",
        "usageDescription": "why",
        "content": "{}",
        "contentFormat": "JSON",
        "tags": "b,a",
        "ordinal": 7,
    }

    for version, (name, value) in enumerate(changes.items(), 2):
        assert three_sections.update("Two", **{name: value}).version == version

    after = three_sections.read("Two")
    assert (after.title, after.usage_description, after.content, after.content_format) == (
        "Second",
        "why",
        "{}",
        "JSON",
    )
    assert (after.tags, after.ordinal, after.version) == (["a", "b"], 7, 7)
    assert (after.created_at, after.modified_at > before.modified_at) == (before.created_at, True)
    assert three_sections.titles() == ["One", "Three", "Second"]


def test_tags_can_be_taken_away(client: SectionsClient) -> None:
    client.add("Notes", tags="a,b")

    assert client.update("Notes", tags=["b", "c"]).tags == ["b", "c"]
    assert client.update("Notes", tags="").tags == []
    assert client.read("Notes").tags == []


def test_the_text_alone_can_be_replaced(three_sections: SectionsClient) -> None:
    changed = three_sections.update_text("Two", "something else")

    assert (changed.content, changed.title, changed.version) == ("something else", "Two", 2)
    assert (
        error_of(lambda: three_sections.call("update_text", sectionId=three_sections["Two"], version=2)).code
        == "missing_argument"
    )
    assert (
        error_of(lambda: three_sections.call("update_text", sectionId=three_sections["Two"], content="x")).code
        == "missing_argument"
    )


def test_a_stale_version_is_a_conflict_that_names_the_present_one(three_sections: SectionsClient) -> None:
    three_sections.update("Two", title="Second")
    before = three_sections.rows()

    for attempt in (
        lambda: three_sections.update("Two", version=1, title="x"),
        lambda: three_sections.update_text("Two", "x", version=1),
        lambda: three_sections.delete("Two", version=3),
    ):
        error = error_of(attempt)
        assert isinstance(error, Conflict)
        assert (error.code, error.details["currentVersion"]) == ("stale_version", 2)
    assert three_sections.rows() == before
    assert (
        error_of(lambda: three_sections.call("update", sectionId=three_sections["Two"], title="x")).details["field"]
        == "version"
    )


@try_each(
    ("changes", "code", "field"),
    [
        ({}, "invalid_argument", "arguments"),
        ({"ordinal": 0}, "ordinal_taken", "ordinal"),
        ({"title": "ü" * 256}, "too_long", "title"),
        ({"content": "x" * 32_769}, "too_long", "content"),
        ({"contentFormat": "JSON"}, "invalid_json", "contentFormat"),
        ({"contentFormat": "JSON", "content": "]"}, "invalid_json", "content"),
        ({"tags": [f"t{n}" for n in range(51)]}, "too_many", "tags"),
        ({"sectionId": "Two", "title": "x"}, "invalid_id", "sectionId"),
        ({"entityType": "FEATURE", "title": "x"}, "other_container", "entityType"),
    ],
)
def test_a_change_that_cannot_be_is_refused(
    three_sections: SectionsClient, changes: dict[str, Any], code: str, field: str
) -> None:
    before = three_sections.rows()

    error = error_of(lambda: three_sections.update("Two", **changes))

    assert isinstance(error, Invalid)
    assert (error.code, error.details["field"]) == (code, field)
    assert three_sections.rows() == before


def test_a_section_may_ask_for_the_place_it_has(three_sections: SectionsClient) -> None:
    assert three_sections.update("Two", ordinal=1, title="Second").version == 2


def test_history_has_what_changed_before_and_after(three_sections: SectionsClient) -> None:
    three_sections.update("Two", title="Second", tags="x")
    three_sections.update_text("Two", "else")

    assert three_sections.history()[-2:] == [
        ("work.section_changed", {"title": "Two", "tags": []}, {"title": "Second", "tags": ["x"]}),
        ("work.section_changed", {"content": "of Two"}, {"content": "else"}),
    ]


def test_the_container_may_be_named_and_must_be_the_right_one(three_sections: SectionsClient) -> None:
    three_sections.add("About", to="atlas")

    three_sections.update("Two", title="Second", **three_sections.of("walk"))
    three_sections.update("Two", title="Again", entityId=three_sections["walk"])
    three_sections.update("About", title="x", entityType="PROJECT", entityId="atlas")
    for name, wrong in (
        ("Two", three_sections.of("draw")),
        ("Two", {"entityType": "PROJECT", "entityId": "atlas"}),
        ("About", {"entityId": three_sections["walk"]}),
    ):
        error = error_of(partial(three_sections.update, name, title="no", **wrong))
        assert error.code == "other_container"
    assert error_of(lambda: three_sections.update("Two", title="no", entityId="nowhere")).details["field"] == "entityId"


def test_a_section_that_is_not_there_is_not_found(three_sections: SectionsClient) -> None:
    for attempt in (
        lambda: three_sections.update(NOWHERE, title="x"),
        lambda: three_sections.update_text(NOWHERE, "x"),
        lambda: three_sections.delete(NOWHERE),
    ):
        error = error_of(attempt)
        assert (error.code, error.details["field"]) == ("not_found", "sectionId")


def test_the_id_may_be_written_without_dashes(three_sections: SectionsClient) -> None:
    changed = three_sections.update("Two", sectionId=three_sections["Two"].replace("-", "").upper(), title="Second")

    assert changed.id == three_sections["Two"]
