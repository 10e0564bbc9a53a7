"""The view of an undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundplan.briefing.undo.undo import Undone
from groundplan.surfaces.cli.drawing import Lines, View
from groundplan.surfaces.cli.terminal import format_value


def _format_undone(answer: Undone) -> Iterator[str]:
    yield f"{'Would undo' if answer.dry_run else 'Undid'} {answer.undone} by {answer.did.operation}:"
    if answer.did.arguments:
        yield format_value(answer.did.arguments)


RENDERERS: dict[str, Callable[[Any], None]] = {"briefing.undo": View(Lines(_format_undone))}
