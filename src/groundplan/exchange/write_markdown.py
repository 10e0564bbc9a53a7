"""Write items as a checklist in Markdown: groups as headings, other items as boxes in the order of the tree.

In a checklist the boxes of a heading come before its subheadings, so they do here. A box cannot say that it is held.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from groundplan.exchange.checklists import (
    DONE_MARK,
    DROPPED_MARK,
    FATES,
    OPEN_MARK,
    OPTIONAL_SIGN,
    OPTIONAL_TAG,
    REQUIREMENTS,
    STARTED_MARKS,
    TEXT_SECTION,
    TOOL,
)
from groundplan.exchange.items import (
    PROPERTIES_OF_IMPORT,
    ItemNote,
    WrittenFiles,
    get_source_parent,
    index_by_source,
)
from groundplan.markdown_lines import LEVEL_MAX
from groundplan.work.importing.export import ExportedItem
from groundplan.work.kinds import FEATURE

NO_PLACE = "a checklist has no place for it"

_INDENT = "  "
_MARKS = {"done": DONE_MARK, "dropped": DROPPED_MARK, "open": OPEN_MARK, "held": OPEN_MARK}


def write_markdown(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return the text of a checklist."""
    written = WrittenFiles({})
    by_source = index_by_source(items, TOOL)
    children: dict[str | None, list[ExportedItem]] = {}
    for item in items:
        children.setdefault(get_source_parent(item, by_source), []).append(item)
        written.lost += _list_lost(item)
    lines = _iter_group(children, None, level=1)
    written.files[""] = "\n".join(lines).strip("\n") + "\n"
    return written


def _list_lost(item: ExportedItem) -> Iterator[ItemNote]:
    name = item.sources.get(TOOL, item.id)
    if item.fate == "held":
        yield ItemNote(name, "hold", f"a box cannot be held: {item.hold_reason}")
    if item.priority is not None:
        yield ItemNote(name, "priority", NO_PLACE)
    for field in ("depends_on", "links", "context_links"):
        if getattr(item, field):
            yield ItemNote(name, field, NO_PLACE)
    if any(one.type != "dropped" for one in item.evidence):
        yield ItemNote(name, "evidence", NO_PLACE)
    if any(tag != OPTIONAL_TAG for tag in item.tags):
        yield ItemNote(name, "tags", NO_PLACE)
    known = {*PROPERTIES_OF_IMPORT, REQUIREMENTS}
    yield from (ItemNote(name, one, NO_PLACE) for one in item.properties if one not in known)


def _iter_group(children: dict[str | None, list[ExportedItem]], parent: str | None, *, level: int) -> Iterator[str]:
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
            yield from _iter_group(children, item.id, level=level + 1)


def _is_heading(item: ExportedItem, level: int) -> bool:
    return item.kind == FEATURE and level <= LEVEL_MAX


def _iter_box(children: dict[str | None, list[ExportedItem]], top: ExportedItem) -> Iterator[str]:
    """Yield the lines of a box and of all boxes below it."""
    waiting = [(top, 0)]
    while waiting:
        item, depth = waiting.pop()
        sign = OPTIONAL_SIGN if OPTIONAL_TAG in item.tags else ""
        yield f"{_INDENT * depth}- [{_choose_mark(item)}]{sign} {_join_lines(item.title)}"
        yield from (f"{_INDENT * (depth + 1)}{line}" if line else "" for line in _iter_text(item))
        waiting += [(child, depth + 1) for child in reversed(children.get(item.id, ()))]


def _iter_text(item: ExportedItem) -> Iterator[str]:
    """Yield the lines below a heading or box: its sections, and the requirements that it names."""
    for section in item.sections:
        if section.title != TEXT_SECTION:
            yield f"**{_join_lines(section.title)}**"
        yield from section.text.split("\n")
    names = item.properties.get(REQUIREMENTS)
    if isinstance(names, list) and names:
        yield f"- _Requirements: {', '.join(map(str, names))}_"


def _choose_mark(item: ExportedItem) -> str:
    """Return the sign of the file that the item came from, while it still fits, else one for its fate."""
    given = item.properties.get("source_status")
    if item.properties.get("source") == TOOL and isinstance(given, str) and FATES.get(given) == item.fate:
        return given
    return STARTED_MARKS[0] if item.is_claimed and item.fate == "open" else _MARKS[item.fate]


def _join_lines(text: str) -> str:
    return " ".join(text.split("\n"))


# --- Write items as lines of JSON, with everything that they have -----------------------------------------------------


def write_jsonl(items: Sequence[ExportedItem]) -> WrittenFiles:
    """Return one line for each item."""
    return WrittenFiles({"": "".join(f"{msgspec.json.encode(item).decode()}\n" for item in items)})
