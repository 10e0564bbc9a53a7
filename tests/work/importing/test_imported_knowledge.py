"""Knowledge of a file becomes molecules and atoms, in the transaction of the import."""

from __future__ import annotations

from typing import Any

import pytest

from tests.work.client import WorkClient
from tests.work.importing.file_import import FileImport


@pytest.fixture
def file(work: WorkClient) -> FileImport:
    return FileImport(work, "memory")


def molecule(name: str, knowledge: str, **related: str) -> dict[str, Any]:
    return {
        "name": name,
        "knowledge": knowledge,
        "related": [{"name": other, "reason": reason} for other, reason in related.items()],
    }


def find(file: FileImport, name: str, kind: str = "molecule") -> Any:
    found = file.work.call("knowledge.search", entityType=kind, projectId=file.work.project, query=name)
    (id_,) = [one.id for one in found.items if one.name == name]
    return getattr(file.work.call("knowledge.get", entityType=kind, id=id_, includeChangelog=False), kind)


def test_entities_become_molecules_with_their_relations(file: FileImport) -> None:
    answer = file.run(
        molecules=[molecule("Cart", "type: module", Checkout="is read by"), molecule("Checkout", "- rounds once")],
        atoms=[{"name": "Prices", "knowledge": "in cents", "paths": ["src/prices/**"]}],
    )

    assert answer.counts.created == 3
    cart = find(file, "Cart")
    assert [(one.name, one.reason) for one in cart.related_molecules] == [("Checkout", "is read by")]
    assert find(file, "Prices", "atom").paths == ["src/prices/**"]
    assert file.ready() == set()


def test_knowledge_is_taken_over_again_unless_it_changed_here(file: FileImport) -> None:
    first = [molecule("Cart", "one"), molecule("Checkout", "two")]
    file.run(molecules=first)
    rev = file.rev()
    assert file.run(molecules=first).counts.unchanged == 2
    assert file.rev() == rev
    cart = find(file, "Cart")
    file.work.call("knowledge.update", entityType="molecule", id=cart.id, version=cart.version, knowledge="ours")

    answer = file.run(molecules=[molecule("Cart", "theirs"), molecule("Checkout", "three")])

    assert (answer.counts.updated, [(one.source_id, one.field) for one in answer.conflicts]) == (
        1,
        [("Cart", "knowledge")],
    )
    assert (find(file, "Cart").knowledge, find(file, "Checkout").knowledge) == ("ours", "three")


def test_knowledge_can_begin_a_project(file: FileImport) -> None:
    answer = file.run(molecules=[molecule("Cart", "one")], project="new")
    file.work.project = "new"

    assert answer.counts.created == 1
    assert find(file, "Cart").knowledge == "one"


def relations(file: FileImport, name: str) -> dict[str, str]:
    return {one.name: one.reason for one in find(file, name).related_molecules}


def test_relations_follow_the_file_also_where_no_text_changed(file: FileImport) -> None:
    others = [molecule(name, name) for name in ("Checkout", "Shop", "Stock")]
    file.run(molecules=[molecule("Cart", "one", Checkout="is read by", Shop="part of"), *others])

    changed = [molecule("Cart", "one", Checkout="calls", Stock="reserves"), *others]
    preview = file.run(molecules=changed, dry_run=True)
    answer = file.run(molecules=changed)

    assert relations(file, "Cart") == {"Checkout": "calls", "Stock": "reserves"}
    assert (answer.counts.updated, answer.counts.unchanged) == (1, 3)
    assert preview.counts == answer.counts
    rev = file.rev()
    assert file.run(molecules=changed).counts.updated == 0
    assert file.rev() == rev


def test_relations_that_were_changed_here_stay(file: FileImport) -> None:
    others = [molecule(name, name) for name in ("Checkout", "Shop", "Stock")]
    file.run(molecules=[molecule("Cart", "one", Checkout="is read by", Shop="part of"), *others])
    cart = find(file, "Cart")
    ids = {name: find(file, name).id for name in ("Checkout", "Stock")}
    ours = [{"moleculeId": ids["Checkout"], "reason": "ours"}, {"moleculeId": ids["Stock"], "reason": "ours, too"}]
    update = {"entityType": "molecule", "id": cart.id, "version": cart.version, "relatedMolecules": ours}
    file.work.call("knowledge.update", **update)

    # Gone from the file: the one to Checkout. Removed here: the one to Shop. New in both: the one to Stock.
    file.run(molecules=[molecule("Cart", "two", Shop="part of", Stock="theirs"), *others])

    assert relations(file, "Cart") == {"Checkout": "ours", "Stock": "ours, too"}
