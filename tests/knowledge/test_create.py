"""A created atom or molecule is stored as it was sent; a refused one leaves no trace."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import UNSET

from groundplan.kernel.answers import count_tokens, encode
from tests.answers import to_json
from tests.engines import Engine
from tests.errors import error_of
from tests.knowledge.client import NOWHERE, KnowledgeClient, outcome_of
from tests.knowledge.rows import all_rows

NOW = "2026-03-01T09:00:00.000Z"

MALFORMED = {
    "/src/a.ts": "absolute",
    "C:/src/a.ts": "a drive",
    "../src/**": "traversal",
    "src/../a.ts": "traversal on the way",
    "src/{a,..}/b": "traversal in braces",
    "src/..": "traversal at the end",
    "src//a.ts": "an empty segment",
    "src/./a.ts": "a dot",
    "!src/**": "a negation",
    "src/[ab": "an unclosed class",
    "src/{a,b": "unclosed braces",
    "src/[z-a]": "a range that runs backwards",
    "docs/": "a bare directory",
    "a\\": "a lone escape",
    "": "nothing",
    "   ": "blanks",
    "a\nb": "two lines",
}


def test_a_new_atom_is_told_as_it_is_kept(client: KnowledgeClient) -> None:
    client.molecule("Shop")

    made = client.atom("Cart", "src/cart/**", "src/cart-*.ts", knowledge="Prices come from outside.", moleculeId="Shop")

    assert to_json(made) == {
        "entityType": "atom",
        "id": client["Cart"],
        "projectId": client.project_id,
        "moleculeId": client["Shop"],
        "name": "Cart",
        "paths": ["src/cart/**", "src/cart-*.ts"],
        "knowledge": "Prices come from outside.",
        "relatedAtoms": [],
        "createdByTaskId": client["plan"],
        "lastTaskId": client["plan"],
        "version": 1,
        "createdAt": NOW,
        "createdBy": "ada",
        "updatedAt": NOW,
        "updatedBy": "ada",
    }
    assert client.read("Cart") == made


def test_a_new_molecule_is_told_as_it_is_kept(client: KnowledgeClient) -> None:
    made = client.molecule("Shop", knowledge="All of it is idempotent.")

    assert to_json(made) == {
        "entityType": "molecule",
        "id": client["Shop"],
        "projectId": client.project_id,
        "name": "Shop",
        "knowledge": "All of it is idempotent.",
        "relatedMolecules": [],
        "createdByTaskId": client["plan"],
        "lastTaskId": client["plan"],
        "version": 1,
        "createdAt": NOW,
        "createdBy": "ada",
        "updatedAt": NOW,
        "updatedBy": "ada",
    }
    assert client.read("Shop") == made


def test_an_atom_needs_neither_molecule_nor_knowledge(client: KnowledgeClient) -> None:
    made = client.atom("Retry", "src/retry.ts")

    assert (made.molecule_id, made.knowledge) == (None, "")


def test_blanks_around_texts_are_not_kept(client: KnowledgeClient) -> None:
    made = client.atom("  Caf\u0065\u0301 ", " src/** ", knowledge="\n\n  It rains.\t\n")

    assert (made.name, made.paths, made.knowledge) == ("Caf\u00e9", ["src/**"], "It rains.")


def test_relations_come_back_with_the_names_there_are_now(client: KnowledgeClient) -> None:
    client.atom("Stripe")
    client.molecule("Pages")

    cart = client.atom("Cart", relatedAtoms={"Stripe": "calls it to charge"})
    shop = client.molecule("Shop", relatedMolecules={"Pages": "is shown by them"})
    client.update("Stripe", name="Payments")

    assert to_json(cart)["relatedAtoms"] == [
        {"atomId": client["Stripe"], "name": "Stripe", "reason": "calls it to charge"}
    ]
    assert to_json(shop)["relatedMolecules"] == [
        {"moleculeId": client["Pages"], "name": "Pages", "reason": "is shown by them"}
    ]
    assert client.read("Cart").related_atoms[0].name == "Payments"


def test_lists_may_come_as_json_text_and_go_out_as_lists(client: KnowledgeClient) -> None:
    stripe = client.atom("Stripe", paths='["src/stripe/**", "src/s.ts"]')
    related = json.dumps([{"atomId": stripe.id, "reason": "calls"}])
    pages = client.molecule("Pages")

    cart = client.atom("Cart", relatedAtoms=related)
    shop = client.molecule("Shop", relatedMolecules=json.dumps([{"moleculeId": pages.id, "reason": "in"}]))

    assert to_json(stripe)["paths"] == ["src/stripe/**", "src/s.ts"]
    assert to_json(cart)["relatedAtoms"] == [{"atomId": stripe.id, "name": "Stripe", "reason": "calls"}]
    assert to_json(shop)["relatedMolecules"] == [{"moleculeId": pages.id, "name": "Pages", "reason": "in"}]


def test_ids_may_come_without_dashes_and_a_project_by_its_id(client: KnowledgeClient) -> None:
    shop, stripe = client.molecule("Shop"), client.atom("Stripe")

    cart = client.atom(
        "Cart",
        projectId=client.project_id,
        moleculeId=shop.id.replace("-", "").upper(),
        relatedAtoms=[{"atomId": stripe.id.replace("-", ""), "reason": "calls"}],
    )

    assert (cart.molecule_id, cart.related_atoms[0].atom_id) == (shop.id, stripe.id)
    assert cart.project_id == client.project_id


def test_a_task_may_be_named_by_its_beginning_and_is_kept_whole(client: KnowledgeClient) -> None:
    made = client.atom("Cart", createdByTaskId=client["build"][:5])

    assert (made.created_by_task_id, made.last_task_id) == (client["build"], client["build"])


def test_two_dots_are_refused_only_where_they_are_a_segment(client: KnowledgeClient) -> None:
    names = ["app/[...slug]/page.tsx", "notes/what...md", "a..b/c", "..hidden/x"]

    assert client.atom("Pages", *names).paths == names


def test_what_was_made_is_in_the_events_with_everything_it_said(engine: Engine, client: KnowledgeClient) -> None:
    client.atom("Stripe")
    client.molecule("Shop")

    client.by("ben").atom("Cart", "a/**", knowledge="x", moleculeId="Shop", relatedAtoms={"Stripe": "calls"})

    ((actor, op, changes),) = engine.as_owner(
        f"SELECT actor_id, op, changes FROM events WHERE subject = '{client['Cart']}'"
    )
    assert (actor, op) == ("ben", "knowledge.created")
    assert {one["field"]: one["after"] for one in json.loads(changes)} == {
        "entity_type": "atom",
        "name": "Cart",
        "molecule_id": client["Shop"],
        "paths": ["a/**"],
        "knowledge": "x",
        "related_atoms": [{"atomId": client["Stripe"], "reason": "calls"}],
        "created_by_task_id": client["plan"],
    }


def test_a_malformed_pattern_is_refused_with_its_place_and_what_to_write(
    engine: Engine, client: KnowledgeClient
) -> None:
    before = all_rows(engine)

    for pattern, what in MALFORMED.items():
        error = error_of(partial(client.atom, "Cart", "src/**", pattern))

        assert (error.status, error.code, error.details["field"]) == (400, "malformed_pattern", "paths[1]"), what
        assert error.details["hint"], what
    assert all_rows(engine) == before


MANY = [{"atomId": NOWHERE, "reason": "x"}] * 51

Attempt = tuple[Callable[[KnowledgeClient], Any], tuple[str, str, str | None]]

REFUSED: dict[str, Attempt] = {
    "an unknown project": (lambda d: d.atom("x", projectId="nowhere"), ("NotFound", "not_found", None)),
    "an atom without paths": (lambda d: d.create("atom", "x"), ("Invalid", "missing_argument", "paths")),
    "an atom with an empty list of paths": (lambda d: d.atom("x", paths=[]), ("RuleViolated", "empty_paths", "paths")),
    "the same as text": (lambda d: d.atom("x", paths="[]"), ("RuleViolated", "empty_paths", "paths")),
    "paths that are one text": (lambda d: d.atom("x", paths="src/**"), ("Invalid", "invalid_argument", "paths")),
    "paths that are none": (lambda d: d.atom("x", paths=[1]), ("Invalid", "invalid_argument", "paths[0]")),
    "too many paths": (lambda d: d.atom("x", paths=["a"] * 21), ("Invalid", "invalid_argument", "paths")),
    "a path that is too long": (lambda d: d.atom("x", "a", "x" * 513), ("Invalid", "too_long", "paths[1]")),
    "an unknown molecule": (lambda d: d.atom("x", moleculeId=NOWHERE), ("NotFound", "not_found", "moleculeId")),
    "an atom as a molecule": (lambda d: d.atom("x", moleculeId="Cart"), ("NotFound", "not_found", "moleculeId")),
    "a molecule of another project": (
        lambda d: d.atom("x", moleculeId="their molecule"),
        ("RuleViolated", "other_project", "moleculeId"),
    ),
    "a molecule that is no id": (lambda d: d.atom("x", moleculeId="Shop!"), ("Invalid", "invalid_id", "moleculeId")),
    "a relation to nothing": (
        lambda d: d.atom("x", relatedAtoms={NOWHERE: "x"}),
        ("NotFound", "not_found", "relatedAtoms[0].atomId"),
    ),
    "a relation to a molecule": (
        lambda d: d.atom("x", relatedAtoms={"Shop": "x"}),
        ("NotFound", "not_found", "relatedAtoms[0].atomId"),
    ),
    "a relation to what was deleted": (
        lambda d: d.atom("x", relatedAtoms={"Cart": "x", "Gone": "x"}),
        ("NotFound", "not_found", "relatedAtoms[1].atomId"),
    ),
    "a relation into another project": (
        lambda d: d.atom("x", relatedAtoms={"their atom": "x"}),
        ("RuleViolated", "other_project", "relatedAtoms[0].atomId"),
    ),
    "a molecule's relation into another project": (
        lambda d: d.molecule("x", relatedMolecules={"their molecule": "x"}),
        ("RuleViolated", "other_project", "relatedMolecules[0].moleculeId"),
    ),
    "a relation that is no id": (
        lambda d: d.atom("x", relatedAtoms={"?": "x"}),
        ("Invalid", "invalid_id", "relatedAtoms[0].atomId"),
    ),
    "a relation without a reason": (
        lambda d: d.atom("x", relatedAtoms={"Cart": ""}),
        ("Invalid", "invalid_argument", "relatedAtoms[0].reason"),
    ),
    "a relation with a blank reason": (
        lambda d: d.atom("x", relatedAtoms={"Cart": " \n"}),
        ("Invalid", "invalid_argument", "relatedAtoms[0].reason"),
    ),
    "a molecule's relation with a blank reason": (
        lambda d: d.molecule("x", relatedMolecules={"Shop": " "}),
        ("Invalid", "invalid_argument", "relatedMolecules[0].reason"),
    ),
    "relations that are no JSON": (
        lambda d: d.atom("x", relatedAtoms="[{]"),
        ("Invalid", "invalid_argument", "relatedAtoms"),
    ),
    "too many relations": (lambda d: d.atom("x", relatedAtoms=MANY), ("Invalid", "invalid_argument", "relatedAtoms")),
    "an unknown task": (lambda d: d.atom("x", createdByTaskId="oooooo"), ("NotFound", "not_found", "createdByTaskId")),
    "a task of another project": (
        lambda d: d.atom("x", createdByTaskId="their task"),
        ("RuleViolated", "other_project", "createdByTaskId"),
    ),
    "no task": (
        lambda d: d.call("knowledge.create", entityType="molecule", projectId="atlas", name="x"),
        ("Invalid", "missing_argument", "createdByTaskId"),
    ),
    "no name": (lambda d: d.atom(" ", "a"), ("Invalid", "invalid_argument", "name")),
    "a name of two lines": (lambda d: d.atom("a\nb", "a"), ("Invalid", "invalid_argument", "name")),
    "a name that is too long": (lambda d: d.atom("x" * 256, "a"), ("Invalid", "too_long", "name")),
    "knowledge that is too long": (
        lambda d: d.atom("x", knowledge=" " + "ü" * 16_384 + "x"),
        ("Invalid", "too_long", "knowledge"),
    ),
    "something that is neither": (lambda d: d.create("bond", "x"), ("Invalid", "invalid_argument", "entityType")),
    "an unknown argument": (lambda d: d.atom("x", path=["a"]), ("Invalid", "unknown_argument", "path")),
    "paths of a molecule": (lambda d: d.molecule("x", paths=["a"]), ("Invalid", "invalid_argument", "paths")),
    "a molecule in a molecule": (
        lambda d: d.molecule("x", moleculeId="Shop"),
        ("Invalid", "invalid_argument", "moleculeId"),
    ),
    "atoms related to a molecule": (
        lambda d: d.molecule("x", relatedAtoms={"Cart": "x"}),
        ("Invalid", "invalid_argument", "relatedAtoms"),
    ),
    "molecules related to an atom": (
        lambda d: d.atom("x", relatedMolecules={"Shop": "x"}),
        ("Invalid", "invalid_argument", "relatedMolecules"),
    ),
}


def test_what_cannot_be_made_is_refused_by_family_code_and_field_and_nothing_is_written(
    engine: Engine, crowded_project: KnowledgeClient
) -> None:
    before = all_rows(engine)

    answers = {what: outcome_of(partial(attempt, crowded_project)) for what, (attempt, _) in REFUSED.items()}

    assert answers == {what: expected for what, (_, expected) in REFUSED.items()}
    assert all_rows(engine) == before


def test_a_refused_beginning_leaves_no_count_behind(engine: Engine, client: KnowledgeClient) -> None:
    before = all_rows(engine)

    error_of(lambda: client.atom("x", moleculeId=NOWHERE))

    assert all_rows(engine) == before
    assert before["graph_projects"] == []


def test_only_a_task_is_accepted_as_a_task(client: KnowledgeClient) -> None:
    root = client.call("work.open", project=client.project).root.id
    feature = client.call("container.create", containerType="feature", projectId=client.project, title="f").feature.id
    task = client.call("container.create", containerType="task", projectId=client.project, title="t").task.id

    for kind, node_id in (("project", root), ("feature", feature)):
        refusal = error_of(partial(client.atom, "Cart", createdByTaskId=node_id))
        assert (refusal.code, refusal.details["kind"]) == ("not_a_task", kind)
        assert refusal.details["field"] == "createdByTaskId"
    assert client.atom("Cart", createdByTaskId=task).created_by_task_id == task


def test_resolving_a_task_with_files_reminds_in_one_short_line_of_its_notes_where_there_are_any(
    client: KnowledgeClient,
) -> None:
    nodes = [{"ref": ref, "summary": ref, "context_links": ["src/cart.py"]} for ref in "abc"]
    nodes += [{"ref": "d", "summary": "d"}, {"ref": "e", "summary": "e", "context_links": ["https://example.org/e"]}]
    planned = client.call("work.plan", project=client.project, nodes=nodes).created
    first, second, third, without_files, with_a_page = (one.id for one in planned)

    def resolve(node_id: str, **arguments: Any) -> Any:
        updates = [{"node_id": node_id, "resolved": True, "add_evidence": [{"type": "note", "ref": "done"}]}]
        return client.call("work.update", updates=updates, **arguments)

    before = resolve(first)
    client.atom("Cart")
    renamed = client.call("work.update", updates=[{"node_id": second, "summary": "c"}])
    after = resolve(second)

    assert isinstance(after.graph_hints, str)
    assert count_tokens(encode(after)) <= 40
    others = [before, renamed, resolve(third, lean=True), resolve(without_files), resolve(with_a_page)]
    assert [one.graph_hints for one in others] == [UNSET] * 5
