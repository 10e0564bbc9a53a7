"""The resolver: it loads runs, decides which run is in force, and reads its view. All reads of facts use it.

The run in force is the latest commit, complete or partial, by `committedAt`, then `updatedAt`, then id; only this
module decides it. A view is read in one transaction, so it shows one state; everything in it is ordered, so the same
facts give the same bytes.
"""

from __future__ import annotations

from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import msgspec
from msgspec import Struct

from groundplan.context.refusals import Invariant, NoContext, PcivRuntimeInvariantError, check_view
from groundplan.context.schemas import (
    PcivArtifactV1,
    PcivConstraintV1,
    PcivContextViewV1,
    PcivInputV1,
    PcivRunV1,
    PcivSourceV1,
    ResolvePrefer,
    RunStatus,
    Suggestion,
    UpdatedBy,
)
from groundplan.context.values import load_rows
from groundplan.kernel.access import Permission, allows
from groundplan.kernel.errors import MixedProjects, NextStep, NotFound, StaleRevision
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.types import missing_argument
from groundplan.kernel.principals import find_principal
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import Frozen
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.providers import ContextInForce

sql = load_queries(__file__)


class RunRow(Struct):
    """A run as it is stored."""

    id: str
    user_id: str | None
    status: RunStatus
    allow_partial: bool
    committed_at: str | None
    created_at: str
    updated_at: str
    rev: int
    committed_by: str | None = None
    committer_kind: UpdatedBy | None = None
    replaced_run_id: str | None = None  # the run that was in force until this one was committed
    base_run_id: str | None = None  # the run it was copied from; once committed, the one it replaced
    starts_empty: bool = False  # by request, so that its commit replaces all facts in force

    @property
    def is_draft(self) -> bool:
        return self.status is RunStatus.DRAFT

    @property
    def context_version_id(self) -> str:
        """The version that consumers record: the commit time, or the time of the last change of a draft."""
        return self.committed_at or self.updated_at


def final_run(row: RunRow, step: NextStep) -> Frozen:
    """Return the refusal to change a committed run."""
    return Frozen(f"run {row.id} is {row.status} and cannot change", next_steps=step, run=row.id, status=row.status)


def stale_run(row: RunRow, expected: int) -> StaleRevision:
    """Return the refusal of a call that read another revision of the run."""
    return StaleRevision(f"run {row.id}", "view it again", current=row.rev, expected=expected, run=row.id)


def to_pciv_run(row: RunRow, scope_id: str) -> PcivRunV1:
    """Return a run as callers see it, with the name of its project as the scope id."""
    return PcivRunV1(
        id=row.id,
        scope_id=scope_id,
        user_id=row.user_id,
        status=row.status,
        allow_partial=row.allow_partial,
        committed_at=row.committed_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def parse_id(text: str, path: ArgumentPath) -> str:
    """Return an id in its canonical spelling. The dashes may be omitted."""
    id_ = parse_uuid(text)
    if id_ is None:
        raise invalid_argument(path, f"must be a UUID, not {quote_text(text)}", code="invalid_id")
    return id_


def resolve_run_project(tx: Transaction, run_id: str, field: str = "runId") -> str:
    """Return the project of a run. Deleted runs are included, so that a retried request finds its stored answer."""
    id_ = parse_id(run_id, (field,))
    project_id = tx.scalar(sql.project_of_run, run_id=id_) or tx.scalar(sql.project_of_removed_draft, run_id=id_)
    visible = find_visible_project_ids(tx)
    if project_id is None or not (visible is None or project_id in visible):
        raise missing_run(run_id, field)
    return ProjectId(project_id)


def load_run(tx: Transaction, run_id: str, field: str = "runId") -> RunRow:
    """Return a run of the current project."""
    row = tx.one_or_none(sql.run, RunRow, project_id=tx.project.id, run_id=parse_id(run_id, (field,)))
    if row is None:
        raise missing_run(run_id, field)
    return row


def load_draft(tx: Transaction, run_id: str, *, expected_rev: int | None = None) -> RunRow:
    """Return a run that is still a draft."""
    row = load_run(tx, run_id)
    if not row.is_draft:
        arguments = {"scopeId": tx.project.name, "copyFrom": row.id}
        raise final_run(row, NextStep("context.create_draft", "creates a draft that is a copy of it", arguments))
    refuse_stale_run(row, expected_rev)
    return row


def refuse_stale_run(row: RunRow, expected_rev: int | None) -> None:
    """Refuse a call that expects another revision of the run."""
    if expected_rev is not None and expected_rev != row.rev:
        raise stale_run(row, expected_rev)


def missing_run(run_id: str, field: str) -> NotFound:
    """Return the refusal of an id that names no run."""
    step = NextStep("context.list", "lists the runs of a scope")
    return NotFound("run", run_id, next_steps=step, field=format_argument_path((field,)))


def run_of_another_scope(run_id: str, field: str) -> MixedProjects:
    """Return the refusal to compare runs of two scopes."""
    return MixedProjects(f"{field}: run {run_id} belongs to another scope; name two runs of one scope", field=field)


class ResolvedView(NamedTuple):
    """A view and the stored row of its run."""

    view: PcivContextViewV1
    row: RunRow


def resolve_context_view(
    tx: Transaction,
    *,
    run_id: str | None = None,
    prefer: ResolvePrefer | None = None,
    user_id: str | None = None,
    field: str = "runId",
) -> ResolvedView:
    """Return the facts of the named run, else of the run in force, in the current project."""
    row = _resolve_run(tx, run_id, prefer, user_id, field)
    view = _load_view(tx, row)
    check_view(view)
    return ResolvedView(view, row)


def _resolve_run(
    tx: Transaction, run_id: str | None, prefer: ResolvePrefer | None, user_id: str | None, field: str
) -> RunRow:
    if prefer is ResolvePrefer.RUN_ID and run_id is None:
        raise missing_argument("runId", (), expected="the id of the run to view; or omit prefer")
    named = None if run_id is None else load_run(tx, run_id, field)
    if named is not None and prefer is not ResolvePrefer.LATEST_COMMIT:
        return named
    in_force = find_latest_committed_run(tx, user_id)
    if in_force is None:
        raise _no_context(tx, named or tx.one_or_none(sql.latest_draft, RunRow, project_id=tx.project.id))
    return in_force


def _no_context(tx: Transaction, draft: RunRow | None) -> NoContext:
    """Return the refusal for a scope without facts, with a call that this actor can make instead."""
    scope_id = tx.project.name
    if find_latest_committed_run(tx) is not None:  # of other users than the one who was asked for
        step = NextStep("context.view", "without userId shows the facts in force", {"scopeId": scope_id})
        return NoContext(scope_id, of_user=True, next_steps=step)
    if draft is not None:
        step = NextStep("context.view", "shows a draft", {"scopeId": scope_id, "runId": draft.id})
    elif tx.project.archived_at is None and allows(tx.project.role, Permission.CONTEXT_WRITE, tx.project.policies):
        step = NextStep("context.create_draft", "begins a draft", {"scopeId": scope_id})
    else:
        return NoContext(scope_id, hint="ask an editor of the project to write and commit them")
    return NoContext(scope_id, next_steps=step)


def find_latest_committed_run(tx: Transaction, user_id: str | None = None) -> RunRow | None:
    """Return the run in force, or None if nothing was committed."""
    if user_id is None:
        return tx.one_or_none(sql.latest_committed, RunRow, project_id=tx.project.id)
    owner_id = find_principal(tx, user_id) or user_id
    return tx.one_or_none(sql.latest_committed_of_user, RunRow, project_id=tx.project.id, user_id=owner_id)


def is_in_force(tx: Transaction, row: RunRow) -> bool:
    """Return whether a run is the one in force."""
    in_force = find_latest_committed_run(tx)
    return in_force is not None and in_force.id == row.id


def find_base(tx: Transaction, draft: RunRow) -> str | None:
    """Return the base of a draft. Where that was deleted, it is the run that it had replaced, and so on.

    What a deleted run had brought then counts as brought by the draft that copied it, so that it is not lost.
    """
    base_id = draft.base_run_id
    while base_id is not None and tx.one_or_none(sql.run, RunRow, project_id=tx.project.id, run_id=base_id) is None:
        base_id = tx.scalar(sql.replaced_run, project_id=tx.project.id, run_id=base_id)
    return base_id


def find_context_in_force(tx: Transaction) -> ContextInForce | None:
    """Return the run in force of the current project and its missing required inputs, for the gates of other slices."""
    row = find_latest_committed_run(tx)
    if row is None:
        return None
    return ContextInForce(row.id, row.allow_partial, row.context_version_id, find_required_unset(tx, row.id))


def find_required_unset(tx: Transaction, run_id: str) -> list[str]:
    """Return the pointers of required inputs without a value."""
    return tx.scalars(sql.required_unset, run_id=run_id)


def load_suggestions(tx: Transaction, run_id: str) -> list[Suggestion]:
    """Return the pending suggestions of a run."""
    return load_rows(tx, sql.suggestions_of_run, Suggestion, run_id=run_id)


def _load_view(tx: Transaction, row: RunRow) -> PcivContextViewV1:
    run = to_pciv_run(row, tx.project.name)
    try:
        sources = {source.id: source for source in load_rows(tx, sql.sources_of_run, PcivSourceV1, run_id=row.id)}
        links = tx.all(sql.links_of_run, run_id=row.id)
        cited = {input_id: [source_id for _, source_id in group] for input_id, group in groupby(links, itemgetter(0))}
        inputs = {
            input_row.pointer: input_row for input_row in load_rows(tx, sql.inputs_of_run, PcivInputV1, run_id=row.id)
        }
        for input_row in inputs.values():
            input_row.source_ids = cited.get(input_row.id) or []
        constraints = load_rows(tx, sql.constraints_of_run, PcivConstraintV1, run_id=row.id)
        artifacts: dict[str, list[PcivArtifactV1]] = {}
        for artifact in load_rows(tx, sql.artifacts_of_run, PcivArtifactV1, run_id=row.id):
            artifacts.setdefault(artifact.type, []).append(artifact)
    except (KeyError, msgspec.DecodeError) as error:
        raise PcivRuntimeInvariantError(
            Invariant.SCHEMA_VALIDATION,
            "a row of this run has a field of the wrong type",
            scope_id=run.scope_id,
            run_id=run.id,
        ) from error
    return PcivContextViewV1(run, sources, inputs, constraints, artifacts)
