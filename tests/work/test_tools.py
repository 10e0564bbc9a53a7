"""The work graph over MCP: one compact line per answer, and every error flagged."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.kernel.operations.registry import Group
from groundplan.surfaces.mcp.methods import ToolAnswer
from groundplan.surfaces.mcp.tools import RegistryTools
from tests.work.cases import try_each
from tests.work.client import WorkClient

PACKAGE = Path(groundplan.__file__).parent
GRAPH_TOOLS = {
    f"graph_{verb}"
    for verb in ("open", "plan", "next", "context", "update", "connect", "query", "restructure", "history", "onboard")
}
WAYS_TO_A_SHELL = {"subprocess", "pty", "popen2", "commands", "multiprocessing"}
ASKS_GIT = PACKAGE / "repository" / "git.py"  # in the user's own command, never in a server
# The pager and the editor of the user, in a terminal of theirs; what is stored reaches them as a file or as input.
STARTS_PROGRAMS_OF_THE_USER = (
    PACKAGE / "surfaces" / "cli" / "screen" / "output.py",
    PACKAGE / "surfaces" / "cli" / "everyday" / "tasks.py",
)
CALLS_OF_A_SHELL = {"system", "popen", "execv", "execve", "execvp", "spawnl", "spawnv", "posix_spawn", "eval", "exec"}
WORDS_OF_A_SHELL = WAYS_TO_A_SHELL | CALLS_OF_A_SHELL


@pytest.fixture
def tools(work: WorkClient) -> RegistryTools:
    work.plan("phase\n  a\n  b: a")
    return RegistryTools(OPERATIONS, {Group.WORK}, work.session.execute)


def to_json(answer: ToolAnswer) -> Any:
    return json.loads(answer.text)


def test_there_are_exactly_the_ten_tools_of_the_graph(tools: RegistryTools) -> None:
    assert {tool["name"] for tool in tools.listing()} == GRAPH_TOOLS


REFUSALS: dict[str, tuple[str, dict[str, Any], str]] = {
    "an unknown project": ("graph_next", {"project": "nowhere"}, "not_found"),
    "an unknown node": ("graph_context", {"node_id": "oooooo"}, "not_found"),
    "an unknown node to change": ("graph_update", {"updates": [{"node_id": "oooooo", "resolved": True}]}, "not_found"),
    "an unknown node to drop": (
        "graph_restructure",
        {"operations": [{"op": "drop", "node_id": "oooooo", "reason": "x"}]},
        "not_found",
    ),
    "open children": ("graph_update", {"updates": [{"node_id": "phase", "resolved": True}]}, "unresolved_children"),
    "a stale revision": ("graph_update", {"updates": [{"node_id": "a", "expected_rev": 9}]}, "stale_rev"),
    "a stale claim": ("graph_update", {"updates": [{"node_id": "a", "claim": 9}]}, "stale_claim"),
    "a cycle in a plan": (
        "graph_plan",
        {"project": "atlas", "nodes": [{"ref": "x", "summary": "x", "depends_on": ["x"]}]},
        "cycle_detected",
    ),
    "a limit": ("graph_next", {"project": "atlas", "count": 51}, "invalid_argument"),
    "an unknown argument": ("graph_query", {"project": "atlas", "filters": {}}, "unknown_argument"),
    "an unknown policy": ("graph_open", {"project": "atlas", "policies": {"x": 1}}, "unknown_argument"),
    "nothing at all": ("graph_plan", {}, "missing_argument"),
}


@try_each("what", REFUSALS)
def test_a_failure_is_flagged_and_has_its_code(tools: RegistryTools, work: WorkClient, what: str) -> None:
    name, arguments, code = REFUSALS[what]
    if name == "graph_update":
        arguments = {"updates": [one | {"node_id": work[one["node_id"]]} for one in arguments["updates"]]}

    answer = tools.call(name, arguments)

    assert answer.is_error
    assert to_json(answer)["error"]["code"] == code
    assert to_json(answer)["error"]["message"]


def test_a_rejected_edge_is_no_failure(tools: RegistryTools, work: WorkClient) -> None:
    answer = tools.call("graph_connect", {"edges": [work.edge("a: b")]})

    assert not answer.is_error
    assert to_json(answer) == {
        "applied": 0,
        "rejected": [
            {
                "from": work["a"],
                "to": work["b"],
                "reason": "cycle_detected",
                "path": [work["a"], work["b"], work["a"]],
            }
        ],
    }


def test_the_answers_have_the_fields_of_the_seed(tools: RegistryTools, work: WorkClient) -> None:
    stamp = "2026-03-01T09:00:00.000Z"
    answers = {
        "root": to_json(tools.call("graph_open", {"project": "atlas"}))["root"],
        "open": to_json(tools.call("graph_open", {"project": "atlas"}))["summary"],
        "plan": to_json(tools.call("graph_plan", {"project": "atlas", "nodes": [{"ref": "c", "summary": "c"}]})),
        "next": to_json(tools.call("graph_next", {"project": "atlas"}))["nodes"][0],
        "query": to_json(tools.call("graph_query", {"project": "atlas", "filter": {"text": "a"}}))["nodes"][0],
        "update": to_json(tools.call("graph_update", {"updates": [{"node_id": work["a"], "resolved": True}]})),
        "history": to_json(tools.call("graph_history", {"node_id": work["b"]})),
    }

    assert answers["root"] == {
        "id": work["root"],
        "rev": 1,
        "summary": "a map of everything",
        "resolved": False,
        "properties": {},
        "context_links": [],
        "evidence": [],
        "created_at": stamp,
        "updated_at": stamp,
        "created_by": "ada",
    }
    assert answers["open"] == {
        "total": 4,
        "resolved": 0,
        "unresolved": 4,
        "blocked": 1,
        "actionable": 1,
        "dropped": 0,
    }
    assert answers["plan"].keys() == {"created"}
    assert answers["plan"]["created"][0].keys() == {"ref", "id"}
    assert answers["next"].keys() == {"node", "ancestors", "context_links", "resolved_deps"}
    assert answers["next"]["context_links"] == {"self": [], "inherited": []}
    assert answers["query"] == {
        "id": work["a"],
        "summary": "a",
        "resolved": False,
        "parent": work["phase"],
        "depth": 2,
        "properties": {},
    }
    assert answers["update"] == {
        "updated": [{"node_id": work["a"], "rev": 2}],
        "newly_actionable": [{"id": work["b"], "summary": "b"}],
        "warnings": answers["update"]["warnings"],
    }
    assert answers["history"] == {
        "events": [
            {
                "timestamp": stamp,
                "agent": "ada",
                "action": "created",
                "changes": [
                    {"field": "summary", "before": None, "after": "b"},
                    {"field": "parent", "before": None, "after": work["phase"]},
                    {"field": "depends_on", "before": None, "after": [work["a"]]},
                ],
            }
        ]
    }


def test_context_has_the_fields_of_the_seed(tools: RegistryTools, work: WorkClient) -> None:
    context = to_json(tools.call("graph_context", {"node_id": work["phase"], "depth": 1}))

    assert context.keys() == {"node", "ancestors", "children", "depends_on", "depended_by"}
    assert context["ancestors"] == [{"id": work["root"], "summary": "a map of everything", "resolved": False}]
    assert context["children"]["id"] == work["phase"]
    assert [one["id"] for one in context["children"]["children"]] == [work["a"], work["b"]]


def test_a_claim_is_a_number_beside_the_node(tools: RegistryTools) -> None:
    offer = to_json(tools.call("graph_next", {"project": "atlas", "claim": True}))["nodes"][0]

    assert (offer["claim"], offer["until"]) == (1, None)
    assert offer["node"]["properties"].keys() == {"_claimed_by", "_claimed_at", "_held"}


def test_what_agents_write_can_reach_no_shell() -> None:
    for path in sorted(PACKAGE.rglob("*.py")):
        if path in (ASKS_GIT, *STARTS_PROGRAMS_OF_THE_USER):
            continue
        text = path.read_text(encoding="utf-8")
        if WORDS_OF_A_SHELL.isdisjoint(re.findall(r"\w+", text)):
            continue  # parsing a module takes longer than reading it
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert not WAYS_TO_A_SHELL & {one.name.partition(".")[0] for one in node.names}, path
            elif isinstance(node, ast.ImportFrom):
                assert (node.module or "").partition(".")[0] not in WAYS_TO_A_SHELL, path
            elif isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                # `execute` of a database connection is something else.
                assert called not in CALLS_OF_A_SHELL, path


def test_git_is_asked_by_a_list_of_words_and_never_through_a_shell() -> None:
    calls = [node for node in ast.walk(ast.parse(ASKS_GIT.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    starts = [node for node in calls if isinstance(node.func, ast.Attribute) and node.func.attr in ("run", "Popen")]

    assert starts
    assert not [one for one in calls for keyword in one.keywords if keyword.arg == "shell"]
    assert not [path for path in STARTS_PROGRAMS_OF_THE_USER if "shell=" in path.read_text(encoding="utf-8")]
    rooms = (PACKAGE / "surfaces" / "cli", PACKAGE / "repository", PACKAGE / "exchange")  # exchange: where files stand
    importers = [path for path in PACKAGE.rglob("*.py") if "repository.git" in path.read_text(encoding="utf-8")]
    assert all(any(path.is_relative_to(room) for room in rooms) for path in importers), "only the command line asks git"
