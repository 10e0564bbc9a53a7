"""Sections of a template are ordered, and there are at most fifty."""

from __future__ import annotations

from functools import partial
from typing import Any

from groundplan.kernel.errors import Invalid, RuleViolated
from tests.answers import to_json
from tests.engines import Engine
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.templates.client import TemplatesClient
from tests.work.containers.templates.rows import all_rows


def ordinals(client: TemplatesClient) -> dict[str, int]:
    """Return the ordinals of the sections in the order of the answer."""
    return {one.title: one.ordinal for one in client.sections("Release")}


def test_a_section_is_told_as_it_is_kept(client: TemplatesClient, clock: ManualClock) -> None:
    client.create("Release")
    clock.move(hours=1)

    added = client.add(
        "Release",
        "Notes",
        usageDescription="For whoever reads them",
        contentSample='{"notes": []}',
        contentFormat="JSON",
        isRequired=True,
        tags="b,a",
    )

    assert to_json(added) == {
        "id": added.id,
        "ordinal": 0,
        "title": "Notes",
        "usageDescription": "For whoever reads them",
        "contentSample": '{"notes": []}',
        "contentFormat": "JSON",
        "isRequired": True,
        "tags": ["a", "b"],
    }
    assert client.sections("Release") == [added]
    assert client.get("Release").modified_at == "2026-03-01T10:00:00.000Z"


def test_a_section_without_more_than_a_title_is_optional_markdown(client: TemplatesClient) -> None:
    client.create("Release")

    added = client.add("Release", "Notes")

    assert (added.content_format, added.is_required, added.content_sample, added.tags) == ("MARKDOWN", False, "", [])


def test_a_section_goes_behind_the_last_or_where_it_is_told_to(client: TemplatesClient) -> None:
    client.create("Release")
    client.add("Release", "first")
    client.add("Release", "far", ordinal=10)
    client.add("Release", "between", ordinal=5)
    client.add("Release", "last")

    assert ordinals(client) == {"first": 0, "between": 5, "far": 10, "last": 11}
    assert list(ordinals(client)) == ["first", "between", "far", "last"]


def test_an_ordinal_that_is_taken_is_refused_with_the_next_free_one(engine: Engine, client: TemplatesClient) -> None:
    client.create("Release")
    for ordinal in (3, 4, 6):
        client.add("Release", f"at {ordinal}", ordinal=ordinal)
    before = all_rows(engine)

    for wanted, free in ((3, 5), (4, 5), (6, 7)):
        error = error_of(partial(client.add, "Release", "one more", ordinal=wanted))
        assert isinstance(error, Invalid)
        assert (error.code, error.details["field"], error.details["free"]) == ("ordinal_taken", "ordinal", free)
    assert all_rows(engine) == before


def test_the_fifty_first_section_is_refused(engine: Engine, client: TemplatesClient) -> None:
    client.create("Release")
    for n in range(50):
        client.add("Release", f"Section {n}")
    before = all_rows(engine)

    error = error_of(lambda: client.add("Release", "One too many"))

    assert isinstance(error, RuleViolated)
    assert (error.code, error.details["limit"]) == ("template_full", 50)
    assert all_rows(engine) == before


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
    engine: Engine, release_template: TemplatesClient, given: dict[str, Any], field: str
) -> None:
    before = all_rows(engine)

    error = error_of(lambda: release_template.add("Release", **{"title": "Notes"} | given))

    assert isinstance(error, Invalid)
    assert error.details["field"] == field
    assert all_rows(engine) == before


def test_the_longest_that_is_allowed_is_kept_whole(client: TemplatesClient) -> None:
    client.create("Release")
    client.add("Release", "ä" * 255, usageDescription="ä" * 2048, contentSample="ä" * 16384, ordinal=2**31)
    client.add("Release", "behind it")

    first, second = client.sections("Release")
    assert (len(first.title), len(first.usage_description), len(first.content_sample)) == (255, 2048, 16384)
    assert second.ordinal == first.ordinal + 1
