"""The tools by name: the operations of each, and its description for tools/list.

Both follow from the registry, which must load every operation for them. So `make contracts` writes those of the catalog
to `published_tools.json`, where a server reads them: it loads an operation when a tool of it is called. A test compares
the file with the registry.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.kernel.operations.registry import Group, Registry

PUBLISHED = Path(__file__).with_name("published_tools.json")
SELECTOR = "operation"  # the argument that selects one of several operations
ONLY = ""  # selects the operation of a tool that has one


class ToolEntry(NamedTuple):
    """A tool, its operations by the values that select them, and its description if it is known."""

    name: str
    group: Group
    operations: Mapping[str, str]
    description: dict[str, Any] | None = None


def read_published_tools() -> list[ToolEntry]:
    """Return the tools of the catalog, with their descriptions."""
    tools = json.loads(PUBLISHED.read_bytes())
    return [
        ToolEntry(tool["description"]["name"], Group(tool["group"]), tool["operations"], tool["description"])
        for tool in tools
    ]


def list_tools(registry: Registry) -> list[ToolEntry]:
    """Return the tools of a registry in the order of registration, without descriptions.

    Raises:
        ValueError: two operations of a tool cannot be told apart.
    """
    groups: dict[str, Group] = {}
    operations: dict[str, dict[str, str]] = {}
    for operation in registry:
        if (tool := operation.tool) is None:
            continue
        groups.setdefault(tool.name, tool.group)
        others = operations.setdefault(tool.name, {})
        selector = tool.selector or ONLY
        if selector in others or ONLY in others or (selector == ONLY and others):
            raise ValueError(f"{operation.name} needs a selector that no other operation of {tool.name} has")
        others[selector] = operation.name
    return [ToolEntry(name, group, operations[name]) for name, group in groups.items()]
