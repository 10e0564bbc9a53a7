"""An agent that follows the skills call by call succeeds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.operations.registry import Group
from groundplan.session import Session
from groundplan.surfaces.mcp.methods import ToolAnswer
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.engines import Engine
from tests.skills.test_skills import calls

FEATURE, TASK, SECOND = "v3t9xn", "k7m2qp", "p8d4wr"
ATOM, MOLECULE = "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
RUN = "9f3c61d2-7a58-4be0-a1f6-4c0d8e25b793"


class SkillAgent:
    """An agent that sends the calls of a skill, with the ids of earlier answers."""

    def __init__(self, session: Session) -> None:
        self._tools = RegistryTools(OPERATIONS, set(Group), session.execute)
        self.real: dict[str, str] = {}

    def send(self, call: dict[str, Any]) -> Any:
        answer = self._call(call)
        assert not answer.is_error, answer.text
        return json.loads(answer.text)

    def refuse(self, call: dict[str, Any]) -> Any:
        """Send a call that is refused, and return the error."""
        answer = self._call(call)
        assert answer.is_error, answer.text
        return json.loads(answer.text)["error"]

    def _call(self, call: dict[str, Any]) -> ToolAnswer:
        text = json.dumps(call["arguments"])
        for shown, real in self.real.items():
            text = text.replace(shown, real)
        return self._tools.call(call["tool"], json.loads(text))


@pytest.fixture
def ada(engine: Engine) -> Session:
    session = Session(engine.store, local_actor("ada"))
    session.call("project.create", name="atlas", goal="Prices that add up")
    return session


@pytest.fixture
def agent(engine: Engine, ada: Session) -> SkillAgent:
    return SkillAgent(Session(engine.store, local_actor("claude", kind=ActorKind.AGENT)))


def test_the_skills_lead_from_a_plan_to_a_task_that_is_done_and_described(agent: SkillAgent) -> None:
    search, context, plan, *_, molecule, atom = calls("groundplan-planning")
    agent.send(search)
    assert len(agent.send(context)["data"]["unmatchedPaths"]) == 2
    agent.real[TASK] = agent.send(plan)["created"][0]["id"]
    agent.real[MOLECULE] = agent.send(molecule)["data"]["molecule"]["id"]
    agent.real[ATOM] = agent.send(atom)["data"]["atom"]["id"]

    onboard, _, following, _, context, _ = calls("groundplan-discovery")
    assert "Prices that add up" in json.dumps(agent.send(onboard))
    (suggested,) = agent.send(following)["nodes"]
    assert suggested["node"]["id"] == agent.real[TASK]
    assert suggested["context_links"]["self"]
    assert agent.send(context)["data"]["molecules"][0]["atoms"][0]["id"] == agent.real[ATOM]

    claim, _, _, context, knowledge, paths, changelog, confirm, resolve = calls("groundplan-execution")
    (taken,) = agent.send(claim)["nodes"]
    assert taken["node"]["properties"]["_claimed_by"] == "claude"
    agent.send(context)
    version = 1
    for call in (knowledge, paths, confirm):  # the example is at version 3, ours at version 1
        call["arguments"]["version"], version = version, version + 1
    agent.send(knowledge)
    agent.send(paths)
    agent.send(changelog)
    assert agent.send(confirm)["data"]["atom"]["version"] == version
    assert [node["summary"] for node in agent.send(resolve)["newly_actionable"]] == [
        "Show the rounded price in the form"
    ]


def test_an_agent_that_is_told_to_do_a_task_claims_that_one_and_can_give_it_back(agent: SkillAgent) -> None:
    nodes = [{"ref": "best", "summary": "The best one"}, {"ref": "meant", "summary": "The one that was meant"}]
    plan = {"tool": "graph_plan", "arguments": {"project": "atlas", "nodes": nodes}}
    best, agent.real[TASK] = (one["id"] for one in agent.send(plan)["created"])
    following = {"tool": "graph_next", "arguments": {"project": "atlas"}}
    assert agent.send(following)["nodes"][0]["node"]["id"] == best

    claim, release, *_ = calls("groundplan-execution")
    (claimed,) = agent.send(claim)["nodes"]
    assert (claimed["node"]["id"], claimed["node"]["properties"]["_claimed_by"]) == (agent.real[TASK], "claude")
    agent.send(release)
    get = {"tool": "graph_context", "arguments": {"node_id": TASK}}
    assert "_claimed_by" not in agent.send(get)["node"]["properties"]


def test_an_agent_gives_a_task_back_with_containers(agent: SkillAgent) -> None:
    plan = {"tool": "graph_plan", "arguments": {"project": "atlas", "nodes": [{"ref": "one", "summary": "One"}]}}
    agent.real[TASK] = agent.send(plan)["created"][0]["id"]

    advance = calls("groundplan-execution")[2]
    version = agent.send(advance)["data"]["task"]["version"]
    back = agent.send({"tool": "revert", "arguments": {**advance["arguments"], "version": version}})

    assert back["data"]["transition"]["to"] == "NEW"
    following = {"tool": "graph_next", "arguments": {"project": "atlas"}}
    assert agent.send(following)["nodes"][0]["node"]["id"] == agent.real[TASK]


def test_the_skills_lead_to_the_same_end_with_containers(agent: SkillAgent) -> None:
    *_, feature, task, sections, dependency, molecule, atom = calls("groundplan-planning")
    agent.real[FEATURE] = agent.send(feature)["data"]["feature"]["id"]
    agent.real[TASK] = agent.send(task)["data"]["task"]["id"]
    agent.real[SECOND] = agent.send(task)["data"]["task"]["id"]
    agent.send(sections)
    agent.send(dependency)
    agent.real[MOLECULE] = agent.send(molecule)["data"]["molecule"]["id"]
    agent.real[ATOM] = agent.send(atom)["data"]["atom"]["id"]

    _, active, _, following, _, get = calls("groundplan-discovery")
    assert agent.send(following)["data"]["id"] == agent.real[TASK]
    second = agent.send({**get, "arguments": {**get["arguments"], "id": SECOND}})["data"]
    assert [section["title"] for section in second["sections"]] == ["Implementation Plan", "Context Files"]
    assert second["graphContext"]["unmatchedPaths"] == ["src/shared/price.ts"]

    advance = calls("groundplan-execution")[2]
    agent.send(advance)
    assert [one["id"] for one in agent.send(active)["data"]["items"]] == [agent.real[TASK]]
    done: dict[str, Any] = {}
    while not done.get("graphHints"):
        advance["arguments"]["version"] += 1
        done = agent.send(advance)["data"]
    assert [one["id"] for one in done["unblockedEntities"]] == [agent.real[SECOND]]


def test_the_facts_skill_leads_to_facts_whose_gaps_are_in_sight(agent: SkillAgent, ada: Session) -> None:
    run = ada.call("context.create_draft", scopeId="atlas").run.id
    ada.call("context.edit", runId=run, inputs=[{"pointer": "/village/households", "label": "Households", "value": 90}])
    ada.call("context.commit", runId=run)

    view, draft, edit, look, commit = calls("groundplan-facts")
    assert agent.send(view)["inputsByPointer"]["/village/households"]["provenance"] == "user-entered"
    agent.real[RUN] = agent.send(draft)["run"]["id"]
    agent.send(edit)
    seen = agent.send(look)
    assert seen["inputsByPointer"]["/village/households"]["valueNumber"] == 90
    assert [one["valueNumber"] for one in seen["suggestions"]] == [96]
    agent.send(commit)
    assert agent.send(view)["missing"] == ["/site/owner"]
    assert agent.send(view)["run"]["status"] == "partial_committed"


def test_the_facts_skill_leads_to_the_first_facts_of_a_project(agent: SkillAgent) -> None:
    view, draft, edit, look, commit = calls("groundplan-facts")
    assert agent.refuse(view)["code"] == "no_context"
    agent.real[RUN] = agent.send(draft)["run"]["id"]
    agent.send(edit)
    assert agent.send(look)["missing"] == ["/site/owner"]
    agent.send(commit)
    assert agent.send(view)["inputsByPointer"]["/village/households"]["valueNumber"] == 96


def test_the_theory_skill_leads_from_a_checklist_to_what_was_observed(agent: SkillAgent, ada: Session) -> None:
    first = [
        {"op": "add_node", "ref": "goal", "node_type": "GOAL", "title": "Nobody is ill from water"},
        {"op": "add_node", "ref": "use", "node_type": "OUTCOME", "title": "People drink from the well"},
        {"op": "add_node", "ref": "well", "node_type": "OUTPUT", "title": "A well"},
        {"op": "add_edge", "source": "use", "target": "goal"},
        {"op": "add_edge", "source": "well", "target": "use"},
        {"op": "add_indicator", "node": "use", "name": "Litres", "unit": "a day", "direction": "increase"},
    ]
    ada.call("purpose.draft", project="atlas")
    ada.call("purpose.edit", project="atlas", operations=first)
    ada.call("purpose.publish", project="atlas")

    opened, draft, checklist, edit, gate, record = calls("groundplan-theory-of-change")
    assert agent.send(opened)["nodes"]
    assert agent.send(checklist)["status"] == "BLOCKED"  # it names a published version
    agent.send(draft)
    approved = agent.send(checklist)
    assert (approved["status"], approved["failed"]) == ("APPROVED", [])
    del checklist["arguments"]["detail"]
    assert agent.send(checklist)["markdown"][:3] == "## "
    edit["arguments"]["expected_rev"] = agent.send(opened)["rev"]
    agent.send(edit)
    assert agent.refuse(edit)["code"] == "stale_rev"
    assert agent.send(gate)["gate"] == "A"
    agent.send(record)
