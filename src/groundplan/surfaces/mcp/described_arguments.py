"""The arguments that have a description in tools/list: those whose meaning the name does not tell.

Every conversation pays for them, so the list is short: what new users got wrong first. The texts are those of the
reference and of `--help`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from groundplan.kernel.operations.registry import Operation

DESCRIBED: Mapping[str, tuple[str, ...]] = {
    "graph_open": ("policies",),
    "graph_plan": (
        *("project", "nodes[].parent_ref", "nodes[].depends_on", "nodes[].properties"),
        *("nodes[].serves", "nodes[].rests_on"),
    ),
    "graph_next": ("project", "node_id", "filter", "budget"),
    "graph_update": ("updates[].resolved", "updates[].properties", "updates[].claim"),
    "graph_connect": ("edges[].from", "edges[].type"),
    "graph_query": ("filter.claimed_by",),
    "graph_restructure": ("operations[].reason",),
    "manage_graph": ("entityType", "createdByTaskId", "lastTaskId", "paths"),
    "query_graph": ("query",),
    "manage_changelog": ("taskId",),
    "toc_edit": (
        *("operations", "operations[].ref", "operations[].node", "operations[].source", "operations[].target"),
    ),
    "toc_check": ("gate", "version"),
    "toc_record": ("waivers[].refs", "decisions[].supersedes", "decisions[].answers"),
    "context_view": ("pointers", "hydrate"),
    "context_run": ("runId",),
    "context_edit": (
        *("sources[].id", "inputs[].pointer", "inputs[].value", "inputs[].provenance"),
        *("inputs[].sourceIds", "constraints[].key"),
    ),
    "manage_container": ("projectId", "version"),
    "query_container": ("budget",),
    "get_next_task": ("projectId",),
    "block": ("blockedBy",),
    "undo": ("event",),
}


def add_descriptions(tool: str, schema: dict[str, Any], operations: Iterable[Operation[Any, Any]]) -> None:
    """Add the descriptions of a tool's arguments to its schema."""
    from groundplan.argument_descriptions import describe_argument  # here, because only a list of tools needs it

    names = [operation.name for operation in operations]
    for path in DESCRIBED.get(tool, ()):
        text = next(filter(None, (describe_argument(name, path) for name in names)))
        _find_argument(schema, path.split("."))["description"] = text


def _find_argument(schema: dict[str, Any], path: list[str]) -> dict[str, Any]:
    step, *rest = path
    name, is_list, _ = step.partition("[]")
    found: dict[str, Any] = schema["properties"][name]
    if not rest:
        return found
    return _find_argument(found["items"] if is_list else found, rest)
