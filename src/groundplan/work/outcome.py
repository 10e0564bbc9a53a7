"""What a change brought about beyond what was asked: who became actionable, who was reopened, what to mind."""

from __future__ import annotations

from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.output_gate import leading
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.node import Mention
from groundplan.work.readiness import Readiness

MENTIONED_MAX = 50  # nodes in one list; the rest are counted
WARNINGS_MAX = 20
# A list has at most this share of the answer's cap: they are news, and must not crowd out what was asked.
SHARE = 8


class Outcome(Struct, kw_only=True):
    """Left out where there is nothing to say."""

    newly_actionable: list[Mention] | UnsetType = UNSET
    newly_actionable_total: int | UnsetType = UNSET  # when more became actionable than are listed
    reopened: list[Mention] | UnsetType = UNSET
    reopened_total: int | UnsetType = UNSET
    auto_resolved: list[str] | UnsetType = UNSET
    auto_resolved_total: int | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET


T = TypeVar("T", bound=Outcome)


def outcome(answer: T, tx: Transaction, readiness: Readiness, warnings: list[str]) -> T:
    """The answer with everything that came of the change."""
    settled = readiness.settle()
    listed = listable(tx, settled.newly_actionable)
    if len(listed) < len(settled.newly_actionable):
        answer.newly_actionable_total = len(settled.newly_actionable)
    answer.newly_actionable = listed or UNSET
    answer.reopened = listable(tx, settled.reopened) or UNSET
    if len(settled.reopened) > len(answer.reopened or ()):
        answer.reopened_total = len(settled.reopened)
    answer.auto_resolved = settled.auto_resolved[:MENTIONED_MAX] or UNSET
    if len(settled.auto_resolved) > MENTIONED_MAX:
        answer.auto_resolved_total = len(settled.auto_resolved)
    answer.warnings = told(warnings)
    return answer


def told(warnings: list[str]) -> list[str] | UnsetType:
    """The first of the warnings, and how many more there are."""
    if len(warnings) > WARNINGS_MAX:
        warnings = [*warnings[:WARNINGS_MAX], f"{len(warnings) - WARNINGS_MAX} more like these"]
    return warnings or UNSET


def listable(tx: Transaction, mentions: list[Mention]) -> list[Mention]:
    """As many of them as may be listed beside what was asked for."""
    return leading(mentions[:MENTIONED_MAX], tokens_max=tx.preferences.answer_tokens_max // SHARE)
