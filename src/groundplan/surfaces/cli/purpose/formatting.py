"""Words, keys and colours in the terminal output of the purpose slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from groundplan.surfaces.cli.drawing import list_columns, read
from groundplan.surfaces.cli.terminal import join_first

ARROW = " -> "
REFS_SHOWN_MAX = 12
# The colours of bands, results and statuses.
STYLES = {
    "green": "green",
    "amber": "yellow",
    "red": "red",
    "passed": "green",
    "waived": "yellow",
    "failed": "red",
    "not_applicable": "dim",
    "holding": "green",
    "at_risk": "yellow",
    "refuted": "red",
    "untested": "dim",
}


def pluralize(count: int, one: str) -> str:
    """Return a count with its noun in singular or plural."""
    several = "activities" if one == "activity" else f"{one}s"
    return f"{count} {one if count == 1 else several}"


def humanize(name: str) -> str:
    """Return a wire name with spaces instead of underscores."""
    return name.replace("_", " ")


def format_refs(refs: Sequence[str]) -> str:
    """Return the first refs, or a text that says that the whole check is meant."""
    if not refs:
        return "the check as a whole"
    return join_names(refs)


def join_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the rest."""
    return join_first(names, REFS_SHOWN_MAX)


def list_named_keys(item: Any, lists: str) -> Iterator[str]:
    """Yield a line for each list of keys that is not empty, with the name of its field or another before a colon."""
    for heading, field in list_columns(lists):
        if keys := read(item, field):
            yield f"{heading}: {join_names(keys)}"
