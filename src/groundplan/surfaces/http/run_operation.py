"""Run operations in threads, and stop waiting for one whose client is gone.

Operations are synchronous, so the event loop hands them to a bounded pool. Its threads live as long as the pool,
because each thread has its own connection to the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Thread
from typing import Any, TypeVar

T = TypeVar("T")

THREADS_MAX = 16
UNWATCHED_S = 0.02  # most operations end sooner; to watch for a disconnection costs a task for each request


class OperationPool:
    """The threads in which operations run."""

    def __init__(self, threads_max: int = THREADS_MAX) -> None:
        self._threads = ThreadPoolExecutor(threads_max, thread_name_prefix="operation")

    async def run(
        self, call: Callable[[], T], receive: Callable[[], Awaitable[Any]], cancel: Callable[[], None] = lambda: None
    ) -> T | None:
        """Return what a call returns; None if the client disconnects first. The body must have been received.

        A call that waits for a thread is then dropped. One that runs is told by `cancel`; without it, it goes on to its
        end: a write is committed or rolled back as a whole, and the client can ask with its idempotency key.
        """
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[None] = loop.create_future()
        watching: list[asyncio.Task[None]] = []
        submitted = self._threads.submit(call)
        submitted.add_done_callback(lambda _: loop.call_soon_threadsafe(_set_done, ended))
        timer = loop.call_later(UNWATCHED_S, lambda: watching.append(loop.create_task(_watch(receive, ended))))
        try:
            await ended
        finally:
            timer.cancel()
            for task in watching:
                task.cancel()
            is_dropped = not submitted.done()
            if is_dropped and not submitted.cancel():  # it does not wait for a thread any more
                Thread(target=cancel, daemon=True).start()  # PostgreSQL is told over a connection of its own
        return None if is_dropped else submitted.result()

    def close(self) -> None:
        """Wait for running calls, drop waiting ones, and end the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)


def _set_done(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


async def _watch(receive: Callable[[], Awaitable[Any]], ended: asyncio.Future[None]) -> None:
    """Mark a request as ended when its client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    _set_done(ended)
