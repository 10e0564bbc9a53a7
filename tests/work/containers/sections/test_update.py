"""A section changes at the version that was read, and one version further each time."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Conflict, Invalid
from tests.work.cases import try_each
from tests.work.containers.sections.desk import NOWHERE, Sections
from tests.work.desk import ManualClock, refused


def test_every_field_can_be_changed_and_the_rest_stays(three: Sections, clock: ManualClock) -> None:
    before = three.read("Two")
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
        assert three.update("Two", **{name: value}).version == version

    after = three.read("Two")
    assert (after.title, after.usage_description, after.content, after.content_format) == (
        "Second",
        "why",
        "{}",
        "JSON",
    )
    assert (after.tags, after.ordinal, after.version) == (["a", "b"], 7, 7)
    assert (after.created_at, after.modified_at > before.modified_at) == (before.created_at, True)
    assert three.titles() == ["One", "Three", "Second"]


def test_tags_can_be_taken_away(desk: Sections) -> None:
    desk.add("Notes", tags="a,b")

    assert desk.update("Notes", tags=["b", "c"]).tags == ["b", "c"]
    assert desk.update("Notes", tags="").tags == []
    assert desk.read("Notes").tags == []


def test_the_text_alone_can_be_replaced(three: Sections) -> None:
    changed = three.update_text("Two", "something else")

    assert (changed.content, changed.title, changed.version) == ("something else", "Two", 2)
    assert refused(lambda: three.call("update_text", sectionId=three["Two"], version=2)).code == "missing_argument"
    assert refused(lambda: three.call("update_text", sectionId=three["Two"], content="x")).code == "missing_argument"


def test_a_stale_version_is_a_conflict_that_names_the_present_one(three: Sections) -> None:
    three.update("Two", title="Second")
    before = three.rows()

    for attempt in (
        lambda: three.update("Two", version=1, title="x"),
        lambda: three.update_text("Two", "x", version=1),
        lambda: three.delete("Two", version=3),
    ):
        error = refused(attempt)
        assert isinstance(error, Conflict)
        assert (error.code, error.details["currentVersion"]) == ("stale_version", 2)
    assert three.rows() == before
    assert refused(lambda: three.call("update", sectionId=three["Two"], title="x")).details["field"] == "version"


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
def test_a_change_that_cannot_be_is_refused(three: Sections, changes: dict[str, Any], code: str, field: str) -> None:
    before = three.rows()

    error = refused(lambda: three.update("Two", **changes))

    assert isinstance(error, Invalid)
    assert (error.code, error.details["field"]) == (code, field)
    assert three.rows() == before


def test_a_section_may_ask_for_the_place_it_has(three: Sections) -> None:
    assert three.update("Two", ordinal=1, title="Second").version == 2


def test_history_has_what_changed_before_and_after(three: Sections) -> None:
    three.update("Two", title="Second", tags="x")
    three.update_text("Two", "else")

    assert three.history()[-2:] == [
        ("work.section_changed", {"title": "Two", "tags": []}, {"title": "Second", "tags": ["x"]}),
        ("work.section_changed", {"content": "of Two"}, {"content": "else"}),
    ]


def test_the_container_may_be_named_and_must_be_the_right_one(three: Sections) -> None:
    three.add("About", to="atlas")

    three.update("Two", title="Second", **three.of("walk"))
    three.update("Two", title="Again", entityId=three["walk"])
    three.update("About", title="x", entityType="PROJECT", entityId="atlas")
    for name, wrong in (
        ("Two", three.of("draw")),
        ("Two", {"entityType": "PROJECT", "entityId": "atlas"}),
        ("About", {"entityId": three["walk"]}),
    ):
        error = refused(partial(three.update, name, title="no", **wrong))
        assert error.code == "other_container"
    assert refused(lambda: three.update("Two", title="no", entityId="nowhere")).details["field"] == "entityId"


def test_a_section_that_is_not_there_is_not_found(three: Sections) -> None:
    for attempt in (
        lambda: three.update(NOWHERE, title="x"),
        lambda: three.update_text(NOWHERE, "x"),
        lambda: three.delete(NOWHERE),
    ):
        error = refused(attempt)
        assert (error.code, error.details["field"]) == ("not_found", "sectionId")


def test_the_id_may_be_written_without_dashes(three: Sections) -> None:
    changed = three.update("Two", sectionId=three["Two"].replace("-", "").upper(), title="Second")

    assert changed.id == three["Two"]
