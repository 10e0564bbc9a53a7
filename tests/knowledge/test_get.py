"""One atom or molecule by its id, complete, with its latest changelog; a molecule with its atoms."""

from __future__ import annotations

from functools import partial

from tests.answers import to_json
from tests.engines import Engine
from tests.knowledge.client import COMMIT, NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import copy_atom


def test_an_atom_comes_whole_with_its_changelog_beside_it(crowded_project: KnowledgeClient) -> None:
    crowded_project.log("Cart", "made")

    answer = to_json(crowded_project.get("Cart"))

    assert answer.keys() == {"atom", "changelog"}
    assert answer["atom"] == to_json(crowded_project.read("Cart"))
    assert [one["summary"] for one in answer["changelog"]] == ["made"]


def test_a_molecule_comes_with_its_atoms_by_name(crowded_project: KnowledgeClient) -> None:
    for name in ("tax", "Bill", "Älteres"):
        crowded_project.atom(name, moleculeId="Shop")

    answer = to_json(crowded_project.get("Shop"))

    assert answer.keys() == {"molecule", "atoms", "changelog"}
    assert [one["name"] for one in answer["atoms"]] == ["Bill", "Cart", "tax", "Älteres"]
    assert answer["atoms"][1] == to_json(crowded_project.read("Cart"))


def test_atoms_of_one_name_come_in_the_order_of_their_ids(crowded_project: KnowledgeClient) -> None:
    made = [crowded_project.atom("Twin", moleculeId="Pages").id for _ in range(4)]

    assert [one.id for one in crowded_project.get("Pages").atoms] == sorted(made)
    assert [one.id for one in crowded_project.search("twin").items] == sorted(made)


def test_a_molecule_without_atoms_has_an_empty_list_of_them(crowded_project: KnowledgeClient) -> None:
    assert to_json(crowded_project.get("Pages"))["atoms"] == []


def test_a_molecule_comes_with_all_its_atoms_however_many(engine: Engine, crowded_project: KnowledgeClient) -> None:
    copy_atom(engine, crowded_project["Cart"], 250)

    answer = crowded_project.get("Shop")

    assert [one.name for one in answer.atoms] == ["Cart", *(f"Cart {100000 + number}" for number in range(1, 251))]
    assert "moreAtoms" not in to_json(answer)


def test_a_project_may_be_named_beside_an_id_if_it_is_the_right_one(crowded_project: KnowledgeClient) -> None:
    for project in ("atlas", crowded_project.project_id):
        assert crowded_project.get("Cart", projectId=project).atom == crowded_project.read("Cart")
    assert outcome_of(partial(crowded_project.get, "Cart", projectId="borealis")) == (
        "RuleViolated",
        "other_project",
        "id",
    )


def test_an_id_may_come_without_dashes_and_in_capitals(crowded_project: KnowledgeClient) -> None:
    plain = crowded_project["Cart"].replace("-", "").upper()

    assert crowded_project.call("knowledge.get", entityType="atom", id=plain).atom == crowded_project.read("Cart")


def test_what_is_known_of_its_files_comes_with_an_atom_wherever_it_is_read(crowded_project: KnowledgeClient) -> None:
    crowded_project.update("Cart", confirm=COMMIT)
    crowded_project.check({"id": "Cart", "freshness": "fresh", "commit": COMMIT})

    seen = {"state": "fresh", "commit": COMMIT, "checkedAt": "2026-03-01T09:00:00.000Z"}
    for atom in (
        crowded_project.get("Cart").atom,
        crowded_project.get("Shop").atoms[0],
        crowded_project.search("cart").items[0],
    ):
        assert (to_json(atom)["confirmed"], to_json(atom)["freshness"]) == (COMMIT, seen)


def test_what_is_not_there_is_refused_with_the_field(crowded_project: KnowledgeClient) -> None:
    ids = {
        "what never was": NOWHERE,
        "what was deleted": crowded_project["Gone"],
        "a molecule": crowded_project["Shop"],
    }

    for what, id_ in ids.items():
        call = partial(crowded_project.call, "knowledge.get", entityType="atom", id=id_)
        assert outcome_of(call) == ("NotFound", "not_found", "id"), what
    assert outcome_of(partial(crowded_project.call, "knowledge.get", entityType="atom", id="Cart")) == (
        "Invalid",
        "invalid_id",
        "id",
    )
    assert outcome_of(partial(crowded_project.call, "knowledge.get", entityType="atom")) == (
        "Invalid",
        "missing_argument",
        "id",
    )


def test_a_task_that_is_gone_stays_a_plain_id(crowded_project: KnowledgeClient) -> None:
    crowded_project.call(
        "work.restructure",
        operations=[{"op": "merge", "source": crowded_project["plan"], "target": crowded_project["build"]}],
    )

    assert crowded_project.read("Cart").created_by_task_id == crowded_project["plan"]
