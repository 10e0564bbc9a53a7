"""Operations as MCP tools, and their errors."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from groundplan.catalog import OPERATIONS
from groundplan.context.refusals import Invariant, NoContext, PcivRuntimeInvariantError
from groundplan.kernel.cancellation import Cancellation
from groundplan.kernel.errors import (
    Conflict,
    Forbidden,
    GroundplanError,
    Invalid,
    NotFound,
    RuleViolated,
    Unauthenticated,
    Unavailable,
)
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Group, Operation, Registry, Tool
from groundplan.surfaces.mcp.methods import DeferredTools
from groundplan.surfaces.mcp.protocol import UnknownTool
from groundplan.surfaces.mcp.tools import RegistryTools, list_tools, read_published_tools
from tests.surfaces.mcp.program import SOME_PERMISSION


class Draft(msgspec.Struct, forbid_unknown_fields=True):
    scope: str


class Commit(msgspec.Struct, forbid_unknown_fields=True):
    scope: str
    partial: bool = False
    limit: int = 20
    reason: str | None = None
    files: list[str] = []


class Scope(msgspec.Struct, forbid_unknown_fields=True):
    scopeId: str  # noqa: N815 - as on the wire


def operation(
    name: str,
    tool: Tool | None,
    *,
    effect: Effect = Effect.WRITE,
    takes: type[msgspec.Struct] = Draft,
    idempotent: bool = False,
    variants: tuple[Operation[Any, Any], ...] = (),
) -> Operation[Any, Any]:
    return Operation(
        name=name,
        summary=f"Does {name}.",
        permission=SOME_PERMISSION,
        effect=effect,
        input=takes,
        output=dict,
        handler=lambda _tx, _request: {},
        idempotent=idempotent,
        variants=variants,
        tool=tool,
    )


def make_tools(*operations: Operation[Any, Any], groups: set[Group] | None = None) -> RegistryTools:
    """Return tools whose answer names the operation and its arguments."""

    def run(
        chosen: Operation[Any, Any],
        arguments: Mapping[str, Any],
        _cancellation: Cancellation | None,
        warnings: Sequence[str],
    ) -> ExecutionResult:
        return ExecutionResult({"ran": chosen.name, "with": arguments}, None, warnings)

    return RegistryTools(Registry(operations), set(Group) if groups is None else groups, run)


def call_with_error(error: Exception, group: Group = Group.WORK) -> Any:
    """Return the body of a call that ends in this error."""

    def run(*_call: Any) -> Any:
        raise error

    registry = Registry([operation("a.b", Tool("a_b", group)), *OPERATIONS])  # hints name existing operations
    answer = RegistryTools(registry, {group}, run).call("a_b", {})
    assert answer.is_error
    return json.loads(answer.text)


class Lean(msgspec.Struct, forbid_unknown_fields=True):
    lean: bool | None = None


RUN = [
    operation("run.draft", Tool("run", Group.CONTEXT, "draft")),
    operation("run.commit", Tool("run", Group.CONTEXT, "commit"), takes=Commit),
]


def test_a_tool_of_one_operation_is_described_by_its_summary_and_schema() -> None:
    assert make_tools(operation("a.b", Tool("a_b", Group.WORK))).listing() == [
        {
            "name": "a_b",
            "description": "Does a.b.",
            "inputSchema": {
                "type": "object",
                "properties": {"scope": {"type": "string"}},
                "required": ["scope"],
            },
            "annotations": {"destructiveHint": False},
        }
    ]


def test_a_tool_of_several_operations_has_one_schema_and_says_what_each_does() -> None:
    [tool] = make_tools(*RUN).listing()

    assert tool["description"] == "draft: Does run.draft; commit: Does run.commit."
    assert tool["inputSchema"]["properties"]["operation"] == {"enum": ["draft", "commit"]}
    assert tool["inputSchema"]["required"] == ["operation", "scope"]


def test_the_published_tools_are_those_of_the_catalog() -> None:
    published = read_published_tools()

    assert [tool._replace(description=None) for tool in published] == list_tools(OPERATIONS)
    assert [tool.description for tool in published] == make_tools(*OPERATIONS).listing()


def test_a_server_lists_published_tools_without_loading_their_operations() -> None:
    registry = Registry(sources=dict.fromkeys(OPERATIONS.names, "nowhere:OPERATION"))
    tools = RegistryTools(registry, {Group.WORK}, lambda *_: ExecutionResult(None), entries=read_published_tools())

    assert tools.listing() == make_tools(*OPERATIONS, groups={Group.WORK}).listing()


def test_the_argument_operation_selects_and_is_not_passed_on() -> None:
    answer = make_tools(*RUN).call("run", {"operation": "commit", "scope": "s"})

    assert json.loads(answer.text) == {"ran": "run.commit", "with": {"scope": "s"}}


@pytest.mark.parametrize(
    ("arguments", "code", "near"),
    [
        ({"scope": "s"}, "missing_argument", None),
        ({"operation": None}, "missing_argument", None),
        ({"operation": "comit"}, "invalid_argument", "commit"),
        ({"operation": 7}, "invalid_argument", None),
        ({"operation": ["draft"]}, "invalid_argument", None),
    ],
)
def test_a_missing_or_unknown_operation_is_refused_with_the_allowed_ones(
    arguments: dict[str, Any], code: str, near: str | None
) -> None:
    answer = make_tools(*RUN).call("run", arguments)

    error = json.loads(answer.text)["error"]
    assert (answer.is_error, error["code"], error["details"].get("near")) == (True, code, near)
    assert (error["details"]["field"], error["details"]["allowed"]) == ("operation", ["draft", "commit"])


@pytest.mark.parametrize(
    ("selector", "arguments", "expected"),
    [
        ("list", {"project": "atlas"}, {"scopeId": "atlas"}),
        ("list", {"projectId": "atlas", "scopeId": "atlas"}, {"scopeId": "atlas"}),
        ("list", {"project": "atlas", "scopeId": None}, {"scopeId": "atlas"}),
        ("list", {"project": "atlas", "scopeId": "borealis"}, "invalid_argument"),
        ("draft", {"scope": "s", "project": None}, {"scope": "s"}),
        ("draft", {"scope": "s", "project": "atlas"}, {"scope": "s"}),
    ],
)
def test_a_tool_of_several_operations_takes_the_project_under_any_of_its_names(
    selector: str, arguments: dict[str, Any], expected: dict[str, Any] | str
) -> None:
    tools = make_tools(*RUN, operation("run.list", Tool("run", Group.CONTEXT, "list"), takes=Scope))

    body = json.loads(tools.call("run", {"operation": selector, **arguments}).text)

    assert (body["error"]["code"] if isinstance(expected, str) else body["with"]) == expected


NOTHING_SAID: dict[str, list[Any]] = {
    "partial": [None, False, "false", ""],
    "limit": [None, 20, "20", ""],
    "reason": [None, "", " "],
    "files": [None, [], "[]", ""],
    "lean": [True],
}


@pytest.mark.parametrize("name", NOTHING_SAID)
def test_an_argument_of_another_operation_that_is_empty_or_a_default_is_ignored(name: str) -> None:
    tools = make_tools(*RUN, operation("run.look", Tool("run", Group.CONTEXT, "look"), takes=Lean))

    for value in NOTHING_SAID[name]:
        answer = tools.call("run", {"operation": "draft", "scope": "s", name: value})
        assert json.loads(answer.text) == {"ran": "run.draft", "with": {"scope": "s"}}, value


def test_an_argument_of_another_operation_that_says_something_is_ignored_with_one_warning() -> None:
    given = {"operation": "draft", "scope": "s", "partial": True, "limit": 5, "reason": "x", "files": []}

    body = json.loads(make_tools(*RUN).call("run", given).text)

    assert (body["ran"], body["with"]) == ("run.draft", {"scope": "s"})
    assert body["warnings"] == ["draft ignores partial (for commit), limit (for commit), reason (for commit)"]


def test_an_argument_that_no_operation_of_the_tool_has_is_passed_on_to_be_refused() -> None:
    body = json.loads(make_tools(*RUN).call("run", {"operation": "draft", "scope": "s", "partail": False}).text)

    assert body == {"ran": "run.draft", "with": {"scope": "s", "partail": False}}


@pytest.mark.parametrize(
    ("effects", "idempotent", "hints"),
    [
        ([Effect.READ], False, {"readOnlyHint": True}),
        ([Effect.READ, Effect.READ], True, {"readOnlyHint": True}),
        ([Effect.WRITE], False, {"destructiveHint": False}),
        ([Effect.WRITE], True, {"destructiveHint": False, "idempotentHint": True}),
        ([Effect.READ, Effect.WRITE], True, {"destructiveHint": False, "idempotentHint": True}),
        ([Effect.DESTROY], False, None),
        ([Effect.DESTROY], True, {"idempotentHint": True}),
        ([Effect.READ, Effect.WRITE, Effect.DESTROY], False, None),
    ],
)
def test_hints_say_only_what_differs_from_the_protocols_defaults(
    effects: list[Effect], idempotent: bool, hints: dict[str, bool] | None
) -> None:
    operations = [
        operation(f"a.{n}", Tool("a", Group.WORK, f"op{n}"), effect=effect, idempotent=idempotent)
        for n, effect in enumerate(effects)
    ]

    assert make_tools(*operations).listing()[0].get("annotations") == hints


def test_a_tool_that_reads_is_no_reader_if_its_operation_may_become_one_that_writes() -> None:
    writes = operation("a.claim", None)
    reads = operation("a.next", Tool("a", Group.WORK), effect=Effect.READ, variants=(writes,))

    assert make_tools(reads).listing()[0]["annotations"] == {"destructiveHint": False}


def test_tools_stand_in_the_order_of_their_registration() -> None:
    names = ["zebra", "ape", "mole", "bear"]
    tools = make_tools(*(operation(f"{name}.x", Tool(name, Group.WORK)) for name in names))

    assert [tool["name"] for tool in tools.listing()] == names


def test_only_the_groups_switched_on_are_listed_and_callable() -> None:
    tools = make_tools(
        operation("a.b", Tool("work_tool", Group.WORK)),
        operation("c.d", Tool("purpose_tool", Group.PURPOSE)),
        operation("e.f", None),
        groups={Group.WORK},
    )

    assert [tool["name"] for tool in tools.listing()] == ["work_tool"]
    assert json.loads(tools.call("purpose_tool", {}).text)["error"]["code"] == "tool_off"


@pytest.mark.parametrize("refused", [False, True])
def test_a_tool_of_a_group_that_is_off_says_how_to_get_it(refused: bool) -> None:
    tools = RegistryTools(
        Registry([operation("a.b", Tool("get_task", Group.CONTAINERS)), operation("c.d", Tool("next", Group.WORK))]),
        {Group.WORK},
        lambda *_: pytest.fail("it must not run"),
        explain_groups=lambda groups: f"say {groups}",
    )

    answer = tools.refuse("get_task", Invalid("no")) if refused else tools.call("get_task", {"anything": 1})

    assert answer.is_error
    error = json.loads(answer.text)
    assert error["success"] is False
    assert error["error"]["details"] == {
        "reason": "tool_off",
        "group": "containers",
        "how": "say ['work', 'containers']",
    }


def test_an_unknown_tool_is_refused_with_the_nearest_known_name() -> None:
    with pytest.raises(UnknownTool) as refused:
        make_tools(*RUN, operation("graph.next", Tool("graph_next", Group.WORK))).call("graphNext", {})

    assert refused.value.data == {"code": "unknown_tool", "near": "graph_next"}


@pytest.mark.parametrize("selectors", [(None, None), ("x", "x"), (None, "x"), ("x", None)])
def test_operations_that_a_tool_could_not_tell_apart_are_refused_at_start(
    selectors: tuple[str | None, str | None],
) -> None:
    with pytest.raises(ValueError, match="selector"):
        make_tools(*(operation(f"a.{n}", Tool("a", Group.WORK, word)) for n, word in enumerate(selectors)))


@pytest.mark.parametrize(
    "error",
    [
        Unauthenticated("who?"),
        Forbidden("no"),
        NotFound("node", "n1"),
        Invalid("bad", field="x"),
        Conflict("stale", rev=7),
        RuleViolated("never", code="dependency_cycle", path=["a", "b"]),
        Unavailable("later"),
    ],
)
def test_a_refusal_reads_as_code_message_and_details(error: GroundplanError) -> None:
    assert call_with_error(error) == {"error": error.to_dict()}


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (Unauthenticated("who?"), "PcivAuthRequiredError"),
        (Forbidden("no"), "PcivRlsDeniedError"),
        (NotFound("scope", "s1"), "PcivRlsDeniedError"),
        (Invalid("bad"), "PcivSchemaMismatchError"),
        (NoContext("s1"), "NotFound"),
        (PcivRuntimeInvariantError(Invariant.DRAFT_AT, "bad", scope_id="s1", run_id="r1"), "PcivRuntimeInvariantError"),
        (Conflict("stale"), "Conflict"),
        (RuleViolated("never"), "RuleViolated"),
        (Unavailable("later"), "Unavailable"),
    ],
)
def test_a_context_tool_also_names_the_error_as_its_contract_does(error: GroundplanError, name: str | None) -> None:
    assert call_with_error(error, Group.CONTEXT)["error"].get("name") == name
    assert "name" not in call_with_error(error, Group.WORK)["error"]


@pytest.mark.parametrize("group", [Group.KNOWLEDGE, Group.CONTAINERS])
def test_knowledge_and_container_tools_put_refusals_in_their_own_envelope(group: Group) -> None:
    body = call_with_error(Conflict("stale", code="stale_version", currentVersion=3), group)

    assert body == {
        "success": False,
        "error": {
            "code": "CONFLICT",
            "message": "stale",
            "details": {"reason": "stale_version", "currentVersion": 3},
            "currentVersion": 3,
        },
    }


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Invalid("malformed"), "VALIDATION_ERROR"),
        (NotFound("atom", "x"), "NOT_FOUND"),
        (Conflict("stale"), "CONFLICT"),
        (RuleViolated("forbidden by a rule"), "INVARIANT_VIOLATION"),
        (Forbidden("too small a role"), "FORBIDDEN"),
        (Unauthenticated("who?"), "UNAUTHENTICATED"),
        (Unavailable("later"), "UNAVAILABLE"),
        (RuntimeError("a defect"), "INTERNAL_ERROR"),
    ],
)
def test_in_the_envelope_a_code_says_the_family_and_the_details_why(error: Exception, code: str) -> None:
    body = call_with_error(error, Group.KNOWLEDGE)

    assert body["error"]["code"] == code
    assert body["error"]["details"]["reason"] == getattr(error, "code", "unexpected")


def test_a_defect_is_shown_as_a_reference_that_leads_to_the_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    body = call_with_error(RuntimeError("the secret of Mallory"))

    logged = capfd.readouterr().err
    assert body["error"]["code"] == "unexpected"
    assert "Mallory" not in json.dumps(body)
    assert body["error"]["details"]["reference"] in logged
    assert "the secret of Mallory" in logged


def test_deferred_tools_are_built_once_and_only_when_needed() -> None:
    built: list[RegistryTools] = []

    def build() -> RegistryTools:
        built.append(make_tools(*RUN))
        return built[-1]

    tools = DeferredTools(build)
    assert built == []
    tools.load()
    tools.listing()
    tools.call("run", {"operation": "draft"})

    assert len(built) == 1


def test_deferred_tools_that_cannot_be_built_refuse_each_call_and_try_again() -> None:
    outcomes: list[Any] = [Unavailable("the store is away"), make_tools(*RUN)]

    def build() -> RegistryTools:
        outcome = outcomes.pop(0)
        if isinstance(outcome, GroundplanError):
            raise outcome
        assert isinstance(outcome, RegistryTools)
        return outcome

    tools = DeferredTools(build)
    refused = tools.call("run", {"operation": "draft"})

    assert refused.is_error
    assert json.loads(refused.text)["error"]["code"] == "unavailable"
    assert not tools.call("run", {"operation": "draft"}).is_error


@pytest.mark.parametrize("group", Group)
def test_a_call_that_was_refused_unread_reads_like_one_that_its_operation_refused(group: Group) -> None:
    error = Invalid("no such character", code="control_character", field="text")

    answer = make_tools(operation("a.b", Tool("a_b", group))).refuse("a_b", error)

    assert answer.is_error
    assert json.loads(answer.text) == call_with_error(error, group)


def test_an_unknown_tool_refuses_nothing_in_its_name() -> None:
    with pytest.raises(UnknownTool):
        make_tools(*RUN).refuse("ran", Invalid("no such character"))


def test_deferred_tools_refuse_unread_calls_once_they_are_built() -> None:
    outcomes: list[Any] = [Unavailable("the store is away"), make_tools(*RUN)]

    def build() -> RegistryTools:
        outcome = outcomes.pop(0)
        if isinstance(outcome, GroundplanError):
            raise outcome
        assert isinstance(outcome, RegistryTools)
        return outcome

    tools = DeferredTools(build)
    refused = [tools.refuse("run", Invalid("no such character")) for _ in range(2)]

    assert [json.loads(answer.text)["error"]["code"] for answer in refused] == ["unavailable", "invalid"]
    assert all(answer.is_error for answer in refused)
