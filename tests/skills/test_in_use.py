"""An agent that follows the skills call by call succeeds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.kernel.actors import ActorKind, local_actor
from groundplan.kernel.operations.registry import Group
from groundplan.session import Session
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.engines import Engine
from tests.skills.test_skills import calls

TASK, ATOM, MOLECULE = "k7m2qp", "0f8fad5b-d9cb-469f-a165-70867728950e", "7c9e6679-7425-40de-944b-e07fc1f90ae7"


class SkillAgent:
    """An agent that sends the calls of a skill, with the ids of earlier answers."""

    def __init__(self, session: Session) -> None:
        self._tools = RegistryTools(OPERATIONS, (Group.WORK, Group.KNOWLEDGE), session.execute)
        self.real: dict[str, str] = {}

    def send(self, call: dict[str, Any]) -> Any:
        text = json.dumps(call["arguments"])
        for shown, real in self.real.items():
            text = text.replace(shown, real)
        answer = self._tools.call(call["tool"], json.loads(text))
        assert not answer.is_error, answer.text
        return json.loads(answer.text)


@pytest.fixture
def agent(engine: Engine) -> SkillAgent:
    session = Session(engine.store, local_actor("claude", kind=ActorKind.AGENT))
    session.call("project.create", name="atlas")
    return SkillAgent(session)


def test_the_skills_lead_from_a_plan_to_a_task_that_is_done_and_described(agent: SkillAgent) -> None:
    search, context, plan, molecule, atom = calls("groundplan-planning")
    agent.send(search)
    assert len(agent.send(context)["data"]["unmatchedPaths"]) == 2
    agent.real[TASK] = agent.send(plan)["created"][0]["id"]
    agent.real[MOLECULE] = agent.send(molecule)["data"]["molecule"]["id"]
    agent.real[ATOM] = agent.send(atom)["data"]["atom"]["id"]

    following, around, context, get = calls("groundplan-discovery")
    (taken,) = agent.send(following)["nodes"]
    assert taken["node"]["id"] == agent.real[TASK]
    assert taken["context_links"]["self"]
    agent.send(around)
    assert agent.send(context)["data"]["molecules"][0]["atoms"][0]["id"] == agent.real[ATOM]
    assert agent.send(get)["data"]["atom"]["version"] == 1

    context, knowledge, paths, changelog, confirm, resolve = calls("groundplan-execution")
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
