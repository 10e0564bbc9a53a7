"""Steps of a command: each returns what it did as data and as lines, and they are joined to one result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from groundplan.surfaces.cli.failures import print_warning
from groundplan.surfaces.cli.files import print_file, write_file
from groundplan.surfaces.cli.invocation import CommandResult
from groundplan.surfaces.cli.screen.output import GAP, Part, print_parts
from groundplan.surfaces.cli.terminal import INDENT


class Step(NamedTuple):
    """What a step did: data for `--json`, parts to print, and what is shown only once and therefore last."""

    data: dict[str, Any]
    parts: Iterable[Part] = ()
    secret: Sequence[str] = ()


def join_steps(*steps: Step, data: Any = None, exit_code: int = 0) -> CommandResult:
    """Return the result of steps, with their data as one object unless `data` says otherwise."""
    joined = {name: value for step in steps for name, value in step.data.items()}

    def draw() -> None:
        parts = [part for step in steps for part in (GAP, *step.parts)]
        print_parts([*parts, *(part for step in steps for part in (GAP, *step.secret))])

    return CommandResult(joined if data is None else data, draw, exit_code)


def write_answer(
    out: str, content: bytes, wrote: str, *, force: bool, data: dict[str, Any], more: Iterable[Part] = ()
) -> CommandResult:
    """Write a file, and return the result that says so."""
    write_file(out, content, force=force)
    return join_steps(Step(data, [f"Wrote {out}: {wrote}.", *more]))


def print_answer(text: str, data: Any, warnings: Iterable[str] = ()) -> CommandResult:
    """Return the result that prints a file to standard output, and warnings to standard error."""

    def draw() -> None:
        print_file(text)
        for warning in warnings:
            print_warning(warning)

    return CommandResult(data, draw)


def list_section(title: str, lines: Iterable[str]) -> Iterable[Part]:
    """Return lines below a title; nothing if there are none."""
    items = list(lines)
    return [GAP, title, *(f"{INDENT}{line}" for line in items)] if items else []
