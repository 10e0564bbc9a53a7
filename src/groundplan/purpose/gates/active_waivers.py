"""Waivers: somebody answers, until a day, for what fails. They are the only way past a check that blocks.

Each waiver speaks for its refs, or without refs for the check as a whole, up to and on its day. Of several that speak
for the same, the one recorded last decides; so a waiver is taken back by another that is already past its day.
"""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.purpose.dates import day_of
from groundplan.purpose.gates.profiles import is_waivable
from groundplan.purpose.observing.observation_rows import Waiver

WHOLE_CHECK = ""  # stands for the check as a whole among refs


class ActiveWaivers:
    """What somebody answers for on a day."""

    def __init__(self, waivers: Iterable[Waiver], today: str) -> None:
        self._refs: dict[str, set[str]] = {}
        for waiver in waivers_in_force(waivers, today):
            self._refs.setdefault(waiver.code, set()).update(waiver.refs or (WHOLE_CHECK,))

    def remaining(self, code: str, failing: list[str]) -> list[str]:
        """Of what fails, that for which nobody answers."""
        refs = self._refs.get(code, set())
        return [] if WHOLE_CHECK in refs else [ref for ref in failing if ref not in refs]

    def cover_check(self, code: str) -> bool:
        """Whether somebody answers for the check as a whole."""
        return WHOLE_CHECK in self._refs.get(code, ())


def waivers_in_force(waivers: Iterable[Waiver], today: str) -> list[Waiver]:
    """The waivers that count on a day, in the order of recording, each with those refs only for which it decides."""
    deciding: dict[tuple[str, str], Waiver] = {}
    given = list(waivers)
    for waiver in given:
        for ref in waiver.refs or (WHOLE_CHECK,):
            deciding[waiver.code, ref] = waiver
    found = []
    for waiver in given:
        refs = [ref for ref in waiver.refs or (WHOLE_CHECK,) if deciding[waiver.code, ref] is waiver]
        if refs and day_of(waiver.due) >= day_of(today) and is_waivable(waiver.code):
            found.append(waiver._replace(refs=[] if refs == [WHOLE_CHECK] else refs))
    return found
