"""Facts of drafts by their row ids."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class DraftFact(Struct):
    """An input by its pointer or a constraint by its key, and the draft that it belongs to."""

    id: str
    run_id: str
    ref: str
    is_input: bool


def find_draft_facts(tx: Transaction, ids: Iterable[str]) -> dict[str, DraftFact]:
    """Return the inputs and constraints with some ids that are in a draft of the current project, by id."""
    rows = tx.all(sql.draft_facts, DraftFact, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}
