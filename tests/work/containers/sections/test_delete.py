"""Sections are deleted one by one or many at once; what they said stays in the history."""

from __future__ import annotations

from typing import Any

import pytest

from tests.work.cases import try_each
from tests.work.containers.sections.desk import NOWHERE, Sections, told
from tests.work.desk import refused


def test_a_section_is_gone_and_its_history_has_all_of_it(desk: Sections) -> None:
    desk.add("Notes", content="x", tags="a", usageDescription="why", ordinal=4)

    assert told(desk.delete("Notes")) == {"deleted": desk["Notes"]}

    assert desk.titles() == []
    assert desk.engine.as_owner("SELECT * FROM work_section_tags") == []
    assert desk.history()[-1] == (
        "work.section_deleted",
        {
            "ordinal": 4,
            "title": "Notes",
            "usage_description": "why",
            "content_format": "MARKDOWN",
            "content": "x",
            "tags": ["a"],
        },
        None,
    )


def test_its_place_is_free_again(three: Sections) -> None:
    three.delete("Two")

    assert three.add("Another", ordinal=1).ordinal == 1
    assert three.titles() == ["One", "Another", "Three"]


def test_deleting_needs_a_version(three: Sections) -> None:
    assert refused(lambda: three.call("delete", sectionId=three["One"])).details["field"] == "version"


def test_many_sections_of_one_project_are_deleted_at_once(three: Sections) -> None:
    three.add("Elsewhere", to="draw", tags="x")

    answer = three.bulk_delete("Three", "Elsewhere", "One")

    assert told(answer) == {"deleted": [three["Three"], three["Elsewhere"], three["One"]], "count": 3}
    assert (three.titles(), three.titles("draw")) == (["Two"], [])
    assert [op for op, _, _ in three.history("walk")][3:] == ["work.section_deleted"] * 2
    assert [op for op, _, _ in three.history("draw")] == ["work.section_added", "work.section_deleted"]


def test_the_ids_may_come_with_commas_between_them(three: Sections) -> None:
    three.call("bulk_delete", sectionIds=f"{three['One']}, {three['Two']}")

    assert three.titles() == ["Three"]


@pytest.fixture
def various(three: Sections) -> Sections:
    """Sections of walk, of draw and of another project, and one that is gone."""
    three.add("Elsewhere", to="draw")
    three.add("Gone")
    three.delete("Gone")
    three.ids["Theirs"] = three.beside("borealis").add("Theirs").id
    return three


@try_each(
    ("ids", "given", "code", "field"),
    [
        (["One", NOWHERE], {}, "not_found", "sectionIds[1]"),
        ([NOWHERE, "One"], {}, "not_found", "sectionIds[0]"),
        (["One", "Gone"], {}, "not_found", "sectionIds[1]"),
        (["One", "Theirs"], {}, "mixed_projects", "sectionIds[1]"),
        (["One", "x"], {}, "invalid_id", "sectionIds[1]"),
        ([], {}, "invalid_argument", "sectionIds"),
        (["One", "Elsewhere"], {"entityType": "TASK", "entityId": "walk"}, "other_container", "entityId"),
    ],
)
def test_of_many_all_are_deleted_or_none(
    various: Sections, ids: list[str], given: dict[str, Any], code: str, field: str
) -> None:
    before = various.rows()

    error = refused(lambda: various.bulk_delete(*ids, **{key: various[value] for key, value in given.items()}))

    assert (error.code, error.details["field"]) == (code, field)
    assert various.rows() == before
