"""Show on a terminal that a command is still working: how long, at which step, and how much of it is done."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

from groundplan.kernel.operations.progress import watch_progress
from groundplan.surfaces.cli.screen.text import cut, escape_control_chars, measure

SHOWN_AFTER_S = 0.4  # short work shows nothing
REDRAWN_EVERY_S = 0.5
BAR_COLUMNS = 24
LINE_COLUMNS_MAX = 78  # a line that the terminal breaks could not be taken back

_is_shown: ContextVar[bool] = ContextVar("is_progress_shown", default=False)


class Progress:
    """What a command does now. The work sets it, and a thread shows it."""

    def __init__(self, activity: str) -> None:
        self.activity, self.step = activity, ""
        self.done = self.total = 0

    def name_step(self, step: str) -> None:
        """Say what the work is at; how much of this step is done is not known yet."""
        self.step = step
        self.done = self.total = 0

    def update(self, done: int, total: int) -> None:
        """Say how much of the work is done."""
        self.done, self.total = done, total

    def describe(self, elapsed_s: float) -> str:
        """Return the line to show."""
        parts = [self.activity, *([self.step] if self.step else [])]
        if self.total > 0:
            share = min(self.done / self.total, 1.0)
            filled = int(share * BAR_COLUMNS)
            parts.append(f"[{'#' * filled}{'.' * (BAR_COLUMNS - filled)}] {share:.0%}")
        line = f"{', '.join(parts[:2])} {' '.join(parts[2:])}".strip()
        return cut(escape_control_chars(f"{line}, {elapsed_s:.0f} s; Ctrl-C cancels"), LINE_COLUMNS_MAX)


@contextmanager
def show_progress(activity: str, *, as_json: bool) -> Iterator[Progress]:
    """Show the progress of work on stderr, if that is a terminal and the work takes longer than a moment.

    Work within other work that is shown adds nothing.
    """
    progress = Progress(activity)
    if as_json or _is_shown.get() or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield progress
        return
    ended = threading.Event()
    ticker = threading.Thread(target=_tick, args=(progress, ended), daemon=True)
    ticker.start()
    token = _is_shown.set(True)
    try:
        with watch_progress(progress.update):
            yield progress
    finally:
        _is_shown.reset(token)
        ended.set()
        ticker.join()


def _tick(progress: Progress, ended: threading.Event) -> None:
    started_at, text = time.monotonic(), ""
    wait_s = SHOWN_AFTER_S
    with suppress(OSError):  # stderr is closed
        while not ended.wait(wait_s):
            wait_s = REDRAWN_EVERY_S
            before, text = text, progress.describe(time.monotonic() - started_at)
            sys.stderr.write(f"\r{text}{' ' * (measure(before) - measure(text))}")
            sys.stderr.flush()
        if text:
            sys.stderr.write(f"\r{' ' * measure(text)}\r")
            sys.stderr.flush()
