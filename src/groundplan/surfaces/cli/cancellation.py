"""Ctrl-C, SIGTERM and `--timeout` end the operation that a command runs; it is rolled back."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Annotated, Any

import typer

from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.session import Session
from groundplan.surfaces.stop_signals import cancel_on_signals

PROGRESS_AFTER_S = 1.0
TIMEOUT_S_MIN = 0.001

TimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--timeout",
        metavar="SECONDS",
        min=TIMEOUT_S_MIN,
        help="Give up after this time; nothing is changed then. Default: no limit. Other writers wait meanwhile.",
        show_default=False,
    ),
]


class CommandSession(Session):
    """The session of a command. Signals cancel its operations, and reads have no limit: somebody can press Ctrl-C."""

    limit_s: float | None = None  # of a write; None: as configured

    def execute(
        self, operation: Operation[Any, Any], arguments: Any, cancellation: Cancellation | None = None
    ) -> ExecutionResult:
        """As `Session.execute`."""
        limit_s = NO_LIMIT_S if operation.effect is Effect.READ and self.limit_s is None else self.limit_s
        with cancel_on_signals(limit_s) as by_signal:
            return super().execute(operation, arguments, cancellation or by_signal)


@contextmanager
def show_progress(activity: str, *, as_json: bool) -> Iterator[None]:
    """Show on a terminal how long a command has been running, if it takes longer than a second."""
    if as_json or not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    ticker = threading.Thread(target=_tick, args=(activity, ended), daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()


def _tick(activity: str, ended: threading.Event) -> None:
    started_at, text = time.monotonic(), ""
    with suppress(OSError):  # stderr is closed
        while not ended.wait(PROGRESS_AFTER_S):
            elapsed_s = time.monotonic() - started_at
            text = f"{activity}, {elapsed_s:.0f} s; Ctrl-C cancels"
            sys.stderr.write(f"\r{text}")
            sys.stderr.flush()
        if text:
            sys.stderr.write(f"\r{' ' * len(text)}\r")
            sys.stderr.flush()
