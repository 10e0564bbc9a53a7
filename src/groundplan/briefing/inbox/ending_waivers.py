"""Waivers that end soon, after which their checks block again."""

from __future__ import annotations

from groundplan.briefing.inbox.item import InboxItem, InboxKind, make_action
from groundplan.kernel.clock import subtract_time
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import quote_text
from groundplan.purpose.dates import get_day
from groundplan.purpose.markup import shorten_line
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.waiting import NOTICE, list_ending_waivers

REFS_MAX = 5  # named in the text; the action has all of them


def list_waivers(tx: Transaction, *, since: str, at_most: int) -> list[InboxItem]:
    """Return an item for each waiver that ends soon, the first to end first."""
    found = [_to_item(tx, one) for one in list_ending_waivers(tx)]
    return sorted((item for item in found if item.since >= since), key=lambda item: item.since)[:at_most]


def _to_item(tx: Transaction, waiver: Waiver) -> InboxItem:
    named = ", ".join(quote_text(ref)[1:-1] for ref in waiver.refs[:REFS_MAX])
    more = f" and {len(waiver.refs) - REFS_MAX} more" if len(waiver.refs) > REFS_MAX else ""
    covered = f" for {named}{more}" if waiver.refs else ""
    renewed = {"code": waiver.code, "refs": waiver.refs, "owner": waiver.owner}
    return InboxItem(
        kind=InboxKind.WAIVER_ENDING,
        ref=waiver.code,
        text=f"The waiver of {waiver.code}{covered} ends on {waiver.due}: {shorten_line(waiver.reason)}",
        since=_get_start_of_notice(waiver.due),
        action=make_action(
            tx,
            "purpose.record",
            {"project": tx.project.name, "waivers": [renewed]},
            needs=["waivers[0].reason", "waivers[0].due"],
        ),
    )


def _get_start_of_notice(due: str) -> str:
    return get_day(subtract_time(f"{get_day(due)}T00:00:00.000Z", NOTICE))
