"""Sections are deleted one or many at once; their content stays in the history."""

from __future__ import annotations

from typing import Any

import pytest

from tests.answers import to_json
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.sections.client import NOWHERE, SectionsClient


def test_a_section_is_gone_and_its_history_has_all_of_it(client: SectionsClient) -> None:
    client.add("Notes", content="x", tags="a", usageDescription="why", ordinal=4)

    assert to_json(client.delete("Notes")) == {"deleted": client["Notes"]}

    assert client.titles() == []
    assert client.engine.as_owner("SELECT * FROM work_section_tags") == []
    assert client.history()[-1] == (
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


def test_its_place_is_free_again(three_sections: SectionsClient) -> None:
    three_sections.delete("Two")

    assert three_sections.add("Another", ordinal=1).ordinal == 1
    assert three_sections.titles() == ["One", "Another", "Three"]


def test_deleting_needs_a_version(three_sections: SectionsClient) -> None:
    assert (
        error_of(lambda: three_sections.call("delete", sectionId=three_sections["One"])).details["field"] == "version"
    )


def test_many_sections_of_one_project_are_deleted_at_once(three_sections: SectionsClient) -> None:
    three_sections.add("Elsewhere", to="draw", tags="x")

    answer = three_sections.bulk_delete("Three", "Elsewhere", "One")

    assert to_json(answer) == {
        "deleted": [three_sections["Three"], three_sections["Elsewhere"], three_sections["One"]],
        "count": 3,
    }
    assert (three_sections.titles(), three_sections.titles("draw")) == (["Two"], [])
    assert [op for op, _, _ in three_sections.history("walk")][3:] == ["work.section_deleted"] * 2
    assert [op for op, _, _ in three_sections.history("draw")] == ["work.section_added", "work.section_deleted"]


def test_the_ids_may_come_with_commas_between_them(three_sections: SectionsClient) -> None:
    three_sections.call("bulk_delete", sectionIds=f"{three_sections['One']}, {three_sections['Two']}")

    assert three_sections.titles() == ["Three"]


@pytest.fixture
def sections_of_several(three_sections: SectionsClient) -> SectionsClient:
    """Sections of walk, of draw and of another project, and a deleted one."""
    three_sections.add("Elsewhere", to="draw")
    three_sections.add("Gone")
    three_sections.delete("Gone")
    three_sections.ids["Theirs"] = three_sections.create_project("borealis").add("Theirs").id
    return three_sections


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
    sections_of_several: SectionsClient, ids: list[str], given: dict[str, Any], code: str, field: str
) -> None:
    before = sections_of_several.rows()

    error = error_of(
        lambda: sections_of_several.bulk_delete(
            *ids, **{key: sections_of_several[value] for key, value in given.items()}
        )
    )

    assert (error.code, error.details["field"]) == (code, field)
    assert sections_of_several.rows() == before
