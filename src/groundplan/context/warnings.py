"""What a consumer of facts must be careful about, in sentences."""

from __future__ import annotations

from groundplan.context.run import RunRow
from groundplan.context.schemas import RunStatus
from groundplan.kernel.wording import quote_text

MESSAGE_POINTERS_MAX = 10  # of some places, in a sentence; beside it there is a list of them all


def collect_warnings(row: RunRow, missing: list[str], *, waiting: int) -> list[str]:
    """What there is to say about a run as it stands; `waiting` is how many suggestions do."""
    found = []
    if row.is_draft:
        found.append("this run is a draft: nothing in it is committed yet")
    if missing:
        kept = "; assume no value" if row.status is not RunStatus.DRAFT else ""
        found.append(f"required and not set: {format_pointers(missing)}{kept}")
    if waiting:
        after = "" if row.is_draft else "; a draft with copyFrom takes them along"
        found.append(f"suggestions that wait for a person: {waiting}{after}")
    return found


def format_pointers(places: list[str]) -> str:
    """Some places in a sentence, not too many."""
    shown = ", ".join(quote_text(place)[1:-1] for place in places[:MESSAGE_POINTERS_MAX])
    return shown if len(places) <= MESSAGE_POINTERS_MAX else f"{shown} and {len(places) - MESSAGE_POINTERS_MAX} more"
