"""The description of a tool for tools/list, and the choice of its described arguments.

Every conversation pays for them, so they are short: arguments are described whose meaning the name does not tell, and
which new users got wrong first. The texts are those of the reference and of `--help`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from groundplan.kernel.input_gate.types import TaggedUnion, get_record
from groundplan.kernel.operations.registry import Effect, Operation, Registry
from groundplan.kernel.operations.schema import build_json_schema, build_merged_schema
from groundplan.surfaces.mcp.tools import ONLY, SELECTOR, ToolEntry


def describe_tool(tool: ToolEntry, registry: Registry) -> dict[str, Any]:
    """Return the MCP description of a tool."""
    operations = {selector: registry[name] for selector, name in tool.operations.items()}
    if ONLY in operations:
        description = " ".join((operations[ONLY].summary, *PARTS.get(tool.name, ())))
        schema = build_json_schema(operations[ONLY].input)
    else:
        summaries = (f"{word}: {op.summary.rstrip('.')}" for word, op in operations.items())
        description = "; ".join(summaries) + "."
        schema = build_merged_schema({word: op.input for word, op in operations.items()}, SELECTOR)
        if needs := _describe_needs(tool.name, operations, set(schema["required"])):
            schema["properties"][SELECTOR]["description"] = needs
    add_descriptions(tool.name, schema, operations.values())
    described = {"name": tool.name, "description": description, "inputSchema": schema}
    hints = _build_annotations(list(operations.values()))
    return {**described, "annotations": hints} if hints else described


# What an operation needs although its type does not require it.
NEEDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("manage_container", "create"): ("name or title",),
    ("manage_dependency", "create"): ("fromId", "toId"),
    ("manage_dependency", "delete"): ("fromId and toId, or id",),
    ("manage_graph", "create"): ("paths (atom)",),
    ("toc_edit", "add_assumption"): ("node or source, target",),
}


# What each part of a request needs, where it has several and none is required. Here this takes half of what it takes in
# descriptions of the parts.
PARTS: Mapping[str, tuple[str, ...]] = {
    "context_edit": (
        "New: sources kind, title, uri; inputs valueKind or value; constraints key, label too;",
        "artifacts type, title. links: pointer or constraint. remove: inputs by pointer, others by id.",
        "Only persons accept, reject.",
    ),
}


def _describe_needs(tool: str, operations: Mapping[str, Operation[Any, Any]], shared: set[str]) -> str:
    """Return which arguments each operation needs besides those that all of them do: `update needs id, version`."""
    needs = {
        word: [
            *(field.encode_name for field in msgspec.structs.fields(operation.input) if field.required),
            *NEEDS.get((tool, word), ()),
        ]
        for word, operation in operations.items()
    }
    return _join_needs({word: [name for name in names if name not in shared] for word, names in needs.items()})


def _describe_item_needs(tool: str, path: str, operation: Operation[Any, Any]) -> str:
    """Return which arguments each kind of item in a list needs: `add_node needs node_type, title`."""
    shape: type[msgspec.Struct] = operation.input
    items = get_record(shape).arguments[path.partition("[]")[0]].field_type
    (union,) = (inner for inner in items.list_inner_types() if isinstance(inner, TaggedUnion))
    return _join_needs(
        {
            str(tag): [
                *(wire for wire, argument in record.arguments.items() if argument.required),
                *NEEDS.get((tool, str(tag)), ()),
            ]
            for tag, record in union.records.items()
        }
    )


def _join_needs(needs: Mapping[str, Sequence[str]]) -> str:
    """Return what some words need; those that need the same are named together."""
    words: dict[str, list[str]] = {}
    for word, names in needs.items():
        words.setdefault(", ".join(names), []).append(word)
    return "; ".join(
        f"{', '.join(several)} {'needs' if len(several) == 1 else 'need'} {names}"
        for names, several in words.items()
        if names
    )


def _build_annotations(operations: Sequence[Operation[Any, Any]]) -> dict[str, bool]:
    """Return the annotations that differ from the MCP defaults: a tool writes, destroys, and is not idempotent."""
    hints: dict[str, bool] = {}
    operations = [*operations, *(variant for operation in operations for variant in operation.variants)]
    effects = {operation.effect for operation in operations}
    if effects == {Effect.READ}:
        return {"readOnlyHint": True}  # the other two mean nothing for a tool that only reads
    if Effect.DESTROY not in effects:
        hints["destructiveHint"] = False
    if all(operation.idempotent or operation.effect is Effect.READ for operation in operations):
        hints["idempotentHint"] = True
    return hints


# --- Described arguments ----------------------------------------------------------------------------------------------

DESCRIBED: Mapping[str, tuple[str, ...]] = {
    "graph_open": ("policies",),
    "graph_plan": (
        *("project", "nodes[].parent_ref", "nodes[].depends_on", "nodes[].properties"),
        *("nodes[].serves", "nodes[].rests_on"),
    ),
    "graph_next": ("project", "node_id", "scope", "filter", "budget"),
    "graph_context": ("budget",),
    "graph_update": (
        *("updates[].resolved", "updates[].properties", "updates[].claim"),
        *("updates[].state", "updates[].hold"),
    ),
    "graph_connect": ("edges[].from", "edges[].type"),
    "graph_query": ("filter.claimed_by",),
    "graph_restructure": ("operations[].op", "operations[].reason"),
    "manage_graph": ("entityType", "createdByTaskId", "lastTaskId", "paths"),
    "query_graph": ("query",),
    "manage_changelog": ("taskId",),
    "toc_edit": (
        *("operations", "operations[].ref", "operations[].node", "operations[].source", "operations[].target"),
    ),
    "toc_check": ("gate", "version", "operation"),
    "toc_record": ("waivers[].refs", "decisions[].supersedes", "decisions[].answers"),
    "context_view": ("pointers", "hydrate"),
    "context_run": ("runId",),
    "context_edit": (
        *("sources[].id", "inputs[].pointer", "inputs[].value", "inputs[].provenance", "inputs[].sourceIds"),
    ),
    "manage_container": ("projectId", "version", "priority", "complexity", "pipeline"),
    "query_container": ("budget", "priority"),
    "get_next_task": ("projectId", "priority"),
    "get_next_feature": ("priority",),
    "block": ("blockedBy",),
    "undo": ("event",),
}


# The tags of items of several kinds, which are described by what each kind needs.
LISTS_OF_KINDS: Mapping[str, tuple[str, ...]] = {"toc_edit": ("operations[].op",)}


def add_descriptions(tool: str, schema: dict[str, Any], operations: Iterable[Operation[Any, Any]]) -> None:
    """Add the descriptions of arguments to the schema of a tool."""
    from groundplan.argument_descriptions import describe_argument  # here, because only a list of tools needs it

    several = [*operations]
    names = [one.name for operation in several for one in (operation, *operation.variants)]
    everywhere = ("lean",) if "lean" in schema["properties"] else ()
    for path in (*DESCRIBED.get(tool, ()), *everywhere):
        texts = filter(None, (describe_argument(name, path) for name in names))
        text = next(text for text in texts if not text.startswith("Refused: "))  # by some operations of the tool
        _find_argument(schema, path.split("."))["description"] = text
    for path in LISTS_OF_KINDS.get(tool, ()):
        _find_argument(schema, path.split("."))["description"] = _describe_item_needs(tool, path, several[0])


def _find_argument(schema: dict[str, Any], path: list[str]) -> dict[str, Any]:
    step, *rest = path
    name, is_list, _ = step.partition("[]")
    argument: dict[str, Any] = schema["properties"][name]
    if not rest:
        return argument
    return _find_argument(argument["items"] if is_list else argument, rest)
