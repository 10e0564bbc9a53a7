"""Changelogs of atoms and molecules. Entries are only added, never changed."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.knowledge.requests import KnowledgeEntityType

sql = load_queries(__file__)


class ChangelogLine(Struct, rename="camel"):
    """An entry as shown with its atom or molecule."""

    task_id: str
    summary: str
    created_at: str


class ChangelogEntry(Struct, rename="camel"):
    """A stored entry."""

    id: str
    parent_type: KnowledgeEntityType
    parent_id: str
    task_id: str
    summary: str
    created_at: str
    created_by: str


def load_entries(
    tx: Transaction, parent_type: KnowledgeEntityType, parent_id: str, *, limit: int, offset: int
) -> tuple[list[ChangelogEntry], int]:
    """Return a page of entries of an atom or a molecule, newest first, and the total count."""
    parent = {"project_id": tx.project.id, "parent_type": parent_type, "parent_id": parent_id}
    entries = tx.all(sql.entries, ChangelogEntry, **parent, limit=limit, offset=offset)
    return entries, tx.scalar(sql.count_entries, **parent)


def load_latest_entries(
    tx: Transaction, parent_type: KnowledgeEntityType, parent_ids: Collection[str], *, entries_max: int
) -> dict[str, list[ChangelogLine]]:
    """Return the latest entries of each parent, at most `of_each`; parents without entries get an empty list."""
    found: dict[str, list[ChangelogLine]] = {parent_id: [] for parent_id in parent_ids}
    if entries_max and found:
        rows = tx.all(
            sql.latest_entries,
            ChangelogEntry,
            project_id=tx.project.id,
            parent_type=parent_type.value,
            parent_ids=to_json_array(found),
            of_each=entries_max,
        )
        for row in rows:
            found[row.parent_id].append(ChangelogLine(row.task_id, row.summary, row.created_at))
    return found
