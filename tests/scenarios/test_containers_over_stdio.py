"""A project from start to end by the container tools of real servers: every tool, every error, one style."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.scenarios.agents import Agent, Serve

pytestmark = pytest.mark.slow  # every test starts servers

GROUPS = ("--access", "open", "--tools", "containers,work,knowledge")
TOOLS = {
    "query_container",
    "manage_container",
    "query_sections",
    "manage_sections",
    "query_templates",
    "manage_template",
    "apply_template",
    "list_tags",
    "get_tag_usage",
    "rename_tag",
    "get_next_task",
    "get_next_feature",
    "get_blocked_tasks",
    "get_blocked_features",
    "query_workflow_state",
    "query_dependencies",
    "manage_dependency",
    "advance",
    "revert",
    "terminate",
    "block",
    "unblock",
}
OTHER_TOOLS = ".error.details.next.arguments"  # in the style of the tool it names
CAMEL = re.compile(r"[a-z]+(?:[A-Z0-9][a-z0-9]*)*")
BY_WORDS_OF_USERS = ("byStatus",)  # its keys are statuses


class RecordingAgent:
    """An agent with its own server that records all answers."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.called: set[str] = set()
        self.told: list[tuple[str, Any]] = []

    def data(self, tool: str, **arguments: Any) -> Any:
        """Return the data of a successful call."""
        answer = self.agent.answer(tool, **arguments)
        self._record(tool, answer)
        assert answer["success"] is True
        assert answer.keys() <= {"success", "message", "data"}
        return answer["data"]

    def error_of(self, code: str, tool: str, **arguments: Any) -> Any:
        """Return the error of a call, which must have this contract code and be flagged."""
        result = self.agent.result("tools/call", {"name": tool, "arguments": arguments})
        assert result["isError"] is True, result
        (content,) = result["content"]
        answer = json.loads(content["text"])
        self._record(tool, answer)
        assert answer["success"] is False
        assert answer["error"]["code"] == code, answer
        assert answer["error"]["message"]
        return answer["error"]

    def create(self, kind: str, **given: Any) -> Any:
        return self.data("manage_container", operation="create", containerType=kind, **given)[kind]

    def change(self, tool: str, kind: str, id_: str, **given: Any) -> Any:
        """Return the answer of a change at the current version."""
        state = self.data("query_workflow_state", containerType=kind, id=id_)
        return self.data(tool, containerType=kind, id=id_, version=state["version"], **given)

    def _record(self, tool: str, answer: Any) -> None:
        self.called.add(tool)
        self.told.append((tool, answer))


def keys(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every key of an answer that we name, with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not place.endswith(BY_WORDS_OF_USERS):
                yield place, key
            yield from keys(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, place)


def texts(value: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text of an answer, with its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from texts(inner, f"{place}.{key}")
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner, place)
    elif isinstance(value, str):
        yield place, value


def is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text), list | dict)
    except ValueError:
        return False


@pytest.fixture
def ada(serve: Serve) -> RecordingAgent:
    return RecordingAgent(serve("ada", *GROUPS, "--kind", "person"))


def work_through(ada: RecordingAgent) -> None:
    """Run a small project from start to end, with a call of every tool and one error of every kind."""
    ada.create("project", name="shop", summary="Buying takes two minutes", tags="web")
    pay = ada.create("feature", projectId="shop", name="Pay by card", tags='["money","web"]', priority="HIGH")
    look = ada.create("feature", projectId="shop", name="Look around")
    hook = ada.create("task", featureId=pay["id"], title="Take webhooks", complexity=3, tags=["money"])
    form = ada.create("task", featureId=pay["id"], title="Draw the form", relatedTo=f'["{hook["id"]}"]')
    page = ada.create("task", featureId=look["id"], title="Show goods", description="With pictures.")
    assert form["relatedTo"] == [hook["id"]]

    files = {
        "entityType": "TASK",
        "entityId": hook["id"],
        "title": "Context Files",
        "content": "src/pay/hook.ts, new.ts",
    }
    section = ada.data("manage_sections", operation="add", **files)
    ada.data("query_sections", entityType="TASK", entityId=hook["id"])
    ada.error_of("CONFLICT", "manage_sections", operation="update", sectionId=section["id"], title="Files", version=9)
    made = {"operation": "create", "projectId": "shop", "createdByTaskId": hook["id"]}
    ada.agent.answer("manage_graph", **made, entityType="atom", name="Hooks", paths=["src/pay/**"], knowledge="Once.")
    asked = {"operation": "get", "containerType": "task", "id": hook["id"]}
    known = ada.data("query_container", **asked, includeSections=True, includeGraphContext=True)
    assert known.keys() == {"task", "sections", "graphContext"}
    assert known["graphContext"].keys() == {"molecules", "orphanAtoms", "unmatchedPaths"}
    assert [one["name"] for one in known["graphContext"]["orphanAtoms"]] == ["Hooks"]
    assert known["graphContext"]["unmatchedPaths"] == ["new.ts"]

    template = ada.data("manage_template", operation="create", name="Plan", description="p", targetEntityType="TASK")
    template_id = template["template"]["id"]
    part = {"title": "Steps", "usageDescription": "What to do", "contentSample": "1.", "ordinal": 0}
    ada.data("manage_template", operation="addSection", id=template_id, **part)
    ada.data("query_templates", operation="get", id=template_id, includeSections=True)
    ada.data("query_templates", operation="list")
    ada.data("apply_template", templateId=template_id, entityType="TASK", entityId=form["id"])
    ada.error_of("NOT_FOUND", "apply_template", templateId="nothing", entityType="TASK", entityId=form["id"])
    ada.data("list_tags")
    ada.data("get_tag_usage", tag="money")
    ada.error_of("NOT_FOUND", "get_tag_usage", tag="nothing")
    ada.data("rename_tag", oldTag="money", newTag="cash", dryRun=True)
    ada.data("rename_tag", oldTag="money", newTag="cash")

    ada.data("manage_dependency", operation="create", fromId=pay["id"], toId=look["id"])
    ada.data("manage_dependency", operation="create", fromId=form["id"], toId=page["id"], type="RELATES_TO")
    ada.data("query_dependencies", id=look["id"], containerType="feature")
    loop = ada.error_of(
        "CIRCULAR_DEPENDENCY", "manage_dependency", operation="create", fromId=look["id"], toId=pay["id"]
    )
    assert (loop["details"]["path"][0], loop["details"]["path"][-1]) == (pay["id"], pay["id"])
    at_first = {"containerType": "task", "id": page["id"], "version": 1}
    blocked = ada.error_of("BLOCKED", "advance", **at_first)
    assert (blocked["details"]["blockedBy"], blocked["details"]["blockedAbove"]) == ([], [look["id"]])
    assert [one["id"] for one in ada.data("get_blocked_tasks", projectId="shop")["items"]] == [page["id"]]
    assert [one["id"] for one in ada.data("get_blocked_features", projectId="shop")["items"]] == [look["id"]]
    assert ada.data("get_next_task", projectId="shop")["id"] == hook["id"]
    assert ada.data("get_next_feature", projectId="shop")["id"] == pay["id"]

    held = ada.change("block", "task", form["id"], blockedBy="NO_OP", blockedReason="no paper")
    assert held["addedBlockers"] == ["NO_OP"]
    ada.error_of("INVALID_OPERATION", "unblock", containerType="task", id=page["id"], version=1, blockedBy=hook["id"])
    assert ada.change("unblock", "task", form["id"], blockedBy='["NO_OP"]')["isFullyUnblocked"] is True
    ada.error_of("INVALID_OPERATION", "revert", **at_first)
    stale = ada.error_of("CONFLICT", "advance", **at_first | {"version": 7})
    assert (stale["currentVersion"], stale["details"]["currentVersion"]) == (1, 1)

    begun = ada.change("advance", "task", hook["id"])
    assert (begun["transition"], begun["pipelinePosition"]) == ({"from": "NEW", "to": "ACTIVE"}, "2/4")
    assert begun["featureTransition"] == {"id": pay["id"], "from": "NEW", "to": "ACTIVE"}
    ada.change("advance", "task", hook["id"])
    ada.change("revert", "task", hook["id"])
    ada.change("advance", "task", hook["id"])
    done = ada.change("advance", "task", hook["id"])
    assert done["graphHints"]["message"] == "Task completed. Consider updating the knowledge graph."
    last = ada.change("terminate", "task", form["id"], reason="by hand")
    assert last["featureTransition"] == {"id": pay["id"], "from": "ACTIVE", "to": "CLOSED"}
    assert [one["id"] for one in last["featureUnblockedEntities"]] == [look["id"]]
    ended = ada.data("query_workflow_state", containerType="task", id=form["id"])
    again = {"containerType": "task", "id": form["id"], "version": ended["version"]}
    for tool in ("advance", "revert", "terminate"):
        ada.error_of("INVALID_OPERATION", tool, **again)

    change = {"operation": "update", "containerType": "task", "id": page["id"]}
    version = ada.data("query_workflow_state", containerType="task", id=page["id"])["version"]
    ada.error_of("VALIDATION_ERROR", "manage_container", **change, version=version, status="CLOSED")
    ada.error_of("VALIDATION_ERROR", "manage_container", **change, version=version, complexity=11)
    ada.error_of("CONFLICT", "manage_container", **change, version=version + 1, title="x")
    ada.data("manage_container", **change, version=version, title="Show all goods")
    ada.error_of("NOT_FOUND", "query_container", operation="get", containerType="task", id="nothing")
    ada.error_of("CONFLICT", "manage_container", operation="create", containerType="project", name="shop")
    gone = {"operation": "delete", "containerType": "feature", "id": look["id"]}
    version = ada.data("query_workflow_state", containerType="feature", id=look["id"])["version"]
    ada.change("advance", "feature", look["id"])
    ada.change("advance", "feature", look["id"])
    ada.error_of("CONFLICT", "manage_container", **gone, version=version)
    ready = ada.data("query_workflow_state", containerType="feature", id=look["id"])["version"]
    ada.error_of("INVALID_OPERATION", "advance", containerType="feature", id=look["id"], version=ready)
    ada.error_of("INVALID_OPERATION", "manage_container", **gone, version=ready)
    ada.data("query_container", operation="search", containerType="task", query="goods")
    whole = ada.data("query_container", operation="overview", containerType="project", id="shop")
    assert whole["taskCounts"] == {"total": 3, "byStatus": {"NEW": 1, "CLOSED": 1, "WILL_NOT_IMPLEMENT": 1}}
    assert ada.data("manage_container", **gone, version=ready, cascade=True)["count"] == 2
    ada.error_of("NOT_FOUND", "advance", containerType="feature", id=look["id"], version=ready)


def test_a_project_is_worked_through_with_every_tool_in_one_style(ada: RecordingAgent) -> None:
    listed = {one["name"] for one in ada.agent.result("tools/list")["tools"]}
    assert listed >= TOOLS

    work_through(ada)

    assert ada.called == TOOLS
    strange = {
        (tool, f"{place}.{key}")
        for tool, one in ada.told
        for place, key in keys(one)
        if not CAMEL.fullmatch(key) and not place.startswith(OTHER_TOOLS)
    }
    assert strange == set()
    inside = {(tool, place) for tool, one in ada.told for place, text in texts(one) if is_json(text)}
    assert inside == set()


def test_refusals_by_policies_are_in_the_same_style(ada: RecordingAgent, serve: Serve) -> None:
    ada.create("project", name="shop")
    ada.agent.answer("graph_open", project="shop", policies={"claims": "enforced", "evidence": "require"})
    task = ada.create("task", projectId="shop", title="Pay")
    ada.change("advance", "task", task["id"])
    ben = RecordingAgent(serve("ben", *GROUPS))

    held = {"containerType": "task", "id": task["id"], "version": 2}
    ben.error_of("CONFLICT", "advance", **held)
    ben.error_of("CONFLICT", "terminate", **held)
    ada.change("advance", "task", task["id"])
    ada.error_of("INVALID_OPERATION", "advance", **held | {"version": 3})
    other = ada.create("project", name="other")
    sell = ada.create("task", projectId=other["id"], title="Sell")
    ada.error_of("VALIDATION_ERROR", "block", containerType="task", id=sell["id"], version=1, blockedBy=task["id"])

    told = [*ada.told, *ben.told]
    strange = {(tool, f"{place}.{key}") for tool, one in told for place, key in keys(one) if not CAMEL.fullmatch(key)}
    assert strange == set()


def test_json_in_strings_is_understood(ada: RecordingAgent) -> None:
    project = ada.create("project", name="shop", tags='["a","b"]')
    assert project["tags"] == ["a", "b"]
    task = ada.create("task", projectId="shop", title="Pay", tags='["c"]', complexity="3")
    assert (task["tags"], task["complexity"]) == (["c"], 3)
    other = ada.create("task", projectId="shop", title="Sell", relatedTo=json.dumps([task["id"]]))
    assert other["relatedTo"] == [task["id"]]
    block = {"containerType": "task", "id": other["id"], "blockedBy": json.dumps([task["id"]])}
    assert ada.data("block", **block, version="1")["addedBlockers"] == [task["id"]]
    sections = json.dumps([{"title": "Notes", "content": "n", "usageDescription": "u"}])
    of = {"entityType": "TASK", "entityId": task["id"]}
    ada.data("manage_sections", operation="bulkCreate", **of, sections=sections)
    pipeline = json.dumps(["NEW", "ACTIVE", "CLOSED"])
    change = {"operation": "update", "containerType": "project", "id": "shop", "version": project["version"]}
    assert ada.data("manage_container", **change, pipeline=pipeline)["project"]["pipelines"]["task"] == [
        "NEW",
        "ACTIVE",
        "CLOSED",
    ]


def test_a_task_of_one_agent_is_seen_taken_and_closed_by_others_in_both_dialects(
    ada: RecordingAgent, serve: Serve
) -> None:
    ada.create("project", name="shop")
    feature = ada.create("feature", projectId="shop", name="Pay")
    task = ada.create("task", featureId=feature["id"], title="Take webhooks")
    ben = RecordingAgent(serve("ben", *GROUPS))

    (offer,) = ben.agent.answer("graph_next", project="shop", claim=True)["nodes"]
    assert offer["node"]["id"] == task["id"]
    shown = ada.data("query_container", operation="get", containerType="task", id=task["id"])["task"]
    assert (shown["status"], shown["claimedBy"]) == ("ACTIVE", "ben")
    assert ada.data("get_next_task", projectId="shop") is None
    evidence = [{"type": "commit", "ref": "abc"}]
    ben.agent.answer("graph_update", updates=[{"node_id": task["id"], "resolved": True, "add_evidence": evidence}])

    overview = ada.data("query_container", operation="overview", containerType="feature", id=feature["id"])
    assert (overview["feature"]["status"], overview["taskCounts"]["byStatus"]) == ("CLOSED", {"CLOSED": 1})
    ada.change("revert", "task", task["id"])
    assert ben.agent.answer("graph_next", project="shop")["nodes"] == []
