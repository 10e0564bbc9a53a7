"""Templates over MCP: arguments and error codes are those of the contract."""

from __future__ import annotations

import json
from typing import Any

import pytest

from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group, Registry
from groundplan.surfaces.mcp.tools import RegistryTools
from groundplan.work.containers import templates
from groundplan.work.containers.built_in_templates import FEATURE, TASK
from tests.work.containers.templates.client import NOWHERE, TemplatesClient

OPERATIONS = Registry(
    (
        templates.GET,
        templates.LIST,
        templates.CREATE,
        templates.UPDATE,
        templates.DELETE,
        templates.ENABLE,
        templates.DISABLE,
        templates.ADD_SECTION,
        templates.APPLY,
    )
)
ARGUMENTS = {
    "query_templates": {"operation", "id", "includeSections", "targetEntityType", "isBuiltIn", "isEnabled", "tags"},
    "manage_template": {
        "operation",
        "id",
        "name",
        "description",
        "targetEntityType",
        "isBuiltIn",
        "isProtected",
        "createdBy",
        "tags",
        "title",
        "usageDescription",
        "contentSample",
        "contentFormat",
        "isRequired",
        "ordinal",
        "op_id",
    },
    "apply_template": {"templateId", "entityType", "entityId", "op_id"},
}


def test_the_tools_take_the_arguments_of_their_contract() -> None:
    listed = RegistryTools(OPERATIONS, [Group.CONTAINERS], lambda *_call: ExecutionResult(None)).listing()

    assert {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in listed} == ARGUMENTS
    selectors = {tool["name"]: tool["inputSchema"]["properties"].get("operation") for tool in listed}
    assert selectors["manage_template"]["enum"] == ["create", "update", "delete", "enable", "disable", "addSection"]


@pytest.mark.parametrize(
    ("tool", "arguments", "code", "reason"),
    [
        ("query_templates", {"operation": "get", "id": NOWHERE}, "NOT_FOUND", "not_found"),
        ("query_templates", {"operation": "get"}, "VALIDATION_ERROR", "missing_argument"),
        ("manage_template", {"operation": "delete", "id": TASK.id}, "INVALID_OPERATION", "template_built_in"),
        (
            "manage_template",
            {"operation": "create", "name": TASK.name, "targetEntityType": "TASK"},
            "CONFLICT",
            "template_exists",
        ),
        (
            "apply_template",
            {"templateId": FEATURE.id, "entityType": "PROJECT", "entityId": "atlas"},
            "INVALID_OPERATION",
            "template_for_other_type",
        ),
    ],
)
def test_a_refusal_has_the_code_of_the_contract(
    client: TemplatesClient, tool: str, arguments: dict[str, Any], code: str, reason: str
) -> None:
    client.session.call("project.create", name="atlas")
    tools = RegistryTools(OPERATIONS, [Group.CONTAINERS], client.session.execute)

    answer = tools.call(tool, arguments)

    assert answer.is_error
    body = json.loads(answer.text)
    assert (body["success"], body["error"]["code"], body["error"]["details"]["reason"]) == (False, code, reason)


def test_an_answer_stands_in_the_envelope(client: TemplatesClient) -> None:
    tools = RegistryTools(OPERATIONS, [Group.CONTAINERS], client.session.execute)

    body = json.loads(tools.call("query_templates", {"operation": "list", "targetEntityType": "FEATURE"}).text)

    assert (body["success"], [one["name"] for one in body["data"]["templates"]]) == (True, [FEATURE.name])
