"""Say whose a draft is, or only that somebody is at it."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.context.events import Op
from groundplan.context.run import draft_row, project_of_run, run_row, run_shown
from groundplan.context.runs.create_draft import OneRun
from groundplan.context.schemas import RunOwnership
from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Operation
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class UpdateDraft(Struct, rename="camel", forbid_unknown_fields=True):
    """A draft, and whose it shall be. Without ownership only the moment of its last change moves."""

    run_id: str
    ownership: RunOwnership | None = None
    op_id: OpId = field(name="op_id", default=None)


def update_draft(tx: Transaction, request: UpdateDraft) -> OneRun:
    """Change a draft itself, not what is in it.

    Raises:
        NotFound: there is no such run.
        Frozen: it is committed.
    """
    row = draft_row(tx, request.run_id)
    user_id = row.user_id
    if request.ownership is not None:
        user_id = tx.actor.id if request.ownership is RunOwnership.OWNED else None
    tx.run(sql.change_owner, run_id=row.id, user_id=user_id)
    changes = [changed("user_id", row.user_id, user_id)] if user_id != row.user_id else []
    tx.record(Op.DRAFT_UPDATED, row.id, *changes)
    after = run_row(tx, row.id)
    return OneRun(run_shown(after, tx.project.name), after.rev)


OPERATION = Operation(
    name="context.update_draft",
    summary="Make a draft your own or shared, or only say that you are at it.",
    permission=Permission.CONTEXT_WRITE,
    effect=Effect.WRITE,
    input=UpdateDraft,
    output=OneRun,
    handler=update_draft,
    project=lambda tx, request: project_of_run(tx, request.run_id),
    command=Command(("context", "touch"), arguments=("run_id",), names={"run_id": "run"}),
)
