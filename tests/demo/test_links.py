"""The links of the example join its work, theory, facts and knowledge."""

from __future__ import annotations

import pytest

from groundplan.demo import PROJECT, fill, list_planned_nodes, load_example
from groundplan.session import Session
from tests.engines import Engine, fill_once

REFUTED = "AS5"
LINK_TYPES = ("serves", "rests_on", "supports", "refutes")


@pytest.fixture
def ada(engine: Engine) -> Session:
    """Ada at the complete example."""
    fill_once(engine, fill_example)
    return engine.session("ada")


def fill_example(engine: Engine) -> None:
    fill(engine.session("ada"))


def load_ids(session: Session) -> dict[str, str]:
    """Return the ids of the tasks of the example by ref."""
    refs = {node["summary"]: node["ref"] for node in list_planned_nodes(load_example()[PROJECT])}
    nodes = session.call("work.query", project=PROJECT, limit=100).nodes
    return {refs[node.summary]: node.id for node in nodes if node.summary in refs}


def test_every_link_of_the_example_leads_to_something(ada: Session) -> None:
    nodes = [ada.call("work.context", node_id=node_id, depth=0).node for node_id in load_ids(ada).values()]
    links = [link for node in nodes for link_type in LINK_TYPES for link in getattr(node, link_type) or ()]

    assert len(links) > len(nodes) > 25
    assert not [link for link in links if link.dangling]


def test_a_claimed_task_of_the_example_has_a_briefing_with_every_part_that_is_known(ada: Session) -> None:
    ids = load_ids(ada)

    ranking = ada.call("briefing.brief", node_id=ids["ranking"]).briefing

    assert [step.key for step in ranking.why] == ["AC2", "OP1", "OP2", "OC1", "G1"]
    assert [atom.name for atom in ranking.knowledge] == ["Survey data"]
    assert (ranking.missing, len(ranking.before)) == (["/site/owner"], 3)
    decisions = ada.call("briefing.brief", node_id=ids["fee"]).briefing.decisions
    assert "Collect the fee after the harvest" in [decision.replaced_by for decision in decisions]


def test_the_example_has_gaps_and_something_of_most_kinds_waits(ada: Session) -> None:
    gaps = ada.call("briefing.coverage", project=PROJECT)
    waiting = ada.call("briefing.inbox", project=PROJECT).items

    assert gaps.unserved
    assert gaps.serving_nothing
    assert gaps.required_unset == ["/site/owner"]
    assert {item.kind for item in waiting} >= {"gate_blocks", "at_risk", "request", "suggestion", "review_due"}
    assert REFUTED in [item.ref for item in waiting if item.kind == "at_risk"]


def test_two_agents_hold_a_task_each(ada: Session) -> None:
    nodes = ada.call("work.query", project=PROJECT, limit=100).nodes

    claimed_by = [node.properties["_claimed_by"] for node in nodes if "_claimed_by" in (node.properties or {})]

    assert sorted(claimed_by) == ["claude", "juno"]
