"""Time: timestamps, the clock of this machine, and corrections after a jump of the clock.

A timestamp is ISO 8601 in UTC with milliseconds and a fixed width, so that text order is time order.

    this clock, against the last write of the project     time            leases
    up to 5 minutes behind                                 the last write  stay
    further behind: one of the two clocks was wrong        this clock      end at most one duration from now
    ahead, and the machine ran for that long               this clock      stay, and end when they end
    ahead, and the machine did not run for that long       this clock      move with the clock

A project keeps when the machine of its last writer started, by the clock of that writer. The same start by another
clock is another time, and the difference is the jump. All programs that share a file run on one machine; on PostgreSQL
there is one clock, and no counter is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Protocol

Clock = Callable[[], datetime]

JUMP_MIN = timedelta(minutes=5)  # clocks of one machine that are corrected a little at a time differ less
UNKNOWN = timedelta()
MINUTE_CHARS = len("2026-11-15T09:30")

BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
UPTIME_FILE = Path("/proc/uptime")
DRIFT_S_MAX = 1.0


def system_clock() -> datetime:
    """Return the current time of this machine."""
    return datetime.now(UTC)


class UptimeCounter(Protocol):
    """A counter of the time since the machine started, which nobody can set."""

    @property
    def boot_id(self) -> str:
        """The id of this start of the machine."""

    def __call__(self) -> timedelta:
        """Return the time since the machine started, including sleep."""


class SystemUptime:
    """The uptime counter of the files that the operating system provides.

    It is read from a file, because a program that fakes the clock of a process fakes every clock of it. As long as two
    clocks of the process agree, no reading is needed.
    """

    def __init__(self) -> None:
        self.boot_id = BOOT_ID_FILE.read_text(encoding="utf-8").strip()
        self._drift_s = self._offset_s = 0.0
        self._read(time.time(), time.monotonic())

    def __call__(self) -> timedelta:
        now_s, ticks_s = time.time(), time.monotonic()
        if abs(now_s - ticks_s - self._drift_s) > DRIFT_S_MAX:  # the machine slept, or somebody set its clock
            self._read(now_s, ticks_s)
        return timedelta(seconds=self._offset_s + ticks_s)

    def _read(self, now_s: float, ticks_s: float) -> None:
        self._offset_s = float(UPTIME_FILE.read_text(encoding="utf-8").split()[0]) - ticks_s
        self._drift_s = now_s - ticks_s


def find_system_uptime() -> UptimeCounter | None:
    """Return the uptime counter of this machine; None if the system has no counter that all processes share."""
    try:
        return SystemUptime()
    except (OSError, ValueError):
        return None


def format_timestamp(moment: datetime) -> str:
    """Return a timestamp in its stored form, such as `2026-11-15T09:30:00.000Z`."""
    if moment.tzinfo is not UTC:  # the conversion takes longer than the rest
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:-6] + "Z"  # instead of +00:00


def read_timestamp(clock: Clock) -> str:
    """Return the current time of a clock as a timestamp."""
    if clock is not system_clock:
        return format_timestamp(clock())
    second, millisecond = divmod(time.time_ns() // 1_000_000, 1000)
    return f"{_format_second(second)}.{millisecond:03}Z"


def _format_second(second: int) -> str:
    global _last_second  # noqa: PLW0603 - every transaction needs it, and a second has many
    last, text = _last_second
    if last != second:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        _last_second = second, text
    return text


_last_second = (-1, "")


def subtract_time(timestamp: str, delta: timedelta) -> str:
    """Return the timestamp that is `delta` earlier than `timestamp`."""
    if delta.seconds % 60 or delta.microseconds:
        return (_parse_timestamp(timestamp) - delta).isoformat("T", "milliseconds") + "Z"
    return _subtract_minutes(timestamp[:MINUTE_CHARS], delta) + timestamp[MINUTE_CHARS:]


@lru_cache(maxsize=8)  # every claim needs it, and a minute has many
def _subtract_minutes(minute: str, delta: timedelta) -> str:
    return (datetime.fromisoformat(minute) - delta).isoformat("T", "minutes")


def compute_difference(later: str, earlier: str) -> timedelta:
    """Return the time from the second timestamp to the first."""
    return _parse_timestamp(later) - _parse_timestamp(earlier)


def _parse_timestamp(timestamp: str) -> datetime:
    # Without the zone: all timestamps have the same, and a datetime with a zone takes twice as long.
    return datetime.fromisoformat(timestamp[:-1])


class LastWrite(Protocol):
    """The time of the last write of a project, and the start of the machine by the clock of that write."""

    @property
    def updated_at(self) -> str: ...
    @property
    def machine_start(self) -> str | None: ...


class ClockJump:
    """A jump of the clock since the last write of a project.

    `by` is zero if the clock is behind and nothing tells by how much it moved.
    """

    __slots__ = ("by", "last", "now")

    def __init__(self, last: str, now: str, by: timedelta) -> None:
        self.last, self.now, self.by = last, now, by

    @property
    def is_back(self) -> bool:
        return self.now < self.last

    def describe(self) -> str:
        """Return the jump as a warning."""
        if self.is_back:
            ahead = _format_span(compute_difference(self.last, self.now))
            return (
                f"the last change of this project is dated {self.last}, {ahead} ahead of this clock ({self.now}); "
                "check the clocks of the programs that write here"
            )
        return (
            f"this clock ({self.now}) is {_format_span(self.by)} ahead of the one that wrote last ({self.last}); "
            "check the clocks of the programs that write here"
        )


def find_jump(now: str, project: LastWrite, uptime: UptimeCounter | None) -> ClockJump | None:
    """Return the jump of the clock since the last write of a project, as it was read before the lock; None if none."""
    if now >= project.updated_at and now[:MINUTE_CHARS] == project.updated_at[:MINUTE_CHARS]:
        return None  # within a minute of the clock, as most writes are: nothing to compute
    gap = compute_difference(now, project.updated_at)
    if timedelta() <= gap <= JUMP_MIN:
        return None
    moved = _measure_jump(now, project, uptime)
    # The machine cannot have run for less than no time: then the counters are of two containers and prove nothing.
    by = UNKNOWN if moved is None or moved > gap + JUMP_MIN else min(moved, gap)
    if now < project.updated_at:
        return ClockJump(project.updated_at, now, by if by < -JUMP_MIN else UNKNOWN)
    return ClockJump(project.updated_at, now, by) if by > JUMP_MIN else None


def _measure_jump(now: str, project: LastWrite, uptime: UptimeCounter | None) -> timedelta | None:
    if uptime is None or project.machine_start is None:
        return None
    boot_id, _, started_at = project.machine_start.partition(" ")
    return compute_difference(now, started_at) - uptime() if boot_id == uptime.boot_id else None


def find_time_of_read(now: str, project: LastWrite, uptime: UptimeCounter | None) -> tuple[str, ClockJump | None]:
    """Return the time of a read, and the jump. A read cannot move leases, so its own time is corrected instead."""
    last = project.updated_at
    if now < last <= subtract_time(now, -JUMP_MIN):
        return last, None
    jump = find_jump(now, project, uptime)
    return (now if jump is None or jump.is_back else subtract_time(now, jump.by)), jump


def _format_span(span: timedelta) -> str:
    return str(timedelta(seconds=round(span.total_seconds())))
