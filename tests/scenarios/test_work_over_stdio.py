"""A plan from its first idea to its last node, by agents at real servers, on both engines."""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.agents import Agent, Serve

pytestmark = pytest.mark.slow  # every test starts servers

PLAN = [
    {"ref": "survey", "summary": "Survey the island", "context_links": ["docs/island.md"]},
    {"ref": "coast", "summary": "Walk the coast", "parent_ref": "survey", "properties": {"priority": 2}},
    {"ref": "hills", "summary": "Measure the hills", "parent_ref": "survey"},
    {"ref": "print", "summary": "Print the map", "depends_on": ["survey"]},
]


def plan_nodes(agent: Agent) -> dict[str, str]:
    agent.answer("graph_open", project="atlas", goal="A map that every walker trusts")
    created = agent.answer("graph_plan", project="atlas", nodes=PLAN)["created"]
    return {one["ref"]: one["id"] for one in created}


def resolve(node_id: str, **more: Any) -> list[dict[str, Any]]:
    return [{"node_id": node_id, "resolved": True, "add_evidence": [{"type": "note", "ref": "Done"}], **more}]


def test_two_agents_take_finish_and_hand_over_work_until_there_is_none(serve: Serve) -> None:
    ada, ben = (serve(name, "--access", "open") for name in ("ada", "ben"))
    ids = plan_nodes(ada)

    (taken,) = ada.answer("graph_next", project="atlas", claim=True)["nodes"]
    (other,) = ben.answer("graph_next", project="atlas", claim=True)["nodes"]
    assert (taken["node"]["id"], other["node"]["id"]) == (ids["coast"], ids["hills"])
    assert [one["summary"] for one in taken["ancestors"]] == ["A map that every walker trusts", "Survey the island"]
    assert taken["context_links"]["inherited"] == [{"node_id": ids["survey"], "links": ["docs/island.md"]}]

    first = ada.answer("graph_update", updates=resolve(ids["coast"], claim=taken["claim"]))
    assert "newly_actionable" not in first
    last = ben.answer("graph_update", updates=resolve(ids["hills"]))
    assert last["newly_actionable"] == [{"id": ids["survey"], "summary": "Survey the island"}]
    done = ben.answer("graph_update", updates=resolve(ids["survey"]), decision="Both parts were walked")
    assert done["newly_actionable"] == [{"id": ids["print"], "summary": "Print the map"}]

    (final,) = ada.answer("graph_next", project="atlas")["nodes"]
    (dependency,) = final["resolved_deps"]
    assert (dependency["id"], dependency["evidence"][0]["agent"]) == (ids["survey"], "ben")
    ada.answer("graph_update", updates=resolve(ids["print"]))
    root = ada.answer("graph_open", project="atlas")["root"]["id"]
    left = f"everything below the root is resolved; resolve {root} to finish the project"
    assert ada.answer("graph_next", project="atlas")["reason"] == left
    ada.answer("graph_update", updates=resolve(root))
    assert ada.answer("graph_next", project="atlas")["reason"] == "everything is resolved"
    newest = ada.answer("graph_history", node_id=ids["survey"])["events"][0]
    assert (newest["action"], newest["agent"], newest["decision"]) == ("resolved", "ben", "Both parts were walked")


def test_a_late_agent_is_told_that_its_claim_is_over(serve: Serve) -> None:
    ada, ben = (serve(name, "--access", "open") for name in ("ada", "ben"))
    ids = plan_nodes(ada)
    (late,) = ada.answer("graph_next", project="atlas", claim=True)["nodes"]
    ada.answer("graph_update", updates=[{"node_id": ids["coast"], "release": True}])
    ben.answer("graph_next", project="atlas", claim=True)

    refused = ada.error_of("graph_update", updates=resolve(ids["coast"], claim=late["claim"]))

    assert (refused["code"], refused["details"]["claimed_by"]) == ("stale_claim", "ben")


def test_roles_hold_in_the_work_of_a_project(serve: Serve) -> None:
    founder = serve("ada", "--access", "open", "--kind", "person")
    ids = plan_nodes(founder)
    founder.members("upsert", scopeId="atlas", userId="ben", role="editor", kind="agent")
    founder.members("upsert", scopeId="atlas", userId="cleo", role="viewer", kind="agent")
    ben, cleo, mallory = (serve(name) for name in ("ben", "cleo", "mallory"))

    assert cleo.answer("graph_next", project="atlas")["nodes"][0]["node"]["id"] == ids["coast"]
    assert cleo.error_of("graph_next", project="atlas", claim=True)["code"] == "forbidden"
    assert cleo.error_of("graph_update", updates=resolve(ids["coast"]))["code"] == "forbidden"
    assert ben.error_of("graph_open", project="atlas", policies={"claims": "enforced"})["code"] == "forbidden"
    ben.answer("graph_update", updates=resolve(ids["coast"]))
    hidden, missing = (mallory.error_of("graph_context", node_id=node) for node in (ids["hills"], "qqqq00"))
    assert hidden["message"].replace(ids["hills"], "qqqq00") == missing["message"]


def test_an_agent_that_knows_nothing_finds_its_way(serve: Serve) -> None:
    agent = serve("ada", "--access", "open")
    assert "graph_open" in agent.answer("graph_onboard")["hint"]
    ids = plan_nodes(agent)

    glance = agent.answer("graph_onboard")

    assert glance["project"]["goal"] == "A map that every walker trusts"
    assert glance["counts"] == {
        "total": 5,
        "resolved": 0,
        "unresolved": 5,
        "blocked": 1,
        "actionable": 2,
        "dropped": 0,
    }
    assert [one["id"] for one in glance["next"]] == [ids["coast"], ids["hills"]]
    assert glance["blocked"][0]["waits_for"][0]["id"] == ids["survey"]


def test_a_plan_that_is_sent_twice_under_one_op_id_is_made_once(serve: Serve) -> None:
    agent = serve("ada", "--access", "open")
    agent.answer("graph_open", project="atlas")

    first = agent.answer("graph_plan", project="atlas", nodes=PLAN, op_id="once")

    assert agent.answer("graph_plan", project="atlas", nodes=PLAN, op_id="once") == first
    assert agent.answer("graph_open", project="atlas")["summary"]["total"] == 5


def test_a_careless_agent_is_told_how_to_correct_its_plan(serve: Serve) -> None:
    agent = serve("ada", "--access", "open")
    ids = plan_nodes(agent)
    loop = [{"ref": "a", "summary": "A", "depends_on": ["b"]}, {"ref": "b", "summary": "B", "depends_on": ["a"]}]

    assert agent.error_of("graph_plan", project="atlass", nodes=PLAN)["details"]["near"] == ["atlas"]
    cycle = agent.error_of("graph_plan", project="atlas", nodes=loop)
    assert (cycle["code"], cycle["details"]["path"][0]) == ("cycle_detected", cycle["details"]["path"][-1])
    assert agent.error_of("graph_next", project="atlas", count=51)["code"] == "invalid_argument"
    unresolved = agent.error_of("graph_update", updates=resolve(ids["survey"]))
    assert (unresolved["code"], unresolved["details"]["open_children"]) == ("unresolved_children", 2)
    misspelled = agent.error_of("graph_update", updates=[{"node_id": ids["coast"], "resovled": True}])
    assert misspelled["details"]["near"] == "resolved"
