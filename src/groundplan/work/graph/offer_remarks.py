"""What is said beside the offered nodes: why there are none, and which wanted properties no node has."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.work.engine.node import WorkCounts
from groundplan.work.kinds import ROOT_N
from groundplan.work.warnings import Warnings

sql = load_queries(__file__)


def warn_about_filter(tx: Transaction, warnings: Warnings, given: dict[str, Any], *, is_found: bool) -> None:
    """Add warnings about properties that no node has; a value that was found needs no look."""
    for name in (name for name, value in given.items() if value is None or not is_found):
        if tx.one_or_none(sql.node_with_property, project_id=tx.project.id, name=name) is None:
            warnings.add(f"filter {quote_text(name)}", "no node has this property")


def explain_no_offer(tx: Transaction) -> str:
    """Return why there is nothing to offer, from the stored counts."""
    counts = tx.one(sql.counts, WorkCounts, project_id=tx.project.id)
    if counts.total == 1:
        return (
            f"no work is planned yet; {tx.describe(NextStep('work.plan', 'adds some', {'project': tx.project.name}))}"
        )
    if not counts.unresolved:
        return "everything is resolved"
    if counts.unresolved == 1:  # the root is open as long as anything is, and never offered
        root = tx.scalar(sql.root_id, project_id=tx.project.id)
        return f"everything below the root is resolved; resolve {root} to finish the project"
    if not counts.actionable:
        # Here, because whoever asks what is next mostly gets an offer, and so needs no search for loops.
        from groundplan.work.engine.cycles import describe_stored_loop, find_stored_loop

        if (loop := find_stored_loop(tx, ROOT_N)) is not None:
            return f"the plan can never be finished: {describe_stored_loop(loop)}"
    return (
        f"{counts.unresolved} nodes are open, {counts.actionable} actionable and {counts.blocked} blocked; "
        "none of them is available to you here"
    )
