"""Waivers: an owner accepts a failing check until a day. They are the only way past a check that blocks.

A waiver covers its refs, or without refs the check as a whole, up to and including its day. If several cover the same
ref, the one recorded last decides; so a waiver is shortened by recording another with an earlier day.
"""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.purpose.dates import get_day
from groundplan.purpose.gates.profiles import is_waivable
from groundplan.purpose.observing.observation_rows import Waiver

WHOLE_CHECK = ""  # the ref that stands for the check as a whole


class ActiveWaivers:
    """The checks and refs that are waived on a day."""

    def __init__(self, waivers: Iterable[Waiver], today: str) -> None:
        self._refs: dict[str, set[str]] = {}
        for waiver in select_active_waivers(waivers, today):
            self._refs.setdefault(waiver.code, set()).update(waiver.refs or (WHOLE_CHECK,))

    def list_unwaived(self, code: str, failing: list[str]) -> list[str]:
        """Return the failing refs without an active waiver."""
        refs = self._refs.get(code, set())
        return [] if WHOLE_CHECK in refs else [ref for ref in failing if ref not in refs]

    def covers_check(self, code: str) -> bool:
        """Return whether a waiver covers the check as a whole."""
        return WHOLE_CHECK in self._refs.get(code, ())


def select_active_waivers(waivers: Iterable[Waiver], today: str) -> list[Waiver]:
    """Return the waivers active on a day, in recording order, each with only the refs for which it decides."""
    deciding: dict[tuple[str, str], Waiver] = {}
    recorded = list(waivers)
    for waiver in recorded:
        for ref in waiver.refs or (WHOLE_CHECK,):
            deciding[waiver.code, ref] = waiver
    active = []
    for waiver in recorded:
        refs = [ref for ref in waiver.refs or (WHOLE_CHECK,) if deciding[waiver.code, ref] is waiver]
        if refs and get_day(waiver.due) >= get_day(today) and is_waivable(waiver.code):
            active.append(waiver._replace(refs=[] if refs == [WHOLE_CHECK] else refs))
    return active
