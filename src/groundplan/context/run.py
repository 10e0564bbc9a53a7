"""A run as it is kept and as callers see it, and the way from an id to one."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.schemas import PcivRunV1, RunStatus
from groundplan.kernel.errors import MixedProjects, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.optimistic_locking import StaleRevision
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.guards import Frozen
from groundplan.kernel.store.queries import load_queries
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

    @property
    def is_draft(self) -> bool:
        return self.status is RunStatus.DRAFT

    @property
    def context_version_id(self) -> str:
        """What consumers remember of the facts they used: since when these are as they are."""
        return self.committed_at or self.updated_at


def final_run(row: RunRow, step: NextStep) -> Frozen:
    """Return the refusal to change a committed run."""
    return Frozen(
        f"run {row.id} is {row.status} and never changes again", next_steps=step, run=row.id, status=row.status
    )


def stale_run(row: RunRow, expected: int) -> StaleRevision:
    """Return the refusal of a call that saw another state of the run."""
    return StaleRevision(f"run {row.id}", "view it again", current=row.rev, expected=expected, run=row.id)


def to_pciv_run(row: RunRow, scope_id: str) -> PcivRunV1:
    """A run as callers see it. They know its project by the name they gave it."""
    return PcivRunV1(
        row.id,
        scope_id,
        row.user_id,
        row.status,
        row.allow_partial,
        row.committed_at,
        row.created_at,
        row.updated_at,
    )


def parse_id(text: str, path: ArgumentPath) -> str:
    """An id in its canonical spelling; dashes may be left out.

    Raises:
        Invalid: it is no UUID.
    """
    found = parse_uuid(text)
    if found is None:
        raise invalid_argument(path, f"must be a UUID, not {quote_text(text)}", code="invalid_id")
    return found


def project_of_run(tx: Transaction, run_id: str, field: str = "runId") -> str:
    """The project of a run, also of a deleted one: a request that is sent again must find its answer.

    Raises:
        Invalid: the id is no UUID.
        NotFound: there is and was none that the actor may see.
    """
    id_ = parse_id(run_id, (field,))
    project_id = tx.scalar(sql.project_of_run, run_id=id_) or tx.scalar(sql.project_of_removed_draft, run_id=id_)
    seen = find_visible_project_ids(tx)
    if project_id is None or not (seen is None or project_id in seen):
        raise missing_run(run_id, field)
    return ProjectId(project_id)


def load_run(tx: Transaction, run_id: str, field: str = "runId") -> RunRow:
    """A run of the project entered.

    Raises:
        Invalid: the id is no UUID.
        NotFound: there is none, or it was deleted.
    """
    row = tx.one_or_none(sql.run, RunRow, project_id=tx.project.id, run_id=parse_id(run_id, (field,)))
    if row is None:
        raise missing_run(run_id, field)
    return row


def load_draft(tx: Transaction, run_id: str, *, expected_rev: int | None = None) -> RunRow:
    """A run that may still change.

    Raises:
        NotFound: there is none.
        Frozen: it is committed.
        StaleRevision: it is not as the caller saw it.
    """
    row = load_run(tx, run_id)
    if not row.is_draft:
        arguments = {"scopeId": tx.project.name, "copyFrom": row.id}
        raise final_run(row, NextStep("context.create_draft", "begins a draft that is a copy of it", arguments))
    if expected_rev is not None and expected_rev != row.rev:
        raise stale_run(row, expected_rev)
    return row


def missing_run(run_id: str, field: str) -> NotFound:
    """The refusal of an id that leads to no run."""
    step = NextStep("context.list", "shows those of a scope")
    return NotFound("run", run_id, next_steps=step, field=format_argument_path((field,)))


def run_of_another_scope(run_id: str, field: str) -> MixedProjects:
    """Return the refusal to compare runs of two scopes."""
    return MixedProjects(f"{field}: run {run_id} is of another scope; name two runs of one scope", field=field)
