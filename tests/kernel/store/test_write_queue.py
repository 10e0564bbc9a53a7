"""The write queue: one writer at a time across threads and processes, and never a deadlock."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest

from groundplan.kernel.cancellation import Cancellation, Cancelled
from groundplan.kernel.errors import Unavailable
from groundplan.kernel.store.sqlite.write_queue import QueueStuck, WriteQueue

SHORT_S = 0.05  # enough for a free lock, and the longest wait for one that is not

HOLDER = """
import sys
from pathlib import Path
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
with WriteQueue(Path(sys.argv[1])).hold_lock():
    print("mine", flush=True)
    sys.stdin.read()
"""
INTERRUPTED = """
import signal, sys
from pathlib import Path
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
signal.signal(signal.SIGALRM, signal.default_int_handler)
try:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    with WriteQueue(Path(sys.argv[1])).hold_lock():
        print("mine", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
sys.stdin.read()
"""
COUNTER = """
import sys
from pathlib import Path
from groundplan.kernel.store.sqlite.write_queue import WriteQueue
turnstile, tally = WriteQueue(Path(sys.argv[1])), Path(sys.argv[2])
for _ in range(int(sys.argv[3])):
    with turnstile.hold_lock():
        tally.write_text(str(int(tally.read_text()) + 1))
"""


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    return tmp_path / "plan.db"


@contextmanager
def run_child(script: str, plan: Path, *, says: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has printed something, and ends with its standard input."""
    command = [sys.executable, "-c", script, str(plan)]
    with subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{says}\n"
        yield process


def hold_in_process(plan: Path) -> AbstractContextManager[subprocess.Popen[str]]:
    return run_child(HOLDER, plan, says="mine")


@contextmanager
def hold_in_thread(plan: Path) -> Iterator[None]:
    taken, let_go = threading.Event(), threading.Event()

    def hold() -> None:
        with WriteQueue(plan).hold_lock():
            taken.set()
            let_go.wait()

    with ThreadPoolExecutor(1) as pool:
        pool.submit(hold)
        taken.wait()
        try:
            yield
        finally:
            let_go.set()


def is_free(plan: Path) -> bool:
    try:
        with WriteQueue(plan, wait_s=SHORT_S).hold_lock():
            return True
    except QueueStuck:
        return False


def test_a_thread_waits_while_another_one_has_its_turn(plan: Path) -> None:
    with hold_in_thread(plan):
        assert not is_free(plan)
        assert is_free(plan.with_name("other.db"))

    with WriteQueue(plan).hold_lock():
        pass


def test_threads_of_one_turnstile_exclude_each_other_too(plan: Path) -> None:
    turnstile = WriteQueue(plan)
    inside = 0
    most_inside = 0

    def count(_: int) -> None:
        nonlocal inside, most_inside
        for _ in range(50):
            with turnstile.hold_lock():
                inside += 1
                most_inside = max(most_inside, inside)
                os.sched_yield()
                inside -= 1

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count, range(4)))

    assert most_inside == 1


@pytest.mark.slow
def test_processes_that_take_turns_lose_nothing(plan: Path) -> None:
    tally = plan.with_name("tally")
    tally.write_text("0")
    command = [sys.executable, "-c", COUNTER, str(plan), str(tally), "50"]

    counters = [subprocess.Popen(command) for _ in range(4)]

    assert [counter.wait() for counter in counters] == [0] * 4
    assert tally.read_text() == "200"


@pytest.mark.slow
def test_a_stuck_holder_is_reported_and_the_queue_moves_again_when_it_lets_go(plan: Path) -> None:
    impatient = WriteQueue(plan, wait_s=SHORT_S)

    with hold_in_process(plan):
        for _ in range(3):
            with pytest.raises(QueueStuck) as stuck, impatient.hold_lock():
                pass
    assert (stuck.value.code, stuck.value.details) == ("store_busy", {"waited_s": SHORT_S})

    with WriteQueue(plan).hold_lock():
        assert not is_free(plan)
    # Waiters that gave up may still get the lock one after the other, and release it at once.
    assert any(is_free(plan) for _ in range(100))


@pytest.mark.slow
def test_a_thread_that_gives_up_again_and_again_leaves_one_waiter_and_no_open_file(plan: Path) -> None:
    impatient = WriteQueue(plan, wait_s=SHORT_S)
    with hold_in_process(plan):
        before = threading.active_count()
        for _ in range(5):
            with pytest.raises(QueueStuck), impatient.hold_lock():
                pass

        assert threading.active_count() == before + 1
        assert [count_open(plan.with_name(f"plan.db-{name}")) for name in ("gate", "lock")] == [1, 1]
    with WriteQueue(plan).hold_lock():
        pass
    assert any(threading.active_count() == before for _ in range(100_000))


@pytest.mark.slow
def test_a_wait_ends_when_the_request_is_cancelled(plan: Path) -> None:
    cancellation = Cancellation()
    with hold_in_process(plan), ThreadPoolExecutor(1) as pool:

        def wait() -> None:
            with WriteQueue(plan).hold_lock(cancellation):
                pass

        waiting = pool.submit(wait)
        cancellation.cancel("enough")
        with pytest.raises(Cancelled):
            waiting.result()


@pytest.mark.slow
def test_somebody_who_gave_up_waiting_does_not_keep_the_gate(plan: Path) -> None:
    with hold_in_process(plan):
        assert not is_free(plan)

        with plan.with_name("plan.db-gate").open("r+b") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.slow
def test_a_holder_that_is_killed_lets_go(plan: Path) -> None:
    with hold_in_process(plan) as holder:
        assert not is_free(plan)
        holder.send_signal(signal.SIGKILL)
        holder.wait()

        with WriteQueue(plan).hold_lock():
            pass


def test_a_turn_that_fails_is_over(plan: Path) -> None:
    with pytest.raises(RuntimeError, match="a defect"), WriteQueue(plan).hold_lock():
        raise RuntimeError("a defect")

    assert is_free(plan)


@pytest.mark.slow
def test_somebody_who_was_interrupted_while_waiting_does_not_get_the_lock_for_good(plan: Path) -> None:
    with hold_in_process(plan) as holder, run_child(INTERRUPTED, plan, says="interrupted"):
        holder.communicate()

        assert any(is_free(plan) for _ in range(100))


def count_open(path: Path) -> int:
    """Return how many open files of this process are this path."""
    times = 0
    for entry in Path("/dev/fd").iterdir():
        with suppress(OSError):  # the descriptor of the listing itself is closed by now
            times += os.path.samestat(os.fstat(int(entry.name)), path.stat())
    return times


def test_threads_and_turnstiles_that_are_gone_leave_no_open_file(plan: Path) -> None:
    def one_turn(turnstile: WriteQueue) -> None:
        with turnstile.hold_lock():
            pass

    lasting = WriteQueue(plan)
    one_turn(lasting)
    for _ in range(10):
        thread = threading.Thread(target=one_turn, args=(lasting,))
        thread.start()
        thread.join()
        one_turn(WriteQueue(plan))

    assert [count_open(plan.with_name(f"plan.db-{name}")) for name in ("gate", "lock")] == [1, 1]


@pytest.mark.parametrize("is_contended", [False, True])
def test_a_lock_that_fails_is_not_taken_for_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_contended: bool
) -> None:
    def failing(_file: object, how: int) -> None:
        if how & fcntl.LOCK_NB and is_contended:
            raise BlockingIOError
        if how & fcntl.LOCK_EX:
            raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", failing)

    with pytest.raises(Unavailable) as refused, WriteQueue(tmp_path / "plan.db").hold_lock():
        pass

    assert refused.value.code == "store_cannot_open"
