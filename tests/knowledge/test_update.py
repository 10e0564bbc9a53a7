"""Knowledge is updated at the version that was read, and omitted fields stay."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from groundplan.kernel.errors import Conflict
from tests.answers import to_json
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows
from tests.manual_clock import ManualClock

LATER = "2026-03-01T10:00:00.000Z"
FIELDS = ("molecule_id", "name", "paths", "knowledge", "related_atoms", "last_task_id", "created_by_task_id")


def fields(atom: Any) -> dict[str, Any]:
    return {name: getattr(atom, name) for name in FIELDS}


CHANGES: dict[str, tuple[dict[str, Any], str, Callable[[KnowledgeClient], Any]]] = {
    "knowledge": (
        {"knowledge": " Prices come\nfrom the catalog. "},
        "knowledge",
        lambda _: "Prices come\nfrom the catalog.",
    ),
    "nothing known any more": ({"knowledge": ""}, "knowledge", lambda _: ""),
    "a name": ({"name": "Basket"}, "name", lambda _: "Basket"),
    "paths": ({"paths": ["lib/**", "src/[...slug].ts"]}, "paths", lambda _: ["lib/**", "src/[...slug].ts"]),
    "paths as text": ({"paths": '["lib/**"]'}, "paths", lambda _: ["lib/**"]),
    "a molecule": ({"moleculeId": "Pages"}, "molecule_id", lambda client: client["Pages"]),
    "no molecule": ({"moleculeId": None}, "molecule_id", lambda _: None),
    "an empty molecule": ({"moleculeId": ""}, "molecule_id", lambda _: None),
    "a task": ({"lastTaskId": "build"}, "last_task_id", lambda client: client["build"]),
}


def test_one_field_is_changed_and_the_others_stay(crowded_project: KnowledgeClient, clock: ManualClock) -> None:
    for version, (what, (change, field, after)) in enumerate(CHANGES.items(), 1):
        before = crowded_project.read("Cart")
        clock.move(minutes=1)

        changed = crowded_project.update("Cart", **change)

        assert fields(changed) == fields(before) | {field: after(crowded_project)}, what
        assert (before.version, changed.version) == (version, version + 1)
        assert (changed.created_at, changed.updated_at) == (before.created_at, f"2026-03-01T09:{version:02}:00.000Z")
        assert crowded_project.read("Cart") == changed


def test_a_molecule_is_changed_in_the_same_way(crowded_project: KnowledgeClient, clock: ManualClock) -> None:
    clock.move(hours=1)

    changed = crowded_project.update(
        "Shop", name="Store", knowledge="Open.", relatedMolecules={"Pages": "is shown by"}, lastTaskId="build"
    )

    assert (changed.name, changed.knowledge, changed.version, changed.updated_at) == ("Store", "Open.", 2, LATER)
    assert [(one.molecule_id, one.name) for one in changed.related_molecules] == [(crowded_project["Pages"], "Pages")]
    assert (changed.created_by_task_id, changed.last_task_id) == (crowded_project["plan"], crowded_project["build"])
    assert crowded_project.read("Shop") == changed
    assert crowded_project.read("Cart").version == 1


def test_relations_are_replaced_as_a_whole(crowded_project: KnowledgeClient) -> None:
    crowded_project.atom("Tax")

    changed = crowded_project.update("Alone", relatedAtoms={"Tax": "adds it"})
    emptied = crowded_project.update("Alone", relatedAtoms=[])

    assert [(one.name, one.reason) for one in changed.related_atoms] == [("Tax", "adds it")]
    assert emptied.related_atoms == []


@pytest.mark.parametrize(("kind", "field"), [("atom", "relatedAtoms"), ("molecule", "relatedMolecules")])
def test_relations_are_written_as_they_were_read_and_a_missing_one_is_kept_with_a_warning(
    client: KnowledgeClient, kind: str, field: str
) -> None:
    for name in ("Tax", "Payments", "Cart"):
        client.create(kind, name, **{"paths": ["src/**"]} if kind == "atom" else {})
    client.update("Cart", **{field: {"Tax": "adds it", "Payments": "charges"}})
    read = to_json(client.read("Cart"))[field]
    client.delete("Tax")
    read_later = to_json(client.read("Cart"))[field]

    for version, related in enumerate((read, read_later), 3):
        written = client.call(
            "knowledge.update",
            entityType=kind,
            id=client["Cart"],
            version=version - 1,
            lastTaskId=client["build"],
            **{field: related},
        )
        assert (
            to_json(getattr(written, kind))[field] == read_later == [read[0] | {"name": None, "missing": True}, read[1]]
        )
        (warning,) = written.warnings
        assert warning.startswith(f"{field}[0]: ")

    other = client.create(kind, "Other", **{"paths": ["src/**"]} if kind == "atom" else {})
    refused = error_of(partial(client.update, "Other", version=other.version, **{field: read_later}))
    assert (refused.code, refused.details["field"]) == ("not_found", f"{field}[0].{kind}Id")
    assert error_of(partial(client.update, "Cart", **{field: [read[1] | {"nam": "x"}]})).code == "unknown_argument"


def test_an_update_that_changes_nothing_is_a_change_like_any_other(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    changed = crowded_project.update("Cart", name="Cart")

    assert changed.version == 2
    ((changes,),) = engine.as_owner(
        f"SELECT changes FROM events WHERE subject = '{crowded_project['Cart']}' AND op = 'knowledge.updated'"
    )
    assert json.loads(changes) == []


def test_an_update_is_in_the_events_with_before_and_after(engine: Engine, crowded_project: KnowledgeClient) -> None:
    crowded_project.by("ben").update("Cart", name="Basket", moleculeId=None, lastTaskId="build", confirm=COMMIT)

    ((actor, changes),) = engine.as_owner(
        f"SELECT actor_id, changes FROM events WHERE subject = '{crowded_project['Cart']}' AND op = 'knowledge.updated'"
    )
    assert actor == "ben"
    assert {one["field"]: (one["before"], one["after"]) for one in json.loads(changes)} == {
        "name": ("Cart", "Basket"),
        "molecule_id": (crowded_project["Shop"], None),
        "last_task_id": (crowded_project["plan"], crowded_project["build"]),
        "confirmed_commit": (None, COMMIT),
    }


@pytest.mark.parametrize("name", ["Cart", "Shop"])
def test_a_stale_version_is_a_conflict_that_names_the_current_one(
    engine: Engine, crowded_project: KnowledgeClient, name: str
) -> None:
    crowded_project.update(name, knowledge="newer")
    before = all_rows(engine)

    for version in (1, 3, 2**31):
        for call in (
            partial(crowded_project.update, name, knowledge="mine", version=version),
            partial(crowded_project.append, name, "mine", version=version),
            partial(crowded_project.delete, name, version=version),
        ):
            error = error_of(call)

            assert isinstance(error, Conflict)
            assert (error.code, error.details["currentVersion"]) == ("stale_version", 2)
    assert all_rows(engine) == before
    assert crowded_project.update(name, knowledge="mine", version=2).version == 3


Attempt = tuple[Callable[[KnowledgeClient], Any], tuple[str, str, str | None]]

REFUSED: dict[str, Attempt] = {
    "nothing known by the id": (
        lambda d: d.call("knowledge.update", entityType="atom", id=NOWHERE, version=1, name="x"),
        ("NotFound", "not_found", "id"),
    ),
    "a deleted atom": (lambda d: d.update("Gone", name="x", version=1), ("NotFound", "not_found", "id")),
    "an atom as a molecule": (
        lambda d: d.update("Cart", entityType="molecule", name="x", version=1),
        ("NotFound", "not_found", "id"),
    ),
    "what is no id": (lambda d: d.update("Cart", id="Cart!", version=1), ("Invalid", "invalid_id", "id")),
    "no version": (
        lambda d: d.call("knowledge.update", entityType="atom", id=d["Cart"], name="x"),
        ("Invalid", "missing_argument", "version"),
    ),
    "version 0": (lambda d: d.update("Cart", version=0), ("Invalid", "invalid_argument", "version")),
    "no paths at all": (lambda d: d.update("Cart", paths=[]), ("RuleViolated", "empty_paths", "paths")),
    "no paths, as text": (lambda d: d.update("Cart", paths="[]"), ("RuleViolated", "empty_paths", "paths")),
    "paths of nothing": (lambda d: d.update("Cart", paths=None), ("Invalid", "invalid_argument", "arguments")),
    "traversal": (lambda d: d.update("Cart", paths=["a", "../b"]), ("Invalid", "malformed_pattern", "paths[1]")),
    "an absolute path": (lambda d: d.update("Cart", paths=["/a"]), ("Invalid", "malformed_pattern", "paths[0]")),
    "a malformed pattern": (lambda d: d.update("Cart", paths=["a/[b"]), ("Invalid", "malformed_pattern", "paths[0]")),
    "too many paths": (lambda d: d.update("Cart", paths=["a"] * 21), ("Invalid", "invalid_argument", "paths")),
    "a path that is too long": (lambda d: d.update("Cart", paths=["x" * 513]), ("Invalid", "too_long", "paths[0]")),
    "an unknown molecule": (lambda d: d.update("Cart", moleculeId=NOWHERE), ("NotFound", "not_found", "moleculeId")),
    "a molecule of another project": (
        lambda d: d.update("Cart", moleculeId="their molecule"),
        ("RuleViolated", "other_project", "moleculeId"),
    ),
    "a relation to nothing": (
        lambda d: d.update("Cart", relatedAtoms={NOWHERE: "x"}),
        ("NotFound", "not_found", "relatedAtoms[0].atomId"),
    ),
    "a relation into another project": (
        lambda d: d.update("Cart", relatedAtoms={"Alone": "x", "their atom": "x"}),
        ("RuleViolated", "other_project", "relatedAtoms[1].atomId"),
    ),
    "a molecule's relation into another project": (
        lambda d: d.update("Shop", relatedMolecules={"their molecule": "x"}),
        ("RuleViolated", "other_project", "relatedMolecules[0].moleculeId"),
    ),
    "an atom related to itself": (
        lambda d: d.update("Cart", relatedAtoms={"Cart": "x"}),
        ("RuleViolated", "related_to_itself", "relatedAtoms"),
    ),
    "a molecule related to itself": (
        lambda d: d.update("Shop", relatedMolecules={"Shop": "x"}),
        ("RuleViolated", "related_to_itself", "relatedMolecules"),
    ),
    "a relation with a blank reason": (
        lambda d: d.update("Cart", relatedAtoms={"Alone": "  "}),
        ("Invalid", "invalid_argument", "relatedAtoms[0].reason"),
    ),
    "too many relations": (
        lambda d: d.update("Cart", relatedAtoms=[{"atomId": NOWHERE, "reason": "x"}] * 51),
        ("Invalid", "invalid_argument", "relatedAtoms"),
    ),
    "an unknown task": (lambda d: d.update("Cart", lastTaskId="oooooo"), ("NotFound", "not_found", "lastTaskId")),
    "a task of another project": (
        lambda d: d.update("Cart", lastTaskId="their task"),
        ("RuleViolated", "other_project", "lastTaskId"),
    ),
    "knowledge that is too long": (
        lambda d: d.update("Cart", knowledge="€" * 10_923),
        ("Invalid", "too_long", "knowledge"),
    ),
    "an empty name": (lambda d: d.update("Cart", name=" "), ("Invalid", "invalid_argument", "name")),
    "another project": (
        lambda d: d.update("Cart", projectId="borealis", name="x"),
        ("RuleViolated", "other_project", "id"),
    ),
    "nothing": (lambda d: d.update("Cart"), ("Invalid", "invalid_argument", "arguments")),
    "another author": (
        lambda d: d.update("Cart", createdByTaskId="build"),
        ("Invalid", "unknown_argument", "createdByTaskId"),
    ),
    "an unknown mode": (
        lambda d: d.update("Cart", knowledgeMode="prepend", knowledge="x"),
        ("Invalid", "invalid_argument", "knowledgeMode"),
    ),
    "what is no commit": (lambda d: d.update("Cart", confirm="HEAD"), ("Invalid", "head_unknown", "confirm")),
    "a molecule with paths": (lambda d: d.update("Shop", paths=["a"]), ("Invalid", "invalid_argument", "paths")),
    "a molecule in a molecule": (
        lambda d: d.update("Shop", moleculeId="Pages"),
        ("Invalid", "invalid_argument", "moleculeId"),
    ),
    "a molecule related to atoms": (
        lambda d: d.update("Shop", relatedAtoms={"Cart": "x"}),
        ("Invalid", "invalid_argument", "relatedAtoms"),
    ),
    "a molecule that is confirmed": (
        lambda d: d.update("Shop", confirm=COMMIT),
        ("Invalid", "invalid_argument", "confirm"),
    ),
    "an atom related to molecules": (
        lambda d: d.update("Cart", relatedMolecules={"Shop": "x"}),
        ("Invalid", "invalid_argument", "relatedMolecules"),
    ),
}


def test_what_cannot_be_changed_is_refused_by_family_code_and_field_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)

    answers = {what: outcome_of(partial(attempt, crowded_project)) for what, (attempt, _) in REFUSED.items()}

    assert answers == {what: expected for what, (_, expected) in REFUSED.items()}
    assert all_rows(engine) == before
