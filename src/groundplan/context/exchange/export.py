"""Export the facts of a run as a document."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.exchange.document import ContextExport
from groundplan.context.resolve import resolve_context_view
from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Route, declare
from groundplan.kernel.store.transaction import Transaction

FORMAT = 1


class ExportContext(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope and run to export, by default the run in force."""

    scope_id: Name
    run_id: str | None = None


def export(tx: Transaction, request: ExportContext) -> ContextExport:
    """Return everything in a run except pending suggestions, which are not facts yet.

    Raises:
        NotFound: the run is not in this scope.
        NoContext: no run was committed.
    """
    view, row = resolve_context_view(tx, run_id=request.run_id)
    return ContextExport(
        FORMAT,
        tx.project.name,
        row.context_version_id,
        view.run,
        view.sources_by_id,
        view.inputs_by_pointer,
        view.constraints,
        view.artifacts_by_type,
    )


OPERATION = declare(
    export,
    name="context.export",
    summary="Export the facts of a run as a document.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/context/export"),
)
