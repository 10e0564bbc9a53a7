"""The version in force: the latest published one; while there is none, the draft."""

from __future__ import annotations

from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.model import Content, build_content
from groundplan.purpose.version import read_versions


def read_content_in_force(tx: Transaction) -> Content:
    """Return the content of the version in force; it is empty if there is no version."""
    rows = read_versions(tx)
    row = next((row for row in reversed(rows) if not row.is_draft), None) or next(iter(rows), None)
    return build_content((), (), (), ()) if row is None else read_content(tx, row.id)
