"""A deleted atom or molecule disappears everywhere at once; related ones are updated, and history keeps it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.answers import to_json
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows
from tests.manual_clock import ManualClock

LATER = "2026-03-01T10:00:00.000Z"


def events(engine: Engine, id_: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of an atom or a molecule: the operation, and each field with its former value."""
    rows = engine.as_owner(f"SELECT op, changes FROM events WHERE subject = '{id_}' ORDER BY rev, n")
    return [(op, {one["field"]: one["before"] for one in json.loads(changes)}) for op, changes in rows]


def test_a_deleted_atom_is_nowhere_to_be_seen(crowded_project: KnowledgeClient) -> None:
    answer = crowded_project.delete("Cart")

    assert to_json(answer) == {"deleted": crowded_project["Cart"]}
    assert outcome_of(partial(crowded_project.get, "Cart")) == ("NotFound", "not_found", "id")
    assert outcome_of(partial(crowded_project.entries, "Cart")) == ("NotFound", "not_found", "parentId")
    assert crowded_project.find_names() == ["Alone"]
    assert crowded_project.find_names("prices") == []
    assert crowded_project.names_matching("src/cart/a.ts") == []
    assert list(crowded_project.list_atoms()) == ["Alone"]
    assert crowded_project.get("Shop").atoms == []


def test_a_relation_to_what_was_deleted_says_that_it_is_missing(crowded_project: KnowledgeClient) -> None:
    crowded_project.update("Pages", relatedMolecules={"Shop": "sells"})
    crowded_project.delete("Cart")
    crowded_project.delete("Shop")

    assert to_json(crowded_project.read("Alone"))["relatedAtoms"] == [
        {"atomId": crowded_project["Cart"], "name": None, "reason": "fills it", "missing": True}
    ]
    assert to_json(crowded_project.read("Pages"))["relatedMolecules"] == [
        {"moleculeId": crowded_project["Shop"], "name": None, "reason": "sells", "missing": True}
    ]
    (alone,) = to_json(crowded_project.context("src/alone.ts"))["orphanAtoms"]
    assert alone["relatedAtoms"][0]["missing"] is True


def test_a_missing_relation_can_be_taken_out_and_then_not_be_written_again(crowded_project: KnowledgeClient) -> None:
    crowded_project.delete("Cart")

    assert crowded_project.update("Alone", name="Still alone").related_atoms[0].missing is True
    assert crowded_project.update("Alone", relatedAtoms=[]).related_atoms == []
    assert outcome_of(lambda: crowded_project.update("Alone", relatedAtoms={"Cart": "fills it"}))[:2] == (
        "NotFound",
        "not_found",
    )


def test_the_changelog_of_what_was_deleted_is_out_of_view_but_kept(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    for name in ("Cart", "Shop"):
        crowded_project.log(name, f"{name} was made")
    crowded_project.delete("Cart")
    crowded_project.delete("Shop")

    for name in ("Cart", "Shop"):
        assert outcome_of(partial(crowded_project.entries, name)) == ("NotFound", "not_found", "parentId")
        assert outcome_of(partial(crowded_project.log, name, "late")) == ("NotFound", "not_found", "parentId")
        kept = engine.as_owner(f"SELECT summary FROM graph_changelog WHERE parent_id = '{crowded_project[name]}'")
        assert kept == [(f"{name} was made",)]
        assert "knowledge.changelog_appended" in [op for op, _ in events(engine, crowded_project[name])]


def test_the_events_keep_what_a_deleted_atom_said(engine: Engine, crowded_project: KnowledgeClient) -> None:
    crowded_project.update("Cart", relatedAtoms={"Alone": "is filled by"})

    crowded_project.delete("Cart")

    assert events(engine, crowded_project["Cart"])[-1] == (
        "knowledge.deleted",
        {
            "entity_type": "atom",
            "name": "Cart",
            "molecule_id": crowded_project["Shop"],
            "paths": ["src/cart/**"],
            "knowledge": "Prices come from outside.",
            "related_atoms": [{"atomId": crowded_project["Alone"], "reason": "is filled by"}],
            "last_task_id": crowded_project["plan"],
        },
    )


@pytest.mark.parametrize("given", [{}, {"lastTaskId": "build"}, {"cascade": False, "lastTaskId": "review"}])
def test_the_atoms_of_a_deleted_molecule_become_orphans_by_a_change_like_any_other(
    engine: Engine, crowded_project: KnowledgeClient, clock: ManualClock, given: dict[str, Any]
) -> None:
    crowded_project.atom("Tax", "src/tax/**", moleculeId="Shop")
    crowded_project.update("Tax", confirm=COMMIT)
    crowded_project.log("Cart", "made")
    clock.move(hours=1)

    answer = crowded_project.delete("Shop", **given)

    assert to_json(answer) == {"deleted": crowded_project["Shop"], "orphanedAtoms": 2}
    task = crowded_project[given.get("lastTaskId", "plan")]
    for name, version in (("Cart", 2), ("Tax", 3)):
        orphan = crowded_project.read(name)
        assert (orphan.molecule_id, orphan.version, orphan.updated_at) == (None, version, LATER)
        assert orphan.last_task_id == task
        assert events(engine, crowded_project[name])[-1][0] == "knowledge.orphaned"
        assert outcome_of(partial(crowded_project.update, name, name="x", version=version - 1))[:2] == (
            "Conflict",
            "stale_version",
        )
    assert crowded_project.read("Alone").version == 1
    assert crowded_project.find_names(orphansOnly=True) == ["Alone", "Cart", "Tax"]
    assert crowded_project.entries("Cart") == ["made"]
    assert crowded_project.read("Tax").confirmed == COMMIT
    assert crowded_project.find_names(of="molecule") == ["Pages"]


def test_the_event_of_an_orphan_tells_everything_that_changed(engine: Engine, crowded_project: KnowledgeClient) -> None:
    crowded_project.delete("Shop", lastTaskId="build")

    assert events(engine, crowded_project["Cart"])[-1] == (
        "knowledge.orphaned",
        {"molecule_id": crowded_project["Shop"], "last_task_id": crowded_project["plan"]},
    )


def test_the_atoms_of_a_molecule_that_is_deleted_with_them_are_gone_too(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    crowded_project.atom("Tax", "src/tax/**", moleculeId="Shop")
    crowded_project.check({"id": "Tax", "freshness": "fresh"})

    answer = crowded_project.delete("Shop", cascade=True, lastTaskId="build")

    assert to_json(answer) == {"deleted": crowded_project["Shop"], "deletedAtoms": 2}
    assert crowded_project.find_names() == ["Alone"]
    for name in ("Shop", "Cart", "Tax"):
        assert outcome_of(partial(crowded_project.get, name)) == ("NotFound", "not_found", "id")
        assert events(engine, crowded_project[name])[-1][0] == "knowledge.deleted"
    assert crowded_project.context("src/tax/a", "src/cart/a").unmatched_paths == ["src/tax/a", "src/cart/a"]
    assert engine.as_owner("SELECT count(*) FROM graph_freshness") == [(0,)]


def test_a_name_may_be_used_again_and_is_another_atom(crowded_project: KnowledgeClient) -> None:
    first = crowded_project["Cart"]
    crowded_project.log("Cart", "the first one")
    crowded_project.delete("Cart")

    crowded_project.atom("Cart", "src/cart/**")

    assert crowded_project["Cart"] != first
    assert crowded_project.entries("Cart") == []
    assert crowded_project.read("Cart").version == 1
    assert crowded_project.read("Alone").related_atoms[0].missing is True


REFUSED: dict[str, tuple[Callable[[KnowledgeClient], Any], tuple[str, str, str | None]]] = {
    "what was deleted before": (lambda d: d.delete("Gone", version=1), ("NotFound", "not_found", "id")),
    "what never was": (
        lambda d: d.call("knowledge.delete", entityType="molecule", id=NOWHERE, version=1),
        ("NotFound", "not_found", "id"),
    ),
    "an atom as a molecule": (
        lambda d: d.call("knowledge.delete", entityType="molecule", id=d["Cart"], version=1),
        ("NotFound", "not_found", "id"),
    ),
    "what is no id": (
        lambda d: d.call("knowledge.delete", entityType="atom", id="cart", version=1),
        ("Invalid", "invalid_id", "id"),
    ),
    "no version": (
        lambda d: d.call("knowledge.delete", entityType="atom", id=d["Cart"]),
        ("Invalid", "missing_argument", "version"),
    ),
    "another project": (lambda d: d.delete("Cart", projectId="borealis"), ("RuleViolated", "other_project", "id")),
    "a stale version": (lambda d: d.delete("Cart", version=2), ("Conflict", "stale_version", None)),
    "a stale version of a molecule": (
        lambda d: d.delete("Shop", version=9, cascade=True),
        ("Conflict", "stale_version", None),
    ),
    "an unknown task": (lambda d: d.delete("Shop", lastTaskId="oooooo"), ("NotFound", "not_found", "lastTaskId")),
    "a task of another project": (
        lambda d: d.delete("Cart", lastTaskId="their task"),
        ("RuleViolated", "other_project", "lastTaskId"),
    ),
    # Another task would not help: what does not exist is said first, as by an update.
    "what was deleted before, with a task of another project": (
        lambda d: d.delete("Gone", version=1, lastTaskId="their task"),
        ("NotFound", "not_found", "id"),
    ),
    "a stale version, with an unknown task": (
        lambda d: d.delete("Shop", version=9, lastTaskId="oooooo"),
        ("Conflict", "stale_version", None),
    ),
}


def test_what_cannot_be_deleted_is_refused_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)

    answers = {what: outcome_of(partial(attempt, crowded_project)) for what, (attempt, _) in REFUSED.items()}

    assert answers == {what: expected for what, (_, expected) in REFUSED.items()}
    assert error_of(lambda: crowded_project.delete("Cart", version=2)).details["currentVersion"] == 1
    assert all_rows(engine) == before
