"""Every operation is a typed method of a session, named after the operation.

The ordinary mypy run checks each `assert_type` here, and that each `type: ignore` is needed.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type

import msgspec
import pytest

import groundplan
from groundplan.catalog import OPERATIONS
from groundplan.context.runs import CreatedDraft
from groundplan.context.schemas import ContextView, PcivRunV1
from groundplan.context_adapter import ContextAdapter
from groundplan.kernel.access import Role
from groundplan.kernel.errors import GroundplanError
from groundplan.kernel.members import OneMember
from groundplan.kernel.operations.registry import Operation
from groundplan.kernel.projects import OneProject
from groundplan.purpose.analysis import Analysis
from groundplan.purpose.compliance.checklist import CodeVerdict, Compliance
from groundplan.purpose.gates.gates import GateResult
from groundplan.purpose.health import Health
from groundplan.session import Session
from groundplan.verbs import to_python_name
from groundplan.work.containers.views import Task
from groundplan.work.graph.next import Offers
from groundplan.work.graph.plan import Planned
from reference.files import VERBS
from tests.surfaces.copied_schema import migrate_once

if TYPE_CHECKING:
    from groundplan.verbs import AddNode, PlanNode

every_operation = pytest.mark.parametrize("operation", list(OPERATIONS), ids=lambda operation: operation.name)


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    migrate_once(monkeypatch)
    with groundplan.open(str(tmp_path / "plan.db"), actor="ada") as plan:
        plan.project.create(name="atlas")
        yield plan


@pytest.fixture(scope="module")
def empty_plan(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """A plan that stays empty."""
    with groundplan.open(str(tmp_path_factory.mktemp("empty") / "plan.db"), actor="ada") as plan:
        yield plan


def verb_of(plan: Session, operation: Operation[Any, Any]) -> Callable[..., Any]:
    group, _, verb = operation.name.partition(".")
    found: Callable[..., Any] = getattr(getattr(plan, group), to_python_name(verb))
    return found


def error_of(run: Callable[[], object]) -> tuple[str, dict[str, Any]]:
    with pytest.raises(GroundplanError) as refused:
        run()
    return refused.value.code, {**refused.value.details, "message": refused.value.message}


# --- Names ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wire", "name"),
    [("project", "project"), ("scopeId", "scope_id"), ("op_id", "op_id"), ("from", "from_"), ("import", "import_")],
)
def test_a_name_is_the_one_on_the_wire_in_snake_case_and_keywords_get_an_underscore(wire: str, name: str) -> None:
    assert to_python_name(wire) == name


@every_operation
def test_an_operation_is_a_method_with_its_summary_and_its_parameters(
    operation: Operation[Any, Any], empty_plan: Session
) -> None:
    verb = verb_of(empty_plan, operation)
    shown = inspect.signature(verb).parameters.values()

    assert verb.__doc__ == operation.summary
    assert {one.name: one.default is one.empty for one in shown} == required_by_name(operation)
    assert all(one.kind is one.KEYWORD_ONLY for one in shown)


def test_no_group_hides_what_a_session_has_and_no_verb_what_the_adapter_has() -> None:
    names = [operation.name.partition(".") for operation in OPERATIONS]
    assert not {group for group, _, _ in names} & set(dir(Session))
    assert not {to_python_name(verb) for group, _, verb in names if group == "context"} & set(dir(ContextAdapter))


def test_a_shell_can_list_groups_and_verbs(plan: Session) -> None:
    assert {"work", "purpose", "context", "call"} <= set(dir(plan))
    assert {"next", "plan", "claim"} <= set(dir(plan.work))
    assert {"view", "import_", "resolve_context_view"} <= set(dir(plan.context))


@pytest.mark.parametrize(
    ("path", "near"),
    [("wrok", "work"), ("cal", "call"), ("work.nxt", "next"), ("context.commit_runs", "commit_run"), ("work.q9", None)],
)
def test_an_unknown_verb_is_refused_with_what_comes_near(path: str, near: str | None, empty_plan: Session) -> None:
    with pytest.raises(AttributeError) as refused:
        attrgetter(path)(empty_plan)
    _, _, hint = str(refused.value).partition("; ")
    assert hint == (f"did you mean {near!r}?" if near else "")


def test_a_session_can_be_copied(plan: Session) -> None:
    assert copy.copy(plan).project.list() == plan.project.list()


# --- Calls ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("work.next", {}),
        ("work.next", {"project": "nowhere"}),
        ("work.next", {"project": "atlas", "claims": True}),
        ("work.next", {"project": "atlas", "count": "many"}),
        ("work.plan", {"project": "atlas", "nodes": [object()]}),
        ("member.add", {"scope_id": "atlas", "user_id": "ben", "role": "edtor"}),
        ("purpose.diff", {"project": "atlas", "from": 1, "to": "dratf"}),
    ],
)
def test_what_is_refused_by_its_name_is_refused_as_a_verb_in_the_same_words(
    name: str, arguments: dict[str, Any], plan: Session
) -> None:
    on_the_wire = {"scope_id": "scopeId", "user_id": "userId"}
    by_name = error_of(lambda: plan.call(name, **{on_the_wire.get(one, one): arguments[one] for one in arguments}))
    as_verb = error_of(lambda: verb_of(plan, OPERATIONS[name])(**arguments))
    assert as_verb == by_name


def test_the_names_of_the_wire_are_taken_too_but_not_both(plan: Session) -> None:
    listed: Any = plan.member.list
    assert listed(scopeId="atlas") == listed(scope_id="atlas")
    with pytest.raises(TypeError, match="twice"):
        listed(scopeId="atlas", scope_id="borealis")


# --- Types ----------------------------------------------------------------------------------------------------------


def test_mypy_knows_what_a_verb_answers(plan: Session) -> None:
    nodes: list[PlanNode] = [{"ref": "a", "summary": "Time each step"}]
    assert_type(plan.project.create(name="borealis", goal=None), OneProject)
    assert_type(plan.member.add(scope_id="atlas", user_id="ben", role="editor"), OneMember)
    assert_type(plan.member.add(scope_id="atlas", user_id="ben", role=Role.VIEWER), OneMember)
    assert_type(plan.work.plan(project="atlas", nodes=nodes), Planned)
    assert_type(plan.work.next(project="atlas", claim=True), Offers)
    assert_type(plan.container.next_task(project_id="atlas"), Task | None)


def test_mypy_knows_every_answer_of_an_operation_that_has_several(plan: Session) -> None:
    nodes: list[AddNode] = [{"op": "add_node", "node_type": "GOAL", "title": "Nobody gets lost"}]
    plan.purpose.draft(project="atlas")
    plan.purpose.edit(project="atlas", operations=nodes)
    plan.purpose.edit(project="atlas", operations=[{"op": "remove_node", "node": "G1"}])
    checked = plan.purpose.check(project="atlas", gate="health")
    assert_type(checked, GateResult | Health | Analysis | Compliance | CodeVerdict)
    assert isinstance(checked, Health)


def test_context_has_its_verbs_beside_the_names_of_its_contract(plan: Session) -> None:
    begun = assert_type(plan.context.create_draft(scope_id="atlas"), CreatedDraft)
    plan.context.upsert_inputs(begun.run.id, [{"pointer": "/a", "label": "A", "valueKind": "number", "value": 1}])
    assert_type(plan.context.commit_run(begun.run.id), PcivRunV1)

    view = assert_type(plan.context.view(scope_id="atlas"), ContextView)
    assert view == plan.context.resolve_context_view("atlas")
    assert isinstance(plan.context, ContextAdapter)


def test_mypy_refuses_what_the_gate_refuses(plan: Session) -> None:
    with pytest.raises(GroundplanError):
        plan.work.next(projet="atlas")  # type: ignore[call-arg]  # mypy has to find it
    with pytest.raises(GroundplanError):
        plan.work.plan(nodes=[{"ref": "a"}], project="atlas")  # type: ignore[typeddict-item]  # mypy has to find it
    with pytest.raises(GroundplanError):
        plan.member.add(scope_id="atlas", user_id="ben", role="edtor")  # type: ignore[arg-type]  # mypy has to find it
    with pytest.raises(AttributeError):
        plan.work.nxt(project="atlas")  # type: ignore[attr-defined]  # mypy has to find it


@cache
def methods_of_the_stub() -> dict[tuple[str, str], ast.FunctionDef]:
    tree = ast.parse(VERBS.read_text(encoding="utf-8"))
    return {
        (one.name, method.name): method
        for one in tree.body
        if isinstance(one, ast.ClassDef)
        for method in one.body
        if isinstance(method, ast.FunctionDef)
    }


@every_operation
def test_the_stub_has_every_verb_with_its_parameters(operation: Operation[Any, Any]) -> None:
    group, _, verb = operation.name.partition(".")
    written = methods_of_the_stub()[f"{group.capitalize()}Verbs", to_python_name(verb)].args

    defaults = zip(written.kwonlyargs, written.kw_defaults, strict=True)
    assert {one.arg: default is None for one, default in defaults} == required_by_name(operation)
    assert [one.arg for one in written.args] == ["self"]


def required_by_name(operation: Operation[Any, Any]) -> dict[str, bool]:
    return {to_python_name(one.encode_name): one.required for one in msgspec.structs.fields(operation.input)}
