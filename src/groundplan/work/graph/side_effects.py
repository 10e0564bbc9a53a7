"""Side effects of a change: nodes that became actionable, reopened or automatically resolved, and warnings."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.node import NodeSummary, load_best
from groundplan.work.engine.readiness import Readiness
from groundplan.work.warnings import Warnings

LISTED_NODES_MAX = 50  # nodes in one list; the rest are only counted
# Each list gets at most this fraction of the answer's cap, so that it does not crowd out the main answer.
LIST_BUDGET_DIVISOR = 8


class SideEffects(Struct, kw_only=True):
    """The side effects of a change. Empty fields are omitted."""

    newly_actionable: list[NodeSummary] | UnsetType = UNSET
    newly_actionable_total: int | UnsetType = UNSET  # set when more became actionable than are listed
    reopened: list[NodeSummary] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET
    auto_resolved: list[str] | UnsetType = UNSET
    auto_resolved_total: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


T = TypeVar("T", bound=SideEffects)
N = TypeVar("N")


def add_side_effects(answer: T, tx: Transaction, readiness: Readiness, warnings: Warnings) -> T:
    """Settle readiness, and return the answer with the side effects of the change."""
    settled = readiness.settle()
    newly = settled.newly_actionable
    listed = load_best(tx, newly, at_most=LISTED_NODES_MAX) if newly else []
    answer.newly_actionable, answer.newly_actionable_total = list_within_budget(tx, listed, total=len(newly))
    answer.reopened, answer.reopened_total = list_within_budget(tx, settled.reopened)
    answer.auto_resolved, answer.auto_resolved_total = list_within_budget(tx, settled.auto_resolved)
    warnings.add_ended_claims(readiness.ended_claims)
    answer.warnings = warnings.lines()
    return answer


def list_within_budget(
    tx: Transaction, entries: list[N], *, total: int | None = None
) -> tuple[list[N] | UnsetType, int | UnsetType]:
    """Return the entries that fit beside the main answer, and the total if these are not all."""
    if not entries:
        return UNSET, UNSET
    listed = tx.budget.share(1, of=LIST_BUDGET_DIVISOR).take_rows(entries[:LISTED_NODES_MAX])
    total = len(entries) if total is None else total
    return listed or UNSET, total if len(listed) < total else UNSET
