"""`groundplan next` as people type it every day, without the operation: in half of the time.

It prints what `dispatch.run_word` would print, or nothing at all; then `run_word` runs. It leaves to it all that is
unusual: other options, other settings, a file that is not as it should be, nothing to offer, a warning, long output.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from groundplan.discovery import DB_NAME
from groundplan.setting_sources import collect_settings, find_user_name, is_plain_name, is_plain_path, is_short_name

TYPE_CHECKING = False  # as in typing, which takes longer to import than all of this
if TYPE_CHECKING:
    from groundplan.setting_sources import Parsers

OPTIONS: Mapping[str, str] = {"--db": "db", "--agent": "agent", "--project": "project", "-P": "project"}
ORGANIZATION = "local"  # a copy of `LOCAL_ORGANIZATION`, whose module imports msgspec; a test compares them


def run(argv: Sequence[str]) -> int | None:
    """Show the best task and return the exit status; None if this is not as usual, and nothing was done."""
    if sys.stdout is None or sys.stderr is None:
        return None
    try:
        shown = _read_and_draw(_parse_options(argv))
    except Exception:  # whatever it is, the operation finds it again and reports it
        return None
    try:
        sys.stdout.write(shown)
        sys.stdout.flush()
    except BaseException as error:
        return _report(error)
    return 0


def _parse_options(argv: Sequence[str]) -> dict[str, str]:
    """Return the values of `--db PATH` or `--db=PATH`, and others. Raises an error for anything else."""
    given: dict[str, str] = {}
    rest = list(argv)
    while rest:
        text = rest.pop(0)
        name, has_value, value = text.partition("=") if text.startswith("--") else (text, "", "")
        given[OPTIONS[name]] = value if has_value else rest.pop(0)
    return given


def _require(is_usual: Callable[[str], bool], value: object, where: str) -> str:
    if isinstance(value, str) and is_usual(value):
        return value
    raise ValueError(where)


# The settings that may be given; others are unusual.
PARSERS: Parsers = {
    "db": lambda value, where: _require(is_plain_path, value, where),
    "project": lambda value, where: _require(is_plain_name, value, where),
    "agent": lambda value, where: _require(is_plain_name, value, where),
    "short_name": lambda value, where: _require(is_short_name, value, where),
}


def _read_and_draw(given: Mapping[str, str]) -> str:
    """Return what is to be printed, and remember the task. Raises an error if anything is unusual."""
    settings, _ = collect_settings(given, os.environ, PARSERS)
    db: str = settings.get("db", DB_NAME)
    agent = settings.get("agent") or _require(is_plain_name, find_user_name(), "user name")
    project = given.get("project") or settings.get("project")
    from groundplan.kernel.store.sqlite.connection import QuickRead, Unusual
    from groundplan.surfaces.cli.screen.output import Output, collect_lines
    from groundplan.surfaces.cli.screen.pager import fits_screen, join_lines
    from groundplan.surfaces.cli.screen.parts import print_parts
    from groundplan.surfaces.cli.short.last_id import remember
    from groundplan.surfaces.cli.short.offers import draw_offer
    from groundplan.work.graph.best_task import read_best_task

    with QuickRead(db, organization=ORGANIZATION, actor_id=agent) as tx:
        tx.choose_project(_require(is_plain_name, project, "--project") if project else tx.find_only_project())
        task = read_best_task(tx)
        tx.check_files()
    output = Output()
    with collect_lines() as lines:
        print_parts(draw_offer(task, output, "ready"))
    shown = join_lines(lines)
    if output.is_terminal and not fits_screen(shown, output):
        raise Unusual("long output")
    remember(db, agent, task.node.id)
    return shown


def _report(error: BaseException) -> int:
    """Report output that could not be written, as `run_word` does, and return the exit status."""
    from groundplan.surfaces.cli.failures import report_lost_output, run_guarded

    def fail() -> int:
        with report_lost_output():
            raise error

    return run_guarded(fail, as_json=False)
