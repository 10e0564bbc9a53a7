"""Clients fill in every argument of a tool, so each operation of a tool takes what its other operations have."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from msgspec import NODEFAULT, UNSET, Struct, structs

from groundplan.catalog import OPERATIONS
from groundplan.kernel.input_gate.request import PROJECT_NAMES
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group, Operation
from groundplan.surfaces.mcp.tools import RegistryTools, list_tools

SHARED = [entry for entry in list_tools(OPERATIONS) if len(entry.operations) > 1]
NO_EFFECT = ("lean", "op_id")


def run(operation: Operation[Any, Any], arguments: Mapping[str, Any], _: Any, warnings: Sequence[str]) -> Any:
    """Answer with the operation and its arguments."""
    return ExecutionResult({"ran": operation.name, "with": arguments, "warnings": list(warnings)})


TOOLS = RegistryTools(OPERATIONS, set(Group), run)


def get_defaults(name: str) -> dict[str, Any]:
    """Return the arguments of an operation with what a client may fill in that knows no value."""
    shape: type[Struct] = OPERATIONS[name].input
    return {
        field.encode_name: "" if field.default in (NODEFAULT, UNSET) else msgspec.to_builtins(field.default)
        for field in structs.fields(shape)
    }


CASES = [
    pytest.param(entry, selector, id=f"{entry.name}-{selector}") for entry in SHARED for selector in entry.operations
]


def call(tool: str, **arguments: Any) -> Any:
    body = json.loads(TOOLS.call(tool, arguments).text)
    return body.get("data", body)


@pytest.mark.parametrize(("entry", "selector"), CASES)
def test_it_ignores_what_the_others_have(entry: Any, selector: str) -> None:
    own = get_defaults(entry.operations[selector])
    others = {
        name: value
        for word in entry.operations
        for name, value in get_defaults(entry.operations[word]).items()
        if name not in (*own, *PROJECT_NAMES)
    }

    filled = call(entry.name, operation=selector, **others)
    said = call(entry.name, operation=selector, **dict.fromkeys(others, "something"))

    assert filled == {"ran": entry.operations[selector], "with": {}, "warnings": []}
    assert said["with"] == {}
    named = [name for name in others if name not in NO_EFFECT]
    assert len(said["warnings"]) == bool(named)
    assert all(f"{name} (for " in said["warnings"][0] for name in named)


@pytest.mark.parametrize(("entry", "selector"), CASES)
def test_it_passes_on_a_misspelt_name_so_that_it_is_refused(entry: Any, selector: str) -> None:
    assert call(entry.name, operation=selector, misspelt="")["with"] == {"misspelt": ""}
