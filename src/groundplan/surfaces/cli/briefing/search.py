"""The view of a search."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import UNSET

from groundplan.briefing.search import Hit, Hits
from groundplan.surfaces.cli.drawing import Lines, Rows, View


def _format_found(hit: Hit) -> str:
    return hit.snippet if hit.title is UNSET or hit.title in hit.snippet else f"{hit.title}: {hit.snippet}"


def _format_more(answer: Hits) -> Iterator[str]:
    if answer.more:
        yield f"More in {', '.join(answer.more)}; add words, or name a slice."


RENDERERS: dict[str, Callable[[Any], None]] = {
    "briefing.search": View(
        Rows("hits", "slice, kind, ref", ("found", _format_found), "project", empty="Nothing found.", whole=("ref",)),
        Lines(_format_more),
    ),
}
