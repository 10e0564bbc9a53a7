"""A project with a purpose, facts, knowledge and a task, on each engine."""

from __future__ import annotations

import pytest

from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.session import Session
from tests.briefing.client import BriefingClient
from tests.engines import Engine, fill_once
from tests.manual_clock import ManualClock
from tests.purpose.client import add_edge, add_node, op

ADA = local_actor("ada", kind=ActorKind.PERSON)


def fill_atlas(engine: Engine) -> dict[str, str]:
    """Fill the project, and return the ids of its nodes by name."""
    plan = BriefingClient(Session(engine.store_with_clock(ManualClock()), ADA))
    plan.open(goal="a map of everything")
    plan.plan(
        """
        survey
        phase
          walk
          task: survey
        """,
        each={"task": {"context_links": ["src/map.py"]}, "phase": {"context_links": ["docs/plan.md"]}},
    )
    evidence = [{"type": "note", "ref": "the north is wrong"}]
    plan.updates({"node_id": "survey", "resolved": True, "add_evidence": evidence}, decision="survey on foot")
    plan.resolve("walk")
    plan.purpose.draft()
    plan.purpose.edit(
        add_node("GOAL", "nobody gets lost", ref="goal"),
        add_node("OUTCOME", "walkers use the map", ref="outcome"),
        add_node("OUTPUT", "a printed map", ref="output"),
        add_edge("output", "outcome", mechanism="shops give it away", confidence="high"),
        add_edge("outcome", "goal", mechanism="they see the path", confidence="low"),
        op("add_assumption", node="outcome", assumption_text="walkers read maps", risk_level="LOW"),
        op(
            "add_assumption",
            source="output",
            target="outcome",
            assumption_text="shops take part",
            risk_level="HIGH",
            owner="ada",
            review_by="2099-01-01",
        ),
    )
    plan.facts.draft()
    plan.facts.write("/scale", 25_000, label="Scale", required=True)
    plan.facts.write("/colour", label="Colour", required=True, valueKind="string")
    plan.facts.write("/area", "the island", label="Area")
    plan.facts.constrain("paper", "A2")
    plan.facts.commit(allowPartial=True)
    plan.know("Map", "src/**", "Longitude comes first.")
    plan.know("Plan", "docs/**", "The plan has three phases.")
    plan.serve("task", "OP1")
    return plan.ids


@pytest.fixture
def clock() -> ManualClock:
    """The store's clock."""
    return ManualClock()


@pytest.fixture
def plan(engine: Engine, clock: ManualClock) -> BriefingClient:
    """Ada at the project atlas, whose node `task` serves OP1. The clock stands still until the test moves it."""
    ids = fill_once(engine, fill_atlas)
    return BriefingClient(Session(engine.store_with_clock(clock), ADA), ids={**ids})
