"""The views of coverage, which names the command that goes on, and of the work that serves the plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from groundplan.briefing.coverage import Coverage
from groundplan.repository.git import WorkingCopy
from groundplan.surfaces.cli.drawing import GAP, Lines, Part, Rows, View

SHOWN_MAX = 5

# The name of each list for people, and the command that goes on with one of its entries.
GAPS = {
    "unserved": ("purpose that no work serves", "groundplan throughline {} --project PROJECT"),
    "serving_nothing": ("open work that serves nothing", "groundplan throughline {} --project PROJECT"),
    "without_evidence": ("indicators never measured", "groundplan purpose measure {} VALUE --project PROJECT"),
    "resolved_without_evidence": ("resolved work without evidence", "groundplan work context {}"),
    "required_unset": ("required facts without a value", "groundplan context view --project PROJECT"),
    "uncovered_files": ("files that no atom covers", "groundplan knowledge create NAME --type atom --path {}"),
}


class _GapRow(NamedTuple):
    gap: str
    number: int
    entries: str


def _list_gaps(answer: Coverage) -> Iterator[_GapRow]:
    for name, (title, _) in GAPS.items():
        count = getattr(answer.counts, name)
        if count:
            shown = getattr(answer, name)[:SHOWN_MAX]
            more = f" and {count - len(shown):,} more" if count > len(shown) else ""
            yield _GapRow(title, count, f"{', '.join(shown)}{more}")


def _list_next_steps(answer: Coverage) -> Iterator[str]:
    for name, (_, command) in GAPS.items():
        if entries := getattr(answer, name):
            # A file is from the root, where a typed pattern starts at the current folder.
            entry = WorkingCopy().spell_pattern(entries[0]) if name == "uncovered_files" else entries[0]
            yield command.format(entry)


def _note_left_out(answer: Coverage) -> Iterator[Part]:
    """Yield the files that were not checked; of the lists, the counts tell how long they are."""
    if unchecked := (answer.left_out or {}).get("unchecked_files"):
        yield from (GAP, f"Not checked: {unchecked} files, because there are too many")


RENDERERS: dict[str, Callable[[Any], None]] = {
    "briefing.coverage": View(
        Rows(_list_gaps, "gap, count: number, entries", empty="No gaps."),
        Lines(_list_next_steps, title="Next:"),
        _note_left_out,
        footer=(),
    ),
}
