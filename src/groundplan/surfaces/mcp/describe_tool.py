"""The description of a tool for tools/list. It costs tokens in every conversation, so it is short."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from groundplan.kernel.operations.registry import Effect, Operation, Registry
from groundplan.kernel.operations.schema import build_json_schema, build_merged_schema
from groundplan.surfaces.mcp.described_arguments import add_descriptions
from groundplan.surfaces.mcp.tool_entries import ONLY, SELECTOR, ToolEntry


def describe_tool(tool: ToolEntry, registry: Registry) -> dict[str, Any]:
    """Return the MCP description of a tool."""
    operations = {selector: registry[name] for selector, name in tool.operations.items()}
    if ONLY in operations:
        description = operations[ONLY].summary
        schema = build_json_schema(operations[ONLY].input)
    else:
        summaries = (f"{word}: {op.summary.rstrip('.')}" for word, op in operations.items())
        description = "; ".join(summaries) + "."
        schema = build_merged_schema({word: op.input for word, op in operations.items()}, SELECTOR)
    add_descriptions(tool.name, schema, operations.values())
    described = {"name": tool.name, "description": description, "inputSchema": schema}
    hints = _build_annotations(list(operations.values()))
    return {**described, "annotations": hints} if hints else described


def _build_annotations(operations: Sequence[Operation[Any, Any]]) -> dict[str, bool]:
    """Return the hints that differ from the MCP defaults: a tool writes, destroys, is not idempotent."""
    hints: dict[str, bool] = {}
    operations = [*operations, *(other for operation in operations for other in operation.variants)]
    effects = {operation.effect for operation in operations}
    if effects == {Effect.READ}:
        return {"readOnlyHint": True}  # the other two mean nothing for a tool that only reads
    if Effect.DESTROY not in effects:
        hints["destructiveHint"] = False
    if all(operation.idempotent or operation.effect is Effect.READ for operation in operations):
        hints["idempotentHint"] = True
    return hints
