"""Write items as a checklist in Markdown: groups as headings, other items as boxes in the order of the tree.

In a checklist the boxes of a heading come before its subheadings, so they do here. A box cannot say that it is held.
"""

from __future__ import annotations

from collections.abc import Iterator

from groundplan.exchange.checklists.boxes import DONE_MARK, DROPPED_MARK, FATES, OPEN_MARK, OPTIONAL_SIGN, STARTED_MARKS
from groundplan.exchange.checklists.items import OPTIONAL_TAG, REQUIREMENTS, TEXT_SECTION
from groundplan.exchange.model import ItemNote, SourcePlan
from groundplan.markdown_lines import LEVEL_MAX
from groundplan.work.importing.source_items import SourceItem

FILE = "TODO.md"

_INDENT = "  "
_MARKS = {"done": DONE_MARK, "dropped": DROPPED_MARK, "open": OPEN_MARK, "held": OPEN_MARK}


def render(plan: SourcePlan) -> dict[str, str]:
    """Return the text of a checklist by its file name; what it cannot say is added to the notes of the plan."""
    children: dict[str | None, list[SourceItem]] = {}
    known = {item.source_id for item in plan.items}
    for item in plan.items:
        children.setdefault(item.parent if item.parent in known else None, []).append(item)
    for item in plan.items:
        if item.fate == "held" and not item.is_group:
            plan.lost.append(ItemNote(item.source_id, "hold", f"a box cannot be held: {item.hold_reason}"))
        if item.depends_on:
            plan.lost.append(ItemNote(item.source_id, "dependencies", "a box cannot wait for others"))
    lines = list(_iter_group(children, None, level=1))
    return {FILE: "\n".join(lines).strip("\n") + "\n"}


def _iter_group(children: dict[str | None, list[SourceItem]], parent: str | None, *, level: int) -> Iterator[str]:
    """Yield the lines below a heading, or those of the whole file."""
    below = children.get(parent, [])
    has_boxes = False
    for item in below:
        if not _is_heading(item, level):
            yield from _iter_box(children, item)
            has_boxes = True
    if has_boxes:
        yield ""
    for item in below:
        if _is_heading(item, level):
            yield f"{'#' * level} {_join_lines(item.title)}"
            yield ""
            if text := list(_iter_text(item)):
                yield from text
                yield ""
            # No deeper than headings can be; at most six calls are within each other.
            yield from _iter_group(children, item.source_id, level=level + 1)


def _is_heading(item: SourceItem, level: int) -> bool:
    return item.is_group and level <= LEVEL_MAX


def _iter_box(children: dict[str | None, list[SourceItem]], top: SourceItem) -> Iterator[str]:
    """Yield the lines of a box and of all boxes below it."""
    waiting = [(top, 0)]
    while waiting:
        item, depth = waiting.pop()
        sign = OPTIONAL_SIGN if OPTIONAL_TAG in item.tags else ""
        yield f"{_INDENT * depth}- [{_choose_mark(item)}]{sign} {_join_lines(item.title)}"
        yield from (f"{_INDENT * (depth + 1)}{line}" if line else "" for line in _iter_text(item))
        waiting += [(child, depth + 1) for child in reversed(children.get(item.source_id, ()))]


def _iter_text(item: SourceItem) -> Iterator[str]:
    """Yield the lines below a heading or box: its sections, and the requirements that it names."""
    for section in item.sections:
        if section.title != TEXT_SECTION:
            yield f"**{_join_lines(section.title)}**"
        yield from section.text.split("\n")
    names = item.properties.get(REQUIREMENTS)
    if isinstance(names, list) and names:
        yield f"- _Requirements: {', '.join(map(str, names))}_"


def _choose_mark(item: SourceItem) -> str:
    """Return the sign of the file that the item came from, while it still fits, else one for its fate."""
    given = item.source_status or ""
    if FATES.get(given) == item.fate:
        return given
    return STARTED_MARKS[0] if item.state and item.fate == "open" else _MARKS[item.fate]


def _join_lines(text: str) -> str:
    return " ".join(text.split("\n"))
