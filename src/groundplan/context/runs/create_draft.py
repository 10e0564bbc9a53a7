"""Create a draft, empty or as a copy of a run, and the scope too if it does not exist."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from groundplan.context.events import Op
from groundplan.context.lean import strip_row
from groundplan.context.refusals import NoContext
from groundplan.context.resolve import find_latest_committed_run
from groundplan.context.run import RunRow, load_run, missing_run, parse_id, to_pciv_run
from groundplan.context.runs.copy_rows import copy_rows
from groundplan.context.schemas import PcivRunV1, RunOwnership, RunStatus
from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NameTaken, NextStep
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import NormalizedName, apply_marker
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.projects import create_owned_project
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

LATEST = "latest"

SCOPE_ID_LIMITS = NormalizedName(200, "pciv_scope_id_required", "pciv_scope_id_too_long")

ScopeId = Annotated[str, SCOPE_ID_LIMITS]
# An existing scope may be a project with a longer name.
ScopeRef = Annotated[str, NormalizedName(255, "pciv_scope_id_required", "pciv_scope_id_too_long")]


class AlreadyInitialized(NameTaken):
    """The scope already exists. It cannot be created again, else a stranger could become its owner."""

    code = "pciv_scope_already_initialized"

    def __init__(self, scope_id: str) -> None:
        super().__init__(
            f"scope {scope_id!r} already exists; use it if it is yours, or ask an owner to add you",
            scope_id=scope_id,
        )


class CreateDraft(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope and ownership of a new draft, and the run to copy, if any."""

    scope_id: ScopeRef
    ownership: RunOwnership = RunOwnership.OWNED
    copy_from: str | None = None
    lean: bool | None = None
    op_id: OpId = field(name="op_id", default=None)


class RunWithRev(Struct):
    """A run and its revision."""

    run: PcivRunV1
    rev: int


def create_draft(tx: Transaction, request: CreateDraft) -> RunWithRev:
    """Create a draft in an existing scope.

    Raises:
        NotFound: the run to copy is not in this scope.
        NoContext: `copyFrom` is latest, and no run was committed.
    """
    origin = _resolve_origin(tx, request)
    row = insert_draft(tx, tx.project.id, request.ownership)
    changes = [changed("user_id", None, row.user_id)]
    if origin is not None:
        ids = copy_rows(tx, origin.id, row.id)
        changes.append(changed("copied", None, {"from": origin.id, "ids": ids}))
    tx.record(Op.DRAFT_CREATED, row.id, *changes)
    return _answer(row, tx.project.name, lean=bool(request.lean))


def begin(tx: Transaction, request: CreateDraft) -> RunWithRev:
    """Create a scope with a draft in it; the caller becomes its owner.

    Raises:
        Invalid: the name is too long for a scope.
        AlreadyInitialized: a scope of that name exists, and the caller may not see it.
        NotFound: the request copies a run, and a new scope has none.
    """
    apply_marker(SCOPE_ID_LIMITS, request.scope_id, ("scopeId",))
    copied = request.copy_from if request.copy_from in (None, LATEST) else parse_id(request.copy_from, ("copyFrom",))
    project_id = create_scope(tx, request.scope_id, goal=None)
    if copied == LATEST:
        raise _nothing_to_copy(request)
    if copied is not None:
        raise missing_run(copied, "copyFrom")
    row = create_first_draft(tx, project_id, request.ownership)
    return _answer(row, request.scope_id, lean=bool(request.lean))


def _answer(row: RunRow, scope_id: str, *, lean: bool) -> RunWithRev:
    run = to_pciv_run(row, scope_id)
    if lean:
        strip_row(run)
    return RunWithRev(run, row.rev)


def create_scope(tx: Transaction, scope_id: str, *, goal: str | None) -> str:
    """Create a scope with the caller as its owner, and return the id of its project."""
    project_id = create_owned_project(tx, scope_id, goal=goal)
    if project_id is None:
        raise AlreadyInitialized(scope_id)
    return project_id


def create_first_draft(tx: Transaction, project_id: str, ownership: RunOwnership) -> RunRow:
    """Create and return the first draft of a project that this transaction creates."""
    row = insert_draft(tx, project_id, ownership)
    tx.record(Op.DRAFT_CREATED, row.id, changed("user_id", None, row.user_id), project_id=project_id)
    return row


def insert_draft(tx: Transaction, project_id: str, ownership: RunOwnership) -> RunRow:
    """Insert an empty draft. The caller records the event."""
    user_id = tx.actor.id if ownership is RunOwnership.OWNED else None
    row = RunRow(new_uuid(), user_id, RunStatus.DRAFT, False, None, tx.now, tx.now, 1)
    tx.run_with_record(sql.add_run, row, project_id=project_id)
    return row


def _resolve_origin(tx: Transaction, request: CreateDraft) -> RunRow | None:
    if request.copy_from is None:
        return None
    if request.copy_from != LATEST:
        return load_run(tx, request.copy_from, "copyFrom")
    row = find_latest_committed_run(tx)
    if row is None:
        raise _nothing_to_copy(request)
    return row


def _nothing_to_copy(request: CreateDraft) -> NoContext:
    """Return the refusal to copy the facts in force where there are none, with the same call without copyFrom."""
    arguments = {"scopeId": request.scope_id}
    if request.ownership is not RunOwnership.OWNED:
        arguments["ownership"] = request.ownership.value
    step = NextStep("context.create_draft", "begins an empty draft", arguments)
    return NoContext(request.scope_id, hint="leave out copyFrom", next_steps=step)


BEGIN = declare(
    begin,
    name="context.begin",
    summary="Create a scope with a draft in it.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
)

OPERATION = declare(
    create_draft,
    name="context.create_draft",
    summary="Create a draft, empty or a copy of copyFrom (latest, or a run); creates the scope too if it is new.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    variants=(BEGIN,),
    when_project_missing=BEGIN,
    tool=Tool("context_run", Group.CONTEXT, "create_draft"),
    command=Command(("context", "draft"), names={"scope_id": "project"}, without=("lean",)),
    http=Route("POST", "/projects/{project}/context/runs", location="/projects/{project}/context/runs/{run.id}"),
)
