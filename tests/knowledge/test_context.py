"""The knowledge about some files: in the contract's shape, in a fixed order, for any spelling of the paths."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from groundplan.kernel.answers import encode
from groundplan.kernel.errors import Invalid
from groundplan.knowledge.context import FileKnowledge
from tests.answers import to_json
from tests.engines import Engine, person
from tests.knowledge.client import COMMIT, KnowledgeClient, outcome_of
from tests.knowledge.conftest import open_atlas, open_client
from tests.machines.budget import fixed_settings
from tests.manual_clock import ManualClock
from tests.proof import scaled

NOW = "2026-03-01T09:00:00.000Z"
TRIES = settings(fixed_settings(0), max_examples=scaled(10, 60))
FILES = [
    "src/payments/webhook-handler.ts",
    "src/payments/stripe-gateway.ts",
    "src/shared/retry.ts",
    "src/payments/new/handler.ts",
    "docs/read me.md",
    "src/a/b/c/d.ts",
    "app/[id]/page.tsx",
]


def add_payments(engine: Engine) -> KnowledgeClient:
    """Create the contract's example, and a molecule whose atoms match other files."""
    desk = open_atlas(engine)
    desk.molecule("Payment Domain", knowledge="Communicates with Stripe")
    desk.molecule("Elsewhere")
    desk.atom("Stripe Integration", "src/payments/stripe-*.ts", knowledge="Retries.", moleculeId="Payment Domain")
    desk.atom(
        "Webhook Handlers",
        "src/payments/{webhook,stripe}-*.ts",
        knowledge="8 handlers",
        moleculeId="Payment Domain",
        relatedAtoms={"Stripe Integration": "webhooks call gateway for processing"},
    )
    desk.atom("Retry Utilities", "src/shared/retry*.ts", "lib/**", knowledge="Generic exponential backoff")
    desk.atom("Lonely", "lib/lonely/**", moleculeId="Elsewhere")
    return desk


@pytest.fixture
def payments(engine: Engine, clock: ManualClock) -> Iterator[KnowledgeClient]:
    """Ada at the contract's example."""
    with open_client(engine, clock, add_payments) as desk:
        yield desk


def test_context_has_the_shape_of_the_seed(payments: KnowledgeClient) -> None:
    payments.log("Webhook Handlers", "made")
    payments.log("Payment Domain", "grouped")
    payments.update("Payment Domain", relatedMolecules={"Elsewhere": "pays for it"}, lastTaskId="build")

    assert to_json(payments.context(*FILES[:4])) == {
        "molecules": [
            {
                "id": payments["Payment Domain"],
                "name": "Payment Domain",
                "version": 2,
                "updatedBy": "ada",
                "knowledge": "Communicates with Stripe",
                "relatedMolecules": [
                    {"moleculeId": payments["Elsewhere"], "name": "Elsewhere", "reason": "pays for it"}
                ],
                "changelog": [{"taskId": payments["build"], "summary": "grouped", "createdAt": NOW}],
                "atoms": [
                    {
                        "id": payments["Stripe Integration"],
                        "name": "Stripe Integration",
                        "version": 1,
                        "updatedBy": "ada",
                        "knowledge": "Retries.",
                        "matchedPaths": ["src/payments/stripe-gateway.ts"],
                        "relatedAtoms": [],
                        "changelog": [],
                    },
                    {
                        "id": payments["Webhook Handlers"],
                        "name": "Webhook Handlers",
                        "version": 1,
                        "updatedBy": "ada",
                        "knowledge": "8 handlers",
                        "matchedPaths": ["src/payments/webhook-handler.ts", "src/payments/stripe-gateway.ts"],
                        "relatedAtoms": [
                            {
                                "atomId": payments["Stripe Integration"],
                                "name": "Stripe Integration",
                                "reason": "webhooks call gateway for processing",
                            }
                        ],
                        "changelog": [{"taskId": payments["build"], "summary": "made", "createdAt": NOW}],
                    },
                ],
            }
        ],
        "orphanAtoms": [
            {
                "id": payments["Retry Utilities"],
                "name": "Retry Utilities",
                "version": 1,
                "updatedBy": "ada",
                "knowledge": "Generic exponential backoff",
                "matchedPaths": ["src/shared/retry.ts"],
                "relatedAtoms": [],
                "changelog": [],
            }
        ],
        "unmatchedPaths": ["src/payments/new/handler.ts"],
    }


def test_molecules_and_atoms_come_by_name_and_then_by_id(client: KnowledgeClient) -> None:
    for molecule in ("b", "a", "B"):
        client.molecule(molecule)
        for atom in ("z", "y", "Ä"):
            client.atom(f"{atom} of {molecule}", "src/**", moleculeId=molecule)
    twins = [client.atom("twin", "**/*.ts").id for _ in range(4)]

    known = client.context("src/a.ts")

    assert [one.name for one in known.molecules] == ["B", "a", "b"]
    assert [one.name for one in known.molecules[1].atoms] == ["y of a", "z of a", "Ä of a"]
    assert [one.id for one in known.orphan_atoms] == sorted(twins)


def sort_paths(known: FileKnowledge) -> FileKnowledge:
    """Sort the lists of paths of an answer."""
    known.unmatched_paths.sort()
    for atom in (*known.orphan_atoms, *(atom for molecule in known.molecules for atom in molecule.atoms)):
        atom.matched_paths = sorted(atom.matched_paths or ())
    return known


@pytest.mark.proof
def test_another_order_of_the_files_changes_only_the_order_of_matched_and_unmatched_paths(
    payments: KnowledgeClient,
) -> None:
    payments.atom("Pages", "app/[id]/page.tsx", "**/*.md")
    expected = encode(sort_paths(payments.context(*FILES)))

    @TRIES
    @given(st.permutations(FILES), st.lists(st.sampled_from(FILES), max_size=4), st.randoms(use_true_random=False))
    def any_order(files: list[str], again: list[str], random: Random) -> None:
        mixed = [*files, *again]
        random.shuffle(mixed)
        in_this_order = encode(payments.context(*mixed))
        assert encode(sort_paths(payments.context(*mixed))) == expected
        for between in (",", ", ", "\n", ",\n\n"):
            answer = payments.call("knowledge.context", projectId="atlas", paths=between.join(mixed))
            assert encode(answer) == in_this_order

    any_order()


WRITTEN = [
    "./src/shared/retry.ts",
    "src\\shared\\retry.ts",
    "- src/shared/retry.ts",
    "`src/shared/retry.ts`",
    "* `./src/shared/retry.ts`",
    "  src/shared/retry.ts  ",
    "src//shared/./retry.ts",
]


def test_a_file_is_found_however_it_is_written(payments: KnowledgeClient) -> None:
    expected = encode(payments.context("src/shared/retry.ts"))

    for written in (*WRITTEN, *([one] for one in WRITTEN), '["src/shared/retry.ts"]'):
        answer = payments.call("knowledge.context", projectId="atlas", paths=written)
        assert encode(answer) == expected, written


def test_a_file_of_several_atoms_brings_all_of_them(payments: KnowledgeClient) -> None:
    payments.atom("Everything", "**")

    assert payments.names_matching("src/payments/stripe-x.ts") == [
        "Everything",
        "Stripe Integration",
        "Webhook Handlers",
    ]


def test_unmatched_paths_keep_the_order_of_the_request_and_come_once(payments: KnowledgeClient) -> None:
    known = payments.context("z.ts", "./a.ts", "z.ts", "../outside.ts", "src/shared/retry.ts")

    assert known.unmatched_paths == ["z.ts", "a.ts", "../outside.ts"]


def test_matched_paths_keep_the_order_of_the_request_and_come_once(payments: KnowledgeClient) -> None:
    payments.atom("Everything", "**")

    (atom,) = payments.context("z.ts", "b/y.ts", "./a.ts", "z.ts", "b/y.ts").orphan_atoms

    assert atom.matched_paths == ["z.ts", "b/y.ts", "a.ts"]


def test_a_molecule_comes_with_its_latest_changes_unless_none_are_wanted(payments: KnowledgeClient) -> None:
    for summary in map(str, range(7)):
        payments.log("Payment Domain", summary)

    def changelog(**given: int) -> Any:
        (molecule,) = payments.context("src/payments/stripe-a.ts", **given).molecules
        return molecule.changelog and [one.summary for one in molecule.changelog]

    assert changelog() == ["6", "5", "4", "3", "2"]
    assert changelog(changelogLimit=2) == ["6", "5"]
    assert changelog(includeChangelog=False) is UNSET


def test_a_related_molecule_that_was_deleted_is_shown_as_missing(payments: KnowledgeClient) -> None:
    payments.update("Payment Domain", relatedMolecules={"Elsewhere": "pays for it"})
    payments.delete("Elsewhere")

    (molecule,) = to_json(payments.context("src/payments/stripe-a.ts"))["molecules"]

    assert molecule["relatedMolecules"] == [
        {"moleculeId": payments["Elsewhere"], "name": None, "missing": True, "reason": "pays for it"}
    ]


def test_a_changelog_is_as_long_as_was_asked_for(payments: KnowledgeClient) -> None:
    for number in range(7):
        payments.log("Retry Utilities", str(number))

    def changelog(**given: int) -> list[str]:
        (atom,) = payments.context("src/shared/retry.ts", **given).orphan_atoms
        return [one.summary for one in atom.changelog]

    assert changelog() == ["6", "5", "4", "3", "2"]
    assert changelog(changelogLimit=2) == ["6", "5"]
    assert changelog(changelogLimit=50) == ["6", "5", "4", "3", "2", "1", "0"]


def test_freshness_is_there_once_somebody_looked_at_what_it_is_now(
    payments: KnowledgeClient, clock: ManualClock
) -> None:
    def freshness() -> list[object]:
        return [one.get("freshness") for one in to_json(payments.context("lib/x"))["orphanAtoms"]]

    assert freshness() == [None]
    payments.check({"id": "Retry Utilities", "freshness": "changed", "commit": COMMIT, "files": ["lib/x"]})
    assert freshness() == [{"state": "changed", "commit": COMMIT, "checkedAt": NOW, "files": ["lib/x"]}]
    clock.move(hours=1)
    payments.update("Retry Utilities", confirm=COMMIT[:12])
    assert freshness() == [None]
    payments.check({"id": "Retry Utilities", "freshness": "fresh", "commit": COMMIT[:12]})
    assert freshness() == [{"state": "fresh", "commit": COMMIT[:12], "checkedAt": "2026-03-01T10:00:00.000Z"}]
    payments.update("Retry Utilities", paths=["lib/**"])
    assert freshness() == [None]


def test_the_files_of_one_project_say_nothing_about_another(engine: Engine, payments: KnowledgeClient) -> None:
    other = payments.create_project("borealis")
    engine.create_organization("rival", "mallory")
    mallory = KnowledgeClient(engine.session(person("mallory", organization="rival"))).open()
    assert to_json(other.context("lib/a")) == {"molecules": [], "orphanAtoms": [], "unmatchedPaths": ["lib/a"]}
    other.atom("Theirs", "lib/**")
    mallory.atom("Mallory's", "lib/**")

    assert payments.names_matching("lib/a") == ["Retry Utilities"]
    assert other.names_matching("lib/a") == ["Theirs"]
    assert mallory.names_matching("lib/a") == ["Mallory's"]


def test_what_cannot_be_asked_is_refused_with_the_field(payments: KnowledgeClient) -> None:
    call = partial(payments.call, "knowledge.context")
    refusals = {
        "an unknown project": partial(call, projectId="nowhere", paths="a"),
        "no paths": partial(call, projectId="atlas"),
        "no file": partial(call, projectId="atlas", paths=[]),
        "nothing between commas": partial(call, projectId="atlas", paths=" , \n,"),
        "what is no path": partial(call, projectId="atlas", paths=["a", 1]),
        "what is no list": partial(call, projectId="atlas", paths={"a": 1}),
        "a longer changelog than there can be": partial(call, projectId="atlas", paths="a", changelogLimit=51),
        "an unknown argument": partial(call, projectId="atlas", paths="a", path="b"),
    }

    assert {what: outcome_of(refusal) for what, refusal in refusals.items()} == {
        "an unknown project": ("NotFound", "not_found", None),
        "no paths": ("Invalid", "missing_argument", "paths"),
        "no file": ("Invalid", "invalid_argument", "paths"),
        "nothing between commas": ("Invalid", "invalid_argument", "paths"),
        "what is no path": ("Invalid", "invalid_argument", "paths[1]"),
        "what is no list": ("Invalid", "invalid_argument", "paths"),
        "a longer changelog than there can be": ("Invalid", "invalid_argument", "changelogLimit"),
        "an unknown argument": ("Invalid", "unknown_argument", "path"),
    }


@pytest.mark.parametrize("hidden", ["\\u0000", "\\ud800", "\\u001b[31m"])
def test_an_array_inside_a_string_passes_the_same_gate(crowded_project: KnowledgeClient, hidden: str) -> None:
    with pytest.raises(Invalid) as refused:
        crowded_project.call("knowledge.context", projectId="atlas", paths=f'["src/cart/a{hidden}"]')
    assert refused.value.details["field"].startswith("paths")
