"""A clock in milliseconds that machines set, and what the time of a store should be by it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, Protocol

MINUTE = 60_000
JUMP_MIN = 5 * MINUTE


class MillisecondClock:
    """The clock of a store, on a machine whose uptime no one can set."""

    START = datetime(2026, 11, 15, 9, 30, tzinfo=UTC)
    boot_id = "a-start"

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.now = self.ran = 0

    def __call__(self) -> datetime:
        return self.START + timedelta(milliseconds=self.now)

    def uptime(self) -> MillisecondUptime:
        """Return the counter of the machine."""
        return MillisecondUptime(self)

    def move(self, by: int) -> None:
        """Let time pass."""
        self.now += by
        self.ran += by

    def set_ahead(self, by: int) -> None:
        """Set the clock so that it differs by this from the time that passed."""
        self.now = self.ran + by

    def stamp(self, moment: int) -> str:
        """Return a time of the oracle as a timestamp."""
        written = (self.START + timedelta(milliseconds=moment)).isoformat(timespec="milliseconds")
        return written.replace("+00:00", "Z")

    def time_after(self, events: Sequence[HasTime]) -> int:
        """Return the time of the next write after some events: not a little before the last one."""
        last = (datetime.fromisoformat(events[-1].at) - self.START) // timedelta(milliseconds=1) if events else self.now
        return last if self.now < last <= self.now + JUMP_MIN else self.now


class HasTime(Protocol):
    """An event."""

    @property
    def at(self) -> str: ...


class MillisecondUptime:
    """The uptime of the machine of a clock."""

    def __init__(self, clock: MillisecondClock) -> None:
        self._clock = clock
        self.boot_id = clock.boot_id

    def __call__(self) -> timedelta:
        return timedelta(days=100, milliseconds=self._clock.ran)


class Reading(NamedTuple):
    """The time of a transaction, and by how much the clock jumped; None is no jump, 0 an unknown one."""

    now: int
    jump: int | None


class ProjectTime:
    """What the last write of a project tells about the clock."""

    def __init__(self, clock: MillisecondClock, *, knows_uptime: bool) -> None:
        self._clock = clock
        self._knows_uptime = knows_uptime
        self._last = clock.now
        self._offset: int | None = None  # between the clock and the uptime, of the writer who was asked last

    def read_for_write(self) -> Reading:
        now, last = self._clock.now, self._last
        if now < last <= now + JUMP_MIN:
            return Reading(last, None)
        moved = self._measure()
        if now < last:
            return Reading(now, moved if moved < -JUMP_MIN else 0)
        return Reading(now, moved if moved > JUMP_MIN else None)

    def read(self) -> int:
        """Return the time of a read: leases have not moved yet, so a jump forwards has not happened."""
        reading = self.read_for_write()
        return reading.now - max(reading.jump or 0, 0)

    def note_write(self, reading: Reading) -> None:
        """Note that a write with this reading was committed."""
        if self._knows_uptime and (self._offset is None or reading.jump is not None):
            self._offset = reading.now - self._clock.ran
        self._last = reading.now

    def _measure(self) -> int:
        if self._offset is None:
            return 0
        gap = self._clock.now - self._last
        moved = self._clock.now - self._clock.ran - self._offset
        return 0 if moved > gap + JUMP_MIN else min(moved, gap)
