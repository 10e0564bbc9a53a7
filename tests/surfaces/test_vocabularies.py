"""Next steps in the words of each surface."""

from __future__ import annotations

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.vocabularies import CliVocabulary, HttpVocabulary, McpVocabulary

ACCEPT = ("context.edit", {"runId": "r1", "accept": ["s1"]})


def test_mcp_names_the_tool_and_gives_the_arguments_as_data() -> None:
    vocabulary = McpVocabulary(OPERATIONS)

    assert vocabulary.spell(*ACCEPT) == "context_edit"
    assert vocabulary.call(*ACCEPT) == {"tool": "context_edit", "arguments": {"runId": "r1", "accept": ["s1"]}}


@pytest.mark.parametrize(
    ("operation", "arguments", "command"),
    [
        ("context.edit", {"runId": "r1"}, "groundplan context edit r1"),
        ("context.edit", {"runId": "r1", "accept": ["s1", "s2"]}, "groundplan context accept r1 s1 s2"),
        ("context.commit", {"runId": "r1", "allowPartial": True}, "groundplan context commit r1 --allow-partial"),
        ("knowledge.search", {"entityType": "atom"}, "groundplan knowledge search --type atom"),
        (
            "work.update",
            {"updates": [{"node_id": "q8cdfw", "renew": True}]},
            """groundplan work update --updates '[{"node_id":"q8cdfw","renew":true}]'""",
        ),
    ],
)
def test_the_command_line_names_the_command_that_takes_the_arguments(
    operation: str, arguments: dict[str, object], command: str
) -> None:
    assert CliVocabulary(OPERATIONS).spell(operation, arguments) == command


@pytest.mark.parametrize(
    ("operation", "arguments", "request_"),
    [
        ("purpose.draft", {"project": "a b"}, {"method": "POST", "path": "/v1/projects/a%20b/purpose/draft"}),
        ("work.next", {"project": "a", "count": 2}, {"method": "GET", "path": "/v1/projects/a/work/next?count=2"}),
        (
            "work.next",
            {"project": "a", "claim": True},
            {"method": "POST", "path": "/v1/projects/a/work/claims", "body": {"claim": True}},
        ),
        ("work.onboard", {}, {"method": "GET", "path": "/v1/organization/work/onboarding"}),
        ("work.query", {}, {"method": "GET", "path": "/v1/projects/{project}/work/nodes", "fill": ["project"]}),
        (
            "section.list",
            {"entityType": "TASK", "entityId": "q8cdfw"},
            {"method": "GET", "path": "/v1/projects/{project}/work/tasks/q8cdfw/sections"},
        ),
        (
            "knowledge.context",
            {"projectId": "a", "paths": ["x.py", "y.py"]},
            {"method": "GET", "path": "/v1/projects/a/knowledge/context?paths=x.py&paths=y.py"},
        ),
    ],
)
def test_http_names_the_request_with_what_is_known(
    operation: str, arguments: dict[str, object], request_: dict[str, object]
) -> None:
    assert HttpVocabulary(OPERATIONS).call(operation, arguments) == request_


def test_http_takes_the_project_of_a_hint_from_the_request_that_is_answered() -> None:
    vocabulary = HttpVocabulary(OPERATIONS).within("atlas")

    assert vocabulary.spell("context.commit", {"runId": "r1"}) == "POST /v1/projects/atlas/context/runs/r1/commit"
    assert vocabulary.spell("work.query", {"project": "sumac"}) == "GET /v1/projects/sumac/work/nodes"
