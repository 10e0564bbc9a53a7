"""Time as Groundplan writes it: ISO 8601 in UTC with milliseconds, of one width, so that text order is time order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """The clock of this machine."""
    return datetime.now(UTC)


def format_timestamp(moment: datetime) -> str:
    """`2026-11-15T09:30:00.000Z`: what is stored and what every surface shows."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"  # instead of +00:00


def subtract_time(stamped: str, by: timedelta) -> str:
    """The stamp that lies `by` before another one."""
    return format_timestamp(datetime.fromisoformat(stamped) - by)
