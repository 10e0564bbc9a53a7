"""Draw again after every change of the plan, until Ctrl-C."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable

from groundplan.surfaces.cli.invocation import CommandResult, Invocation
from groundplan.surfaces.cli.screen.output import Output, collect_lines

# Claims end without a write, so what is shown is read again after this time.
REDRAW_AFTER_S = 30.0
PAUSE_S = 0.2  # between two looks at a counter in memory; a person does not notice it
HOME, CLEAR_LINE, CLEAR_BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
CLEAR, HIDE_CURSOR, SHOW_CURSOR = "\x1b[2J", "\x1b[?25l", "\x1b[?25h"


def watch(invocation: Invocation, first: CommandResult, pause: Callable[[float], None] = time.sleep) -> int:
    """Show a result and what it becomes, until Ctrl-C, and return the exit status.

    On a terminal it is drawn in place. Elsewhere it is printed again when it changed, so that a program can read it.
    """
    is_terminal = Output().is_terminal
    shown: list[str] | None = None
    result = first
    waiting = ChangeWait(invocation, pause)
    try:
        if is_terminal:
            sys.stdout.write(HIDE_CURSOR + CLEAR)
        while True:
            output = Output()
            with collect_lines() as lines:
                result.draw()
            if is_terminal:
                _redraw(lines, output)
            elif lines != shown:
                _print_again(lines, is_first=shown is None)
            shown = lines
            waiting.wait()
            result = (result.follow or first.follow or (lambda: first))()
    except KeyboardInterrupt:
        return 0
    finally:
        if is_terminal:
            sys.stdout.write(SHOW_CURSOR + "\n")
            sys.stdout.flush()


class ChangeWait:
    """Waits for a commit of any process, by a counter that costs next to nothing to read."""

    def __init__(self, invocation: Invocation, pause: Callable[[float], None]) -> None:
        from groundplan.kernel.store.store import WatchedProject

        self._pause = pause
        self._watch = invocation.store.watch_commits()
        projects = invocation.read("project.list").projects
        organization = "" if invocation.actor is None else invocation.actor.organization
        self._projects = [WatchedProject(organization, project.id) for project in projects]
        self._watch.wait(self._projects)  # the first look always finds all of them changed

    def wait(self) -> None:
        """Return after the next change, or after a while without one."""
        waited_s = 0.0
        while waited_s < REDRAW_AFTER_S:
            self._pause(PAUSE_S)
            waited_s += PAUSE_S
            if self._watch.wait(self._projects).projects:
                return


def _redraw(lines: Iterable[str], output: Output) -> None:
    """Draw lines over the previous ones, without a flicker; what is below the screen is left out."""
    shown = list(lines)[: output.lines - 1]
    sys.stdout.write(HOME + "".join(f"{line}{CLEAR_LINE}\r\n" for line in shown) + CLEAR_BELOW)
    sys.stdout.flush()


def _print_again(lines: Iterable[str], *, is_first: bool) -> None:
    text = "".join(f"{line}\n" for line in lines)
    sys.stdout.write(text if is_first else f"\n{text}")
    sys.stdout.flush()
