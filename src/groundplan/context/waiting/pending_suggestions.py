"""Suggestions in drafts that nobody has accepted or rejected yet."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from groundplan.context.schemas import Provenance, ValueKind
from groundplan.context.stored_rows import load_rows
from groundplan.context.values import COLUMN_BY_KIND
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class PendingSuggestion(Struct):
    """A suggestion, and the pointer or key of the fact that it is about."""

    id: str
    run_id: str
    about: str
    value_kind: ValueKind
    value_string: str | None
    value_number: float | None
    value_boolean: bool | None
    value_enum: str | None
    value_json: Any
    provenance: Provenance
    created_at: str
    created_by: str

    @property
    def value(self) -> Any:
        """The suggested value; None if the suggestion is to clear the fact."""
        return getattr(self, COLUMN_BY_KIND[self.value_kind])


def list_pending_suggestions(tx: Transaction, *, since: str, at_most: int) -> list[PendingSuggestion]:
    """Return the pending suggestions of the project that were made at or after a moment, oldest first."""
    return load_rows(
        tx, sql.pending_suggestions, PendingSuggestion, project_id=tx.project.id, since=since, at_most=at_most
    )
