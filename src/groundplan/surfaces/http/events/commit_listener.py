"""Wake those who watch a project or an organization when it has changed. One thread waits for all of them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Hashable
from typing import NamedTuple

from groundplan.kernel.errors import Unavailable, Unexpected
from groundplan.kernel.store.store import CommitWatch, SeenCommits, Store, TryAgain, WatchedProject

RETRY_S = 1.0  # after a wait that failed because the store was busy
CLOSE_S = 1.0  # for the thread; PostgreSQL lets it wait for a quarter of that


class _Subscription(NamedTuple):
    watched: WatchedProject
    wake: Callable[[], None]


class CommitListener:
    """The subscriptions of a server. Its methods are called on the event loop, and so is `wake` of a subscription."""

    def __init__(self, store: Store, log: Callable[[], Unexpected]) -> None:
        self._store = store
        self._log = log
        self._subscriptions: dict[Hashable, _Subscription] = {}
        self._thread: threading.Thread | None = None
        self._has_subscriptions = threading.Event()
        self._closing = threading.Event()

    def subscribe(self, subscriber: Hashable, watched: WatchedProject, wake: Callable[[], None]) -> None:
        """Call `wake` after each change, and once at the beginning."""
        self._subscriptions[subscriber] = _Subscription(watched, wake)
        self._has_subscriptions.set()
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(target=self._listen, args=(loop,), name="commits", daemon=True)
            self._thread.start()

    def unsubscribe(self, subscriber: Hashable) -> None:
        """Wake a subscriber no more."""
        self._subscriptions.pop(subscriber, None)
        if not self._subscriptions:
            self._has_subscriptions.clear()

    def close(self) -> None:
        """End the thread."""
        self._closing.set()
        self._has_subscriptions.set()
        if self._thread is not None:
            self._thread.join(CLOSE_S)

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Wait for commits until the listener is closed. Runs in a thread of its own."""
        watch: CommitWatch | None = None
        while not self._closing.is_set():
            self._has_subscriptions.wait()
            try:
                watch = watch or self._store.watch_commits()
                seen = watch.wait({one.watched for one in list(self._subscriptions.values())})
                if seen.projects and not self._closing.is_set():
                    loop.call_soon_threadsafe(self._wake, seen)
            except (Unavailable, TryAgain) as error:
                if isinstance(error, Unavailable) and error.code == "store_closed":
                    break
                self._closing.wait(RETRY_S)
            except RuntimeError:  # the event loop is closed
                break
            except Exception:
                self._log()
                self._closing.wait(RETRY_S)
        if watch is not None:
            watch.close()

    def _wake(self, seen: SeenCommits) -> None:
        for one in list(self._subscriptions.values()):
            if one.watched in seen.projects:
                one.wake()
