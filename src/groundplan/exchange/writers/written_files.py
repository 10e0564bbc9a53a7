"""What a writer returns, and what all writers share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from groundplan.exchange.model import ItemNote
from groundplan.work.importing.export_items import ExportedItem
from groundplan.work.importing.place_items import LOOP

PREFIX = "gp-"  # of ids of nodes that do not come from the tool
PROPERTIES_OF_IMPORT = frozenset({"source", "source_id", "source_status", "source_parent", "priority"})


@dataclass(slots=True)
class WrittenFiles:
    """The text of each file by its path; a tool with a single file has it under the empty path."""

    files: dict[str, str]
    lost: list[ItemNote] = field(default_factory=list)

    @property
    def is_single(self) -> bool:
        return [*self.files] == [""]


def restore_loops(items: Sequence[ExportedItem]) -> list[ExportedItem]:
    """Return items with the dependencies that an import left out because of a loop, and without the holds for them."""
    return [_restore_loop(item) if item.loops else item for item in items]


def _restore_loop(item: ExportedItem) -> ExportedItem:
    is_held_for_it = item.fate == "held" and (item.hold_reason or "").startswith(LOOP)
    fate = {"fate": "open", "hold_reason": None} if is_held_for_it else {}
    depends_on = list(dict.fromkeys((*item.depends_on, *item.loops)))
    return msgspec.structs.replace(item, depends_on=depends_on, loops=[], **fate)


def get_source_parent(item: ExportedItem, by_source: Mapping[str, ExportedItem]) -> str | None:
    """Return the parent of an item as it was in its tool, if the import moved the item; else its parent here."""
    moved_from = item.properties.get("source_parent")
    if isinstance(moved_from, str) and moved_from in by_source:
        return by_source[moved_from].id
    return item.parent


def index_by_source(items: Sequence[ExportedItem], tool: str) -> dict[str, ExportedItem]:
    """Return the items that were imported from a tool, by their source ids."""
    return {source: item for item in items if (source := item.sources.get(tool)) is not None}
