"""The facts of a run as a document of their own."""

from __future__ import annotations

from msgspec import Struct

from groundplan.context.exchange.document import ContextExport
from groundplan.context.resolve import resolve_context_view
from groundplan.kernel.access import Permission
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.kernel.store.transaction import Transaction

FORMAT = 1


class ExportContext(Struct, rename="camel", forbid_unknown_fields=True):
    """Whose facts: those in force, or of a run."""

    scope_id: Name
    run_id: str | None = None


def export(tx: Transaction, request: ExportContext) -> ContextExport:
    """Everything in a run but what waits for a person, which is no fact yet.

    Raises:
        NotFound: there is no such run in this scope.
        NoContext: nothing was ever committed.
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


OPERATION = Operation(
    name="context.export",
    summary="Give the facts of a run as a document.",
    permission=Permission.CONTEXT_READ,
    effect=Effect.READ,
    input=ExportContext,
    output=ContextExport,
    handler=export,
    project=lambda _tx, request: request.scope_id,
)
