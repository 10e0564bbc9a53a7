"""One-time codes: whoever opens the address with one is logged in, once."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from hashlib import sha256

CODE_TTL_S = 900.0  # time to copy an address from a terminal, not to find it in yesterday's log


class LoginCodes:
    """The codes that were not used yet, in the memory of this process. Safe to use from several threads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._ends_s: dict[bytes, float] = {}  # by digest, so that no comparison tells how much of a code is right
        self._lock = threading.Lock()

    def issue(self) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._ends_s[_compute_digest(code)] = self._clock() + CODE_TTL_S
        return code

    def redeem(self, code: str) -> bool:
        """Return whether a code is valid, and use it up."""
        with self._lock:
            ends_s = self._ends_s.pop(_compute_digest(code), None)
            return ends_s is not None and self._clock() < ends_s


def _compute_digest(code: str) -> bytes:
    return sha256(code.encode("utf-8", "surrogatepass")).digest()
