"""Sections get a new order; no two ever have one ordinal."""

from __future__ import annotations

from itertools import permutations

import pytest

from groundplan.kernel.errors import Invalid
from tests.errors import error_of
from tests.manual_clock import ManualClock
from tests.work.cases import try_each
from tests.work.containers.sections.client import NOWHERE, SectionsClient


def test_every_order_can_be_given_and_only_what_moves_is_at_a_new_version(three_sections: SectionsClient) -> None:
    versions = {"One": 1, "Two": 1, "Three": 1}
    for order in permutations(versions):
        before = three_sections.titles()
        versions = {title: versions[title] + (before.index(title) != place) for place, title in enumerate(order)}

        answer = three_sections.reorder(*order)

        assert three_sections.positions() == {title: (place, versions[title]) for place, title in enumerate(order)}
        assert [(one.title, one.ordinal, one.version) for one in answer.sections] == [
            (title, place, versions[title]) for place, title in enumerate(order)
        ]


def test_gaps_are_closed_and_nothing_else_changes(client: SectionsClient, clock: ManualClock) -> None:
    for title, ordinal in (("a", 3), ("b", 5), ("c", 2)):
        client.add(title, ordinal=ordinal, content=f"of {title}", tags=f"x,{title}", usageDescription="why")
    before = {one.title: one for one in client.list_sections().sections}
    clock.move(minutes=1)

    client.reorder("a", "b", "c")

    after = {one.title: one for one in client.list_sections().sections}
    assert client.positions() == {"a": (0, 2), "b": (1, 2), "c": (2, 1)}  # c stood at 2
    for title, one in after.items():
        assert (one.content, one.tags, one.usage_description) == (f"of {title}", sorted(["x", title]), "why")
        assert one.created_at == before[title].created_at
    assert after["a"].modified_at > before["a"].modified_at
    assert after["c"] == before["c"]


def test_history_says_who_moved_from_where(three_sections: SectionsClient) -> None:
    three_sections.reorder("Two", "One", "Three")

    assert three_sections.history()[3:] == [
        ("work.section_changed", {"ordinal": 1}, {"ordinal": 0}),
        ("work.section_changed", {"ordinal": 0}, {"ordinal": 1}),
    ]


def test_the_order_that_is_there_changes_nothing(three_sections: SectionsClient) -> None:
    before = three_sections.rows()

    assert three_sections.reorder("One", "Two", "Three").count == 3
    assert three_sections.rows() == before


@pytest.fixture
def four_sections(three_sections: SectionsClient) -> SectionsClient:
    """Three sections of walk and one of draw."""
    three_sections.add("Elsewhere", to="draw")
    return three_sections


@try_each(
    ("order", "missing", "foreign"),
    [
        (["One", "Two"], ["Three"], []),
        (["One", "Two", "Three", NOWHERE], [], [NOWHERE]),
        (["One", "Two", "Elsewhere"], ["Three"], ["Elsewhere"]),
        (["One", "One", "Two"], ["Three"], []),
        ([], ["One", "Two", "Three"], []),
    ],
)
def test_the_sections_of_the_container_must_be_all_there_and_no_other(
    four_sections: SectionsClient, order: list[str], missing: list[str], foreign: list[str]
) -> None:
    before = four_sections.rows()

    error = error_of(lambda: four_sections.reorder(*order))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "orderedIds"
    assert error.details["missing"] == [four_sections[one] for one in missing]
    assert error.details["foreign"] == [four_sections[one] for one in foreign]
    assert four_sections.rows() == before


def test_the_ids_may_come_with_commas_between_them(three_sections: SectionsClient) -> None:
    three_sections.call(
        "reorder",
        **three_sections.of("walk"),
        orderedIds=f"{three_sections['Two']}, {three_sections['Three']},{three_sections['One']}",
    )

    assert three_sections.titles() == ["Two", "Three", "One"]
    assert error_of(lambda: three_sections.reorder("x")).code == "invalid_id"


def test_a_hundred_sections_can_be_turned_round(client: SectionsClient) -> None:
    for batch in range(2):
        client.bulk(*({"title": f"{batch * 50 + place:02}", "tags": "x"} for place in range(50)))

    client.reorder(*reversed(client.titles()))

    assert client.titles() == [f"{place:02}" for place in reversed(range(100))]
    assert {version for _, version in client.positions().values()} == {2}
    assert all(one.tags == ["x"] for one in client.list_sections().sections)
