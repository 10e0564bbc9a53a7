"""The freshness of atoms: whether files of an atom changed after its confirmation.

An atom is confirmed at a commit. A later check in a working copy compares the files and stores the result here.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

_decode_files = msgspec.json.Decoder(list[str]).decode


class FreshnessState(StrEnum):
    """The freshness of an atom: the result of the last check of its files, or `unchecked`."""

    FRESH = "fresh"  # none of its files changed since it was confirmed
    CHANGED = "changed"  # at least one file changed
    ORPHANED = "orphaned"  # no file matches its patterns
    UNANCHORED = "unanchored"  # it was never confirmed, or at a commit that does not exist
    NOT_CHECKED = "not_checked"


CheckResult = Literal["fresh", "changed", "orphaned", "unanchored"]


class Freshness(Struct, rename="camel"):
    """The result of the last check of an atom."""

    state: FreshnessState
    commit: str | None  # at which the atom was confirmed
    checked_at: str
    files: list[str] | UnsetType = UNSET  # the changed files


class FreshnessRow(Struct):
    """The stored result of the last check of an atom."""

    atom_id: str
    state: FreshnessState
    commit_id: str | None
    checked_at: str
    files: str


def load_freshness(tx: Transaction, atom_ids: Collection[str]) -> dict[str, Freshness]:
    """Return the freshness of atoms by id. Atoms without a check are left out."""
    if not atom_ids:
        return {}
    rows = tx.all(sql.freshness_of_atoms, FreshnessRow, project_id=tx.project.id, ids=to_json_array(atom_ids))
    return {
        row.atom_id: Freshness(row.state, row.commit_id, row.checked_at, _decode_files(row.files) or UNSET)
        for row in rows
    }
