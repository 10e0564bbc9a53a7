"""Show long output in a pager: only on a terminal, and only if it is longer than the screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence

from groundplan.surfaces.cli.screen.output import Output, collect_lines

PAGER_VARIABLE = "PAGER"
PAGER_DEFAULT = "less"
LESS_OPTIONS = "FRX"  # end at once if it fits, show colours, leave the text on the screen
NO_PAGERS = ("", "cat")


def print_paged(draw: Callable[[], None], *, wanted: bool = True) -> None:
    """Draw to standard output, through the pager if that is a terminal and the output is longer than it."""
    output = Output()
    if not (wanted and output.is_terminal and sys.stdin.isatty()):
        draw()
        return
    with collect_lines() as lines:
        draw()
    text = join_lines(lines)
    pager = [] if fits_screen(text, output) else choose_pager(os.environ)
    if not pager or not _show(pager, text):
        sys.stdout.write(text)


def join_lines(lines: Iterable[str]) -> str:
    """Return collected lines as they are printed."""
    return "".join(f"{line}\n" for line in lines)


def fits_screen(text: str, output: Output) -> bool:
    """Return whether a text and the next prompt fit on the terminal."""
    return text.count("\n") < output.lines


def choose_pager(environment: Mapping[str, str]) -> Sequence[str]:
    """Return the command of the pager; empty if the user wants none or the terminal cannot move its cursor."""
    if environment.get("TERM", "dumb") == "dumb":
        return []
    given = environment.get(PAGER_VARIABLE, PAGER_DEFAULT)
    if given.strip() in NO_PAGERS:
        return []
    import shlex  # here, because most output is short

    try:
        return shlex.split(given)
    except ValueError:  # a quotation mark without its partner
        return []


def _show(pager: Sequence[str], text: str) -> bool:
    """Return whether the pager could be started."""
    import subprocess

    environment = {"LESS": LESS_OPTIONS, **os.environ}
    sys.stdout.flush()
    try:
        # No shell: the variable names a program and its options.
        shown = subprocess.Popen(pager, stdin=subprocess.PIPE, env=environment)  # noqa: S603 - the user's own pager
    except OSError:
        return False
    try:
        shown.communicate(text.encode("utf-8", "backslashreplace"))
    except KeyboardInterrupt:  # the pager handles it, and ends when the user leaves it
        shown.wait()
    return True
