"""React to SIGTERM and SIGINT immediately, even if the main thread runs a long statement.

Python runs a signal handler between two of its own instructions, so a statement of the database delays it. The
operating system writes every signal to a pipe as well, where a thread waits for it.
"""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from groundplan.kernel.cancellation import Cancellation, Cancelled

STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_END = b"\0"  # no signal has this number


@contextmanager
def handle_stop_signals(stop: Callable[[], None], *, end_within_s: float) -> Iterator[None]:
    """Call `stop` at the first signal, and end the process if the block does not end in time.

    `stop` is called on a thread, and once more on the main thread as soon as that runs Python. A second signal has its
    usual effect. Only the main thread can handle signals; on other threads this does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    read_fd, write_fd = os.pipe()
    os.set_blocking(write_fd, False)
    previous = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    previous_fd = signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)

    def handle_first(_number: int, _frame: Any) -> None:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        stop()  # before the main thread goes on, which may be faster than the thread

    for number in STOP_SIGNALS:
        signal.signal(number, handle_first)
    watcher = threading.Thread(target=_watch, args=(read_fd, stop, end_within_s), name="stop-signals", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(previous_fd)
        for number, handler in previous.items():
            signal.signal(number, handler or signal.SIG_DFL)
        os.write(write_fd, _END)
        watcher.join()
        os.close(read_fd)
        os.close(write_fd)


def _watch(fd: int, stop: Callable[[], None], end_within_s: float) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # they go to the main thread, which handles them
    number = _read_signal(fd)
    if number is None:
        return
    give_up_at = time.monotonic() + end_within_s
    stop()

    while select.select([fd], [], [], max(0.0, give_up_at - time.monotonic()))[0]:
        if os.read(fd, 1) == _END:
            return
    # The main thread is inside a statement or a call of the system, which no exception reaches. 128: as shells do.
    os._exit(128 + number)  # every store survives the end of a process at any moment


def _read_signal(fd: int) -> int | None:
    """Return the next stop signal, or None at the end."""
    while (byte := os.read(fd, 1)) != _END:
        if byte[0] in STOP_SIGNALS:
            return byte[0]
    return None


class CommandCancelled(BaseException):
    """A signal cancelled the operation of a command. Like KeyboardInterrupt it is not an Exception."""

    def __init__(self, error: Cancelled, number: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.exit_code = 128 + number  # as shells do


@contextmanager
def cancel_on_signals(limit_s: float | None) -> Iterator[Cancellation]:
    """Yield a cancellation for the first signal. A second signal has its usual effect."""
    cancellation = Cancellation(limit_s)
    if threading.current_thread() is not threading.main_thread():
        yield cancellation
        return
    previous = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    received: list[int] = []

    def restore() -> None:
        for number, handler in previous.items():
            signal.signal(number, handler or signal.SIG_DFL)

    def cancel(number: int, _frame: Any) -> None:
        restore()
        received.append(number)
        cancellation.cancel("the command was cancelled")

    for number in STOP_SIGNALS:
        signal.signal(number, cancel)
    try:
        yield cancellation
    except Cancelled as error:
        if not received:
            raise
        raise CommandCancelled(error, received[0]) from None
    finally:
        restore()
