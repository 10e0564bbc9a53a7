"""Warnings for readers of a run."""

from __future__ import annotations

from groundplan.context.run import RunRow
from groundplan.context.schemas import RunStatus
from groundplan.kernel.wording import quote_text

MESSAGE_POINTERS_MAX = 10  # in one sentence; the complete list is in the details or the answer


def collect_warnings(row: RunRow, missing: list[str], *, pending_count: int) -> list[str]:
    """Return the warnings about a run; `pending_count` is its number of pending suggestions."""
    found = []
    if row.is_draft:
        found.append("this run is a draft: nothing in it is committed yet")
    if missing:
        advice = "; assume no value" if row.status is not RunStatus.DRAFT else ""
        found.append(f"required and not set: {format_pointers(missing)}{advice}")
    if pending_count:
        after = "" if row.is_draft else "; a draft with copyFrom copies them"
        found.append(f"suggestions that wait for a person: {pending_count}{after}")
    return found


def format_pointers(pointers: list[str]) -> str:
    """Return pointers as a list for a sentence, shortened if there are many."""
    listed = ", ".join(quote_text(pointer)[1:-1] for pointer in pointers[:MESSAGE_POINTERS_MAX])
    more = len(pointers) - MESSAGE_POINTERS_MAX
    return listed if more <= 0 else f"{listed} and {more} more"
