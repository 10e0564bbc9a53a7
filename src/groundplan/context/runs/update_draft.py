"""Change the ownership of a draft, or only its time of last change."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.context.events import Op
from groundplan.context.run import load_draft, load_run, resolve_run_project, to_pciv_run
from groundplan.context.runs.create_draft import RunWithRev
from groundplan.context.schemas import RunOwnership
from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, OpId, Route, declare
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


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


OPERATION = declare(
    update_draft,
    name="context.update_draft",
    summary="Make a draft your own or shared, or only update its time of last change.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    command=Command(("context", "touch"), arguments=("run_id",), names={"run_id": "run"}),
    http=Route("PATCH", "/projects/{project}/context/runs/{runId}"),
)
