"""The items of another tool's file, in the words of this one: a reader makes them, and the import makes nodes of them.

An item is named by its `source_id`, which stays the same from one import to the next. All references between items are
source ids. What a reader cannot express goes into the notes of its plan, never silently away.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from groundplan.kernel.input_gate.text_limits import MaxBytes, NotBlank
from groundplan.work.requests import EvidenceRef, Links, Summary, TypeName

SOURCE_ID_BYTES_MAX = 1024
ALIAS_CHARS_MAX = 255  # as long as a reference to a node may be
SECTION_BYTES_MAX = 32_768

Fate = Literal["open", "done", "dropped", "held"]
SourceId = Annotated[str, Meta(min_length=1), MaxBytes(SOURCE_ID_BYTES_MAX)]
Alias = Annotated[str, Meta(min_length=1, max_length=ALIAS_CHARS_MAX)]
HoldReason = Annotated[str, Meta(min_length=1), MaxBytes(4096), NotBlank()]
SectionText = Annotated[str, MaxBytes(SECTION_BYTES_MAX)]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]


class SourceLink(Struct, frozen=True, forbid_unknown_fields=True):
    """A link to another item that has no effect on the order of work."""

    type: TypeName
    source_id: SourceId


class SourceSection(Struct, frozen=True, forbid_unknown_fields=True):
    """A long text of an item, as Markdown. The title is the name of the field that it comes from."""

    title: TypeName
    text: SectionText


class SourceEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """A comment, or the reason why an item was closed."""

    type: TypeName  # comment, note or dropped
    text: EvidenceRef


class SourceItem(Struct, kw_only=True, forbid_unknown_fields=True):
    """One issue, task, heading or box of a file.

    `depends_on` names items that this one waits for. Those that are missing in the file are the reader's to judge: it
    leaves them out, or holds the item, and says so.
    """

    source_id: SourceId
    title: Summary
    aliases: list[Alias] = []  # under which people know the item; the source id only if it is one of them
    fate: Fate = "open"
    hold_reason: HoldReason | None = None  # required if the fate is held
    source_status: TypeName | None = None  # the word of the tool, for an export
    state: TypeName | None = None  # the word for started work
    priority: float | None = None  # the higher, the sooner
    parent: SourceId | None = None
    depends_on: list[SourceId] = []
    links: list[SourceLink] = []
    sections: list[SourceSection] = []
    evidence: list[SourceEvidence] = []
    context_links: Links = []
    tags: list[Tag] = []
    properties: dict[str, Any] = {}  # what has no place of its own here; `priority` and `source…` are added
    # A heading or a list: it is never offered, and finished with its last item, whatever its fate.
    is_group: bool = False
    file: str = ""
    line: int | None = None


class DeletedItem(Struct, frozen=True, forbid_unknown_fields=True):
    """An item that was deleted in the tool. If it has a node here, the node is dropped."""

    source_id: SourceId
    reason: EvidenceRef = ""


class SourceRelation(Struct, frozen=True, forbid_unknown_fields=True):
    """Another molecule of the same import, by name, and why they are related."""

    name: str
    reason: str = ""


class SourceMolecule(Struct, kw_only=True, forbid_unknown_fields=True):
    """Knowledge of a file that becomes a molecule. Its name is its key."""

    name: str
    knowledge: str
    related: list[SourceRelation] = []
    file: str = ""
    line: int | None = None


class SourceAtom(Struct, kw_only=True, forbid_unknown_fields=True):
    """Knowledge about files that becomes an atom. Its name is its key."""

    name: str
    knowledge: str
    paths: list[str]
    file: str = ""
    line: int | None = None
