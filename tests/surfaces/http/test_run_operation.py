"""Operations run in a bounded number of threads, and a client that is gone is not waited for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from groundplan.surfaces.http.run_operation import OperationPool

DISCONNECT = {"type": "http.disconnect"}


@contextmanager
def operation_pool(threads: int) -> Iterator[OperationPool]:
    pool = OperationPool(threads)
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
