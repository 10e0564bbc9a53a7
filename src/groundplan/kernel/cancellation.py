"""End a request early: at its time limit, or when another thread cancels it.

    the thread of the request   start ──▶ statement ──▶ check ──▶ statement ──▶ check ──▶ commit
    any other thread                          ▲ cancel(reason): interrupts the statement or the wait for a lock

Nothing checks after the commit, so a write that is committed is never reported as cancelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from time import monotonic

from groundplan.kernel.errors import Unavailable

WRITE_LIMIT_S = 10.0  # how long one write may keep other writers waiting
READ_LIMIT_S = 30.0  # a read keeps nobody waiting
NO_LIMIT_S = math.inf


class TimeLimitExceeded(Unavailable):
    """The request reached its time limit and was rolled back."""

    code = "time_limit"

    def __init__(self, limit_s: float, advice: str, *, is_write: bool) -> None:
        effect = ", and nothing was written" if is_write else ""
        super().__init__(f"this took longer than its limit of {limit_s:g} s{effect}; {advice}", limit_s=limit_s)


class Cancelled(Unavailable):
    """The request was cancelled and rolled back."""

    code = "cancelled"

    def __init__(self, reason: str, *, is_write: bool) -> None:
        super().__init__(f"{reason}, and nothing was written" if is_write else reason, reason=reason)


class Cancellation:
    """The time limit of one request, and the means to cancel it from any thread or signal handler."""

    __slots__ = ("_interrupt", "_is_write", "_limit_s", "_lock", "_reason", "ends_at", "limit_s", "was_interrupted")

    def __init__(self, limit_s: float | None = None) -> None:
        self.limit_s = limit_s  # set by the caller; None: the default of the session or the store
        self.ends_at = math.inf  # on the clock of `monotonic`; in the past as soon as the request is cancelled
        self.was_interrupted = False  # within the latest block of `interruptible`
        self._limit_s = NO_LIMIT_S
        self._is_write = False
        self._reason: str | None = None
        self._interrupt: Callable[[], None] | None = None
        # Reentrant: a signal handler may cancel while its own thread holds the lock.
        self._lock = RLock()

    def cancel(self, reason: str) -> None:
        """End the request as soon as possible. The reason of the first call begins the error message."""
        if self._reason is None:
            self._reason = reason
        self.ends_at = -math.inf
        with self._lock:
            if self._interrupt is not None:
                self.was_interrupted = True
                self._interrupt()

    @property
    def is_cancelled(self) -> bool:
        """True after somebody cancelled the request."""
        return self._reason is not None

    @property
    def is_over(self) -> bool:
        """True if the request must end now."""
        return monotonic() > self.ends_at

    @property
    def current_limit_s(self) -> float:
        """The current time limit in seconds; infinity if there is none."""
        return self._limit_s

    def prepare(self, default_s: float, *, is_write: bool) -> None:
        """Set the kind of the request, and its time limit if the caller has not set one."""
        self._limit_s = default_s if self.limit_s is None else self.limit_s
        self._is_write = is_write

    def start(self, wait_s: float = 0.0) -> None:
        """Restart the clock for an attempt. `wait_s` is the additional time to wait for a lock."""
        self.ends_at = monotonic() + self._limit_s + wait_s
        # After the assignment: another thread may have cancelled just before it.
        if self._reason is not None:
            self.ends_at = -math.inf

    def check(self) -> None:
        """Raise if the request must end."""
        if monotonic() > self.ends_at:
            raise self.build_error()

    def check_cancelled(self) -> None:
        """Raise Cancelled if the request was cancelled. Its time limit is ignored, because its time has not begun."""
        if self._reason is not None:
            raise self.build_error()

    def build_error(self) -> Unavailable:
        """Return the error for the end of the request."""
        if self._reason is not None:
            return Cancelled(self._reason, is_write=self._is_write)
        if self.limit_s is not None:
            advice = "allow more time"
        elif self._is_write:
            advice = "split it into smaller calls, or raise the setting write_timeout_s"
        else:
            advice = "ask for less at once"
        return TimeLimitExceeded(self._limit_s, advice, is_write=self._is_write)

    @contextmanager
    def interruptible(self, interrupt: Callable[[], None]) -> Iterator[None]:
        """Call `interrupt` if the request is cancelled within the block. The block waits for the end of that call.

        The block begins with a check, because the request may have been cancelled before it.
        """
        with self._lock:
            self._interrupt = interrupt
            self.was_interrupted = False
        try:
            yield
        finally:
            with self._lock:
                self._interrupt = None
