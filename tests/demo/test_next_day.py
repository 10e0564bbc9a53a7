"""An agent that comes back the next day and remembers nothing begins with two calls and 900 tokens."""

from __future__ import annotations

from groundplan.demo import PROJECT, fill
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.answers import count_tokens, encode
from groundplan.kernel.preferences import Preferences
from groundplan.session import Session
from groundplan.surfaces.mcp.instructions import build_instructions
from tests.engines import Engine, fill_once

DAY_TOKENS_MAX = 900
BUDGET = 300  # as the instructions say


def fill_example(engine: Engine) -> None:
    fill(engine.session("ada"))


def test_the_next_day_begins_with_two_calls_and_few_tokens(engine: Engine) -> None:
    fill_once(engine, fill_example)
    scout = local_actor("scout", kind=ActorKind.AGENT)
    session = Session(engine.store, scout, preferences=Preferences(project=PROJECT))

    overview = session.call("work.onboard")
    taken = session.call("work.claim", claim=True, budget=BUDGET)

    assert sum(count_tokens(encode(answer)) for answer in (overview, taken)) <= DAY_TOKENS_MAX
    assert overview.project.goal
    assert overview.purpose
    assert overview.counts.unresolved
    (offer,) = taken.nodes
    assert offer.claim
    assert f"budget: {BUDGET}" in build_instructions(["work"])
    assert any(step.type == "GOAL" for step in taken.briefing.why)
