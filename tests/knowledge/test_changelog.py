"""A changelog only grows: newest first, page by page, and entries cannot be edited."""

from __future__ import annotations

from functools import partial

import pytest

from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from groundplan.kernel.store.schema import Frozen
from tests.answers import to_json
from tests.engines import Engine, person
from tests.knowledge.client import NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows
from tests.manual_clock import ManualClock

ADA = person("ada")


def test_an_entry_is_told_as_it_will_stay(crowded_project: KnowledgeClient) -> None:
    entry = crowded_project.log("Cart", "  Prices moved out.\nThey come from the catalog. ")

    assert to_json(entry) == {
        "id": entry.id,
        "parentType": "atom",
        "parentId": crowded_project["Cart"],
        "taskId": crowded_project["build"],
        "summary": "Prices moved out.\nThey come from the catalog.",
        "createdAt": "2026-03-01T09:00:00.000Z",
        "createdBy": "ada",
    }


def test_an_entry_changes_neither_the_version_nor_the_last_task(crowded_project: KnowledgeClient) -> None:
    before = crowded_project.read("Cart")

    crowded_project.log("Cart", "made")

    assert crowded_project.read("Cart") == before


def test_the_newest_entry_comes_first_also_among_those_of_one_moment(
    crowded_project: KnowledgeClient, clock: ManualClock
) -> None:
    for minute in range(3):
        for number in range(3):
            crowded_project.log("Cart", f"{minute}.{number}")
        clock.move(minutes=1)

    expected = ["2.2", "2.1", "2.0", "1.2", "1.1", "1.0", "0.2", "0.1", "0.0"]
    assert crowded_project.entries("Cart") == expected
    assert [one.summary for one in crowded_project.get("Cart").changelog] == expected[:5]
    assert [one.summary for one in crowded_project.get("Cart", changelogLimit=9).changelog] == expected


def test_a_page_tells_how_many_entries_there_are_and_where_the_next_begins(crowded_project: KnowledgeClient) -> None:
    for number in range(5):
        crowded_project.log("Shop", str(number))

    pages = [
        to_json(
            crowded_project.call(
                "knowledge.search_changelog", parentType="molecule", parentId=crowded_project["Shop"], **page
            )
        )
        for page in ({}, {"limit": 2}, {"limit": 2, "offset": 2}, {"limit": 2, "offset": 4}, {"offset": 9})
    ]

    assert [[one["summary"] for one in page.pop("entries")] for page in pages] == [
        ["4", "3", "2", "1", "0"],
        ["4", "3"],
        ["2", "1"],
        ["0"],
        [],
    ]
    assert pages == [
        {"count": 5, "limit": 20, "offset": 0},
        {"count": 5, "limit": 2, "offset": 0, "nextOffset": 2},
        {"count": 5, "limit": 2, "offset": 2, "nextOffset": 4},
        {"count": 5, "limit": 2, "offset": 4},
        {"count": 5, "limit": 20, "offset": 9},
    ]


def test_everybody_has_their_own_changelog(crowded_project: KnowledgeClient) -> None:
    for name in ("Cart", "Shop", "Alone"):
        crowded_project.log(name, f"of {name}")

    assert [crowded_project.entries(name) for name in ("Cart", "Shop", "Alone")] == [
        ["of Cart"],
        ["of Shop"],
        ["of Alone"],
    ]
    page = crowded_project.search()
    assert {one.name: [entry.summary for entry in one.changelog] for one in page.items} == {
        "Alone": ["of Alone"],
        "Cart": ["of Cart"],
    }


def test_whoever_asks_for_no_changelog_gets_none(crowded_project: KnowledgeClient) -> None:
    crowded_project.log("Cart", "made")

    for given in ({"includeChangelog": False}, {"includeChangelog": "false"}):
        assert "changelog" not in to_json(crowded_project.get("Cart", **given))
        assert "changelog" not in to_json(crowded_project.search(**given).items[1])
        (shop,) = to_json(crowded_project.context("src/cart/a.ts", **given))["molecules"]
        assert "changelog" not in shop["atoms"][0]
    assert to_json(crowded_project.get("Cart", changelogLimit=0))["changelog"] == []


def test_an_entry_beside_its_atom_has_the_fields_of_the_seed(crowded_project: KnowledgeClient) -> None:
    crowded_project.log("Cart", "made")

    for changelog in (
        to_json(crowded_project.get("Cart"))["changelog"],
        to_json(crowded_project.context("src/cart/a.ts"))["molecules"][0]["atoms"][0]["changelog"],
    ):
        assert changelog == [
            {"taskId": crowded_project["build"], "summary": "made", "createdAt": "2026-03-01T09:00:00.000Z"}
        ]


def test_what_cannot_be_logged_is_refused_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)
    refusals = {
        "an unknown parent": partial(crowded_project.log, "Cart", "x", parentId=NOWHERE),
        "a parent of the other type": partial(crowded_project.log, "Cart", "x", parentType="molecule"),
        "a deleted parent": partial(crowded_project.log, "Gone", "x"),
        "a parent that is no id": partial(crowded_project.log, "Cart", "x", parentId="cart"),
        "an unknown task": partial(crowded_project.log, "Cart", "x", taskId="oooooo"),
        "a task of another project": partial(crowded_project.log, "Cart", "x", taskId="their task"),
        "no summary": partial(crowded_project.log, "Cart", " \n "),
        "a summary that is too long": partial(crowded_project.log, "Cart", "ü" * 2048 + "x"),
        "an unknown type": partial(crowded_project.log, "Cart", "x", parentType="task"),
    }

    assert {what: outcome_of(call) for what, call in refusals.items()} == {
        "an unknown parent": ("NotFound", "not_found", "parentId"),
        "a parent of the other type": ("NotFound", "not_found", "parentId"),
        "a deleted parent": ("NotFound", "not_found", "parentId"),
        "a parent that is no id": ("Invalid", "invalid_id", "parentId"),
        "an unknown task": ("NotFound", "not_found", "taskId"),
        "a task of another project": ("RuleViolated", "other_project", "taskId"),
        "no summary": ("Invalid", "invalid_argument", "summary"),
        "a summary that is too long": ("Invalid", "too_long", "summary"),
        "an unknown type": ("Invalid", "invalid_argument", "parentType"),
    }
    assert all_rows(engine) == before


def test_the_changelog_of_an_unknown_parent_is_not_an_empty_one(crowded_project: KnowledgeClient) -> None:
    for parent_id in (NOWHERE, crowded_project["Gone"], crowded_project["Shop"]):
        call = partial(crowded_project.call, "knowledge.search_changelog", parentType="atom", parentId=parent_id)
        assert outcome_of(call) == ("NotFound", "not_found", "parentId")


def test_a_caller_of_the_store_is_told_that_an_entry_is_final(engine: Engine, crowded_project: KnowledgeClient) -> None:
    crowded_project.log("Cart", "made")
    forge = Query("forge", "UPDATE graph_changelog SET summary = 'forged'")

    # On PostgreSQL the grants refuse the app role before the guard does.
    with pytest.raises(Frozen if engine.dialect is Dialect.SQLITE else Forbidden):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(forge))
