"""`budget` adds a briefing to the usual answer; together they never exceed it. Without it, nothing changes."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest
from msgspec import UNSET

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import AnswerTooLarge
from groundplan.kernel.errors import Invalid
from groundplan.kernel.operations.execute import execute
from groundplan.kernel.preferences import Preferences
from tests.briefing.client import BriefingClient, count_tokens
from tests.kernel.secrets.made_up import make_one
from tests.purpose.client import add_edge, add_node, op
from tests.statements import record_statements

CALLS = {
    "work.next": lambda plan: {"project": "atlas", "node_id": plan["task"]},
    "work.context": lambda plan: {"node_id": plan["task"]},
    "container.get": lambda plan: {"containerType": "task", "id": plan["task"]},
    "briefing.brief": lambda plan: {"node_id": plan["task"]},
}


@pytest.fixture(params=CALLS)
def call(request: pytest.FixtureRequest) -> str:
    """The name of an operation with a budget."""
    name: str = request.param
    return name


def send(plan: BriefingClient, name: str, /, **given: Any) -> bytes:
    """Send a request as a surface does, and return the JSON of its answer in its envelope."""
    result = execute(
        plan.session.store,
        plan.session.actor,
        OPERATIONS[name],
        CALLS[name](plan) | given,
        Preferences(answer_tokens_max=20_000),
    )
    assert result.encoded is not None
    return result.encoded


def fill_with_texts(plan: BriefingClient) -> None:
    """Add far more than a small budget can show to every list."""
    steps = [add_node("OUTPUT", f"output {number} " * 5, ref=f"o{number}") for number in range(20)]
    edges = [add_edge(f"o{number}", "OC1", mechanism=f"because of {number} " * 6) for number in range(20)]
    assumptions = [op("add_assumption", node=f"o{number}", assumption_text=f"é{number} " * 9) for number in range(20)]
    plan.purpose.edit(*steps, *edges, *assumptions)
    plan.serve("task", *(f"OP{number}" for number in range(2, 22)))
    plan.facts.draft(copyFrom="latest")
    inputs = [
        {"pointer": f"/many/{number}", "label": f"Fact {number}", "value": f"{number} " * 9} for number in range(40)
    ]
    plan.facts.edit(inputs=inputs, constraints=[{"key": f"k{n}", "label": "c", "value": "x" * n} for n in range(20)])
    plan.facts.commit(allowPartial=True)
    for number in range(20):
        plan.know(f"Atom {number}", "src/*.py", f"What “{number}” says\n" * 8)


def test_the_whole_answer_uses_the_budget_and_never_exceeds_it(plan: BriefingClient, call: str) -> None:
    fill_with_texts(plan)
    rng = random.Random(22)  # noqa: S311 - repeatable

    for budget in [200, 250, 300, 400, *(rng.randint(200, 3_500) for _ in range(16))]:
        answer = send(plan, call, budget=budget).decode()

        assert len(answer) <= budget * 4
        assert len(answer) >= budget * 4 * 0.9 or "left_out" not in answer or budget < 300, (budget, answer)


def test_a_hundred_tasks_use_nine_tenths_of_a_budget_of_1500(plan: BriefingClient) -> None:
    fill_with_texts(plan)
    rng = random.Random(1500)  # noqa: S311 - repeatable
    names = [f"t{number}" for number in range(100)]
    each = {
        name: {"context_links": ["src/a.py"][: rng.randint(0, 1)], "summary": name * rng.randint(1, 90)}
        for name in names
    }
    plan.plan("\n".join(names), each=each, under="phase")
    for name in names:
        plan.serve(name, *(f"OP{rng.randint(1, 21)}" for _ in range(rng.randint(1, 6))))

    used = [count_tokens(plan.context(name, budget=1_500)) for name in names]

    assert all(1_350 <= tokens <= 1_500 for tokens in used)


def test_a_claim_is_made_and_its_number_is_never_left_out(plan: BriefingClient) -> None:
    fill_with_texts(plan)
    agent = plan.by("bot", kind=ActorKind.AGENT)

    answer = agent.call("work.next", node_id=plan["task"], claim=True, budget=200)

    assert answer.nodes[0].claim == 1
    assert count_tokens(answer) <= 200
    assert plan.node("task").properties["_claimed_by"] == "bot"


def test_a_repeated_claim_with_a_budget_gets_the_same_answer(plan: BriefingClient) -> None:
    first, second = (send(plan, "work.next", claim=True, budget=900, op_id="once") for _ in range(2))

    assert first == second


@pytest.mark.parametrize("name", [name for name in CALLS if name != "briefing.brief"])
def test_an_answer_without_a_budget_is_as_it_was_and_runs_no_other_statement(
    plan: BriefingClient, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = record_statements(monkeypatch)

    answer = send(plan, name)

    assert b"briefing" not in answer
    assert not {"first_facts", "resolved_siblings", "newest_decisions", "decisions_about", "lineage"} & set(ran)


@pytest.mark.parametrize("budget", [0, 1, 199, 20_001, 10**12, -5, "many", 200.5, True])
def test_a_budget_outside_its_limits_is_refused(plan: BriefingClient, call: str, budget: Any) -> None:
    with pytest.raises(Invalid):
        send(plan, call, budget=budget)


def test_a_budget_given_as_text_is_a_number(plan: BriefingClient, call: str) -> None:
    assert send(plan, call, budget="700") == send(plan, call, budget=700)


def test_a_budget_is_for_one_node(plan: BriefingClient) -> None:
    with pytest.raises(Invalid):
        plan.call("work.next", project="atlas", count=2, budget=1_000)


def test_an_answer_that_cannot_be_as_short_as_the_budget_is_refused_and_nothing_is_claimed(
    plan: BriefingClient,
) -> None:
    plan.plan("long", each={"long": {"summary": "x" * 4_000, "properties": {"priority": 9}}})

    with pytest.raises(AnswerTooLarge):
        plan.call("work.next", project="atlas", node_id=plan["long"], claim=True, budget=200)
    assert "_claimed_by" not in plan.node("long").properties


def test_the_cap_of_the_session_counts_when_it_is_smaller_than_the_budget(plan: BriefingClient) -> None:
    fill_with_texts(plan)
    result = execute(
        plan.session.store,
        plan.session.actor,
        OPERATIONS["work.next"],
        {"project": "atlas", "budget": 5_000},
        Preferences(answer_tokens_max=600),
    )

    assert result.encoded is not None
    assert 540 * 4 <= len(result.encoded.decode()) <= 600 * 4


def test_a_lean_answer_has_no_empty_lists(plan: BriefingClient) -> None:
    plan.plan("other")

    briefing = plan.call("work.context", node_id=plan["other"], budget=2_000, lean=True).briefing

    assert b'"why"' not in send(plan, "work.context", node_id=plan["other"], budget=2_000, lean=True)
    assert [one.key for one in briefing.constraints] == ["paper"]


def test_without_work_to_offer_there_is_no_briefing(plan: BriefingClient) -> None:
    plan.call("work.open", project="bare", goal="nothing yet")

    answer = plan.call("work.next", project="bare", budget=500)

    assert answer.nodes == []
    assert not answer.briefing


def test_what_is_left_out_is_named_with_the_call_that_gets_it(plan: BriefingClient) -> None:
    fill_with_texts(plan)

    briefing = plan.context("task", budget=1_500).briefing

    assert briefing.left_out["knowledge"] > 0
    assert any(call.startswith("knowledge.context") for call in briefing.more)


def test_a_warning_that_comes_late_shortens_the_briefing_and_not_the_claim(plan: BriefingClient) -> None:
    fill_with_texts(plan)
    agent = plan.by("bot", kind=ActorKind.AGENT)

    result = execute(
        agent.session.store,
        agent.session.actor,
        OPERATIONS["work.next"],
        {"node_id": plan["task"], "claim": True, "budget": 700, "decision": f"use {make_one('Pulumi token')}"},
    )

    assert result.encoded is not None
    assert result.answer.warnings
    assert result.answer.nodes[0].claim == 1
    assert len(result.encoded.decode()) <= 700 * 4


def test_a_container_with_long_sections_keeps_to_its_budget(plan: BriefingClient) -> None:
    for title, content in (("Notes", "long " * 4_000), ("Context Files", "- src/map.py\n- docs/plan.md")):
        plan.call(
            "section.add",
            entityType="TASK",
            entityId=plan["task"],
            title=title,
            content=content,
            contentFormat="MARKDOWN",
            usageDescription="for the reader",
        )

    answer = send(plan, "container.get", includeSections=True, includeGraphContext=True, budget=900).decode()

    assert len(answer) <= 900 * 4
    assert '"why":[{"key":"OP1"' in answer


def list_words(answer: bytes) -> list[str]:
    """Return the marked words of an answer."""
    return re.findall(r"zz[a-z]+", answer.decode())


def test_nothing_stands_twice_in_an_answer_with_a_briefing(plan: BriefingClient, call: str) -> None:
    evidence = [{"type": "note", "ref": "zzevidence"}]
    plan.plan("dep", each={"dep": {"summary": "zzdependency"}})
    plan.updates({"node_id": "dep", "state": "zzstate", "resolved": True, "add_evidence": evidence})
    plan.connect("task: dep")
    plan.know("zzatom", "src/map.py", "zztext")

    words = list_words(send(plan, call, budget=4_000))

    assert sorted(words) == ["zzatom", "zzdependency", "zzevidence", "zzstate", "zztext"]


def test_the_knowledge_that_a_container_shows_is_not_repeated_in_its_briefing(plan: BriefingClient) -> None:
    plan.know("zzatom", "src/map.py", "zztext")

    words = list_words(send(plan, "container.get", includeGraphContext=True, budget=4_000))

    assert sorted(words) == ["zzatom", "zztext"]


def test_a_task_with_much_text_leaves_three_fifths_to_a_briefing_that_needs_them(plan: BriefingClient) -> None:
    fill_with_texts(plan)
    plan.update("task", state={"notes": "state " * 300}, properties={"long": "property " * 100})

    briefing = plan.context("task", budget=1_000).briefing
    whole = plan.context("survey", budget=8_000)

    assert count_tokens(briefing) > 0.55 * 1_000
    assert whole.left_out is UNSET


def test_the_goal_is_in_every_briefing(plan: BriefingClient, call: str) -> None:
    fill_with_texts(plan)

    for budget in range(300, 2_000, 100):
        assert '"key":"G1","type":"GOAL"' in send(plan, call, budget=budget).decode(), budget


DESCRIPTION = " ".join(f"word{number}" for number in range(400))


def test_the_description_of_the_task_comes_first_in_a_tight_budget_and_takes_at_most_two_fifths(
    plan: BriefingClient, call: str
) -> None:
    fill_with_texts(plan)
    short = DESCRIPTION[:240]
    plan.update("task", properties={"description": short})
    for budget in (300, 400, 600, 1_000, 4_000):
        answer = send(plan, call, budget=budget).decode()
        assert answer.count(short) == 1, budget
        assert len(answer) <= budget * 4

    plan.update("task", properties={"description": DESCRIPTION})
    for budget in (300, 600, 1_000):
        answer = send(plan, call, budget=budget).decode()
        (shown,) = re.findall(r'"excerpt":"(word0 [^"]*)"', answer)
        assert budget * 4 // 5 < len(shown) <= budget * 4 * 2 // 5, budget
        assert '"key":"G1"' in answer
        assert len(answer) <= budget * 4


def test_a_description_uses_all_of_a_budget_that_nothing_else_needs(plan: BriefingClient) -> None:
    (node,) = plan.call("work.plan", project="atlas", nodes=[{"ref": "alone", "summary": "Alone"}]).created
    plan.call(
        "work.update", updates=[{"node_id": node.id, "properties": {"description": DESCRIPTION, "more": "x" * 9_000}}]
    )

    answer = plan.call("work.next", node_id=node.id, budget=2_000)

    assert answer.briefing.task[0].description == DESCRIPTION
