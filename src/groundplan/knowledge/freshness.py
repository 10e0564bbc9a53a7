"""Whether what an atom says was still true of its files when somebody last looked.

An atom is confirmed at a commit. Who looks later, in a working copy, compares and leaves here what they saw.
"""

from __future__ import annotations

from collections.abc import Collection
from enum import StrEnum

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)

_decode_files = msgspec.json.Decoder(list[str]).decode


class FreshnessState(StrEnum):
    """What a look at the files found."""

    FRESH = "fresh"  # nothing in its area changed since it was confirmed
    CHANGED = "changed"  # something did
    ORPHANED = "orphaned"  # no file matches its patterns
    UNANCHORED = "unanchored"  # it was never confirmed, or at a commit that is not there


class Freshness(Struct, rename="camel"):
    """What was seen, and when."""

    state: FreshnessState
    commit: str | None  # the one it was confirmed at
    checked_at: str
    files: list[str] | UnsetType = UNSET  # those that changed


class FreshnessRow(Struct):
    """What was seen of an atom, as it is stored."""

    atom_id: str
    state: FreshnessState
    commit_id: str | None
    checked_at: str
    files: str


def freshness_of(tx: Transaction, atom_ids: Collection[str]) -> dict[str, Freshness]:
    """What is known of some atoms; nothing of one that nobody has looked at."""
    if not atom_ids:
        return {}
    rows = tx.all(sql.freshness_of_atoms, FreshnessRow, project_id=tx.project.id, ids=to_json_array(atom_ids))
    return {
        row.atom_id: Freshness(row.state, row.commit_id, row.checked_at, _decode_files(row.files) or UNSET)
        for row in rows
    }
