"""Run operations in threads, and stop waiting for one whose client is gone.

Operations are synchronous, so the event loop hands them to a bounded pool. Its threads live as long as the pool,
because each thread has its own connection to the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

T = TypeVar("T")

THREADS_MAX = 16
UNWATCHED_S = 0.02  # most operations end sooner; to watch for a disconnection costs a task for each request


class OperationPool:
    """The threads in which operations run."""

    def __init__(self, threads_max: int = THREADS_MAX) -> None:
        self._threads = ThreadPoolExecutor(threads_max, thread_name_prefix="operation")

    async def run(self, call: Callable[[], T], receive: Callable[[], Awaitable[Any]]) -> T | None:
        """Return what a call returns; None if the client disconnects first. The body must have been received.

        A call that waits for a thread is then dropped. One that runs goes on to its end: a write is committed or rolled
        back as a whole, and the client can ask with its idempotency key. This is the place to cancel it.
        """
        submitted = self._threads.submit(call)
        running = asyncio.wrap_future(submitted)
        done, _ = await asyncio.wait((running,), timeout=UNWATCHED_S)
        if done:
            return running.result()
        watching = asyncio.ensure_future(_wait_for_disconnection(receive))
        try:
            await asyncio.wait((running, watching), return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            submitted.cancel()
            return None
        finally:
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    def close(self) -> None:
        """Wait for running calls, drop waiting ones, and end the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)


async def _wait_for_disconnection(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
