"""Find what is marked: computed from reviews, evidence, facts, links and decisions, never stored."""

from __future__ import annotations

from groundplan.briefing.watch.find_causes import NO_LIMIT, find_causes
from groundplan.briefing.watch.mark import WatchMark
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import MarkLines

KEYS_NAMED_MAX = 3


def find_marks(tx: Transaction, *, with_work: bool = True, at_most: int = NO_LIMIT) -> list[WatchMark]:
    """Return the marks of the current project, the latest first.

    Without work the time does not depend on the number of work nodes.
    """
    return _load_marks(tx, with_work=with_work, at_most=at_most)[0]


def describe_marks(tx: Transaction, at_most: int) -> MarkLines:
    """Return one line for each of the latest marks, and how many more there are."""
    marks, left_out = _load_marks(tx, with_work=False, at_most=at_most)
    return MarkLines([_describe(mark) for mark in marks], left_out)


def _load_marks(tx: Transaction, *, with_work: bool, at_most: int) -> tuple[list[WatchMark], int]:
    causes = find_causes(tx)
    if not causes:
        return [], 0
    from groundplan.briefing.watch.trace_marks import trace_marks  # loaded only if something is marked

    return trace_marks(tx, causes, with_work=with_work, at_most=at_most)


def _describe(mark: WatchMark) -> str:
    """Return the ref, the status, the first keys that depend on it, and the text last, which may be cut."""
    named = ", ".join(mark.purpose[:KEYS_NAMED_MAX])
    more = len(mark.purpose) - KEYS_NAMED_MAX
    affected = f", affects {named}{f' and {more} more' if more > 0 else ''}" if named else ""
    text = "" if mark.text is None else f": {mark.text}"
    return f"{mark.ref} {mark.status.replace('_', ' ')}{affected}{text}"
