"""The clock of the example, by which its writes are spread over the weeks before it was filled."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta

HISTORY_DAYS = 56

# Moves the clock to so many days before the fill, unless it is later already.
MoveTo = Callable[[float], None]


def stand_still(_days: float) -> None:
    """Leave the clock of the store as it is."""


class ExampleClock:
    """A clock that begins weeks ago and stands still until it is moved."""

    def __init__(self, filled_at: datetime) -> None:
        self._filled_at = filled_at
        self.restart()

    def __call__(self) -> datetime:
        return self._now

    def restart(self) -> None:
        """Go back to the beginning; every project has a history of its own."""
        self._now = self._filled_at - timedelta(days=HISTORY_DAYS)

    def move_to(self, days: float) -> None:
        """Move to so many days before the fill, and at least a minute on."""
        self._now = max(self._now + timedelta(minutes=1), self._filled_at - timedelta(days=days))


def find_day_of_fill(created_at: str, now: str, move_to: MoveTo) -> date:
    """Return the day on which a project of the example is filled, or was filled with a history of weeks.

    `now` is the time by the clock of its store.
    """
    created = date.fromisoformat(created_at[:10])
    with_history = created + timedelta(days=HISTORY_DAYS)
    is_with_history = move_to is not stand_still or with_history <= date.fromisoformat(now[:10])
    return with_history if is_with_history else created
