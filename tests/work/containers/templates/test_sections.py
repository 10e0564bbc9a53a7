"""Sections of a template stand in an order, fifty at most."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Invalid, RuleViolated
from tests.engines import Engine
from tests.work.cases import try_each
from tests.work.containers.templates.desk import Templates, told
from tests.work.containers.templates.rows import everything
from tests.work.desk import ManualClock, refused


def placed(desk: Templates) -> dict[str, int]:
    """Where the sections stand, in the order in which they are told."""
    return {one.title: one.ordinal for one in desk.sections("Release")}


def test_a_section_is_told_as_it_is_kept(desk: Templates, clock: ManualClock) -> None:
    desk.create("Release")
    clock.move(hours=1)

    added = desk.add(
        "Release",
        "Notes",
        usageDescription="For whoever reads them",
        contentSample='{"notes": []}',
        contentFormat="JSON",
        isRequired=True,
        tags="b,a",
    )

    assert told(added) == {
        "id": added.id,
        "ordinal": 0,
        "title": "Notes",
        "usageDescription": "For whoever reads them",
        "contentSample": '{"notes": []}',
        "contentFormat": "JSON",
        "isRequired": True,
        "tags": ["a", "b"],
    }
    assert desk.sections("Release") == [added]
    assert desk.get("Release").modified_at == "2026-03-01T10:00:00.000Z"


def test_a_section_without_more_than_a_title_is_optional_markdown(desk: Templates) -> None:
    desk.create("Release")

    added = desk.add("Release", "Notes")

    assert (added.content_format, added.is_required, added.content_sample, added.tags) == ("MARKDOWN", False, "", [])


def test_a_section_goes_behind_the_last_or_where_it_is_told_to(desk: Templates) -> None:
    desk.create("Release")
    desk.add("Release", "first")
    desk.add("Release", "far", ordinal=10)
    desk.add("Release", "between", ordinal=5)
    desk.add("Release", "last")

    assert placed(desk) == {"first": 0, "between": 5, "far": 10, "last": 11}
    assert list(placed(desk)) == ["first", "between", "far", "last"]


def test_an_ordinal_that_is_taken_is_refused_with_the_next_free_one(engine: Engine, desk: Templates) -> None:
    desk.create("Release")
    for ordinal in (3, 4, 6):
        desk.add("Release", f"at {ordinal}", ordinal=ordinal)
    before = everything(engine)

    for wanted, free in ((3, 5), (4, 5), (6, 7)):
        error = refused(partial(desk.add, "Release", "one more", ordinal=wanted))
        assert isinstance(error, Invalid)
        assert (error.code, error.details["field"], error.details["free"]) == ("ordinal_taken", "ordinal", free)
    assert everything(engine) == before


def test_the_fifty_first_section_is_refused(engine: Engine, desk: Templates) -> None:
    desk.create("Release")
    for n in range(50):
        desk.add("Release", f"Section {n}")
    before = everything(engine)

    error = refused(lambda: desk.add("Release", "One too many"))

    assert isinstance(error, RuleViolated)
    assert (error.code, error.details["limit"]) == ("template_full", 50)
    assert everything(engine) == before


@try_each(
    ("given", "field"),
    [
        ({"title": ""}, "title"),
        ({"title": "x" * 256}, "title"),
        ({"usageDescription": "x" * 4097}, "usageDescription"),
        ({"contentSample": "ä" * 16385}, "contentSample"),
        ({"contentFormat": "HTML"}, "contentFormat"),
        ({"contentFormat": "JSON", "contentSample": "{'a': 1}"}, "contentSample"),
        ({"ordinal": -1}, "ordinal"),
        ({"ordinal": 1.5}, "ordinal"),
        ({"ordinal": 2**63}, "ordinal"),
        ({"tags": [str(n) for n in range(51)]}, "tags"),
        ({"content": "text"}, "content"),
    ],
)
def test_bad_input_is_refused_with_its_field_and_nothing_is_written(
    engine: Engine, release: Templates, given: dict[str, Any], field: str
) -> None:
    before = everything(engine)

    error = refused(lambda: release.add("Release", **{"title": "Notes"} | given))

    assert isinstance(error, Invalid)
    assert error.details["field"] == field
    assert everything(engine) == before


def test_the_longest_that_is_allowed_is_kept_whole(desk: Templates) -> None:
    desk.create("Release")
    desk.add("Release", "ä" * 255, usageDescription="ä" * 2048, contentSample="ä" * 16384, ordinal=2**31)
    desk.add("Release", "behind it")

    first, second = desk.sections("Release")
    assert (len(first.title), len(first.usage_description), len(first.content_sample)) == (255, 2048, 16384)
    assert second.ordinal == first.ordinal + 1
