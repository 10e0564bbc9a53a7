"""Onboarding names goal, purpose, claims, missing facts, questions, drafts and knowledge, in at most 600 tokens."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from groundplan.kernel.actors import ActorKind
from groundplan.session import Session
from tests.briefing.client import BriefingClient, count_tokens
from tests.manual_clock import ManualClock
from tests.proof import scaled
from tests.purpose.client import add_node

TOKENS_MAX = 600


def create_molecule(plan: BriefingClient, name: str) -> str:
    given = {"projectId": "atlas", "entityType": "molecule", "name": name, "createdByTaskId": plan["task"]}
    molecule_id: str = plan.call("knowledge.create", **given, knowledge="It is known.").molecule.id
    return molecule_id


def create_atom(plan: BriefingClient, name: str, molecule_id: str) -> None:
    given = {"projectId": "atlas", "entityType": "atom", "name": name, "createdByTaskId": plan["task"]}
    plan.call("knowledge.create", **given, paths=["src/**"], knowledge="It is known.", moleculeId=molecule_id)


def onboard(plan: BriefingClient, session: Session | None = None, **given: Any) -> Any:
    return (session or plan.session).call("work.onboard", project="atlas", **given)


def test_a_newcomer_learns_what_the_other_slices_hold(plan: BriefingClient) -> None:
    plan.purpose.publish()
    plan.purpose.draft()
    plan.purpose.call("purpose.record", requests=[{"question": "Which colour?"}, {"question": "Who pays?"}])
    ink = create_molecule(plan, "Ink")
    create_atom(plan, "Blue", ink)
    create_atom(plan, "Black", ink)
    create_atom(plan, "Sheets", create_molecule(plan, "Paper"))

    answer = onboard(plan)

    assert answer.purpose == "v1, published: G1 nobody gets lost; 1 goal, 1 outcome, 1 output"
    assert (answer.missing, answer.questions) == (1, 2)
    assert (answer.drafts.purpose, answer.drafts.facts) == (2, UNSET)
    assert [(area.name, area.notes) for area in answer.areas] == [("Ink", 2), ("Paper", 1), ("(no area)", 2)]


def test_claims_of_others_are_named_and_counted_and_ones_own_stand_apart(
    plan: BriefingClient, clock: ManualClock
) -> None:
    names = [f"n{number}" for number in range(9)]
    plan.plan("\n".join(names))
    for number, name in enumerate(names):
        clock.move(seconds=1)
        plan.by(f"agent{number}").call("work.next", node_id=plan[name], claim=True)
    plan.call("work.next", node_id=plan["task"], claim=True)

    answer = onboard(plan)

    assert plan.names(answer.my_claims) == ["task"]
    assert [(claim.id, claim.claimed_by) for claim in answer.claims] == [
        (plan[f"n{number}"], f"agent{number}") for number in range(8, 3, -1)
    ]
    assert {claim.claimed_by_kind for claim in answer.claims} == {ActorKind.AGENT}
    assert answer.claims_total == 9
    clock.move(days=1)
    assert onboard(plan).claims is UNSET


def test_a_draft_is_the_purpose_until_something_is_published(plan: BriefingClient) -> None:
    plan.purpose.edit(add_node("ACTIVITY", "draw"), add_node("ACTIVITY", "print"))
    plan.facts.draft()

    answer = onboard(plan)

    assert answer.purpose == "v1, draft: G1 nobody gets lost; 1 goal, 1 outcome, 1 output, 2 activities"
    assert (answer.drafts.purpose, answer.drafts.facts) == (1, 1)


def test_a_project_with_nothing_but_work_has_none_of_these_fields(plan: BriefingClient) -> None:
    plan.call("work.open", project="bare", goal="nothing yet")

    answer = plan.call("work.onboard", project="bare")

    fields = (answer.purpose, answer.claims, answer.claims_total, answer.missing, answer.questions, answer.drafts)
    assert (*fields, answer.areas) == (UNSET,) * 7


@pytest.mark.proof
@pytest.mark.parametrize("char", ["w", '"', "\n", "\N{GRINNING FACE}"])
def test_no_text_and_no_number_makes_it_longer_than_six_hundred_tokens(plan: BriefingClient, char: str) -> None:
    long = char * (1_000 // len(char.encode()))
    plan.purpose.edit(*(add_node("GOAL", f"g{long[:200]}") for _ in range(3)))
    for number in range(scaled(7, 30)):
        create_atom(plan, f"a{number}", create_molecule(plan, f"m{number}{long[:200]}"))
    names = [f"n{number}" for number in range(scaled(9, 40))]
    plan.plan("\n".join(names), each={name: {"summary": f"s{long}"} for name in names})
    for number, name in enumerate(names):
        agent = plan.by(f"agent{number}{'x' * 200}", kind=ActorKind.AGENT)
        agent.call("work.next", node_id=plan[name], claim=number % 2 == 0)
    plan.purpose.call("purpose.record", requests=[{"question": f"q{number}"} for number in range(20)])

    for lean in (False, True):
        answer = onboard(plan, lean=lean)
        assert TOKENS_MAX * 0.6 < count_tokens(answer) <= TOKENS_MAX
        assert answer.next
        assert answer.claims
        assert answer.areas
        assert answer.purpose.startswith("v1, draft: G1 nobody gets lost"[: len(answer.purpose) - 1])
        assert len(answer.areas) + answer.left_out["areas"] == scaled(7, 30) + 1
