"""Who may see and change sections; what is hidden reads like what is missing, and what is sent twice is done once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict, Forbidden, GroundplanError, NotFound
from tests.engines import person
from tests.work.cases import try_each
from tests.work.containers.sections.desk import NOWHERE, Sections
from tests.work.desk import refused

Call = Callable[[Sections, str], Any]

BY_SECTION: dict[str, Call] = {
    "update": lambda desk, id_: desk.update(id_, title="x"),
    "update_text": lambda desk, id_: desk.update_text(id_, "x"),
    "delete": lambda desk, id_: desk.delete(id_),
    "bulk_delete": lambda desk, id_: desk.bulk_delete(id_),
}
BY_CONTAINER: dict[str, Call] = {
    "list": lambda desk, id_: desk.listed(entityId=id_),
    "add": lambda desk, id_: desk.add("x", entityId=id_),
    "bulk_create": lambda desk, id_: desk.bulk({"title": "x"}, entityId=id_),
    "reorder": lambda desk, id_: desk.call("reorder", entityType="TASK", entityId=id_, orderedIds=NOWHERE),
}


def as_told(error: GroundplanError, id_: str) -> str:
    return repr(error.body()).replace(id_, "ID")


@pytest.fixture
def members(three: Sections) -> Sections:
    """Ben edits, Cleo views; Mallory is no member."""
    for name, role in (("ben", "editor"), ("cleo", "viewer")):
        three.session.call("member.add", scopeId="atlas", userId=name, role=role)
    return three


@try_each("operation", [*BY_SECTION, *BY_CONTAINER])
def test_to_a_stranger_what_is_there_reads_like_what_is_not(members: Sections, operation: str) -> None:
    stranger = members.by(person("mallory"))
    call = (BY_SECTION | BY_CONTAINER)[operation]
    there, nowhere = (members["Two"], NOWHERE) if operation in BY_SECTION else (members["walk"], "zzzzzz")
    before = members.rows()

    hidden = refused(lambda: call(stranger, there))
    missing = refused(lambda: call(stranger, nowhere))

    assert isinstance(hidden, NotFound)
    assert as_told(hidden, there) == as_told(missing, nowhere)
    assert members.rows() == before


@pytest.mark.parametrize("operation", [*BY_SECTION, *BY_CONTAINER])
def test_a_viewer_may_read_sections_and_an_editor_write_them(members: Sections, operation: str) -> None:
    call = (BY_SECTION | BY_CONTAINER)[operation]
    there = members["Two"] if operation in BY_SECTION else members["walk"]

    if operation == "list":
        assert call(members.by(person("cleo")), there).count == 3
        return
    assert isinstance(refused(lambda: call(members.by(person("cleo")), there)), Forbidden)
    if operation == "reorder":
        assert members.by(person("ben")).reorder("Two", "One", "Three").count == 3
    else:
        call(members.by(person("ben")), there)


def test_sections_of_an_archived_project_can_be_read_and_not_changed(three: Sections) -> None:
    three.session.call("project.archive", project="atlas")

    assert three.titles() == ["One", "Two", "Three"]
    assert isinstance(refused(lambda: three.update("Two", title="x")), Conflict)


SENT_TWICE: dict[str, Callable[[Sections], Any]] = {
    "add": lambda desk: desk.call("add", **desk.of("walk"), title="x", op_id="once"),
    "bulk_create": lambda desk: desk.call("bulk_create", **desk.of("walk"), sections=[{"title": "x"}], op_id="once"),
    "update": lambda desk: desk.call("update", sectionId=desk["Two"], version=1, title="x", op_id="once"),
    "update_text": lambda desk: desk.call("update_text", sectionId=desk["Two"], version=1, content="x", op_id="once"),
    "reorder": lambda desk: desk.reorder("Three", "Two", "One", op_id="once"),
    "delete": lambda desk: desk.call("delete", sectionId=desk["Two"], version=1, op_id="once"),
    "bulk_delete": lambda desk: desk.bulk_delete("One", "Two", op_id="once"),
}


@pytest.mark.parametrize("operation", SENT_TWICE)
def test_a_request_that_is_sent_twice_has_one_effect_and_one_answer(three: Sections, operation: str) -> None:
    first = SENT_TWICE[operation](three)
    before = three.rows()

    assert SENT_TWICE[operation](three) == first
    assert three.rows() == before


def test_a_change_that_is_sent_again_after_the_section_is_gone_finds_its_answer(three: Sections) -> None:
    first = SENT_TWICE["update"](three)
    three.delete("Two")

    assert SENT_TWICE["update"](three) == first


def test_a_deleted_section_is_not_found_any_more(three: Sections) -> None:
    three.delete("Two")

    for call in BY_SECTION.values():
        assert isinstance(refused(partial(call, three, three["Two"])), NotFound)
