"""The registry's operations as MCP tools.

A tool is one operation, or several that share its name and are selected by the argument `operation`. An operation is
loaded when a tool of it is called.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from groundplan.kernel import wording
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, Unexpected
from groundplan.kernel.input_gate.request import PROJECT_NAMES, unify_project_names
from groundplan.kernel.input_gate.types import Argument, get_record
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Group, Operation, Registry
from groundplan.kernel.wording import describe_value, find_nearest, join_alternatives
from groundplan.surfaces.exception_log import log_to_stderr
from groundplan.surfaces.mcp.instructions import build_instructions
from groundplan.surfaces.mcp.methods import ToolAnswer
from groundplan.surfaces.mcp.protocol import UnknownTool
from groundplan.surfaces.respond import Response, respond, respond_with_error
from groundplan.surfaces.vocabularies import McpVocabulary

AnyOperation: TypeAlias = Operation[Any, Any]
# Runs an operation on arguments, and adds warnings to its answer.
Run: TypeAlias = Callable[[AnyOperation, Mapping[str, Any], Cancellation | None, Sequence[str]], ExecutionResult]

ExplainGroups: TypeAlias = Callable[[Sequence[str]], str]  # how a client gets the tools of these groups


class ToolOff(Invalid):
    """The tool is in a group that is off in this server."""

    code = "tool_off"

    def __init__(self, name: str, group: Group, how: str) -> None:
        super().__init__(f"the tool {name} is in the group {group}, which is off: {how}", group=group, how=how)


class RegistryTools:
    """The tools of the enabled groups, in the order of registration.

    `entries` are all tools of the registry; without them, every operation is loaded to find its tool. If
    `has_project`, the session has one, so no description requires it.
    """

    def __init__(
        self,
        registry: Registry,
        groups: Collection[Group],
        run: Run,
        *,
        entries: Iterable[ToolEntry] | None = None,
        log: Callable[[str], Unexpected] = log_to_stderr,
        explain_groups: ExplainGroups = lambda groups: f"turn on {', '.join(groups)}",
        has_project: bool = False,
    ) -> None:
        self._registry = registry
        self._run = run
        self._log = log
        self._explain_groups = explain_groups
        self.has_project = has_project
        self.groups = tuple(group for group in Group if group in groups)
        self.vocabulary = McpVocabulary(registry, self.groups)
        entries = list(list_tools(registry) if entries is None else entries)
        self._tools = {entry.name: _Tool(entry, registry) for entry in entries if entry.group in groups}
        self._groups_off = {entry.name: entry.group for entry in entries if entry.group not in groups}

    @property
    def instructions(self) -> str:
        """The instructions for a client of these tools."""
        return build_instructions(self.groups, has_project=self.has_project)

    def bind(self, run: Run) -> RegistryTools:
        """Return the same tools with another function that runs operations."""
        bound = copy(self)
        bound._run = run
        return bound

    def listing(self) -> list[dict[str, Any]]:
        """Return the MCP description of every tool. It is built on the first request, because schemas take long."""
        return self._listing

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """Run a tool and return its answer or its error as text."""
        if name in self._groups_off:
            return self._answer_off(name)
        tool = self._get_tool(name)
        return _to_tool_answer(
            respond(
                lambda: self._run_selected(tool.select(arguments), cancellation),
                group=tool.group,
                vocabulary=self.vocabulary,
                log=lambda: self._log(f"tool {name}"),
            )
        )

    def _run_selected(self, selected: _Selection, cancellation: Cancellation | None) -> ExecutionResult:
        return self._run(selected.operation, selected.arguments, cancellation, selected.warnings)

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """Return the answer for an error that occurred before the arguments were read, in the envelope of the tool."""
        if name in self._groups_off:
            return self._answer_off(name)
        return _to_tool_answer(respond_with_error(error, group=self._get_tool(name).group, vocabulary=self.vocabulary))

    def _answer_off(self, name: str) -> ToolAnswer:
        group = self._groups_off[name]
        how = self._explain_groups([known.value for known in Group if known in self.groups or known is group])
        return _to_tool_answer(respond_with_error(ToolOff(name, group, how), group=group, vocabulary=self.vocabulary))

    def _get_tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name, find_nearest(name, list(self._tools)))
        return tool

    @cached_property
    def _listing(self) -> list[dict[str, Any]]:
        described = [tool.entry.description or _describe(tool.entry, self._registry) for tool in self._tools.values()]
        return [_require_no_project(tool) for tool in described] if self.has_project else described


class _Selection(NamedTuple):
    """The operation that a call selects, its arguments, and a warning if others were ignored."""

    operation: AnyOperation
    arguments: Mapping[str, Any]
    warnings: Sequence[str] = ()


class _Tool:
    def __init__(self, entry: ToolEntry, registry: Registry) -> None:
        self.entry = entry
        self.group = entry.group
        self._registry = registry
        self._only = entry.operations.get(ONLY)

    def _get_arguments(self, selector: str) -> Mapping[str, Argument]:
        shape: type[Struct] = self._registry[self.entry.operations[selector]].input
        return get_record(shape).arguments

    def select(self, arguments: Mapping[str, Any]) -> _Selection:
        """Return the selected operation and its arguments.

        Clients fill in every argument of a tool, so those of its other operations are ignored: with a warning, if they
        would have an effect there.
        """
        if self._only is not None:
            return _Selection(self._registry[self._only], arguments)
        selector = arguments.get(SELECTOR)
        selectors = self.entry.operations
        if not isinstance(selector, str) or selector not in selectors:
            raise self._invalid_selector(selector)
        operation = self._registry[selectors[selector]]
        own = self._get_arguments(selector)
        known: Collection[str] = own
        if not own.keys() & PROJECT_NAMES:  # then the name that the other operations have
            known = {name for word in selectors for name in self._get_arguments(word)}
        accepted: dict[str, Any] = {}
        ignored: list[str] = []
        for name, value in unify_project_names(arguments, known).items():
            if name in own or (name in PROJECT_NAMES and operation.project is not None):
                accepted[name] = value
            elif name != SELECTOR:
                owners = {word: found for word in selectors if (found := self._get_arguments(word).get(name))}
                if not owners:
                    accepted[name] = value  # to be refused with its nearest name
                elif name not in WITHOUT_EFFECT and not any(owner.says_nothing(value) for owner in owners.values()):
                    ignored.append(f"{name} (for {join_alternatives(list(owners))})")
        return _Selection(operation, accepted, [f"{selector} ignores {', '.join(ignored)}"] if ignored else ())

    def _invalid_selector(self, selector: Any) -> Invalid:
        allowed = list(self.entry.operations)
        if selector is None:
            wrong = f"is missing; send {join_alternatives(allowed)}"
            return wording.invalid_argument((SELECTOR,), wrong, code="missing_argument", allowed=allowed)
        near = find_nearest(selector, allowed) if isinstance(selector, str) else None
        hint = f"; did you mean {near!r}?" if near else ""
        wrong = f"is {join_alternatives(allowed)}, not {describe_value(selector)}{hint}"
        return wording.invalid_argument((SELECTOR,), wrong, allowed=allowed, **_build_near_detail(near))


def _describe(entry: ToolEntry, registry: Registry) -> dict[str, Any]:
    # Here, because a server has the descriptions.
    from groundplan.surfaces.mcp.tool_descriptions import describe_tool

    return describe_tool(entry, registry)


def _require_no_project(described: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a tool that needs no project, because the session has one."""
    schema = described["inputSchema"]
    required = [name for name in schema.get("required", ()) if name not in PROJECT_NAMES]
    schema = {name: value for name, value in schema.items() if name != "required"}
    if needs := schema["properties"].get(SELECTOR, {}).get("description"):
        clauses = (clause.partition(" needs ") for clause in needs.split("; "))
        own = ((word, [name for name in names.split(", ") if name not in PROJECT_NAMES]) for word, _, names in clauses)
        needs = "; ".join(f"{word} needs {', '.join(names)}" for word, names in own if names)
        selector = {**schema["properties"][SELECTOR], "description": needs}
        schema["properties"] = {**schema["properties"], SELECTOR: selector}
    return {**described, "inputSchema": {**schema, "required": required} if required else schema}


def _build_near_detail(name: str | None) -> dict[str, Any]:
    return {"near": name} if name else {}


def _to_tool_answer(response: Response) -> ToolAnswer:
    return ToolAnswer(response.body.decode(), response.error is not None)


# --- Tools by name ----------------------------------------------------------------------------------------------------

# The operations of each tool, and its description for tools/list, follow from the registry, which must load every
# operation for them. So `make contracts` writes those of the catalog to `published_tools.json`, where a server reads
# them: it loads an operation when a tool of it is called. A test compares the file with the registry.

PUBLISHED = Path(__file__).with_name("published_tools.json")
SELECTOR = "operation"  # the argument that selects one of several operations
ONLY = ""  # selects the operation of a tool that has one
# Arguments that change nothing in an operation that lacks them: its answer is lean, and it reads.
WITHOUT_EFFECT = ("lean", "op_id")


class ToolEntry(NamedTuple):
    """A tool, its operations by the values that select them, and its description if that is stored."""

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
    """Return the tools of a registry in the order of registration, without descriptions."""
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
