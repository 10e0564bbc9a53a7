"""Retry a transaction when the engine requires it, for a limited time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from groundplan.kernel.errors import Unavailable

T = TypeVar("T")

TRIES_MAX = 8
PAUSE_S_MAX = 0.05
RETRY_S_MAX = 30.0  # for all attempts together, because each can wait for a lock


class TryAgain(Exception):
    """The attempt failed for a temporary reason and can be repeated."""


def retry(attempt: Callable[[], T]) -> T:
    """Return the answer of the first attempt that succeeds.

    Raises:
        Unavailable: no attempt succeeded.
    """
    give_up_at = time.monotonic() + RETRY_S_MAX
    for tried in range(TRIES_MAX):
        try:
            return attempt()
        except TryAgain:
            if time.monotonic() > give_up_at:
                break
            # A random pause, so that two conflicting writers do not collide again.
            time.sleep(random.uniform(0, PAUSE_S_MAX) * tried / TRIES_MAX)  # noqa: S311 - not a secret
    raise Unavailable("the store is too busy for this now; try again in a moment", code="store_busy")
