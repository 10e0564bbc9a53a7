"""What is deleted is out of view at once and everywhere, its neighbours know, and history keeps all of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tests.answers import to_json
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.desk import COMMIT, NOWHERE, Knowledge, ended
from tests.knowledge.rows import everything
from tests.manual_clock import ManualClock

LATER = "2026-03-01T10:00:00.000Z"


def events(engine: Engine, id_: str) -> list[tuple[str, dict[str, Any]]]:
    """What happened to an atom or a molecule: the operation, and each field with what it was before."""
    rows = engine.as_owner(f"SELECT op, changes FROM events WHERE subject = '{id_}' ORDER BY rev, n")
    return [(op, {one["field"]: one["before"] for one in json.loads(changes)}) for op, changes in rows]


def test_a_deleted_atom_is_nowhere_to_be_seen(crowded: Knowledge) -> None:
    answer = crowded.delete("Cart")

    assert to_json(answer) == {"deleted": crowded["Cart"]}
    assert ended(partial(crowded.get, "Cart")) == ("NotFound", "not_found", "id")
    assert ended(partial(crowded.entries, "Cart")) == ("NotFound", "not_found", "parentId")
    assert crowded.found() == ["Alone"]
    assert crowded.found("prices") == []
    assert crowded.matching("src/cart/a.ts") == []
    assert list(crowded.listed()) == ["Alone"]
    assert crowded.get("Shop").atoms == []


def test_a_relation_to_what_was_deleted_says_that_it_is_missing(crowded: Knowledge) -> None:
    crowded.update("Pages", relatedMolecules={"Shop": "sells"})
    crowded.delete("Cart")
    crowded.delete("Shop")

    assert to_json(crowded.read("Alone"))["relatedAtoms"] == [
        {"atomId": crowded["Cart"], "name": None, "reason": "fills it", "missing": True}
    ]
    assert to_json(crowded.read("Pages"))["relatedMolecules"] == [
        {"moleculeId": crowded["Shop"], "name": None, "reason": "sells", "missing": True}
    ]
    (alone,) = to_json(crowded.context("src/alone.ts"))["orphanAtoms"]
    assert alone["relatedAtoms"][0]["missing"] is True


def test_a_missing_relation_can_be_taken_out_but_not_be_sent_again(crowded: Knowledge) -> None:
    crowded.delete("Cart")

    assert ended(lambda: crowded.update("Alone", relatedAtoms={"Cart": "fills it"}))[:2] == ("NotFound", "not_found")
    assert crowded.update("Alone", name="Still alone").related_atoms[0].missing is True
    assert crowded.update("Alone", relatedAtoms=[]).related_atoms == []


def test_the_changelog_of_what_was_deleted_is_out_of_view_but_kept(engine: Engine, crowded: Knowledge) -> None:
    for name in ("Cart", "Shop"):
        crowded.log(name, f"{name} was made")
    crowded.delete("Cart")
    crowded.delete("Shop")

    for name in ("Cart", "Shop"):
        assert ended(partial(crowded.entries, name)) == ("NotFound", "not_found", "parentId")
        assert ended(partial(crowded.log, name, "late")) == ("NotFound", "not_found", "parentId")
        kept = engine.as_owner(f"SELECT summary FROM graph_changelog WHERE parent_id = '{crowded[name]}'")
        assert kept == [(f"{name} was made",)]
        assert "knowledge.changelog_appended" in [op for op, _ in events(engine, crowded[name])]


def test_the_events_keep_what_a_deleted_atom_said(engine: Engine, crowded: Knowledge) -> None:
    crowded.update("Cart", relatedAtoms={"Alone": "is filled by"})

    crowded.delete("Cart")

    assert events(engine, crowded["Cart"])[-1] == (
        "knowledge.deleted",
        {
            "entity_type": "atom",
            "name": "Cart",
            "molecule_id": crowded["Shop"],
            "paths": ["src/cart/**"],
            "knowledge": "Prices come from outside.",
            "related_atoms": [{"atomId": crowded["Alone"], "reason": "is filled by"}],
            "last_task_id": crowded["plan"],
        },
    )


@pytest.mark.parametrize("given", [{}, {"lastTaskId": "build"}, {"cascade": False, "lastTaskId": "review"}])
def test_the_atoms_of_a_deleted_molecule_become_orphans_by_a_change_like_any_other(
    engine: Engine, crowded: Knowledge, clock: ManualClock, given: dict[str, Any]
) -> None:
    crowded.atom("Tax", "src/tax/**", moleculeId="Shop")
    crowded.update("Tax", confirm=COMMIT)
    crowded.log("Cart", "made")
    clock.move(hours=1)

    answer = crowded.delete("Shop", **given)

    assert to_json(answer) == {"deleted": crowded["Shop"], "orphanedAtoms": 2}
    task = crowded[given.get("lastTaskId", "plan")]
    for name, version in (("Cart", 2), ("Tax", 3)):
        orphan = crowded.read(name)
        assert (orphan.molecule_id, orphan.version, orphan.updated_at) == (None, version, LATER)
        assert orphan.last_task_id == task
        assert events(engine, crowded[name])[-1][0] == "knowledge.orphaned"
        assert ended(partial(crowded.update, name, name="x", version=version - 1))[:2] == ("Conflict", "stale_version")
    assert crowded.read("Alone").version == 1
    assert crowded.found(orphansOnly=True) == ["Alone", "Cart", "Tax"]
    assert crowded.entries("Cart") == ["made"]
    assert crowded.read("Tax").confirmed == COMMIT
    assert crowded.found(of="molecule") == ["Pages"]


def test_the_event_of_an_orphan_tells_everything_that_changed(engine: Engine, crowded: Knowledge) -> None:
    crowded.delete("Shop", lastTaskId="build")

    assert events(engine, crowded["Cart"])[-1] == (
        "knowledge.orphaned",
        {"molecule_id": crowded["Shop"], "last_task_id": crowded["plan"]},
    )


def test_the_atoms_of_a_molecule_that_is_deleted_with_them_are_gone_too(engine: Engine, crowded: Knowledge) -> None:
    crowded.atom("Tax", "src/tax/**", moleculeId="Shop")
    crowded.check({"id": "Tax", "freshness": "fresh"})

    answer = crowded.delete("Shop", cascade=True, lastTaskId="build")

    assert to_json(answer) == {"deleted": crowded["Shop"], "deletedAtoms": 2}
    assert crowded.found() == ["Alone"]
    for name in ("Shop", "Cart", "Tax"):
        assert ended(partial(crowded.get, name)) == ("NotFound", "not_found", "id")
        assert events(engine, crowded[name])[-1][0] == "knowledge.deleted"
    assert crowded.context("src/tax/a", "src/cart/a").unmatched_paths == ["src/cart/a", "src/tax/a"]
    assert engine.as_owner("SELECT count(*) FROM graph_freshness") == [(0,)]


def test_a_name_may_be_used_again_and_is_another_atom(crowded: Knowledge) -> None:
    first = crowded["Cart"]
    crowded.log("Cart", "the first one")
    crowded.delete("Cart")

    crowded.atom("Cart", "src/cart/**")

    assert crowded["Cart"] != first
    assert crowded.entries("Cart") == []
    assert crowded.read("Cart").version == 1
    assert crowded.read("Alone").related_atoms[0].missing is True


REFUSED: dict[str, tuple[Callable[[Knowledge], Any], tuple[str, str, str | None]]] = {
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
}


def test_what_cannot_be_deleted_is_refused_and_nothing_is_written(engine: Engine, crowded: Knowledge) -> None:
    before = everything(engine)

    answers = {what: ended(partial(attempt, crowded)) for what, (attempt, _) in REFUSED.items()}

    assert answers == {what: expected for what, (_, expected) in REFUSED.items()}
    assert error_of(lambda: crowded.delete("Cart", version=2)).details["currentVersion"] == 1
    assert everything(engine) == before
