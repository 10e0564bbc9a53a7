"""Who may read and change sections; a hidden one reads like a missing one, and a repeated request has one effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict, Forbidden, GroundplanError, NotFound
from tests.engines import person
from tests.errors import error_of
from tests.work.cases import try_each
from tests.work.containers.sections.client import NOWHERE, SectionsClient

Call = Callable[[SectionsClient, str], Any]

BY_SECTION: dict[str, Call] = {
    "update": lambda client, id_: client.update(id_, title="x"),
    "update_text": lambda client, id_: client.update_text(id_, "x"),
    "delete": lambda client, id_: client.delete(id_),
    "bulk_delete": lambda client, id_: client.bulk_delete(id_),
}
BY_CONTAINER: dict[str, Call] = {
    "list": lambda client, id_: client.list_sections(entityId=id_),
    "add": lambda client, id_: client.add("x", entityId=id_),
    "bulk_create": lambda client, id_: client.bulk({"title": "x"}, entityId=id_),
    "reorder": lambda client, id_: client.call("reorder", entityType="TASK", entityId=id_, orderedIds=NOWHERE),
}


def without_id(error: GroundplanError, id_: str) -> str:
    return repr(error.to_dict()).replace(id_, "ID")


@pytest.fixture
def section_members(three_sections: SectionsClient) -> SectionsClient:
    """Ben edits, Cleo views; Mallory is no member."""
    for name, role in (("ben", "editor"), ("cleo", "viewer")):
        three_sections.session.call("member.add", scopeId="atlas", userId=name, role=role)
    return three_sections


@try_each("operation", [*BY_SECTION, *BY_CONTAINER])
def test_to_a_stranger_what_is_there_reads_like_what_is_not(section_members: SectionsClient, operation: str) -> None:
    stranger = section_members.by(person("mallory"))
    call = (BY_SECTION | BY_CONTAINER)[operation]
    there, nowhere = (
        (section_members["Two"], NOWHERE) if operation in BY_SECTION else (section_members["walk"], "zzzzzz")
    )
    before = section_members.rows()

    hidden = error_of(lambda: call(stranger, there))
    missing = error_of(lambda: call(stranger, nowhere))

    assert isinstance(hidden, NotFound)
    assert without_id(hidden, there) == without_id(missing, nowhere)
    assert section_members.rows() == before


@pytest.mark.parametrize("operation", [*BY_SECTION, *BY_CONTAINER])
def test_a_viewer_may_read_sections_and_an_editor_write_them(section_members: SectionsClient, operation: str) -> None:
    call = (BY_SECTION | BY_CONTAINER)[operation]
    there = section_members["Two"] if operation in BY_SECTION else section_members["walk"]

    if operation == "list":
        assert call(section_members.by(person("cleo")), there).count == 3
        return
    assert isinstance(error_of(lambda: call(section_members.by(person("cleo")), there)), Forbidden)
    if operation == "reorder":
        assert section_members.by(person("ben")).reorder("Two", "One", "Three").count == 3
    else:
        call(section_members.by(person("ben")), there)


def test_sections_of_an_archived_project_can_be_read_and_not_changed(three_sections: SectionsClient) -> None:
    three_sections.session.call("project.archive", project="atlas")

    assert three_sections.titles() == ["One", "Two", "Three"]
    assert isinstance(error_of(lambda: three_sections.update("Two", title="x")), Conflict)


SENT_TWICE: dict[str, Callable[[SectionsClient], Any]] = {
    "add": lambda client: client.call("add", **client.of("walk"), title="x", op_id="once"),
    "bulk_create": lambda client: client.call(
        "bulk_create", **client.of("walk"), sections=[{"title": "x"}], op_id="once"
    ),
    "update": lambda client: client.call("update", sectionId=client["Two"], version=1, title="x", op_id="once"),
    "update_text": lambda client: client.call(
        "update_text", sectionId=client["Two"], version=1, content="x", op_id="once"
    ),
    "reorder": lambda client: client.reorder("Three", "Two", "One", op_id="once"),
    "delete": lambda client: client.call("delete", sectionId=client["Two"], version=1, op_id="once"),
    "bulk_delete": lambda client: client.bulk_delete("One", "Two", op_id="once"),
}


@pytest.mark.parametrize("operation", SENT_TWICE)
def test_a_request_that_is_sent_twice_has_one_effect_and_one_answer(
    three_sections: SectionsClient, operation: str
) -> None:
    first = SENT_TWICE[operation](three_sections)
    before = three_sections.rows()

    assert SENT_TWICE[operation](three_sections) == first
    assert three_sections.rows() == before


def test_a_change_that_is_sent_again_after_the_section_is_gone_finds_its_answer(three_sections: SectionsClient) -> None:
    first = SENT_TWICE["update"](three_sections)
    three_sections.delete("Two")

    assert SENT_TWICE["update"](three_sections) == first


def test_a_deleted_section_is_not_found_any_more(three_sections: SectionsClient) -> None:
    three_sections.delete("Two")

    for call in BY_SECTION.values():
        assert isinstance(error_of(partial(call, three_sections, three_sections["Two"])), NotFound)
