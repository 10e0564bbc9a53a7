"""Add to an analysis what is marked now: assumptions in doubt and changed facts, with the open work they touch."""

from __future__ import annotations

from groundplan import providers
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.analysis.analyse import Analysis, MarkImpact, TouchedWork

MARKS_MAX = 20  # each reads what depends on it


def add_marks(tx: Transaction, analysis: Analysis, limit: int) -> None:
    """Add the latest marks of the current project, in the version in force; at most `limit`, and not many."""
    found = providers.find_marked_work(tx, min(limit, MARKS_MAX))
    if not found.marks:
        return
    analysis.marks = [
        MarkImpact(one.ref, one.status, one.path, [TouchedWork(id_, path) for id_, path in one.work], one.work_total)
        for one in found.marks
    ]
    if found.left_out:
        analysis.left_out = {**(analysis.left_out or {}), "marks": found.left_out}
