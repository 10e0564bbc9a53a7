"""Runs: create, copy, change, fetch, list and delete them.

A deleted draft is removed; a deleted committed run stays stored but is hidden.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field, structs

from groundplan import providers
from groundplan.context.events import Op
from groundplan.context.provenance import classify_writer
from groundplan.context.refusals import PersonRequired, RunBound
from groundplan.context.resolve import (
    RunRow,
    final_run,
    find_latest_committed_run,
    load_draft,
    load_run,
    missing_run,
    parse_id,
    resolve_run_project,
    to_pciv_run,
)
from groundplan.context.rows import generate_ascending_ids
from groundplan.context.schemas import (
    PcivArtifactV1,
    PcivConstraintV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    RunOwnership,
    RunStatus,
)
from groundplan.context.suggestions import SuggestionRow
from groundplan.context.values import encode_json, strip_row
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.answers import take_page
from groundplan.kernel.audit import changed
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.errors import NameTaken, NextStep
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.input_gate.text_limits import Name, NormalizedName, apply_marker
from groundplan.kernel.members import GROUP, TOOL
from groundplan.kernel.operations.registry import Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.principals import find_principal
from groundplan.kernel.projects import Goal, create_owned_project, get_creator_role
from groundplan.kernel.store.authorize import authorize_project
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

# What a draft copies, if not a run that is named.
LATEST = "latest"  # the run in force, if there is one
NOTHING = "none"

SCOPE_ID_LIMITS = NormalizedName(200, "pciv_scope_id_required", "pciv_scope_id_too_long")

ScopeId = Annotated[str, SCOPE_ID_LIMITS]
# An existing scope may be a project with a longer name.
ScopeRef = Annotated[str, NormalizedName(255, "pciv_scope_id_required", "pciv_scope_id_too_long")]


class AlreadyInitialized(NameTaken):
    """The scope already exists. Creating it again could make a stranger its owner."""

    code = "pciv_scope_already_initialized"

    def __init__(self, scope_id: str) -> None:
        super().__init__(
            f"scope {scope_id!r} already exists; use it if it is yours, or ask an owner to add you",
            scope_id=scope_id,
        )


class HiddenScope(AlreadyInitialized):
    """The scope exists, and the caller cannot see it. A call that creates a scope if it is missing does not tell."""

    is_told = False


class CreateDraft(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope and ownership of a new draft, and the run that it copies."""

    scope_id: ScopeRef
    ownership: RunOwnership = RunOwnership.OWNED
    copy_from: str = LATEST
    lean: bool | None = None
    op_id: OpId = field(name="op_id", default=None)


class RunWithRev(Struct):
    """A run and its revision."""

    run: PcivRunV1
    rev: int


class CreatedDraft(Struct):
    """A new draft with its revision, and the committed run that it is based on, if any."""

    run: PcivRunV1
    rev: int
    base: str | None


def create_draft(tx: Transaction, request: CreateDraft) -> CreatedDraft:
    """Create a draft in an existing scope, as a copy of the facts in force unless the request says otherwise.

    Raises:
        NotFound: the run to copy is not in this scope.
    """
    origin = _resolve_origin(tx, request.copy_from)
    row, _ = begin_draft(tx, request.ownership, origin=origin, starts_empty=request.copy_from == NOTHING)
    return _answer(row, tx.project.name, lean=bool(request.lean))


def begin_draft(
    tx: Transaction, ownership: RunOwnership, *, origin: RunRow | None, starts_empty: bool = False
) -> tuple[RunRow, dict[str, str]]:
    """Create a draft, a copy of a run or empty, and return it with its ids of the copied rows by their old ids."""
    row = insert_draft(tx, tx.project.id, ownership, origin=origin, starts_empty=starts_empty)
    changes = [changed("user_id", None, row.user_id)]
    if row.base_run_id is not None:
        changes.append(changed("base_run_id", None, row.base_run_id))
    if row.starts_empty:
        changes.append(changed("starts_empty", None, True))
    ids = {} if origin is None else copy_rows(tx, origin.id, row.id)
    if origin is not None:
        changes.append(changed("copied", None, {"from": origin.id, "ids": ids}))
    tx.record(Op.DRAFT_CREATED, row.id, *changes)
    return row, ids


def begin(tx: Transaction, request: CreateDraft) -> CreatedDraft:
    """Create a scope with a draft in it; the caller becomes its owner.

    Raises:
        Invalid: the name is too long for a scope.
        NotFound: the scope exists and the caller may not see it; or the request copies a run, and a new scope has none.
    """
    apply_marker(SCOPE_ID_LIMITS, request.scope_id, ("scopeId",))
    is_run = request.copy_from not in (LATEST, NOTHING)
    copied = parse_id(request.copy_from, ("copyFrom",)) if is_run else None
    project_id = create_owned_project(tx, request.scope_id, goal=None)
    if project_id is None:
        raise HiddenScope(request.scope_id)
    if copied is not None:
        raise missing_run(copied, "copyFrom")
    row = create_first_draft(tx, project_id, request.ownership)
    return _answer(row, request.scope_id, lean=bool(request.lean))


def _answer(row: RunRow, scope_id: str, *, lean: bool) -> CreatedDraft:
    run = to_pciv_run(row, scope_id)
    if lean:
        strip_row(run)
    return CreatedDraft(run, row.rev, row.base_run_id)


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


def insert_draft(
    tx: Transaction,
    project_id: str,
    ownership: RunOwnership,
    *,
    origin: RunRow | None = None,
    starts_empty: bool = False,
) -> RunRow:
    """Insert a draft without rows, with the base of the run that it will copy. The caller records the event."""
    user_id = tx.actor.id if ownership is RunOwnership.OWNED else None
    row = RunRow(new_uuid(), user_id, RunStatus.DRAFT, False, None, tx.now, tx.now, 1, starts_empty=starts_empty)
    if origin is not None:
        # What was changed in a copied draft is changed in the copy too, so both have the same base.
        row.base_run_id = origin.base_run_id if origin.is_draft else origin.id
        row.starts_empty = origin.starts_empty and origin.is_draft
    tx.run_with_record(sql.add_run, row, project_id=project_id)
    return row


def _resolve_origin(tx: Transaction, copy_from: str) -> RunRow | None:
    if copy_from == NOTHING:
        return None
    return find_latest_committed_run(tx) if copy_from == LATEST else load_run(tx, copy_from, "copyFrom")


BEGIN = declare(
    begin,
    name="context.begin",
    summary="Create a scope with a draft in it.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
)

CREATE_DRAFT = declare(
    create_draft,
    name="context.create_draft",
    summary="Create a draft, a copy of the facts in force unless copyFrom says otherwise; and its scope if new.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    variants=(BEGIN,),
    when_project_missing=BEGIN,
    tool=Tool("context_run", Group.CONTEXT, "create_draft"),
    http=Route("POST", "/projects/{project}/context/runs", location="/projects/{project}/context/runs/{run.id}"),
)


def copy_rows(tx: Transaction, origin_id: str, run_id: str) -> dict[str, str]:
    """Copy sources, inputs, links, constraints, artifacts and pending suggestions. Return the new ids by old ids."""
    ids: dict[str, str] = {}

    def copy_columns(query: Query, shape: type[Struct]) -> list[dict[str, Any]]:
        """Return the columns of the copies, with JSON left as text."""
        rows = [structs.asdict(row) for row in tx.all(query, shape, run_id=origin_id)]
        # Ascending ids keep the order of rows that are sorted by id.
        for row, id_ in zip(rows, generate_ascending_ids(len(rows)), strict=True):
            # Rows of two tables may share an id that their writer chose; then their copies share one too.
            if "origin_id" in row:
                row["origin_id"] = row["origin_id"] or row["id"]
            row |= {"id": ids.setdefault(row["id"], id_), "run_id": run_id, "project_id": tx.project.id}
        return rows

    tx.run_many(sql.add_source, copy_columns(sql.sources_of_run, PcivSourceV1))
    tx.run_many(sql.add_input, copy_columns(sql.inputs_of_run, PcivInputV1))
    links = [
        {"project_id": tx.project.id, "run_id": run_id, "input_id": ids[input_id], "source_id": ids[source_id]}
        for input_id, source_id in tx.all(sql.links_of_run, run_id=origin_id)
    ]
    tx.run_many(sql.add_link, links)
    constraints = copy_columns(sql.constraints_of_run, PcivConstraintV1)
    for row in constraints:
        row["source_id"] = ids[row["source_id"]] if row["source_id"] else None
    tx.run_many(sql.add_constraint, constraints)
    tx.run_many(sql.add_artifact, copy_columns(sql.artifacts_of_run, PcivArtifactV1))
    suggestions = copy_columns(sql.pending_suggestions_of_run, SuggestionRow)
    for row in suggestions:
        row["input_id"] = ids[row["input_id"]] if row["input_id"] else None
        row["constraint_id"] = ids[row["constraint_id"]] if row["constraint_id"] else None
        row["source_ids"] = encode_json(
            [ids[source_id] for source_id in msgspec.json.decode(row["source_ids"], type=list[str])]
        )
    tx.run_many(sql.add_suggestion, suggestions)
    return ids


class BootstrapScope(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to create. `scopeId` becomes the name of the project, `name` its goal."""

    scope_id: ScopeId
    name: Goal | None = None
    create_draft_run: bool = False
    op_id: OpId = field(name="op_id", default=None)


class BootstrappedScope(Struct, rename="camel"):
    """The name of the scope, the id of its project, the role of the caller, and its first draft."""

    scope_id: str
    project_id: str
    role: Role
    run_id: str | UnsetType = UNSET


def bootstrap(tx: Transaction, request: BootstrapScope) -> BootstrappedScope:
    """Create a scope.

    Raises:
        AlreadyInitialized: a scope of that name exists, possibly one that the caller cannot see.
    """
    project_id = create_scope(tx, request.scope_id, goal=request.name)
    if not request.create_draft_run:
        return BootstrappedScope(request.scope_id, project_id, get_creator_role(tx.actor))
    run = create_first_draft(tx, project_id, RunOwnership.OWNED)
    return BootstrappedScope(request.scope_id, project_id, get_creator_role(tx.actor), run.id)


BOOTSTRAP = declare(
    bootstrap,
    name="member.bootstrap",
    summary="Create a scope with yourself as its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
    tool=Tool(TOOL, GROUP, "bootstrap"),
    http=Route("POST", "/scopes", names={"createDraftRun": "draft"}, location="/projects/{scopeId}/members"),
)


class UpdateDraft(Struct, rename="camel", forbid_unknown_fields=True):
    """A draft and its new ownership. Without ownership, only the time of its last change is updated."""

    run_id: str
    ownership: RunOwnership | None = None
    op_id: OpId = field(name="op_id", default=None)


def update_draft(tx: Transaction, request: UpdateDraft) -> RunWithRev:
    """Change a draft itself, not its rows.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is committed.
    """
    row = load_draft(tx, request.run_id)
    user_id = row.user_id
    if request.ownership is not None:
        user_id = tx.actor.id if request.ownership is RunOwnership.OWNED else None
    tx.run(sql.change_owner, run_id=row.id, user_id=user_id)
    changes = [changed("user_id", row.user_id, user_id)] if user_id != row.user_id else []
    tx.record(Op.DRAFT_UPDATED, row.id, *changes)
    after = load_run(tx, row.id)
    return RunWithRev(to_pciv_run(after, tx.project.name), after.rev)


UPDATE_DRAFT = declare(
    update_draft,
    name="context.update_draft",
    summary="Make a draft your own or shared, or only update its time of last change.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    http=Route("PATCH", "/projects/{project}/context/runs/{runId}"),
)


class FetchRun(Struct, rename="camel", forbid_unknown_fields=True):
    """The run to fetch."""

    run_id: str


def fetch(tx: Transaction, request: FetchRun) -> RunWithRev:
    """Return a run.

    Raises:
        NotFound: the run does not exist.
    """
    row = load_run(tx, request.run_id)
    return RunWithRev(to_pciv_run(row, tx.project.name), row.rev)


FETCH = declare(
    fetch,
    name="context.fetch_run",
    summary="Show a run by its id, without its rows.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    http=Route("GET", "/projects/{project}/context/runs/{runId}"),
)


NAME = "context.list"
LIMIT_MAX = 1_000
NO_LIMIT = 2**31 - 2
END_OF_TIME = "9999"  # sorts after every timestamp


class ListRuns(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope of the runs; optionally a status, or a user, whose own and all shared runs are listed."""

    scope_id: Name
    user_id: Name | None = None
    status: RunStatus | None = None
    limit: Annotated[int, Meta(ge=1, le=LIMIT_MAX)] | None = None
    cursor: Cursor = None
    lean: bool | None = None


class Runs(Struct):
    """Runs, newest first, and a cursor if there are more."""

    runs: list[PcivRunV1]
    next_cursor: str | UnsetType = field(default=UNSET)


def list_runs(tx: Transaction, request: ListRuns) -> Runs:
    """Return one page of the runs of a scope, or all of them."""
    owner_id = None if request.user_id is None else find_principal(tx, request.user_id) or request.user_id
    query = [tx.project.id, owner_id, request.status]
    limit = request.limit or (LIMIT_MAX if tx.budget.is_limited else NO_LIMIT)
    before, after_id = END_OF_TIME, ""
    if request.cursor is not None:
        before, after_id = _decode_position(tx, query, request.cursor)
    # Sorted by creation time, which never changes, so that no run is missed between two pages. One extra row tells
    # whether there are more.
    rows = tx.all(
        sql.runs,
        RunRow,
        project_id=tx.project.id,
        before=before,
        after_id=after_id,
        status=request.status,
        any_status=request.status is None,
        user_id=owner_id,
        any_user=request.user_id is None,
        at_most=limit + 1,
    )
    runs = [(row, to_pciv_run(row, tx.project.name)) for row in rows[:limit]]
    if request.lean:
        for _, run in runs:
            strip_row(run)
    page = take_page(
        tx.budget.reserve(Runs([])),
        runs,
        cursor_after=lambda last: encode_cursor(tx, NAME, query, last[0].created_at, last[0].id),
        item=itemgetter(1),
        has_more=len(rows) > limit,
    )
    return Runs([run for _, run in page.rows], page.next_cursor)


def _decode_position(tx: Transaction, query: list[str | None], cursor: str) -> tuple[str, str]:
    match decode_cursor(tx, NAME, query, cursor):
        case [str() as before, str() as after_id]:
            return before, after_id
    raise InvalidCursor


LIST = declare(
    list_runs,
    name=NAME,
    summary="List the runs of a scope.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    tool=Tool("context_run", Group.CONTEXT, "list"),
    http=Route("GET", "/projects/{project}/context/runs"),
)


def bound_run(run_id: str, versions: list[int]) -> RunBound:
    """Return the refusal to delete a run that published versions rest on."""
    numbers = ", ".join(map(str, versions))
    return RunBound(
        f"run {run_id} cannot be deleted: version {numbers} of the purpose was published on it and always rests on it",
        run=run_id,
        versions=versions,
    )


def refuse_unless_person(tx: Transaction, row: RunRow) -> None:
    """Refuse actors other than a person that delete a committed run: the run before it would come into force again."""
    if tx.actor.kind is not ActorKind.PERSON:
        step = NextStep("context.delete", "deletes it, if a person calls it", {"runId": row.id})
        raise PersonRequired(f"run {row.id} is {row.status}: only a person can delete it", next_steps=step, run=row.id)


class DeleteRun(Struct, rename="camel", forbid_unknown_fields=True):
    """The run to delete. The answer is always lean."""

    run_id: str
    lean: bool | None = None
    op_id: OpId = field(name="op_id", default=None)


class DiscardedRun(Struct):
    """The id of the discarded draft."""

    discarded: str


class DeletedRun(Struct):
    """The id of the deleted run."""

    deleted: str


def discard(tx: Transaction, request: DeleteRun) -> DiscardedRun:
    """Remove a draft with all its rows. Whoever wrote all of it may do so, and an owner.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is committed.
        Forbidden: others have written to the draft, and the role of the actor is too small to delete runs.
    """
    row = load_run(tx, request.run_id)
    if not row.is_draft:
        raise final_run(row, NextStep("context.delete", "hides it", {"runId": row.id}))
    if tx.scalar(sql.sole_writer, run_id=row.id) != tx.actor.id:
        authorize_project(tx, tx.project.id, Permission.CONTEXT_DELETE, by_id=True)
    _remove(tx, row)
    tx.record(Op.DISCARDED, row.id, changed("status", row.status, None))
    return DiscardedRun(row.id)


def delete(tx: Transaction, request: DeleteRun) -> DeletedRun:
    """Remove a draft, or hide a committed run.

    Raises:
        NotFound: the run does not exist.
        RunBound: a published version of the purpose rests on it.
        PersonRequired: the run is committed, and the actor is not a person.
    """
    row = load_run(tx, request.run_id)
    if row.is_draft:
        _remove(tx, row)
    else:
        versions = providers.list_versions_on_run(tx, row.id)
        if versions:
            raise bound_run(row.id, versions)
        refuse_unless_person(tx, row)
        _mark_deleted(tx, row)
    tx.record(Op.DELETED, row.id, changed("status", row.status, None))
    return DeletedRun(row.id)


def _remove(tx: Transaction, row: RunRow) -> None:
    for below in (
        sql.remove_suggestions,
        sql.remove_links,
        sql.remove_constraints,
        sql.remove_inputs,
        sql.remove_sources,
        sql.remove_artifacts,
        sql.remove_run,
    ):
        tx.run(below, run_id=row.id)
    _mark_deleted(tx, row)


def _mark_deleted(tx: Transaction, row: RunRow) -> None:
    deleter = classify_writer(tx.actor).value
    tx.run(sql.insert_deleted_run, project_id=tx.project.id, run_id=row.id, deleter_kind=deleter)


DISCARD = declare(
    discard,
    name="context.discard",
    summary="Remove a draft.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "discard"),
    http=Route("POST", "/projects/{project}/context/runs/{runId}/discard"),
)

DELETE = declare(
    delete,
    name="context.delete",
    summary="Delete a run; a committed run is only hidden.",
    permission=Permission.CONTEXT_DELETE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "delete"),
    http=Route("DELETE", "/projects/{project}/context/runs/{runId}"),
)
