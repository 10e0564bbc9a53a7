"""A run by its id, without what is in it."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.run import project_of_run, run_row, run_shown
from groundplan.context.runs.create_draft import OneRun
from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Operation
from groundplan.kernel.store.transaction import Transaction


class FetchRun(Struct, rename="camel", forbid_unknown_fields=True):
    """Which run."""

    run_id: str


def fetch(tx: Transaction, request: FetchRun) -> OneRun:
    """One run.

    Raises:
        NotFound: there is none.
    """
    row = run_row(tx, request.run_id)
    return OneRun(run_shown(row, tx.project.name), row.rev)


OPERATION = Operation(
    name="context.fetch_run",
    summary="Show a run by its id, without what is in it.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    input=FetchRun,
    output=OneRun,
    handler=fetch,
    project=lambda tx, request: project_of_run(tx, request.run_id),
    command=Command(("context", "run"), arguments=("run_id",), names={"run_id": "run"}),
)
