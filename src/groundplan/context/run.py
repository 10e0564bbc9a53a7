"""Stored runs: load them by id, convert them for callers, and refuse changes to final ones."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.schemas import PcivRunV1, RunStatus, UpdatedBy
from groundplan.kernel.errors import MixedProjects, NextStep, NotFound, StaleRevision
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.schema import Frozen
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text

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

    @property
    def is_draft(self) -> bool:
        return self.status is RunStatus.DRAFT

    @property
    def context_version_id(self) -> str:
        """The version that consumers record: the commit time, or for a draft the time of its last change."""
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
    """Return an id in its canonical spelling. The dashes may be omitted.

    Raises:
        Invalid: the text is not a UUID.
    """
    found = parse_uuid(text)
    if found is None:
        raise invalid_argument(path, f"must be a UUID, not {quote_text(text)}", code="invalid_id")
    return found


def resolve_run_project(tx: Transaction, run_id: str, field: str = "runId") -> str:
    """Return the project of a run, even a deleted one, so that a retried request finds its stored answer.

    Raises:
        Invalid: the id is not a UUID.
        NotFound: the run never existed, or the actor may not see it.
    """
    id_ = parse_id(run_id, (field,))
    project_id = tx.scalar(sql.project_of_run, run_id=id_) or tx.scalar(sql.project_of_removed_draft, run_id=id_)
    visible = find_visible_project_ids(tx)
    if project_id is None or not (visible is None or project_id in visible):
        raise missing_run(run_id, field)
    return ProjectId(project_id)


def load_run(tx: Transaction, run_id: str, field: str = "runId") -> RunRow:
    """Return a run of the current project.

    Raises:
        Invalid: the id is not a UUID.
        NotFound: the run does not exist or was deleted.
    """
    row = tx.one_or_none(sql.run, RunRow, project_id=tx.project.id, run_id=parse_id(run_id, (field,)))
    if row is None:
        raise missing_run(run_id, field)
    return row


def load_draft(tx: Transaction, run_id: str, *, expected_rev: int | None = None) -> RunRow:
    """Return a run that is still a draft.

    Raises:
        NotFound: the run does not exist.
        Frozen: the run is committed.
        StaleRevision: the run changed since the caller read it.
    """
    row = load_run(tx, run_id)
    if not row.is_draft:
        arguments = {"scopeId": tx.project.name, "copyFrom": row.id}
        raise final_run(row, NextStep("context.create_draft", "creates a draft that is a copy of it", arguments))
    if expected_rev is not None and expected_rev != row.rev:
        raise stale_run(row, expected_rev)
    return row


def missing_run(run_id: str, field: str) -> NotFound:
    """Return the refusal of an id that names no run."""
    step = NextStep("context.list", "lists the runs of a scope")
    return NotFound("run", run_id, next_steps=step, field=format_argument_path((field,)))


def run_of_another_scope(run_id: str, field: str) -> MixedProjects:
    """Return the refusal to compare runs of two scopes."""
    return MixedProjects(f"{field}: run {run_id} belongs to another scope; name two runs of one scope", field=field)
