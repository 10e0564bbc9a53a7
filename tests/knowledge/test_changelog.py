"""The changelog of an area only grows: newest first, page by page, and no statement takes an entry back."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

import pytest

from groundplan.kernel.errors import Forbidden
from groundplan.kernel.store.guards import Frozen
from groundplan.kernel.store.migrations import Dialect
from groundplan.kernel.store.queries import Query
from tests.engines import Engine, person
from tests.kernel.store.attacks import Attack, Prey, Way, drop_guards, guard_attacks, picture, row_attacks
from tests.knowledge.desk import NOWHERE, Knowledge, ended, told
from tests.knowledge.rows import everything
from tests.work.desk import Hands

ADA = person("ada")
COLUMNS = ("tenant_id", "project_id", "id", "parent_type", "parent_id", "rev", "task_id", "created_at", "summary")


def test_an_entry_is_told_as_it_will_stay(crowded: Knowledge) -> None:
    entry = crowded.log("Cart", "  Prices moved out.\nThey come from the catalog. ")

    assert told(entry) == {
        "id": entry.id,
        "parentType": "atom",
        "parentId": crowded["Cart"],
        "taskId": crowded["build"],
        "summary": "Prices moved out.\nThey come from the catalog.",
        "createdAt": "2026-03-01T09:00:00.000Z",
    }


def test_an_entry_changes_neither_the_version_nor_the_last_task(crowded: Knowledge) -> None:
    before = crowded.read("Cart")

    crowded.log("Cart", "made")

    assert crowded.read("Cart") == before


def test_the_newest_entry_comes_first_also_among_those_of_one_moment(crowded: Knowledge, clock: Hands) -> None:
    for minute in range(3):
        for number in range(3):
            crowded.log("Cart", f"{minute}.{number}")
        clock.move(minutes=1)

    expected = ["2.2", "2.1", "2.0", "1.2", "1.1", "1.0", "0.2", "0.1", "0.0"]
    assert crowded.entries("Cart") == expected
    assert [one.summary for one in crowded.get("Cart").changelog] == expected[:5]
    assert [one.summary for one in crowded.get("Cart", changelogLimit=9).changelog] == expected


def test_a_page_tells_how_many_entries_there_are_and_where_the_next_begins(crowded: Knowledge) -> None:
    for number in range(5):
        crowded.log("Shop", str(number))

    pages = [
        told(crowded.call("knowledge.search_changelog", parentType="molecule", parentId=crowded["Shop"], **page))
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


def test_everybody_has_their_own_changelog(crowded: Knowledge) -> None:
    for name in ("Cart", "Shop", "Alone"):
        crowded.log(name, f"of {name}")

    assert [crowded.entries(name) for name in ("Cart", "Shop", "Alone")] == [["of Cart"], ["of Shop"], ["of Alone"]]
    page = crowded.search()
    assert {one.name: [entry.summary for entry in one.changelog] for one in page.items} == {
        "Alone": ["of Alone"],
        "Cart": ["of Cart"],
    }


def test_whoever_asks_for_no_changelog_gets_none(crowded: Knowledge) -> None:
    crowded.log("Cart", "made")

    for given in ({"includeChangelog": False}, {"includeChangelog": "false"}):
        assert "changelog" not in told(crowded.get("Cart", **given))
        assert "changelog" not in told(crowded.search(**given).items[1])
        (shop,) = told(crowded.context("src/cart/a.ts", **given))["molecules"]
        assert "changelog" not in shop["atoms"][0]
    assert told(crowded.get("Cart", changelogLimit=0))["changelog"] == []


def test_an_entry_beside_its_atom_has_the_fields_of_the_seed(crowded: Knowledge) -> None:
    crowded.log("Cart", "made")

    for changelog in (
        told(crowded.get("Cart"))["changelog"],
        told(crowded.context("src/cart/a.ts"))["molecules"][0]["atoms"][0]["changelog"],
    ):
        assert changelog == [{"taskId": crowded["build"], "summary": "made", "createdAt": "2026-03-01T09:00:00.000Z"}]


def test_what_cannot_be_logged_is_refused_and_nothing_is_written(engine: Engine, crowded: Knowledge) -> None:
    before = everything(engine)
    refusals = {
        "an unknown parent": partial(crowded.log, "Cart", "x", parentId=NOWHERE),
        "a parent of the other type": partial(crowded.log, "Cart", "x", parentType="molecule"),
        "a deleted parent": partial(crowded.log, "Gone", "x"),
        "a parent that is no id": partial(crowded.log, "Cart", "x", parentId="cart"),
        "an unknown task": partial(crowded.log, "Cart", "x", taskId="oooooo"),
        "a task of another project": partial(crowded.log, "Cart", "x", taskId="their task"),
        "no summary": partial(crowded.log, "Cart", " \n "),
        "a summary that is too long": partial(crowded.log, "Cart", "ü" * 2048 + "x"),
        "an unknown type": partial(crowded.log, "Cart", "x", parentType="task"),
    }

    assert {what: ended(call) for what, call in refusals.items()} == {
        "an unknown parent": ("NotFound", "not_found", "parentId"),
        "a parent of the other type": ("NotFound", "not_found", "parentId"),
        "a deleted parent": ("NotFound", "not_found", "parentId"),
        "a parent that is no id": ("Invalid", "invalid_id", "parentId"),
        "an unknown task": ("NotFound", "not_found", "taskId"),
        "a task of another project": ("Invalid", "mixed_projects", "taskId"),
        "no summary": ("Invalid", "invalid_argument", "summary"),
        "a summary that is too long": ("Invalid", "too_long", "summary"),
        "an unknown type": ("Invalid", "invalid_argument", "parentType"),
    }
    assert everything(engine) == before


def test_the_changelog_of_an_unknown_parent_is_not_an_empty_one(crowded: Knowledge) -> None:
    for parent_id in (NOWHERE, crowded["Gone"], crowded["Shop"]):
        call = partial(crowded.call, "knowledge.search_changelog", parentType="atom", parentId=parent_id)
        assert ended(call) == ("NotFound", "not_found", "parentId")


# --- By SQL ---


class History:
    """An entry, and everything that could be done to it."""

    def __init__(self, engine: Engine) -> None:
        (row,) = engine.as_owner(f"SELECT {', '.join(COLUMNS)} FROM graph_changelog")
        self.engine = engine
        self.entry = Prey(
            "graph_changelog",
            ("tenant_id", "id"),
            dict(zip(COLUMNS, row, strict=True)),
            change=("summary", "forged"),
            fresh={"id": NOWHERE},
        )
        self._picture = picture([self.entry], engine.dialect)

    def attacks(self, *ways: Way) -> list[Attack]:
        found = (*row_attacks(self.entry, self.engine.dialect), *guard_attacks(self.engine, ["graph_changelog"]))
        return [attack for attack in found if attack.way in ways]

    def is_forged_by_app(self, attack: Attack) -> bool:
        before = self.engine.as_owner(self._picture)
        try:
            self.engine.as_app(ADA, *attack.statements)
        except self.engine.refusals:
            return self.engine.as_owner(self._picture) != before
        return True  # whatever came of it, it was not refused

    def is_forged_by_owner(self, attack: Attack) -> bool:
        before = self.engine.as_owner(self._picture)
        with suppress(*self.engine.refusals):
            return self.engine.as_owner(*attack.statements, self._picture, keep=False) != before
        return False


@pytest.fixture
def history(engine: Engine, desk: Knowledge) -> History:
    desk.atom("Cart")
    desk.log("Cart", "made")
    return History(engine)


def test_no_statement_of_the_app_changes_or_removes_an_entry(history: History) -> None:
    attacks = history.attacks(*Way)

    assert {"update", "delete", "truncate" if history.engine.dialect is Dialect.POSTGRES else "replace"} <= {
        attack.name.split()[0] for attack in attacks
    }
    assert [attack.name for attack in attacks if history.is_forged_by_app(attack)] == []


def test_the_guard_stops_the_owner_of_the_schema_as_well(history: History) -> None:
    ways = (Way.EDIT, Way.BULK) if history.engine.dialect is Dialect.POSTGRES else (Way.EDIT,)
    attacks = [attack for attack in history.attacks(*ways) if "replace" not in attack.name.lower()]

    assert attacks
    assert [attack.name for attack in attacks if history.is_forged_by_owner(attack)] == []


def test_without_the_guard_the_same_statements_forge_the_entry(history: History) -> None:
    attacks = history.attacks(Way.EDIT, Way.BULK)
    drop_guards(history.engine, ["graph_changelog"])

    assert [attack.name for attack in attacks if not history.is_forged_by_owner(attack)] == []


def test_a_caller_of_the_store_is_told_that_an_entry_is_final(engine: Engine, history: History) -> None:
    forge = Query("forge", "UPDATE graph_changelog SET summary = 'forged'")

    # On PostgreSQL the app role is refused before the guard has anything to say.
    with pytest.raises(Frozen if engine.dialect is Dialect.SQLITE else Forbidden):
        engine.store.write(ADA, "atlas", lambda tx: tx.run(forge))
