"""Operations run in a bounded number of threads, and a client that is gone is not waited for."""

from __future__ import annotations

import asyncio
import gc
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import pytest

from groundplan.surfaces.http import operation_pool as run_operation
from groundplan.surfaces.http.operation_pool import OperationPool, give_turn_away

DISCONNECT = {"type": "http.disconnect"}


@contextmanager
def operation_pool(threads: int, turns: int | None = None) -> Iterator[OperationPool]:
    pool = OperationPool(threads, turns)
    try:
        yield pool
    finally:
        pool.close()


async def never() -> Any:
    return await asyncio.Future()


async def gone() -> Any:
    return DISCONNECT


def test_no_more_operations_run_at_once_than_there_are_threads() -> None:
    running = threading.Semaphore(2)
    entered = threading.Barrier(2)

    def work() -> bool:
        is_free = running.acquire(blocking=False)
        entered.wait(timeout=10)  # two at a time
        running.release()
        return is_free

    async def run_all(pool: OperationPool) -> list[bool | None]:
        return await asyncio.gather(*(pool.run(work, never) for _ in range(6)))

    with operation_pool(2) as pool:
        assert asyncio.run(run_all(pool)) == [True] * 6


def test_an_operation_that_waits_for_a_thread_is_dropped_when_its_client_is_gone() -> None:
    free, has_run = threading.Event(), threading.Event()

    def mark() -> bool:
        has_run.set()
        return True

    async def run_both(pool: OperationPool) -> Any:
        first = asyncio.ensure_future(pool.run(lambda: free.wait(timeout=10), never))
        await asyncio.sleep(0)  # the only thread is taken
        dropped = await pool.run(mark, gone)
        free.set()
        return await first, dropped

    with operation_pool(1) as pool:
        assert asyncio.run(run_both(pool)) == (True, None)
    assert not has_run.is_set()


def test_an_operation_that_runs_is_not_cut_off_and_its_client_is_not_waited_for() -> None:
    started, free, has_ended = threading.Event(), threading.Event(), threading.Event()

    def work() -> bool:
        started.set()
        free.wait(timeout=10)
        has_ended.set()
        return True

    with operation_pool(1) as pool:
        assert asyncio.run(pool.run(work, gone)) is None
        assert started.is_set()
        assert not has_ended.is_set()
        free.set()
    assert has_ended.is_set()


def test_an_operation_that_runs_is_told_that_its_client_is_gone() -> None:
    started, cancelled = threading.Event(), threading.Event()

    def work() -> bool:
        started.set()
        return cancelled.wait(timeout=10)

    with operation_pool(1) as pool:
        assert asyncio.run(pool.run(work, gone, cancelled.set)) is None
        assert started.is_set()
        assert cancelled.is_set()


def test_nobody_is_told_when_the_client_gets_its_answer() -> None:
    cancelled = threading.Event()

    with operation_pool(1) as pool:
        assert asyncio.run(pool.run(lambda: 42, never, cancelled.set)) == 42
    assert not cancelled.is_set()


def test_a_failure_reaches_the_caller_also_when_it_comes_late() -> None:
    free = threading.Event()

    def fail() -> None:
        free.wait(timeout=10)
        raise ValueError("late")

    async def run_late(pool: OperationPool) -> str:
        running = asyncio.ensure_future(pool.run(fail, never))
        await asyncio.sleep(0)
        asyncio.get_running_loop().call_later(0.05, free.set)  # after the time in which nobody watches
        try:
            await running
        except ValueError as error:
            return str(error)
        return ""

    with operation_pool(1) as pool:
        assert asyncio.run(run_late(pool)) == "late"


class Rendezvous:
    """Two calls that can end only if both run at the same time."""

    def __init__(self, *, gives_away: bool) -> None:
        self._gives_away = gives_away
        self._second_runs = threading.Event()

    def wait(self) -> bool:
        if self._gives_away:
            give_turn_away()
        return self._second_runs.wait(timeout=10)

    def arrive(self) -> bool:
        self._second_runs.set()
        return True


async def run_both(pool: OperationPool, calls: Rendezvous) -> tuple[bool | None, ...]:
    return tuple(await asyncio.gather(pool.run(calls.wait, never), pool.run(calls.arrive, never)))


def test_with_one_turn_the_next_operation_begins_when_the_first_has_ended() -> None:
    running: list[int] = []
    most: list[int] = []

    def work() -> None:
        running.append(1)
        most.append(len(running))
        running.pop()

    async def run_all(pool: OperationPool) -> None:
        await asyncio.gather(*(pool.run(work, never) for _ in range(50)))

    with operation_pool(4, turns=1) as pool:
        asyncio.run(run_all(pool))
    assert most == [1] * 50


def test_an_operation_that_waits_gives_its_turn_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_operation, "TURN_S", 60.0)

    with operation_pool(2, turns=1) as pool:
        assert asyncio.run(run_both(pool, Rendezvous(gives_away=True))) == (True, True)


def test_an_operation_that_runs_for_long_loses_its_turn() -> None:
    with operation_pool(2, turns=1) as pool:
        assert asyncio.run(run_both(pool, Rendezvous(gives_away=False))) == (True, True)


def test_an_operation_whose_client_is_gone_keeps_nobody_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_operation, "TURN_S", 60.0)
    free = threading.Event()

    async def run_after_dropped(pool: OperationPool) -> Any:
        dropped = await pool.run(lambda: free.wait(timeout=10), gone)
        return dropped, await pool.run(lambda: 42, never)

    with operation_pool(2, turns=1) as pool:
        assert asyncio.run(run_after_dropped(pool)) == (None, 42)
        free.set()


def test_a_turn_that_is_given_away_twice_counts_once() -> None:
    def give_twice() -> None:
        give_turn_away()
        give_turn_away()

    async def run_all(pool: OperationPool) -> None:
        for _ in range(5):
            await pool.run(give_twice, never)
        assert await run_both(pool, Rendezvous(gives_away=True)) == (True, True)

    with operation_pool(2, turns=1) as pool:
        asyncio.run(run_all(pool))
    assert pool._free_turns == 1


def test_operations_one_after_the_other_run_in_one_thread() -> None:
    async def run_all(pool: OperationPool) -> set[str | None]:
        return {await pool.run(lambda: threading.current_thread().name, never) for _ in range(20)}

    with operation_pool(4, turns=1) as pool:
        assert len(asyncio.run(run_all(pool))) == 1


def test_operations_that_end_while_others_wait_are_reported_together(monkeypatch: pytest.MonkeyPatch) -> None:
    all_wait, woken = threading.Event(), []

    async def run_all(pool: OperationPool) -> list[bool | None]:
        loop = asyncio.get_running_loop()
        wake = loop.call_soon_threadsafe

        def count(run: Any, *given: Any, context: Any = None) -> asyncio.Handle:
            woken.append(1)
            return wake(run, *given, context=context)

        monkeypatch.setattr(loop, "call_soon_threadsafe", count)
        calls = [asyncio.ensure_future(pool.run(lambda: all_wait.wait(timeout=10), never)) for _ in range(33)]
        await asyncio.sleep(0)
        all_wait.set()
        return await asyncio.gather(*calls)

    with operation_pool(4, turns=1) as pool:
        assert asyncio.run(run_all(pool)) == [True] * 33
    assert len(woken) < 20


def test_an_operation_that_has_ended_does_not_wait_for_a_long_one_behind_it() -> None:
    has_answer, all_wait = threading.Event(), threading.Event()

    async def run_three(pool: OperationPool) -> tuple[bool | None, ...]:
        first = asyncio.ensure_future(pool.run(lambda: all_wait.wait(timeout=10), never))
        others = [asyncio.ensure_future(pool.run(lambda: has_answer.wait(timeout=10), never)) for _ in range(2)]
        await asyncio.sleep(0)
        all_wait.set()
        answer = await first
        has_answer.set()
        return (answer, *await asyncio.gather(*others))

    with operation_pool(2, turns=1) as pool:
        assert asyncio.run(run_three(pool)) == (True, True, True)


def test_a_closed_pool_ends_what_waits_and_takes_nothing_more() -> None:
    started, free = threading.Event(), threading.Event()

    def work() -> bool:
        started.set()
        return free.wait(timeout=10)

    async def close_while_waiting(pool: OperationPool) -> list[bool | None]:
        running = [asyncio.ensure_future(pool.run(work, never)) for _ in range(2)]
        await asyncio.sleep(0)
        started.wait(timeout=10)
        closing = asyncio.get_running_loop().run_in_executor(None, pool.close)
        second = await running[1]
        free.set()
        await closing
        with pytest.raises(RuntimeError):
            await pool.run(work, never)
        return [await running[0], second]

    assert asyncio.run(close_while_waiting(OperationPool(1))) == [True, None]


def test_calls_wait_for_the_threads_that_there_are_if_no_other_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start
    started: list[threading.Thread] = []

    def start_one(thread: threading.Thread) -> None:
        if started:
            raise RuntimeError("can't start new thread")
        started.append(thread)
        start(thread)

    async def run_all(pool: OperationPool) -> list[int | None]:
        return await asyncio.gather(*(pool.run(partial(abs, number), never) for number in range(6)))

    monkeypatch.setattr(threading.Thread, "start", start_one)
    with operation_pool(3) as pool:
        assert asyncio.run(run_all(pool)) == list(range(6))


def test_a_call_is_refused_where_no_thread_can_be_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run_one(pool: OperationPool) -> None:
        with pytest.raises(RuntimeError, match="no thread"):
            await pool.run(lambda: 1, never)

    with operation_pool(3) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", fail)
            asyncio.run(run_one(pool))
        assert asyncio.run(pool.run(lambda: 2, never)) == 2


def test_an_error_does_not_keep_its_request_in_memory() -> None:
    class Request:
        """What a call has in memory."""

    kept: list[weakref.ref[Request]] = []

    def refuse() -> None:
        request = Request()
        kept.append(weakref.ref(request))
        raise ValueError(request)

    async def run_one(pool: OperationPool) -> None:
        with suppress(ValueError):
            await pool.run(refuse, never)

    gc.disable()
    try:
        with operation_pool(1) as pool:
            asyncio.run(run_one(pool))
        assert kept[0]() is None
    finally:
        gc.enable()
