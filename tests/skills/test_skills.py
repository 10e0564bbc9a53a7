"""The packaged skills are short and well formed, and the tools accept every call in them."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
import yaml

from groundplan.catalog import OPERATIONS
from groundplan.kernel.input_gate.request import parse_request
from groundplan.kernel.input_gate.strict_json import decode
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.repository.rules import front_matter
from groundplan.skills import SKILL_NAMES, load_skill, read_skill

TOKENS_MAX = 1_050
CHARS_IN_A_TOKEN = 4
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TOOL = re.compile(r"\b(?:graph|query|manage|toc|context|get)_\w+")
A_PERSON = "A person, not you: "


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
    assert load_skill(name) == (name, fields["description"], body.lstrip("\n"))


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
    operation, arguments = select(call)

    parse_request(arguments, operation.input)


def select(call: dict[str, Any]) -> tuple[Operation[Any, Any], dict[str, Any]]:
    """The operation that a call of a tool selects, and its arguments."""
    arguments = dict(call["arguments"])
    offered = [one for one in OPERATIONS if one.tool is not None and one.tool.name == call["tool"]]
    selector = arguments.pop("operation", None) if any(one.tool and one.tool.selector for one in offered) else None
    (operation,) = [one for one in offered if one.tool and one.tool.selector == selector]
    return operation, arguments


def test_discovery_only_reads() -> None:
    for call in calls("groundplan-discovery"):
        operation, _ = select(call)
        assert operation.effect is Effect.READ
        assert "claim" not in call["arguments"]


@pytest.mark.parametrize("name", sorted(set(SKILL_NAMES) - {"groundplan-discovery"}))
def test_a_skill_that_writes_says_what_a_person_does_and_shows_no_such_call(name: str) -> None:
    assert A_PERSON in read_skill(name)
    for call in calls(name):
        arguments = call["arguments"]
        assert arguments.get("operation") not in ("publish", "discard", "delete", "upsert", "remove", "bootstrap")
        assert not arguments.keys() & {"waivers", "policies", "accept", "reject"}


@pytest.mark.parametrize("name", SKILL_NAMES)
def test_a_skill_names_no_tool_that_is_not_there(name: str) -> None:
    fields = {"context_links"}
    known = {operation.tool.name for operation in OPERATIONS if operation.tool is not None}

    assert set(TOOL.findall(read_skill(name).replace("toc_*", ""))) - fields <= known


def test_the_skills_follow_the_steps_of_the_specification() -> None:
    steps = {name: [_step(call) for call in calls(name)] for name in SKILL_NAMES}

    assert steps == {
        "groundplan-discovery": [
            "graph_onboard",
            "query_container search",
            "graph_next",
            "get_next_task",
            "query_graph context",
            "query_container get",
        ],
        "groundplan-planning": [
            "query_graph search",
            "query_graph context",
            "graph_plan",
            "manage_container create feature",
            "manage_container create task",
            "manage_sections bulkCreate TASK",
            "manage_dependency create",
            "manage_graph create molecule",
            "manage_graph create atom",
        ],
        "groundplan-execution": [
            "graph_next",
            "graph_update",
            "advance",
            "query_graph context",
            "manage_graph update atom",
            "manage_graph update atom",
            "manage_changelog append",
            "manage_graph update atom",
            "graph_update",
        ],
        "groundplan-facts": [
            "context_view",
            "context_run create_draft",
            "context_edit",
            "context_view",
            "context_run commit",
        ],
        "groundplan-theory-of-change": [
            "toc_open",
            "toc_version draft",
            "toc_check",
            "toc_edit",
            "toc_check",
            "toc_record",
        ],
    }


def _step(call: dict[str, Any]) -> str:
    arguments = call["arguments"]
    selector = arguments.get("operation")
    about = arguments.get("entityType") or arguments.get("containerType")
    is_write = call["tool"] in ("manage_graph", "manage_container", "manage_sections")
    words = (call["tool"], selector if isinstance(selector, str) else None, about if is_write else None)
    return " ".join(word for word in words if word)


def test_the_calls_are_valid_json_as_agents_send_it() -> None:
    assert all(json.loads(json.dumps(call)) == call for name in SKILL_NAMES for call in calls(name))
