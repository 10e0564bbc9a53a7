"""Waivers that end soon: after that, their checks block again."""

from __future__ import annotations

from datetime import timedelta

from groundplan.kernel.clock import subtract_time
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.dates import get_day
from groundplan.purpose.gates.gates import select_active_waivers
from groundplan.purpose.observing.observation_rows import Waiver
from groundplan.purpose.observing.read_observations import NO_CUTOFF, read_waivers

NOTICE = timedelta(days=14)


def list_ending_waivers(tx: Transaction) -> list[Waiver]:
    """Return the active waivers that end within the notice, each with the refs for which it decides."""
    last_day = get_day(subtract_time(tx.now, -NOTICE))
    active = select_active_waivers(read_waivers(tx, NO_CUTOFF), tx.now)
    return [waiver for waiver in active if get_day(waiver.due) <= last_day]
