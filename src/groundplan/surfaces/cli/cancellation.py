"""Ctrl-C, SIGTERM and `--timeout` end the operation that a command runs; it is rolled back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from groundplan.kernel.cancellation import NO_LIMIT_S, Cancellation
from groundplan.kernel.operations.execute import ExecutionResult
from groundplan.kernel.operations.registry import Effect, Operation
from groundplan.session import Session
from groundplan.surfaces.cli.screen.progress import show_progress
from groundplan.surfaces.stop_signals import CommandCancelled, cancel_on_signals

# Commands take these from here: how work ends early, and how a person sees that it goes on.
__all__ = ["CommandCancelled", "CommandSession", "TimeoutOption", "cancel_on_signals", "show_progress"]

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
        self,
        operation: Operation[Any, Any],
        arguments: Any,
        cancellation: Cancellation | None = None,
        warnings: Sequence[str] = (),
    ) -> ExecutionResult:
        """As `Session.execute`."""
        limit_s = NO_LIMIT_S if operation.effect is Effect.READ and self.limit_s is None else self.limit_s
        with cancel_on_signals(limit_s) as by_signal:
            return super().execute(operation, arguments, cancellation or by_signal, warnings)
