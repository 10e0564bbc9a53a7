"""Answers are bounded: whole parts are left out and named, and no text is cut."""

from __future__ import annotations

from typing import Any

import pytest

from groundplan.kernel.answers import ANSWER_TOKENS_MAX, count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from tests.answers import to_json
from tests.engines import Engine
from tests.knowledge.client import KnowledgeClient
from tests.knowledge.rows import copy_atom

LONG = "x" * 32_000
QUOTES = '"' * 32_768  # twice as long in JSON
BACKSLASHES = "\\\\" * 250  # the same
PATHS = [f"src/area/{place}/{'x' * 490}/*.ts" for place in range(20)]


@pytest.fixture
def capped_client(crowded_project: KnowledgeClient) -> KnowledgeClient:
    """Ada with the answer limit of MCP."""
    preferences = Preferences(answer_tokens_max=ANSWER_TOKENS_MAX)
    return crowded_project.in_session(
        Session(crowded_project.session.store, crowded_project.session.actor, preferences=preferences)
    )


def fits(answer: Any) -> bool:
    return count_tokens(encode({"success": True, "data": answer})) <= ANSWER_TOKENS_MAX


def test_an_answer_that_fits_leaves_nothing_out(capped_client: KnowledgeClient) -> None:
    capped_client.log("Cart", "made")

    for answer in (
        capped_client.get("Cart"),
        capped_client.get("Shop"),
        capped_client.search(),
        capped_client.context("src/cart/a"),
    ):
        assert "left_out" not in encode(answer).decode()


def test_an_atom_with_long_knowledge_and_a_long_changelog_keeps_its_knowledge(capped_client: KnowledgeClient) -> None:
    capped_client.update("Cart", knowledge=LONG)
    for number in range(15):
        capped_client.log("Cart", f"{number} {'x' * 4_000}")

    answer = capped_client.get("Cart", changelogLimit=50)

    assert fits(answer)
    assert (answer.atom.knowledge, answer.left_out) == (LONG, {"changelog": 15})
    assert len(capped_client.get("Cart", changelogLimit=10).changelog) == 10


def test_relations_go_before_knowledge_does(capped_client: KnowledgeClient, crowded_project: KnowledgeClient) -> None:
    related = [{"atomId": crowded_project["Alone"], "reason": f"{place:02}{'x' * 1020}"} for place in range(50)]
    crowded_project.update("Cart", knowledge=LONG, relatedAtoms=related)

    answer = capped_client.get("Cart")

    assert fits(answer)
    assert answer.atom.knowledge == LONG
    assert answer.atom.left_out == {"relatedAtoms": 50}


def test_an_atom_whose_text_alone_is_too_long_says_so(
    capped_client: KnowledgeClient, crowded_project: KnowledgeClient
) -> None:
    crowded_project.update("Cart", knowledge=QUOTES, paths=[f"{place:02}{BACKSLASHES}" for place in range(20)])

    answer = capped_client.get("Cart")

    assert fits(answer)
    assert list(answer.atom.left_out)[-1] == "knowledge"


def test_a_molecule_of_many_atoms_leaves_out_the_knowledge_of_the_last_ones(
    engine: Engine, capped_client: KnowledgeClient
) -> None:
    capped_client.update("Shop", knowledge=LONG)
    capped_client.update("Cart", knowledge="x" * 4_000)
    copy_atom(engine, capped_client["Cart"], 60)

    answer = capped_client.get("Shop")

    assert fits(answer)
    assert answer.molecule.knowledge == LONG
    assert len(answer.atoms) == 61
    whole = [one.name for one in answer.atoms if not one.left_out]
    assert whole == [one.name for one in answer.atoms][: len(whole)]
    assert 0 < len(whole) < 61


def test_a_molecule_whose_atoms_have_many_patterns_can_still_be_read(
    engine: Engine, capped_client: KnowledgeClient
) -> None:
    ordinary = [f"src/area/of/the/shop/{place}/**" for place in range(20)]
    for number in range(99):
        capped_client.atom(f"a{number}", *ordinary, moleculeId="Shop")

    assert fits(capped_client.get("Shop"))


def test_a_page_of_a_search_ends_where_the_answer_would_be_too_long_and_the_next_goes_on(
    engine: Engine, capped_client: KnowledgeClient
) -> None:
    capped_client.update("Cart", knowledge=LONG)
    copy_atom(engine, capped_client["Cart"], 4)
    found, offset = [], 0
    while True:
        page = capped_client.search(moleculeId="Shop", offset=offset)
        assert fits(page)
        assert (page.count, page.limit) == (5, 100)
        assert all(one.knowledge == LONG for one in page.items)
        found += [one.name for one in page.items]
        if not page.next_offset:
            break
        assert page.next_offset == offset + len(page.items)
        offset = page.next_offset
    assert found == ["Cart", *(f"Cart 10000{number}" for number in range(1, 5))]


def test_what_is_too_long_for_a_page_of_its_own_is_found_without_its_parts(
    capped_client: KnowledgeClient, crowded_project: KnowledgeClient
) -> None:
    related = [{"atomId": crowded_project["Alone"], "reason": f"{place:02}{'x' * 1020}"} for place in range(50)]
    crowded_project.update("Cart", knowledge=QUOTES, relatedAtoms=related)

    page = capped_client.search("cart")

    assert fits(page)
    assert [(one.name, one.left_out) for one in page.items] == [("Cart", {"relatedAtoms": 50})]


def test_context_names_every_atom_and_leaves_out_the_knowledge_of_the_last_ones(
    engine: Engine, capped_client: KnowledgeClient
) -> None:
    capped_client.update("Shop", knowledge="of the shop")
    capped_client.update("Cart", knowledge="x" * 10_000, paths=["copies/**"])
    copy_atom(engine, capped_client["Cart"], 12)
    capped_client.log("Cart", "made")

    answer = capped_client.context("copies/a", *(f"copies/{100000 + number}/a" for number in range(1, 13)))

    assert fits(answer)
    (shop,) = answer.molecules
    assert [one.name for one in shop.atoms] == ["Cart", *(f"Cart {100000 + number}" for number in range(1, 13))]
    assert shop.knowledge == "of the shop"
    assert all(one.matched_paths for one in shop.atoms)
    assert shop.atoms[0].knowledge == "x" * 10_000
    assert to_json(shop.atoms[-1])["left_out"] == {"knowledge": 1}


def test_context_of_a_great_many_atoms_names_the_first_and_counts_the_rest(
    engine: Engine, capped_client: KnowledgeClient
) -> None:
    capped_client.update("Cart", knowledge="x" * 1_000, paths=["copies/**"])
    capped_client.update("Alone", paths=["copies/**"])
    copy_atom(engine, capped_client["Cart"], 900)
    engine.as_owner("UPDATE graph_atoms SET paths = '[\"copies/**\"]', version = version + 1 WHERE n > 100000")

    answer = capped_client.context("copies/a/" + "x" * 200)

    assert fits(answer)
    (shop,) = answer.molecules
    told_of = [one.name for one in shop.atoms]
    assert told_of == sorted(told_of)
    assert told_of[0] == "Cart"
    assert 100 < len(told_of) < 500
    assert answer.orphan_atoms == []  # these come last
    assert answer.left_out == {"atoms": 902 - len(told_of)}


def test_a_page_of_a_changelog_ends_and_the_next_goes_on(capped_client: KnowledgeClient) -> None:
    for number in range(25):
        capped_client.log("Cart", f"{number:02} {'x' * 4_000}")

    def page(offset: int) -> Any:
        return capped_client.call(
            "knowledge.search_changelog", parentType="atom", parentId=capped_client["Cart"], limit=100, offset=offset
        )

    first = page(0)
    second = page(first.next_offset)

    assert fits(first)
    assert fits(second)
    assert 0 < len(first.entries) < 25
    assert [one.summary[:2] for one in (*first.entries, *second.entries)] == [f"{n:02}" for n in reversed(range(25))]
    assert not second.next_offset


def test_an_atom_of_the_largest_size_can_be_made_and_changed_by_whoever_has_a_cap(
    capped_client: KnowledgeClient,
) -> None:
    largest: dict[str, Any] = {
        "paths": PATHS,
        "knowledge": "x" * 32_768,
        "relatedAtoms": [
            {"atomId": capped_client["Alone"], "reason": f"{place:02}{'x' * 1022}"} for place in range(50)
        ],
    }

    made = capped_client.create("atom", "Largest", **largest)
    changed = capped_client.update("Largest", **largest | {"knowledge": QUOTES})

    assert fits({"atom": made})
    assert fits({"atom": changed})
    assert changed.version == 2
