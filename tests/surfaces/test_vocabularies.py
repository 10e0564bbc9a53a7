"""Next steps in the words of each surface."""

from __future__ import annotations

import pytest

from groundplan.catalog import OPERATIONS
from groundplan.surfaces.vocabularies import CliVocabulary, McpVocabulary

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
    ],
)
def test_the_command_line_names_the_command_that_takes_the_arguments(
    operation: str, arguments: dict[str, object], command: str
) -> None:
    assert CliVocabulary(OPERATIONS).spell(operation, arguments) == command
