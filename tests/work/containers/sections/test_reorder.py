"""Sections are put into another order without two ever standing at one place."""

from __future__ import annotations

from itertools import permutations

import pytest

from groundplan.kernel.errors import Invalid
from tests.work.cases import try_each
from tests.work.containers.sections.desk import NOWHERE, Sections
from tests.work.desk import ManualClock, refused


def test_every_order_can_be_given_and_only_what_moves_is_at_a_new_version(three: Sections) -> None:
    versions = {"One": 1, "Two": 1, "Three": 1}
    for order in permutations(versions):
        before = three.titles()
        versions = {title: versions[title] + (before.index(title) != place) for place, title in enumerate(order)}

        answer = three.reorder(*order)

        assert three.places() == {title: (place, versions[title]) for place, title in enumerate(order)}
        assert [(one.title, one.ordinal, one.version) for one in answer.sections] == [
            (title, place, versions[title]) for place, title in enumerate(order)
        ]


def test_gaps_are_closed_and_nothing_else_changes(desk: Sections, clock: ManualClock) -> None:
    for title, ordinal in (("a", 3), ("b", 5), ("c", 2)):
        desk.add(title, ordinal=ordinal, content=f"of {title}", tags=f"x,{title}", usageDescription="why")
    before = {one.title: one for one in desk.listed().sections}
    clock.move(minutes=1)

    desk.reorder("a", "b", "c")

    after = {one.title: one for one in desk.listed().sections}
    assert desk.places() == {"a": (0, 2), "b": (1, 2), "c": (2, 1)}  # c stood at 2
    for title, one in after.items():
        assert (one.content, one.tags, one.usage_description) == (f"of {title}", sorted(["x", title]), "why")
        assert one.created_at == before[title].created_at
    assert after["a"].modified_at > before["a"].modified_at
    assert after["c"] == before["c"]


def test_history_says_who_moved_from_where(three: Sections) -> None:
    three.reorder("Two", "One", "Three")

    assert three.history()[3:] == [
        ("work.section_changed", {"ordinal": 1}, {"ordinal": 0}),
        ("work.section_changed", {"ordinal": 0}, {"ordinal": 1}),
    ]


def test_the_order_that_is_there_changes_nothing(three: Sections) -> None:
    before = three.rows()

    assert three.reorder("One", "Two", "Three").count == 3
    assert three.rows() == before


@pytest.fixture
def four(three: Sections) -> Sections:
    """Three sections of walk, and one of draw."""
    three.add("Elsewhere", to="draw")
    return three


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
    four: Sections, order: list[str], missing: list[str], foreign: list[str]
) -> None:
    before = four.rows()

    error = refused(lambda: four.reorder(*order))

    assert isinstance(error, Invalid)
    assert error.details["field"] == "orderedIds"
    assert error.details["missing"] == [four[one] for one in missing]
    assert error.details["foreign"] == [four[one] for one in foreign]
    assert four.rows() == before


def test_the_ids_may_come_with_commas_between_them(three: Sections) -> None:
    three.call("reorder", **three.of("walk"), orderedIds=f"{three['Two']}, {three['Three']},{three['One']}")

    assert three.titles() == ["Two", "Three", "One"]
    assert refused(lambda: three.reorder("x")).code == "invalid_id"


def test_a_hundred_sections_can_be_turned_round(desk: Sections) -> None:
    for batch in range(2):
        desk.bulk(*({"title": f"{batch * 50 + place:02}", "tags": "x"} for place in range(50)))

    desk.reorder(*reversed(desk.titles()))

    assert desk.titles() == [f"{place:02}" for place in reversed(range(100))]
    assert {version for _, version in desk.places().values()} == {2}
    assert all(one.tags == ["x"] for one in desk.listed().sections)
