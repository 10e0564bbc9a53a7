"""What others rely on, as data that a reviewer can read: tools, operations and the database schema."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from hashlib import sha256
from typing import Any

from groundplan.catalog import OPERATIONS, build_schema
from groundplan.commands import COMMANDS, Entry
from groundplan.kernel.answers import count_tokens
from groundplan.kernel.operations.registry import Group, Operation
from groundplan.kernel.operations.schema import build_json_schema
from groundplan.kernel.store.migrations import Dialect, load_migrations
from groundplan.kernel.store.schema import generate_postgres_guards, generate_postgres_policies, generate_sqlite_guards
from groundplan.migrations import get_latest_version
from groundplan.surfaces.mcp.tool_descriptions import describe_tool
from groundplan.surfaces.mcp.tools import RegistryTools, list_tools
from reference.answer_schemas import build_answer_schema

DEFAULT_GROUPS = frozenset(Group) - {Group.CONTAINERS}

# What a session pays for the tool list before it has asked anything.
TOKEN_BARS: dict[str, tuple[Collection[Group], int]] = {
    "default": (DEFAULT_GROUPS, 7_500),
    "work": ({Group.WORK}, 2_200),
    "knowledge": ({Group.KNOWLEDGE}, 900),
    "context": ({Group.CONTEXT}, 1_600),
    "purpose": ({Group.PURPOSE}, 1_800),
    "containers": ({Group.CONTAINERS}, 3_000),
    "work,knowledge,briefing": ({Group.WORK, Group.KNOWLEDGE, Group.BRIEFING}, 4_200),
    "all": (frozenset(Group), 11_500),
}


def rendered(value: Any) -> str:
    """A snapshot as it stands in its file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def listing(groups: Collection[Group]) -> list[dict[str, Any]]:
    """tools/list of the groups that are switched on, as served."""

    def refuse(operation: Operation[Any, Any], *_call: Any) -> Any:
        raise AssertionError(f"a list of tools runs nothing, least of all {operation.name}")

    return RegistryTools(OPERATIONS, groups, refuse).listing()


def listed_tokens(groups: Collection[Group]) -> int:
    """What tools/list costs."""
    return count_tokens(json.dumps({"tools": listing(groups)}, separators=(",", ":")))


def tools() -> dict[str, Any]:
    """Every tool exactly as served, and what the lists cost."""
    everything = listing(frozenset(Group))
    return {
        "tokens": {name: listed_tokens(groups) for name, (groups, _) in TOKEN_BARS.items()},
        "tokens_by_tool": {tool["name"]: count_tokens(json.dumps(tool, separators=(",", ":"))) for tool in everything},
        "tools": everything,
    }


def published_tools() -> str:
    """The tools with their operations, as a server reads them: one line for each."""
    lines = (
        json.dumps(
            {"group": tool.group, "operations": tool.operations, "description": describe_tool(tool, OPERATIONS)},
            ensure_ascii=False,
            separators=(",", ":"),
        )
        for tool in list_tools(OPERATIONS)
    )
    return "[\n" + ",\n".join(lines) + "\n]\n"


def operations() -> dict[str, Any]:
    """Every operation with what it takes, gives and needs, and how each surface reaches it."""
    return {operation.name: _operation(operation) for operation in OPERATIONS}


def _operation(operation: Operation[Any, Any]) -> dict[str, Any]:
    tool = operation.tool
    return {
        "summary": operation.summary,
        "permission": operation.permission.value,
        "effect": operation.effect.value,
        "idempotent": operation.idempotent,
        "of_a_project": operation.project is not None,
        "on_archived": operation.on_archived,
        "input": build_json_schema(operation.input),
        "output": build_answer_schema(operation.output),
        **(
            {"other_outputs": list(map(build_answer_schema, operation.other_outputs))}
            if operation.other_outputs
            else {}
        ),
        "tool": tool and {"name": tool.name, "group": tool.group.value, "operation": tool.selector},
        "commands": [_command(entry) for entry in COMMANDS if entry.operation == operation.name],
        "routes": [f"{route.method} {route.path}" for route in operation.routes],
    }


def _command(entry: Entry) -> dict[str, Any]:
    told = {"words": list(entry.words), "arguments": list(entry.arguments), "names": dict(entry.names)}
    given = {
        "summary": entry.summary,
        "fixed": dict(entry.fixed),
        "without": list(entry.without),
        "item": entry.item_of,
    }
    return {**told, **{name: value for name, value in given.items() if value}}


def database() -> dict[str, Any]:
    """Fingerprints of every migration and of everything that is generated after the last one."""
    declared = build_schema()
    generated = {
        "sqlite guards": generate_sqlite_guards(declared),
        "postgres guards": generate_postgres_guards(declared),
        "postgres policies": generate_postgres_policies(declared, '"app"'),
    }
    return {
        "latest": get_latest_version(),
        "migrations": {
            f"{dialect} {step.number:04}_{step.name}": step.checksum
            for dialect in Dialect
            for step in load_migrations(dialect)
        },
        "generated": {name: _fingerprint(statements) for name, statements in generated.items()},
    }


def _fingerprint(statements: Iterable[str]) -> str:
    return sha256(";\n".join(statements).encode()).hexdigest()


def frozen_changes(recorded: dict[str, Any], current: dict[str, Any]) -> list[str]:
    """What changed of the database that may not change once somebody has one."""
    taken, present = recorded["migrations"], current["migrations"]
    found = [name for name, checksum in taken.items() if present.get(name) != checksum]
    if current["latest"] == recorded["latest"]:
        found += [name for name, mark in recorded["generated"].items() if current["generated"].get(name) != mark]
    return found


FROZEN = (
    "{changed} changed without a new migration, but databases out there have taken the earlier text and would never "
    "meet the change (or be refused for it). Undo it and put it into the next numbered migration; one that only says "
    "why is enough when nothing but the generated SQL changed. Only if this schema has never left the repository: "
    "make contracts ARGS=--unreleased"
)
