"""Trying again when the engine asks for it, and giving up in a bounded time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from groundplan.kernel.errors import Unavailable

T = TypeVar("T")

TRIES_MAX = 8
PAUSE_S_MAX = 0.05
RETRY_S_MAX = 30.0  # one attempt can itself wait for a lock; together they must not wait for ever


class TryAgain(Exception):
    """This attempt came to nothing through no fault of the caller."""


def retry(attempt: Callable[[], T]) -> T:
    """The answer of the first attempt that comes through.

    Raises:
        Unavailable: none did.
    """
    give_up_at = time.monotonic() + RETRY_S_MAX
    for tried in range(TRIES_MAX):
        try:
            return attempt()
        except TryAgain:
            if time.monotonic() > give_up_at:
                break
            # A random pause, so that two that met do not meet again at the same moment.
            time.sleep(random.uniform(0, PAUSE_S_MAX) * tried / TRIES_MAX)  # noqa: S311 - not a secret
    raise Unavailable("the store is too busy for this now; try again in a moment", code="store_busy")
