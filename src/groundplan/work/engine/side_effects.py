"""What a change brought about beyond what was asked: who became actionable, who was reopened, what to mind."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.store.transaction import Transaction
from groundplan.work.engine.node import NodeSummary
from groundplan.work.engine.readiness import Readiness

LISTED_NODES_MAX = 50  # nodes in one list; the rest are counted
WARNINGS_MAX = 20
# A list has at most this share of the answer's cap: they are news, and must not crowd out what was asked.
LIST_BUDGET_DIVISOR = 8


class SideEffects(Struct, kw_only=True):
    """Left out where there is nothing to say."""

    newly_actionable: list[NodeSummary] | UnsetType = UNSET
    newly_actionable_total: int | UnsetType = UNSET  # when more became actionable than are listed
    reopened: list[NodeSummary] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET
    auto_resolved: list[str] | UnsetType = UNSET
    auto_resolved_total: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


T = TypeVar("T", bound=SideEffects)
N = TypeVar("N")


def add_side_effects(answer: T, tx: Transaction, readiness: Readiness, warnings: list[str]) -> T:
    """The answer with everything that came of the change."""
    settled = readiness.settle()
    answer.newly_actionable, answer.newly_actionable_total = list_within_budget(tx, settled.newly_actionable)
    answer.reopened, answer.reopened_total = list_within_budget(tx, settled.reopened)
    answer.auto_resolved, answer.auto_resolved_total = list_within_budget(tx, settled.auto_resolved)
    answer.warnings = limit_warnings(warnings)
    return answer


def limit_warnings(warnings: list[str]) -> list[str] | UnsetType:
    """The first of the warnings, and how many more there are."""
    if len(warnings) > WARNINGS_MAX:
        warnings = [*warnings[:WARNINGS_MAX], f"{len(warnings) - WARNINGS_MAX} more like these"]
    return warnings or UNSET


def list_within_budget(tx: Transaction, news: list[N]) -> tuple[list[N] | UnsetType, int | UnsetType]:
    """Return as many entries as may stand beside what was asked for, and how many there are where these are not all."""
    if not news:
        return UNSET, UNSET
    listed = tx.budget.share(1, of=LIST_BUDGET_DIVISOR).take_rows(news[:LISTED_NODES_MAX])
    return listed or UNSET, len(news) if len(listed) < len(news) else UNSET
