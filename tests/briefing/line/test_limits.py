"""However large a project is, the answers stay short, count what they leave out, and come soon."""

from __future__ import annotations

from itertools import pairwise

import msgspec
import pytest
from msgspec.structs import replace

from groundplan.briefing.trace import ChainLimits
from groundplan.kernel.answers import CHARS_PER_TOKEN
from groundplan.session import Session
from tests.briefing.line.client import PlanClient
from tests.proof import scaled
from tests.purpose.client import add_edge, add_node

CAP_TOKENS = 2_000
BATCH = 150


def limit_answers(plan: PlanClient, tokens: int) -> PlanClient:
    preferences = replace(plan.session.preferences, answer_tokens_max=tokens)
    limited = PlanClient(Session(plan.session.store, plan.session.actor, preferences=preferences))
    limited.work.ids.update(plan.work.ids)
    return limited


def draw_long_chain(plan: PlanClient, length: int) -> None:
    """Add outcomes OC2 … that lead one to the next, and the last to the goal."""
    for first in range(0, length, BATCH):
        plan.purpose.edit(*(add_node("OUTCOME", f"step {one}") for one in range(first, min(first + BATCH, length))))
    ends = [*(f"OC{one + 2}" for one in range(length)), "G1"]
    edges = [add_edge(one, after) for one, after in pairwise(ends)]
    for first in range(0, length, BATCH):
        plan.purpose.edit(*edges[first : first + BATCH])


@pytest.mark.proof
def test_a_long_chain_shows_its_beginning_and_its_goal(plan: PlanClient) -> None:
    length = scaled(450, 10_000)
    draw_long_chain(plan, length)
    plan.link(loose="OC2")

    up, down = plan.line("loose"), plan.line("G1")

    assert plan.steps(up)[:3] == ["loose", "OC2", "OC3"]
    assert plan.steps(up)[-1] == "G1"
    assert (up.chain[-1].level, up.goals) == (length + 1, ["G1"])
    assert len(up.chain) == ChainLimits.PURPOSE_NODES + 1
    assert up.left_out["chain"] == length + 1 - ChainLimits.PURPOSE_NODES
    assert down.left_out["chain"] == length + 4 - ChainLimits.PURPOSE_NODES
    for text_format in ("markdown", "svg"):
        assert plan.line("loose", format=text_format).left_out["chain"] == up.left_out["chain"]


def test_a_node_that_serves_five_hundred_outcomes_is_followed_to_all_of_them(plan: PlanClient) -> None:
    plan.purpose.edit(*(add_node("OUTCOME", f"outcome {one}") for one in range(500)))
    keys = [f"OC{one + 2}" for one in range(500)]
    plan.link(loose=" ".join(keys))

    line = plan.line("loose")

    assert {link.ref for link in line.chain[0].to} == set(keys)
    assert len(line.chain) + line.left_out["chain"] == 501
    assert len(line.dead_ends) + line.left_out["dead_ends"] == 500
    assert len(plan.line("OC2").chain) == 2


def test_very_many_nodes_that_serve_one_key_are_counted(plan: PlanClient) -> None:
    names = [f"n{index}" for index in range(400)]
    plan.work.plan("\n".join(names))
    plan.link_nodes({name: ["AC1"] for name in names})

    line = plan.line("AC1")

    assert line.work.total == 400
    assert sum(step.is_work for step in line.chain) == ChainLimits.WORK_NODES
    assert line.left_out == {"chain": 400 - ChainLimits.WORK_NODES}


@pytest.mark.parametrize("text_format", ["data", "markdown", "svg"])
def test_an_answer_keeps_to_the_cap_and_counts_every_step_that_it_leaves_out(
    plan: PlanClient, text_format: str
) -> None:
    draw_long_chain(plan, 150)
    plan.link(loose="OC2")
    limited = limit_answers(plan, CAP_TOKENS)

    answer = limited.line("loose", format=text_format)

    assert len(msgspec.json.encode(answer)) <= CAP_TOKENS * CHARS_PER_TOKEN
    match text_format:
        case "data":
            shown = len(answer.chain)
        case "markdown":
            shown = answer.markdown.count("- **")
        case _:
            shown = answer.svg.count('class="gp-card"')
    assert shown > 1
    assert shown + answer.left_out["chain"] == 152


def test_a_deep_tree_shows_the_node_and_the_ancestor_with_the_links(plan: PlanClient) -> None:
    depth = 120
    plan.work.plan("\n".join(" " * level + f"d{level}" for level in range(depth)))
    plan.link(d0="AC1")

    line = plan.line(f"d{depth - 1}")

    assert len([step for step in line.chain if step.is_work]) == ChainLimits.ANCESTORS
    assert plan.steps(line)[0] == f"d{depth - 1}"
    assert "d0" in plan.steps(line)
    assert line.left_out == {"chain": depth - ChainLimits.ANCESTORS}
