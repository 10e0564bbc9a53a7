"""The packaged skills are short and well formed, and the tools accept every call in them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from groundplan.catalog import OPERATIONS
from groundplan.kernel.input_gate.parse_request import parse_request
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.repository.rules.formats import front_matter
from groundplan.skills import SKILL_NAMES, read_skill

TOKENS_MAX = 900
CHARS_IN_A_TOKEN = 4
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOOL = re.compile(r"\b(?:graph|query|manage|toc|context)_\w+")


def calls(name: str) -> list[dict[str, Any]]:
    blocks = BLOCK.findall(read_skill(name))
    assert {language for language, _ in blocks} == {"json"}
    return [decode(text.encode()) for _, text in blocks]


@pytest.mark.parametrize("name", SKILL_NAMES)
def test_a_skill_says_what_it_is_for_within_the_bounds_of_the_format(name: str) -> None:
    front, body = front_matter.split(read_skill(name))
    fields = yaml.safe_load(front.strip("-\n"))

    assert fields.keys() == {"name", "description"}
    assert fields["name"] == name
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", name)
    assert "Use " in fields["description"]
    assert len(fields["description"]) <= 1024
    assert body.lstrip().startswith("# ")


@pytest.mark.parametrize("name", SKILL_NAMES)
def test_a_skill_is_short_enough_to_be_read_in_every_session(name: str) -> None:
    assert len(read_skill(name)) <= TOKENS_MAX * CHARS_IN_A_TOKEN


@pytest.mark.parametrize(
    ("name", "call"),
    [
        pytest.param(name, call, id=f"{name}-{number}")
        for name in SKILL_NAMES
        for number, call in enumerate(calls(name), 1)
    ],
)
def test_every_call_of_a_skill_is_one_that_its_tool_takes(name: str, call: dict[str, Any]) -> None:
    assert call.keys() == {"tool", "arguments"}
    arguments = dict(call["arguments"])
    offered = [one for one in OPERATIONS if one.tool is not None and one.tool.name == call["tool"]]
    selector = arguments.pop("operation", None) if any(one.tool and one.tool.selector for one in offered) else None
    (operation,) = [one for one in offered if one.tool and one.tool.selector == selector]

    parse_request(arguments, operation.input)


@pytest.mark.parametrize("name", SKILL_NAMES)
def test_a_skill_names_no_tool_that_is_not_there(name: str) -> None:
    fields = {"context_links", "graph_hints"}
    known = {operation.tool.name for operation in OPERATIONS if operation.tool is not None}

    assert set(TOOL.findall(read_skill(name))) - fields <= known


def test_the_skills_follow_the_steps_of_the_specification() -> None:
    steps = {name: [_step(call) for call in calls(name)] for name in SKILL_NAMES}

    assert steps == {
        "groundplan-discovery": ["graph_next", "graph_context", "query_graph context", "query_graph get"],
        "groundplan-planning": [
            "query_graph search",
            "query_graph context",
            "graph_plan",
            "manage_graph create molecule",
            "manage_graph create atom",
        ],
        "groundplan-execution": [
            "query_graph context",
            "manage_graph update atom",
            "manage_graph update atom",
            "manage_changelog append",
            "manage_graph update atom",
            "graph_update",
        ],
    }


def _step(call: dict[str, Any]) -> str:
    arguments = call["arguments"]
    is_write = call["tool"] == "manage_graph"
    words = (call["tool"], arguments.get("operation"), arguments.get("entityType") if is_write else None)
    return " ".join(word for word in words if word)


def test_the_calls_are_valid_json_as_agents_send_it() -> None:
    assert all(json.loads(json.dumps(call)) == call for name in SKILL_NAMES for call in calls(name))
