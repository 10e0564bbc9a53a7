"""The nodes that an import creates or changes, and the state that its steps share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import Change
from groundplan.work.importing.item_fields import ImportBase
from groundplan.work.importing.plan_graph import PlanGraph, PlanNodeState
from groundplan.work.importing.source_items import SourceEvidence, SourceItem
from groundplan.work.importing.stored_state import LastImport, StoredNode, StoredSection
from groundplan.work.importing.three_way import ImportConflict
from groundplan.work.kinds import DROPPED

NAMED_MAX = 10  # of items in one warning
FINISHED = ("done", DROPPED)  # fates


class ImportNote(Struct):
    """What came in otherwise than it was in the file, or was lost: the field, and a sentence."""

    source_id: str
    what: str
    detail: str


@dataclass(slots=True)
class SectionChange:
    """A section to replace."""

    stored: StoredSection
    text: str


@dataclass(slots=True)
class ImportEntry:
    """A node that the import creates or changes."""

    node: PlanNodeState
    source_id: str | None = None  # None: not an imported item; it changes because of one
    item: SourceItem | None = None
    stored: StoredNode | None = None  # of an item that changed; None also if the node is new
    base: ImportBase | None = None  # of an item, for the next import
    last_base: ImportBase | None = None  # as the last import left it
    digest: str = ""
    hold_reason: str | None = None
    source_parent: str | None = None  # the parent in the file, if the node is below another one; "": it no longer is
    last_loop_reason: str | None = None  # of a hold for a loop that is tried again
    before: PlanNodeState | None = None  # the stored node as the import found it
    changes: list[Change] = field(default_factory=list)
    new_edges: list[tuple[str, int]] = field(default_factory=list)
    gone_edges: list[tuple[str, int]] = field(default_factory=list)
    new_tags: list[str] = field(default_factory=list)
    gone_tags: list[str] = field(default_factory=list)
    new_sections: dict[str, str] = field(default_factory=dict)  # by title
    changed_sections: list[SectionChange] = field(default_factory=list)
    gone_sections: list[StoredSection] = field(default_factory=list)
    new_evidence: list[SourceEvidence] = field(default_factory=list)

    @property
    def is_new(self) -> bool:
        return self.node.stored is None

    @property
    def is_base_changed(self) -> bool:
        return self.base != self.last_base

    def set_last_base(self, base: ImportBase) -> None:
        """Set what the last import said about the item; it is the base of the next one, until this one changes it."""
        self.last_base = base
        kept = {"fields": dict(base.fields), "written": dict(base.written), "loops": list(base.loops)}
        self.base = msgspec.structs.replace(base, **kept)

    def get_stored_item(self) -> tuple[str, StoredNode, ImportBase]:
        """Return the source id, the stored node and the base of an item that was imported before."""
        if self.source_id is None or self.stored is None or self.base is None:
            raise LookupError(f"node {self.node.id} is no item that was imported before")
        return self.source_id, self.stored, self.base

    @property
    def has_same_loops(self) -> bool:
        """Whether the same dependencies close a loop as at the last import."""
        return self.base is not None and self.last_base is not None and self.base.loops == self.last_base.loops

    @property
    def is_opened_in_file(self) -> bool:
        """Whether the node is new, or was finished in the file at the last import and no longer is."""
        if self.is_new or self.is_reopened:
            return True
        fates = [base.fields.get("fate") for base in (self.last_base, self.base) if base is not None]
        return len(fates) == 2 and fates[0] in FINISHED and fates[1] not in FINISHED

    @property
    def is_hold_changed(self) -> bool:
        if self.stored is None or self.node.resolved:
            return False
        return (self.hold_reason if self.node.is_held else None) != self.stored.row.held_reason

    @property
    def is_reopened(self) -> bool:
        return self.before is not None and self.before.resolved and not self.node.resolved

    @property
    def is_closed(self) -> bool:
        return self.before is not None and not self.before.resolved and self.node.resolved

    @property
    def is_moved(self) -> bool:
        return self.before is not None and self.node.parent_n != self.before.parent_n


@dataclass(slots=True)
class ImportState:
    """What the steps of one import share."""

    tool: str
    graph: PlanGraph
    last: dict[str, LastImport]
    inherits: bool = False
    requires_evidence: bool = False  # the policy of the project
    # Of the items for which the last import wrote something else than the file says, also of unchanged ones.
    differing: dict[str, ImportBase] = field(default_factory=dict)
    numbers: dict[str, int] = field(default_factory=dict)  # of the nodes of all items that have one, by source id
    entries: dict[int, ImportEntry] = field(default_factory=dict)  # by the number of the node
    placed: list[ImportNote] = field(default_factory=list)
    lost: list[ImportNote] = field(default_factory=list)
    conflicts: list[ImportConflict] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    sources: dict[int, str] = field(default_factory=dict)  # the reverse of `numbers`

    def touch(self, n: int) -> ImportEntry:
        """Return the entry of a node, which is made if the import did not change the node so far."""
        if n not in self.entries:
            node = self.graph.nodes[n]
            self.entries[n] = ImportEntry(node, self.sources.get(n), before=replace(node))
        return self.entries[n]

    def name_some(self, numbers: Sequence[int]) -> str:
        """Return the names of nodes in a list that is not too long for a sentence."""
        return ", ".join(map(self.name, numbers[:NAMED_MAX])) + (", …" if len(numbers) > NAMED_MAX else "")

    def name(self, n: int) -> str:
        """Return a node as a report names it: by its source id, else by its id."""
        return self.sources.get(n, self.graph.nodes[n].id)
