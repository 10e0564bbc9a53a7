"""Discard the draft. Its keys and revisions are never reused; the next draft takes its number."""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, OpId, Route, Tool, declare
from groundplan.kernel.store.authorize import refuse_foreign_draft
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.events import Op
from groundplan.purpose.keys import store_discarded_rev
from groundplan.purpose.version import get_current_rev, load_draft

sql = load_queries(__file__)


class DiscardDraft(Struct, forbid_unknown_fields=True):
    """The project whose draft to discard."""

    project: Name
    expected_rev: int | None = None
    lean: bool | None = None
    op_id: OpId = None


class DiscardedDraft(Struct):
    """The number of the discarded draft, and the revision of the latest version that remains."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()

    discarded: int
    rev: int


def discard(tx: Transaction, request: DiscardDraft) -> DiscardedDraft:
    """Remove the draft and all its content.

    Raises:
        NoDraft: the project has no draft.
        StaleRevision: the draft is not at `expected_rev`.
        AgentNotAllowed: the actor is an agent without the role for it, and others have written to the draft.
    """
    row = load_draft(tx, expected_rev=request.expected_rev)
    refuse_foreign_draft(tx, Permission.PURPOSE_DISCARD, tx.scalar(sql.sole_writer, version_id=row.id))
    for query in (
        sql.remove_indicators,
        sql.remove_edge_assumptions,
        sql.remove_assumptions,
        sql.remove_edges,
        sql.remove_nodes,
        sql.remove_version,
    ):
        tx.run(query, version_id=row.id)
    store_discarded_rev(tx, row.rev)
    tx.record(Op.DISCARDED, f"v{row.number}", changed("status", row.status, None), changed("id", row.id, None))
    return DiscardedDraft(row.number, get_current_rev(tx))


OPERATION = declare(
    discard,
    name="purpose.discard",
    summary="Remove the draft.",
    permission=Permission.PURPOSE_DISCARD,
    effect=Effect.DESTROY,
    tool=Tool("toc_version", Group.PURPOSE, "discard"),
    command=Command(("purpose", "discard")),
    http=Route("DELETE", "/projects/{project}/purpose/draft"),
)
