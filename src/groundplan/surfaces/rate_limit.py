"""Limit the rate of requests for each principal, by a token bucket in memory.

A bucket holds up to `burst` requests and refills at a constant rate. The number of buckets is bounded: the one that was
idle longest is dropped first, and it is full again by then unless more principals are active than there are buckets.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import NamedTuple


class _Bucket(NamedTuple):
    level: float
    at_s: float


class RateLimiter:
    """The requests that each principal may still send. Safe to use from several threads."""

    def __init__(
        self,
        *,
        per_s: float,
        burst: int,
        principals_max: int = 10_000,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if per_s <= 0 or burst < 1 or principals_max < 1:
            raise ValueError("per_s must be positive, burst and principals_max at least 1")
        self._per_s = per_s
        self._burst = float(burst)
        self._principals_max = principals_max
        self._clock = clock
        self._buckets: OrderedDict[Hashable, _Bucket] = OrderedDict()  # the one that was idle longest is first
        self._lock = threading.Lock()

    def admit(self, principal: Hashable) -> float:
        """Count a request, and return 0; or count nothing, and return after how many seconds to retry."""
        with self._lock:
            now_s = self._clock()
            level = self._get_level(principal, now_s)
            retry_after_s = 0.0 if level >= 1 else (1 - level) / self._per_s
            self._buckets[principal] = _Bucket(level if retry_after_s else level - 1, now_s)
            self._buckets.move_to_end(principal)
            if len(self._buckets) > self._principals_max:
                self._buckets.popitem(last=False)
            return retry_after_s

    def _get_level(self, principal: Hashable, now_s: float) -> float:
        bucket = self._buckets.get(principal)
        if bucket is None:
            return self._burst
        # A clock that runs backwards must not take requests away.
        return min(self._burst, bucket.level + max(0.0, now_s - bucket.at_s) * self._per_s)

    def __len__(self) -> int:
        return len(self._buckets)
