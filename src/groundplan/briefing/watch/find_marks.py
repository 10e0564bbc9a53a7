"""Find what is marked: computed from reviews, evidence, facts, links and decisions, never stored."""

from __future__ import annotations

from groundplan.briefing.watch.find_causes import NO_LIMIT, find_causes
from groundplan.briefing.watch.mark import Mark
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import MarkLines


def find_marks(tx: Transaction, *, with_work: bool = True, at_most: int = NO_LIMIT) -> list[Mark]:
    """Return the marks of the current project, the latest first.

    Without work the time does not depend on the number of work nodes.
    """
    causes = find_causes(tx)
    if not causes:
        return []
    from groundplan.briefing.watch.trace_marks import trace_marks  # loaded only if something is marked

    return trace_marks(tx, causes, with_work=with_work, at_most=at_most)


def describe_marks(tx: Transaction, at_most: int) -> MarkLines:
    """Return one line for each of the latest marks, and how many more there are."""
    marks = find_marks(tx, with_work=False)
    return MarkLines([_describe(mark) for mark in marks[:at_most]], max(len(marks) - at_most, 0))


def _describe(mark: Mark) -> str:
    status = mark.status.replace("_", " ")
    reach = f"; {mark.purpose[0]} and {len(mark.purpose) - 1} more depend on it" if len(mark.purpose) > 1 else ""
    text = "" if mark.text is None else f": {mark.text}"
    return f"{mark.ref} {status}{reach}{text}"
