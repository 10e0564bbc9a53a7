"""Knowledge about the files of a task: what `query_graph context` says, and never an error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.context import find_knowledge_of_files
from tests.answers import to_json
from tests.knowledge.client import KnowledgeClient


def knowledge_of(client: KnowledgeClient, paths: Sequence[str], *, answer_tokens_max: int = 0) -> Any:
    """Return what a use case of another slice gets in the client's project."""

    def ask(tx: Transaction) -> Any:
        tx.preferences = Preferences(answer_tokens_max=answer_tokens_max)
        tx.set_project(authorize_project(tx, client.project, Permission.WORK_READ))
        return find_knowledge_of_files(tx, list(paths), tx.budget)

    return client.session.store.read(client.session.actor, ask)


def test_it_says_what_context_says(crowded_project: KnowledgeClient) -> None:
    crowded_project.log("Cart", "made")
    paths = ["src/other.ts", "src/cart/a.ts", "src/alone.ts"]

    answer = knowledge_of(crowded_project, paths)

    assert answer == crowded_project.context(*paths)
    assert [one.name for one in answer.molecules] == ["Shop"]
    assert [one.name for one in answer.orphan_atoms] == ["Alone"]
    assert answer.unmatched_paths == ["src/other.ts"]


def test_no_files_are_about_nothing(crowded_project: KnowledgeClient) -> None:
    assert to_json(knowledge_of(crowded_project, [])) == {"molecules": [], "orphanAtoms": [], "unmatchedPaths": []}
    assert to_json(knowledge_of(crowded_project, ["", " "])) == {
        "molecules": [],
        "orphanAtoms": [],
        "unmatchedPaths": [],
    }


def test_a_project_of_which_nothing_is_known_matches_nothing(client: KnowledgeClient) -> None:
    assert knowledge_of(client, ["src/a.ts"]).unmatched_paths == ["src/a.ts"]


STRANGE = [
    *(
        "/etc/hosts",
        "../up.ts",
        "C:/code/a.ts",
        "src/../../up.ts",
        "src/" + "x" * 4_096,
        "a\x00b",
        "\ud800",
        "src/[.ts",
    ),
]


def test_what_cannot_be_matched_is_unmatched_and_the_rest_is_found(
    crowded_project: KnowledgeClient, subtests: pytest.Subtests
) -> None:
    for strange in STRANGE:
        with subtests.test(ascii(strange)[:80]):
            answer = knowledge_of(crowded_project, [strange, "src/alone.ts"])

            assert answer.unmatched_paths == [strange]
            assert [one.name for one in answer.orphan_atoms] == ["Alone"]


def test_more_than_can_be_matched_are_unmatched(crowded_project: KnowledgeClient) -> None:
    many = [f"src/cart/{place:04}/{'x' * 200}.ts" for place in range(1_500)]

    answer = knowledge_of(crowded_project, many)

    (cart,) = answer.molecules[0].atoms
    assert len(cart.matched_paths) + len(answer.unmatched_paths) == 1_500
    assert cart.matched_paths == many[: len(cart.matched_paths)]


def test_what_would_take_too_long_is_unmatched(
    crowded_project: KnowledgeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundplan.knowledge.patterns.STEPS_MAX", 0)
    crowded_project.atom("Everywhere", "**/*a*b*c*.ts")

    assert knowledge_of(crowded_project, ["src/xaxbxc.ts"]).unmatched_paths == ["src/xaxbxc.ts"]


def test_it_keeps_the_cap_on_answers(crowded_project: KnowledgeClient) -> None:
    crowded_project.update("Cart", knowledge="x" * 10_000, paths=["copies/**"])

    answer = knowledge_of(crowded_project, ["copies/a"], answer_tokens_max=1_000)

    assert count_tokens(encode(answer)) <= 1_000
    assert answer.molecules[0].atoms[0].left_out == {"knowledge": 1}
