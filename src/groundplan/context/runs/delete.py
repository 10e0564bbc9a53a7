"""Delete a run. A draft is removed; a committed run stays stored but is hidden."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan import providers
from groundplan.context.editing.provenance import classify_writer
from groundplan.context.events import Op
from groundplan.context.refusals import PersonRequired, RunBound
from groundplan.context.run import RunRow, final_run, load_run, resolve_run_project
from groundplan.kernel.access import Permission
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import NextStep
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.authorize import refuse_foreign_draft
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def bound_run(run_id: str, versions: list[int]) -> RunBound:
    """Return the refusal to delete a run that published versions rest on."""
    numbers = ", ".join(map(str, versions))
    return RunBound(
        f"run {run_id} cannot be deleted: version {numbers} of the purpose was published on it and always rests on it",
        run=run_id,
        versions=versions,
    )


def refuse_unless_person(tx: Transaction, row: RunRow) -> None:
    """Let only a person delete a committed run, since the run before it is in force again then.

    Raises:
        PersonRequired: the actor is not a person.
    """
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
    """Remove a draft with all its rows.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is committed.
        AgentNotAllowed: the actor is an agent without the role for it, and others have written to the draft.
    """
    row = load_run(tx, request.run_id)
    if not row.is_draft:
        raise final_run(row, NextStep("context.delete", "hides it", {"runId": row.id}))
    refuse_foreign_draft(tx, Permission.CONTEXT_DELETE, tx.scalar(sql.sole_writer, run_id=row.id))
    _remove(tx, row)
    tx.record(Op.DISCARDED, row.id, changed("status", row.status, None))
    return DiscardedRun(row.id)


def delete(tx: Transaction, request: DeleteRun) -> DeletedRun:
    """Remove a draft, or hide a committed run.

    Raises:
        NotFound: the run does not exist.
        RunBound: a published version of the purpose rests on it.
        AgentNotAllowed: the actor is an agent without the role for it, and it is not a draft of its own.
        PersonRequired: the run is committed, and the actor is not a person.
    """
    row = load_run(tx, request.run_id)
    sole_writer = tx.scalar(sql.sole_writer, run_id=row.id) if row.is_draft else None
    refuse_foreign_draft(tx, Permission.CONTEXT_DELETE, sole_writer)
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
    permission=Permission.CONTEXT_DELETE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    tool=Tool("context_run", Group.CONTEXT, "discard"),
    command=Command(("context", "discard"), arguments=("run_id",), names={"run_id": "run"}, without=("lean",)),
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
    command=Command(("context", "delete"), arguments=("run_id",), names={"run_id": "run"}, without=("lean",)),
    http=Route("DELETE", "/projects/{project}/context/runs/{runId}"),
)
