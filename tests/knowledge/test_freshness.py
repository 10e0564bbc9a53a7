"""Confirming an atom at a commit, recording later checks, and forgetting them when its paths change."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from tests.answers import to_json
from tests.engines import Engine
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows, copy_atom
from tests.manual_clock import ManualClock

OLDER = "fedcba9876543210fedcba9876543210fedcba98"
NOW, LATER = "2026-03-01T09:00:00.000Z", "2026-03-01T10:00:00.000Z"


def freshness(client: KnowledgeClient, name: str) -> Any:
    return to_json(client.read(name)).get("freshness")


def test_an_atom_that_nobody_looked_at_says_nothing_about_it(crowded_project: KnowledgeClient) -> None:
    assert {"confirmed", "freshness"}.isdisjoint(to_json(crowded_project.read("Cart")))
    assert {"confirmed", "confirmedAt", "freshness"}.isdisjoint(to_json(crowded_project.list_atoms()["Cart"]))


def test_a_confirmation_is_kept_with_the_atom_and_forgets_what_was_seen_before(
    crowded_project: KnowledgeClient, clock: ManualClock
) -> None:
    crowded_project.check({"id": "Cart", "freshness": "changed", "commit": OLDER, "files": ["src/cart/a.ts"]})
    clock.move(hours=1)

    changed = crowded_project.update("Cart", confirm=f" {COMMIT.upper()}\n")

    assert (changed.version, changed.confirmed) == (2, COMMIT)
    assert freshness(crowded_project, "Cart") is None
    listed = to_json(crowded_project.list_atoms()["Cart"])
    assert (listed["confirmed"], listed["confirmedAt"]) == (COMMIT, LATER)
    assert "freshness" not in listed


def test_what_a_check_saw_is_kept_with_the_atom_and_changes_no_version(
    crowded_project: KnowledgeClient, clock: ManualClock
) -> None:
    before = crowded_project.read("Cart")
    clock.move(hours=1)

    answer = crowded_project.check(
        {"id": "Cart", "freshness": "changed", "commit": OLDER, "files": ["src/cart/a.ts", "src/cart/b.ts"]},
        {"id": "Alone", "freshness": "unanchored"},
    )

    assert to_json(answer) == {"recorded": 2, "skipped": []}
    assert freshness(crowded_project, "Cart") == {
        "state": "changed",
        "commit": OLDER,
        "checkedAt": LATER,
        "files": ["src/cart/a.ts", "src/cart/b.ts"],
    }
    assert freshness(crowded_project, "Alone") == {"state": "unanchored", "commit": None, "checkedAt": LATER}
    after = crowded_project.read("Cart")
    assert (after.version, after.updated_at, after.last_task_id) == (1, before.updated_at, before.last_task_id)


def test_the_last_look_counts(crowded_project: KnowledgeClient, clock: ManualClock) -> None:
    crowded_project.update("Cart", confirm=OLDER)
    for state in ("orphaned", "unanchored", "changed", "fresh"):
        clock.move(minutes=1)
        crowded_project.check({"id": "Cart", "freshness": state, "commit": OLDER})
        assert freshness(crowded_project, "Cart")["state"] == state
    clock.move(minutes=56)
    crowded_project.update("Cart", confirm=COMMIT)
    crowded_project.check({"id": "Cart", "freshness": "fresh", "commit": COMMIT})
    assert freshness(crowded_project, "Cart") == {"state": "fresh", "commit": COMMIT, "checkedAt": LATER}


def test_atoms_that_changed_or_went_since_they_were_looked_at_are_skipped(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    crowded_project.update("Alone", knowledge="new")
    seen = [
        {"id": crowded_project["Cart"], "version": 1, "freshness": "fresh", "commit": COMMIT},
        {"id": crowded_project["Alone"], "version": 1, "freshness": "fresh", "commit": COMMIT},
        {"id": crowded_project["Gone"], "version": 1, "freshness": "fresh", "commit": COMMIT},
        {"id": crowded_project["their atom"], "version": 1, "freshness": "fresh", "commit": COMMIT},
        {"id": NOWHERE, "version": 1, "freshness": "fresh", "commit": COMMIT},
    ]

    answer = crowded_project.call("knowledge.record_check", projectId="atlas", commit=COMMIT, atoms=seen)

    assert answer.recorded == 1
    assert answer.skipped == [crowded_project["Alone"], crowded_project["Gone"], crowded_project["their atom"], NOWHERE]
    assert engine.as_owner("SELECT atom_id FROM graph_freshness") == [(crowded_project["Cart"],)]


def test_a_change_of_its_patterns_forgets_what_was_seen_and_no_other_change_does(
    crowded_project: KnowledgeClient,
) -> None:
    crowded_project.update("Cart", confirm=COMMIT)
    crowded_project.check({"id": "Cart", "freshness": "changed", "commit": COMMIT})
    seen = freshness(crowded_project, "Cart")

    crowded_project.update(
        "Cart", name="Basket", knowledge="x", moleculeId=None, relatedAtoms=[], paths=["src/cart/**"]
    )
    assert freshness(crowded_project, "Cart") == seen
    crowded_project.update("Cart", paths=["src/cart/**", "lib/**"])
    assert freshness(crowded_project, "Cart") is None
    assert to_json(crowded_project.list_atoms()["Basket"])["confirmed"] == COMMIT


def test_a_check_is_an_event_of_the_project_with_how_many_of_each(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    crowded_project.by("ben").check({"id": "Cart", "freshness": "fresh"}, {"id": "Alone", "freshness": "fresh"})

    ((actor, subject, changes),) = engine.as_owner(
        "SELECT actor_id, subject, changes FROM events WHERE op = 'knowledge.checked'"
    )
    assert (actor, subject) == ("ben", crowded_project.project_id)
    assert {one["field"]: one["after"] for one in json.loads(changes)} == {"commit": COMMIT, "freshness": {"fresh": 2}}


def test_a_check_of_nothing_is_a_check(crowded_project: KnowledgeClient) -> None:
    assert to_json(crowded_project.check()) == {"recorded": 0, "skipped": []}


def test_every_atom_is_listed_in_short_by_name_page_by_page(engine: Engine, crowded_project: KnowledgeClient) -> None:
    copy_atom(engine, crowded_project["Cart"], 5)
    found, cursor = [], None
    for _ in range(3):
        page = crowded_project.call(
            "knowledge.list", projectId="atlas", limit=3, **{} if cursor is None else {"cursor": cursor}
        )
        found += [one.name for one in page.atoms]
        cursor = page.next_cursor

    assert found == ["Alone", "Cart", *(f"Cart 10000{number}" for number in range(1, 6))]
    assert not cursor
    assert to_json(crowded_project.list_atoms()["Cart"]) == {
        "id": crowded_project["Cart"],
        "name": "Cart",
        "moleculeId": crowded_project["Shop"],
        "paths": ["src/cart/**"],
        "version": 1,
    }


def test_a_cursor_is_good_for_its_own_list_only(engine: Engine, crowded_project: KnowledgeClient) -> None:
    copy_atom(engine, crowded_project["Cart"], 5)
    cursor = crowded_project.call("knowledge.list", projectId="atlas", limit=2).next_cursor

    for given in ({"projectId": "borealis", "cursor": cursor}, {"projectId": "atlas", "cursor": f"{cursor}x"}):
        assert outcome_of(partial(crowded_project.call, "knowledge.list", **given))[:2] == ("Invalid", "invalid_cursor")


def test_a_list_has_only_the_wanted_states_and_the_atoms_of_the_wanted_paths(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    copy_atom(engine, crowded_project["Cart"], 5)
    crowded_project.check({"id": "Cart", "freshness": "changed"}, {"id": "Alone", "freshness": "fresh"})
    copies = [f"Cart 10000{number}" for number in range(1, 6)]

    def list_names(**filters: Any) -> list[str]:
        names: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = crowded_project.call("knowledge.list", projectId="atlas", limit=2, **filters, **cursor)
            names += [atom.name for atom in page.atoms]
            if not page.next_cursor:
                return names
            cursor = {"cursor": page.next_cursor}

    assert list_names(freshness=["changed"]) == ["Cart"]
    assert list_names(freshness=["fresh", "changed"]) == ["Alone", "Cart"]
    assert list_names(freshness=["not_checked"]) == copies
    assert list_names(freshness=["orphaned"]) == []
    assert list_names(paths="src/cart/a.ts,copies/") == ["Cart", *copies]
    assert list_names(paths=["src/cart/", "copies/100003/"], freshness=["changed"]) == ["Cart"]
    assert list_names(paths="nothing/here.md") == []


def test_a_cursor_is_good_for_its_own_filter_only(engine: Engine, crowded_project: KnowledgeClient) -> None:
    copy_atom(engine, crowded_project["Cart"], 5)
    filters = {"projectId": "atlas", "limit": 2, "freshness": ["not_checked"]}
    cursor = crowded_project.call("knowledge.list", **filters).next_cursor

    for other in ({}, {"freshness": ["fresh"]}, {**filters, "paths": "src/cart/a.ts"}):
        given = {"projectId": "atlas", **other, "cursor": cursor}
        assert outcome_of(partial(crowded_project.call, "knowledge.list", **given))[:2] == ("Invalid", "invalid_cursor")


def test_what_cannot_be_recorded_is_refused_with_the_field_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)
    cart = {"id": crowded_project["Cart"], "version": 1, "freshness": "fresh"}

    def record(*atoms: Any, **given: Any) -> Any:
        return crowded_project.call(
            "knowledge.record_check", **{"projectId": "atlas", "commit": COMMIT, "atoms": list(atoms)} | given
        )

    refusals = {
        "an unknown project": partial(record, cart, projectId="nowhere"),
        "what is no commit": partial(record, cart, commit="HEAD"),
        "a commit of six digits": partial(record, cart, commit="abcdef"),
        "an atom confirmed at no commit": partial(
            record, cart, {**cart, "id": crowded_project["Alone"], "commit": "x"}
        ),
        "an atom that is no id": partial(record, cart, {**cart, "id": "cart"}),
        "an unknown state": partial(record, {**cart, "freshness": "stale"}),
        "no version": partial(record, {"id": crowded_project["Cart"], "freshness": "fresh"}),
    }

    assert {what: outcome_of(call) for what, call in refusals.items()} == {
        "an unknown project": ("NotFound", "not_found", None),
        "what is no commit": ("Invalid", "invalid_argument", "commit"),
        "a commit of six digits": ("Invalid", "invalid_argument", "commit"),
        "an atom confirmed at no commit": ("Invalid", "invalid_argument", "atoms[1].commit"),
        "an atom that is no id": ("Invalid", "invalid_id", "atoms[1].id"),
        "an unknown state": ("Invalid", "invalid_argument", "atoms[0].freshness"),
        "no version": ("Invalid", "missing_argument", "atoms[0].version"),
    }
    assert all_rows(engine) == before
