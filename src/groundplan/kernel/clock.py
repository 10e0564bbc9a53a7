"""Timestamps: ISO 8601 in UTC with milliseconds and a fixed width, so that text order is time order."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the current time of this machine."""
    return datetime.now(UTC)


def format_timestamp(moment: datetime) -> str:
    """Return a timestamp as it is stored and shown: `2026-11-15T09:30:00.000Z`."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"  # instead of +00:00


def subtract_time(timestamp: str, delta: timedelta) -> str:
    """Return the timestamp that is `delta` earlier than `timestamp`."""
    return format_timestamp(datetime.fromisoformat(timestamp) - delta)
