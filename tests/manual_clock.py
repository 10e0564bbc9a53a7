"""A clock that a test moves, and the uptime of its machine."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class ManualUptime:
    """The uptime of a machine, which only `ManualClock.move` advances."""

    def __init__(self, boot_id: str = "first-start") -> None:
        self.boot_id = boot_id
        self.elapsed = timedelta(days=3)

    def __call__(self) -> timedelta:
        return self.elapsed


class ManualClock:
    """A clock that stands still until `move` is called."""

    def __init__(self, now: datetime = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)) -> None:
        self.now = now
        self.uptime = ManualUptime()

    def __call__(self) -> datetime:
        return self.now

    def move(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)
        self.uptime.elapsed += timedelta(**by)

    def set_ahead(self, **by: float) -> None:
        """Set the clock while no time passes."""
        self.now += timedelta(**by)
