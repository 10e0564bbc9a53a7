"""The view of an undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from groundplan.briefing.undo.undo import Undone
from groundplan.surfaces.cli.drawing import Lines, View
from groundplan.surfaces.cli.terminal import format_value


def _format_undone(answer: Undone) -> Iterator[str]:
    if not answer.dry_run:
        yield f"{answer.text}."
        return
    yield f"Would be done by {answer.did.operation}: {answer.text}."
    if answer.did.arguments:
        yield format_value(answer.did.arguments)


RENDERERS: dict[str, Callable[[Any], None]] = {"briefing.undo": View(Lines(_format_undone))}
