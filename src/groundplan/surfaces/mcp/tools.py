"""The registry's operations as MCP tools.

A tool is one operation, or several that share its name and are selected by the argument `operation`. The description
of a tool costs tokens in every conversation, so it is short.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cached_property
from typing import Any, TypeAlias

import msgspec

from groundplan.kernel import wording
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import GroundplanError, Invalid, Unexpected
from groundplan.kernel.input_gate.project_names import PROJECT_NAMES, unify_project_names
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Group, Operation, Registry
from groundplan.kernel.operations.schema import build_json_schema, build_merged_schema
from groundplan.kernel.wording import describe_value, find_nearest, join_alternatives
from groundplan.surfaces.exception_log import log_to_stderr
from groundplan.surfaces.mcp.described_arguments import add_descriptions
from groundplan.surfaces.mcp.interface import ToolAnswer
from groundplan.surfaces.mcp.protocol import UnknownTool
from groundplan.surfaces.respond import Response, respond, respond_with_error
from groundplan.surfaces.vocabularies import McpVocabulary

SELECTOR = "operation"

AnyOperation: TypeAlias = Operation[Any, Any]
Run: TypeAlias = Callable[[AnyOperation, Mapping[str, Any], Cancellation | None], ExecutionResult]


class RegistryTools:
    """The tools of the enabled groups, in the order of their registration."""

    def __init__(
        self,
        registry: Registry,
        groups: Collection[Group],
        run: Run,
        *,
        log: Callable[[str], Unexpected] = log_to_stderr,
    ) -> None:
        self._run = run
        self._log = log
        self._vocabulary = McpVocabulary(registry)
        self._tools: dict[str, _Tool] = {}
        for operation in registry:
            if operation.tool is not None and operation.tool.group in groups:
                name = operation.tool.name
                tool = self._tools.setdefault(name, _Tool(name, operation.tool.group))
                tool.add(operation.tool.selector, operation)

    def bind(self, run: Run) -> RegistryTools:
        """Return the same tools with another function that runs their operations."""
        bound = copy(self)
        bound._run = run
        return bound

    def listing(self) -> list[dict[str, Any]]:
        """Return the MCP description of every tool. It is built on the first request, because schemas are slow."""
        return self._listing

    def call(self, name: str, arguments: Mapping[str, Any], cancellation: Cancellation | None = None) -> ToolAnswer:
        """Run a tool and return its output or its error as text.

        Raises:
            UnknownTool: no enabled tool has this name.
        """
        tool = self._get_tool(name)
        return _to_tool_answer(
            respond(
                lambda: self._run(*tool.select(arguments), cancellation),
                group=tool.group,
                vocabulary=self._vocabulary,
                log=lambda: self._log(f"tool {name}"),
            )
        )

    def refuse(self, name: str, error: GroundplanError) -> ToolAnswer:
        """Return an error that was found before the arguments were read, as this tool encodes it.

        Raises:
            UnknownTool: no enabled tool has this name.
        """
        return _to_tool_answer(respond_with_error(error, group=self._get_tool(name).group, vocabulary=self._vocabulary))

    def _get_tool(self, name: str) -> _Tool:
        tool = self._tools.get(name)
        if tool is None:
            raise UnknownTool(name, find_nearest(name, list(self._tools)))
        return tool

    @cached_property
    def _listing(self) -> list[dict[str, Any]]:
        return [tool.describe() for tool in self._tools.values()]


class _Tool:
    def __init__(self, name: str, group: Group) -> None:
        self.name = name
        self.group = group
        self._only: AnyOperation | None = None
        self._by_selector: dict[str, AnyOperation] = {}
        self._defaults: dict[str, Mapping[str, Any]] = {}  # by selector: each argument and its default

    def add(self, selector: str | None, operation: AnyOperation) -> None:
        if self._only is not None or selector in self._by_selector or (selector is None and self._by_selector):
            raise ValueError(f"{operation.name} needs a selector that no other operation of {self.name} has")
        if selector is None:
            self._only = operation
        else:
            self._by_selector[selector] = operation

    def _get_defaults(self, selector: str) -> Mapping[str, Any]:
        if selector not in self._defaults:
            self._defaults[selector] = _collect_defaults(self._by_selector[selector])
        return self._defaults[selector]

    def select(self, arguments: Mapping[str, Any]) -> tuple[AnyOperation, Mapping[str, Any]]:
        """Return the selected operation and its arguments."""
        if self._only is not None:
            return self._only, arguments
        selector = arguments.get(SELECTOR)
        if not isinstance(selector, str) or selector not in self._by_selector:
            raise self._invalid_selector(selector)
        operation = self._by_selector[selector]
        known = self._get_defaults(selector)
        if not known.keys() & PROJECT_NAMES:  # then the name that the other operations have
            known = {name: None for word in self._by_selector for name in self._get_defaults(word)}
        arguments = unify_project_names(arguments, known)
        return operation, {
            name: value for name, value in arguments.items() if self._accepts_argument(selector, name, value)
        }

    def _accepts_argument(self, selector: str, name: str, value: Any) -> bool:
        """Return whether an argument belongs to this operation of the tool.

        Clients fill in every argument of a tool, so arguments of other operations are ignored if they have no effect.

        Raises:
            Invalid: the argument is for another operation, and is not null or its default.
        """
        if name == SELECTOR:
            return False
        if name in self._get_defaults(selector):
            return True
        owners = [word for word in self._by_selector if name in self._get_defaults(word)]
        if owners and (value is None or any(self._get_defaults(word)[name] == value for word in owners)):
            return False
        if owners:
            raise wording.invalid_argument((name,), f"is for {join_alternatives(owners)}; leave it out", allowed=owners)
        return True

    def _invalid_selector(self, selector: Any) -> Invalid:
        allowed = list(self._by_selector)
        if selector is None:
            wrong = f"is missing; send {join_alternatives(allowed)}"
            return wording.invalid_argument((SELECTOR,), wrong, code="missing_argument", allowed=allowed)
        near = find_nearest(selector, allowed) if isinstance(selector, str) else None
        hint = f"; did you mean {near!r}?" if near else ""
        wrong = f"is {join_alternatives(allowed)}, not {describe_value(selector)}{hint}"
        return wording.invalid_argument((SELECTOR,), wrong, allowed=allowed, **_build_near_detail(near))

    def describe(self) -> dict[str, Any]:
        operations = [self._only] if self._only is not None else list(self._by_selector.values())
        if self._only is not None:
            description = self._only.summary
            schema = build_json_schema(self._only.input)
        else:
            summaries = (f"{word}: {op.summary.rstrip('.')}" for word, op in self._by_selector.items())
            description = "; ".join(summaries) + "."
            schema = build_merged_schema({word: op.input for word, op in self._by_selector.items()}, SELECTOR)
        add_descriptions(self.name, schema, operations)
        tool = {"name": self.name, "description": description, "inputSchema": schema}
        hints = _build_annotations(operations)
        return {**tool, "annotations": hints} if hints else tool


def _build_near_detail(name: str | None) -> dict[str, Any]:
    return {"near": name} if name else {}


def _collect_defaults(operation: AnyOperation) -> Mapping[str, Any]:
    """Return the arguments of an operation with their defaults."""
    return {field.encode_name: field.default for field in msgspec.structs.fields(operation.input)}


def _build_annotations(operations: list[AnyOperation]) -> dict[str, bool]:
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


def _to_tool_answer(response: Response) -> ToolAnswer:
    return ToolAnswer(response.body.decode(), response.error is not None)
