"""What is said beside the offered nodes: why there are none, and which wanted properties no node has."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.errors import NextStep
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.answers import Warnings, join_names
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import WorkCounts

# Properties that answers show and no node stores, with the step that finds nodes by them.
SHOWN_PROPERTIES = (
    (("_claimed_by", "_claimed_at", "_held"), NextStep("work.query", "finds nodes by claimed_by")),
    (("_hold",), NextStep("work.query", "finds nodes by is_blocked")),
)

sql = load_queries(__file__)


def warn_about_filter(tx: Transaction, warnings: Warnings, given: dict[str, Any], *, is_found: bool) -> None:
    """Add warnings about properties that no node has, or that answers only show; what was found needs no look."""
    doubtful = [name for name, value in given.items() if value is None or not is_found]
    for names, step in SHOWN_PROPERTIES:
        if shown := [name for name in given if name in names]:
            doubtful = [name for name in doubtful if name not in shown]
            warnings.add(f"filter {join_names(shown)}", f"shown, but cannot be filtered here; {tx.describe(step)}")
    unknown = [name for name in doubtful if not _is_property(tx, name)]
    if unknown:
        these = "this property" if len(unknown) == 1 else "these properties"
        warnings.add(f"filter {join_names(unknown)}", f"no node has {these}")


def _is_property(tx: Transaction, name: str) -> bool:
    return tx.one_or_none(sql.node_with_property, project_id=tx.project.id, name=name) is not None


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
        from groundplan.work.waiting.cycles import describe_stored_loop, find_stored_loop

        if (loop := find_stored_loop(tx, ROOT_N)) is not None:
            return f"the plan can never be finished: {describe_stored_loop(loop)}"
    return (
        f"{counts.unresolved} nodes are open, {counts.actionable} actionable and {counts.blocked} blocked; "
        "none of them is available to you here"
    )
