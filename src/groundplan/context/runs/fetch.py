"""Fetch a run by its id, without its rows."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.run import load_run, resolve_run_project, to_pciv_run
from groundplan.context.runs.create_draft import RunWithRev
from groundplan.kernel.access import Permission
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction


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


OPERATION = declare(
    fetch,
    name="context.fetch_run",
    summary="Show a run by its id, without its rows.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    project=lambda tx, request: resolve_run_project(tx, request.run_id),
    command=Command(("context", "run"), arguments=("run_id",), names={"run_id": "run"}),
    http=Route("GET", "/projects/{project}/context/runs/{runId}"),
)
