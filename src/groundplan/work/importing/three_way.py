"""Compare an item with the last import and with its node: what to take, what stays, and what is a conflict.

    changed only there   taken
    changed only here    kept
    changed on both      ours stays, and the conflict is reported until one side gives in

Lists are compared entry by entry, so they have no conflicts: an entry that is new there is added, and one that is gone
there is removed.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from msgspec import Struct

from groundplan.work.importing.item_fields import ImportBase, is_same, shorten

T = TypeVar("T")


class ImportConflict(Struct):
    """A field that changed in the file and here; ours stays."""

    source_id: str
    field: str
    base: Any
    here: Any
    there: Any


@dataclass(slots=True)
class FieldMerge:
    """What a comparison says about the fields of an item."""

    taken: dict[str, Any] = field(default_factory=dict)  # None removes a field
    conflicts: list[ImportConflict] = field(default_factory=list)
    base: dict[str, Any] = field(default_factory=dict)  # the fields to compare with next time


def merge_fields(source_id: str, last: ImportBase, there: Mapping[str, Any], here: Mapping[str, Any]) -> FieldMerge:
    """Compare the fields of an item with those of the last import and of its node."""
    merged = FieldMerge(base=dict(last.fields))
    for name in dict.fromkeys([*last.fields, *there]):
        base, new = last.fields.get(name), there.get(name)
        if is_same(base, new):
            continue
        ours = here.get(name)
        if not is_same(ours, new):
            if not is_same(ours, last.written.get(name, base)):
                merged.conflicts.append(ImportConflict(source_id, name, base, ours, new))
                continue
            merged.taken[name] = new
        merged.base.pop(name, None)
        if new is not None:
            merged.base[name] = shorten(new)
    return merged


@dataclass(slots=True)
class ListChanges(Generic[T]):
    """The entries that are new in a file, and those that are gone from it."""

    added: list[T]
    removed: list[T]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed)


def compare_lists(base: Collection[T], there: Collection[T]) -> ListChanges[T]:
    """Return how a list of the file changed since the last import."""
    before, after = set(base), set(there)
    return ListChanges(
        [entry for entry in dict.fromkeys(there) if entry not in before],
        [entry for entry in dict.fromkeys(base) if entry not in after],
    )
