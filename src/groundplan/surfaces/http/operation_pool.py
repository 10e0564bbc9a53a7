"""Run operations in threads, and stop waiting for an operation if its client disconnects.

Operations are synchronous, so the event loop hands them to a bounded pool. Its threads live as long as the pool,
because each thread has its own connection to the store.

    thread A   call 1 ── call 2 ── (gives its turn away: waits for a commit) ················▶ ends call 2
    thread B   wait ·············· call 3 ── call 4 ── call 5 ── …

Python runs one thread at a time, and every statement of SQLite lets another one run. Threads that all have work would
take over from each other at each statement, which costs more than the statement. So a call needs a turn to begin. Its
thread gives the turn away when it waits for a commit, and a call that runs for long loses it. For the same reason the
event loop, which is a thread as well, hears of several ended calls at once as long as others wait.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from queue import SimpleQueue
from time import monotonic
from typing import Any, TypeVar, cast

T = TypeVar("T")
Receive = Callable[[], Awaitable[Any]]

THREADS_MAX = 16
TURN_S = 0.01  # a call that runs for longer does not keep others waiting
UNWATCHED_S = 0.02  # most operations end sooner; to watch for a disconnection costs a task for each request
SWEEP_S = 0.01  # how often open calls are looked at: one timer for all of them
REPORTED_TOGETHER = 8  # ended calls, at most

_thread = threading.local()  # `call`: the call that the thread runs, if it is one of a pool


def give_turn_away() -> None:
    """Let the pool begin another call, because the calling thread is about to wait."""
    call: _Call | None = getattr(_thread, "call", None)
    if call is not None:
        call.pool.end_turn(call)


class OperationPool:
    """The threads that run operations. `turns` is the maximum of running calls, by default one for each thread."""

    def __init__(self, threads_max: int = THREADS_MAX, turns: int | None = None) -> None:
        self._threads_max = threads_max
        self._lock = threading.Lock()  # guards the next six
        self._free_turns = threads_max if turns is None else turns
        self._waiting: deque[_Call] = deque()  # for a turn
        # The one that ran last is the first to run again: its connection has read what the next call reads.
        self._idle: list[_Worker] = []
        self._workers: list[_Worker] = []
        self._unreported: list[_Call] = []  # that have ended
        self._is_closed = False
        self._open: set[_Call] = set()  # calls that a client waits for; used by the event loop alone
        self._swept_loop: asyncio.AbstractEventLoop | None = None  # whose timer looks at them

    async def run(self, call: Callable[[], T], receive: Receive, cancel: Callable[[], None] = lambda: None) -> T | None:
        """Return the result of a call; None if the client disconnects first. The body must have been received.

        A call that waits for a thread is then dropped. One that runs is told by `cancel`; without it, it goes on to its
        end: a write is committed or rolled back as a whole, and the client can ask with its idempotency key.
        """
        loop = asyncio.get_running_loop()
        submitted = _Call(self, call, receive, loop)
        self._submit(submitted)
        self._open.add(submitted)
        if self._swept_loop is not loop:
            self._swept_loop = loop
            loop.call_later(SWEEP_S, self._sweep, loop)
        try:
            await submitted.ended
        finally:
            self._open.discard(submitted)
            if submitted.watching is not None:
                submitted.watching.cancel()
            is_dropped = not submitted.has_ended
            if is_dropped and not self._withdraw(submitted):
                self.end_turn(submitted)
                threading.Thread(target=cancel, daemon=True).start()  # PostgreSQL is told over a connection of its own
        return None if is_dropped else cast("T", submitted.get_result())

    def end_turn(self, call: _Call) -> None:
        """Let another call begin before this one has ended."""
        with self._lock:
            if call.has_turn:
                call.has_turn = False
                self._free_turns += 1
                self._begin_calls()
        self._report_all()

    def close(self) -> None:
        """Wait for running calls, drop waiting calls, and end the threads."""
        with self._lock:
            self._is_closed = True
            dropped = list(self._waiting)
            self._waiting.clear()
            idle, self._idle = self._idle, []
        _report(dropped)
        for worker in idle:
            worker.inbox.put(None)
        for worker in self._workers:
            worker.thread.join()

    def _submit(self, call: _Call) -> None:
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the pool of operations is closed")
            self._waiting.append(call)
            self._begin_calls()
            if not self._workers:
                self._waiting.remove(call)
                raise RuntimeError("no thread can be started")

    def _begin_calls(self) -> None:
        """Give waiting calls to threads while there are turns and threads. The lock is held."""
        while self._waiting and self._free_turns:
            worker = self._idle.pop() if self._idle else self._start_worker()
            if worker is None:
                return
            self._free_turns -= 1
            worker.inbox.put(self._take_first())

    def _start_worker(self) -> _Worker | None:
        """Return a new thread; None if there are enough threads, or the system allows no more."""
        if len(self._workers) >= self._threads_max:
            return None
        try:
            worker = _Worker(self._work, len(self._workers))
        except RuntimeError:  # the call waits for one of the others
            return None
        self._workers.append(worker)
        return worker

    def _take_first(self) -> _Call:
        call = self._waiting.popleft()
        call.has_turn = True
        call.began_at = monotonic()
        return call

    def _withdraw(self, call: _Call) -> bool:
        """Remove a waiting call. Return False if it has begun."""
        with self._lock:
            if call not in self._waiting:
                return False
            self._waiting.remove(call)
            return True

    def _work(self, worker: _Worker) -> None:
        """Run calls until the pool is closed."""
        while (call := worker.inbox.get()) is not None:
            following: _Call | None = call
            while following is not None:
                call = following
                _thread.call = call
                call.run()
                following = self._end(worker, call)
            _thread.call = call = None  # an idle thread must not keep what a request had in memory

    def _end(self, worker: _Worker, call: _Call) -> _Call | None:
        """Return the next call for a thread that keeps its turn. Without a call, the thread becomes idle."""
        following: _Call | None = None
        with self._lock:
            self._unreported.append(call)
            must_report = not self._waiting or len(self._unreported) >= REPORTED_TOGETHER
            if call.has_turn and self._waiting:
                following = self._take_first()
            else:
                self._free_turns += call.has_turn
                if self._is_closed:
                    worker.inbox.put(None)
                else:
                    self._idle.append(worker)
                    self._begin_calls()
            call.has_turn = False
        if must_report:
            self._report_all()
        return following

    def _report_all(self) -> None:
        """Tell the event loop which calls have ended."""
        with self._lock:
            ended, self._unreported = self._unreported, []
        _report(ended)

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take turns from calls that run for long, and watch the clients of calls that are open for long."""
        if self._swept_loop is not loop:
            return
        if not self._open:
            self._swept_loop = None
            return
        loop.call_later(SWEEP_S, self._sweep, loop)
        self._report_all()  # also those that wait for others
        now = monotonic()
        for call in self._open:
            if call.has_turn and now - call.began_at > TURN_S:
                self.end_turn(call)
            if call.watching is None and now - call.submitted_at > UNWATCHED_S:
                call.watching = loop.create_task(_watch(call.receive, call.ended))


class _Worker:
    """A thread, and the queue of its next call; None ends the thread."""

    def __init__(self, work: Callable[[_Worker], None], number: int) -> None:
        self.inbox: SimpleQueue[_Call | None] = SimpleQueue()
        self.thread = threading.Thread(target=work, args=(self,), name=f"operation_{number}", daemon=True)
        self.thread.start()


class _Call:
    """A call that waits for a turn, runs and ends, or is dropped while it waits."""

    __slots__ = (
        *("_error", "_result", "_run", "began_at", "ended", "has_ended", "has_turn", "loop", "pool", "receive"),
        *("submitted_at", "watching"),
    )

    def __init__(
        self, pool: OperationPool, run: Callable[[], Any], receive: Receive, loop: asyncio.AbstractEventLoop
    ) -> None:
        self.pool = pool
        self.receive = receive
        self.ended: asyncio.Future[None] = loop.create_future()
        self.has_ended = False
        self.has_turn = False  # guarded by the lock of the pool
        self.submitted_at = self.began_at = monotonic()
        self.watching: asyncio.Task[None] | None = None  # whether its client disconnects
        self._run = run
        self.loop = loop
        self._result: Any = None
        self._error: BaseException | None = None

    def run(self) -> None:
        """Run the call in the current thread."""
        try:
            self._result = self._run()
        except BaseException as error:
            self._error = error
        self.has_ended = True

    def get_result(self) -> Any:
        """Return the result of the call, or raise its error. It may be called once, because the error is not kept."""
        error, self._error = self._error, None
        if error is None:
            return self._result
        try:
            raise error
        finally:
            del error  # its traceback has this frame, and the request would stay in memory until the next collection


def _report(ended: list[_Call]) -> None:
    """Wake the waiting tasks, each in its event loop."""
    for loop in {call.loop for call in ended}:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits
            loop.call_soon_threadsafe(_set_all_done, [call.ended for call in ended if call.loop is loop])


def _set_all_done(ended: list[asyncio.Future[None]]) -> None:
    for call in ended:
        _set_done(call)


def _set_done(ended: asyncio.Future[None]) -> None:
    if not ended.done():
        ended.set_result(None)


async def _watch(receive: Receive, ended: asyncio.Future[None]) -> None:
    """Mark a request as ended when its client disconnects."""
    while (await receive())["type"] != "http.disconnect":
        pass
    _set_done(ended)
