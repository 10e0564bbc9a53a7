"""The items of another tool's file in the terms of Groundplan. Readers make them, and the import turns them into nodes.

An item is named by its `source_id`, which stays the same from one import to the next. All references between items are
source ids. What a reader cannot express goes into the notes of its plan, never silently away.

For comparisons an item is a table of fields. Long texts are kept as digests: whether a field changed is all that a
comparison needs of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import sha256
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from groundplan.kernel.input_gate.text_limits import MaxBytes, NotBlank
from groundplan.work.kinds import PRIORITY
from groundplan.work.refs import ID_CHARS_MAX
from groundplan.work.requests import EvidenceRef, Links, Summary, TypeName

SOURCE_ID_BYTES_MAX = 1024
ALIAS_CHARS_MAX = 255  # as long as a reference to a node may be
SECTION_BYTES_MAX = 32_768
KEPT_CHARS_MAX = 200  # of a text; a longer one is kept as a digest
DIGEST = "sha256:"
PROPERTIES = "properties."
SECTIONS = "sections."
KNOWLEDGE_TASK = "#knowledge"  # the source id of the task that the knowledge of an import is created by
HELD = "held: "  # begins the text of a fate
LOOP = "loop: "  # begins the reason of a hold for a loop of dependencies

Fate = Literal["open", "done", "dropped", "held"]
SourceId = Annotated[str, Meta(min_length=1), MaxBytes(SOURCE_ID_BYTES_MAX)]
Alias = Annotated[str, Meta(min_length=1, max_length=ALIAS_CHARS_MAX)]
HoldReason = Annotated[str, Meta(min_length=1), MaxBytes(4096), NotBlank()]
SectionText = Annotated[str, MaxBytes(SECTION_BYTES_MAX)]
Tag = Annotated[str, Meta(min_length=1, max_length=100)]
NodeId = Annotated[str, Meta(min_length=1, max_length=ID_CHARS_MAX)]


class SourceLink(Struct, frozen=True, forbid_unknown_fields=True):
    """A link to another item without effect on the order of work."""

    type: TypeName
    source_id: SourceId


class SourceSection(Struct, frozen=True, forbid_unknown_fields=True):
    """A long text of an item, as Markdown. Its title is the name of the field in the file."""

    title: TypeName
    text: SectionText


class SourceEvidence(Struct, frozen=True, forbid_unknown_fields=True):
    """A comment, or the reason why an item was closed."""

    type: TypeName  # comment, note or dropped
    text: EvidenceRef


class SourceItem(Struct, kw_only=True, forbid_unknown_fields=True):
    """An issue, a task, a heading or a box of a file.

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
    node: NodeId | None = None  # the id of the node that an export of ours made the item of
    file: str = ""
    line: int | None = None


class DeletedItem(Struct, frozen=True, forbid_unknown_fields=True):
    """An item that was deleted in the tool. Its node, if it has one, is dropped."""

    source_id: SourceId
    reason: EvidenceRef = ""


class SourceRelation(Struct, frozen=True, forbid_unknown_fields=True):
    """A relation to another molecule of the same import, by name, with a reason."""

    name: str
    reason: str = ""


class SourceMolecule(Struct, kw_only=True, forbid_unknown_fields=True):
    """Knowledge of a file that becomes a molecule. Its name identifies it."""

    name: str
    knowledge: str
    related: list[SourceRelation] = []
    file: str = ""
    line: int | None = None


class SourceAtom(Struct, kw_only=True, forbid_unknown_fields=True):
    """Knowledge about files that becomes an atom. Its name identifies it."""

    name: str
    knowledge: str
    paths: list[str]
    file: str = ""
    line: int | None = None


# --- Fields that are compared, and what is kept of them ---------------------------------------------------------------


class ImportBase(Struct, omit_defaults=True):
    """The fields of an item at the last import, and the fields that were written differently."""

    fields: dict[str, Any] = {}
    depends_on: list[str] = []
    links: list[tuple[str, str]] = []
    tags: list[str] = []
    context_links: list[str] = []
    evidence: list[str] = []
    written: dict[str, Any] = {}
    keeps_parent: bool = False  # the parent here stays: below that of the file, the node would wait for itself
    loops: list[str] = []  # dependencies that were left out, because they close a loop


def compute_digest(value: Any) -> str:
    """Return a digest of a JSON value, independent of the order of keys."""
    return sha256(msgspec.json.encode(value, order="sorted")).hexdigest()


def digest_item(item: SourceItem) -> str:
    """Return a digest of the contents of an item, without its place in the file; the order of sets does not count."""
    sets = {
        "depends_on": sorted({*item.depends_on}),
        "tags": sorted({*item.tags}),
        "links": _sort_links(item),
        "evidence": sorted(item.evidence, key=lambda evidence: (evidence.type, evidence.text)),
    }
    return compute_digest(msgspec.structs.replace(item, node=None, file="", line=None, **sets))


def _sort_links(item: SourceItem) -> list[SourceLink]:
    return sorted({*item.links}, key=lambda link: (link.type, link.source_id))


def digest_if_long(value: Any) -> Any:
    """Return a value, or its digest if it is long."""
    if isinstance(value, str) and len(value) <= KEPT_CHARS_MAX:
        return value
    if isinstance(value, str | dict | list):
        encoded = msgspec.json.encode(value, order="sorted")
        return value if len(encoded) <= KEPT_CHARS_MAX else f"{DIGEST}{sha256(encoded).hexdigest()}"
    return value


def is_same(first: Any, second: Any) -> bool:
    """Return True if two values are equal JSON. Either may be a digest."""
    return bool(compute_digest(digest_if_long(first)) == compute_digest(digest_if_long(second)))


def describe_fate(fate: str, hold_reason: str | None) -> str:
    """Return a fate as one text, with the reason of a hold."""
    return f"{HELD}{hold_reason}" if fate == "held" else fate


def parse_fate(text: str) -> tuple[str, str | None]:
    """Return the fate and the reason of a hold that `describe_fate` made a text of; a long reason is only a digest."""
    is_held = text.startswith((HELD, DIGEST))
    return ("held", text.removeprefix(HELD)) if is_held else (text, None)


def build_properties(item: SourceItem, tool: str) -> dict[str, Any]:
    """Return the properties of the node of an item."""
    priority = item.priority
    added = {
        PRIORITY: int(priority) if priority is not None and priority.is_integer() else priority,
        "source": tool,
        "source_id": item.source_id,
        "source_status": item.source_status,
    }
    return {**item.properties, **{name: value for name, value in added.items() if value is not None}}


def list_fields(item: SourceItem, tool: str) -> dict[str, Any]:
    """Return the fields of an item with one value each. Empty fields are left out."""
    fields: dict[str, Any] = {
        "title": item.title,
        "fate": describe_fate(item.fate, item.hold_reason),
        "state": item.state,
        "parent": item.parent,
    }
    if item.is_group:  # follows from its items
        del fields["fate"]
    fields |= {f"{PROPERTIES}{name}": value for name, value in build_properties(item, tool).items()}
    fields |= {f"{SECTIONS}{title}": text for title, text in list_sections(item).items()}
    return {name: value for name, value in fields.items() if value is not None}


def list_sections(item: SourceItem) -> dict[str, str]:
    """Return the sections of an item by title. A repeated title gets a number."""
    titles = number_titles(section.title for section in item.sections)
    return dict(zip(titles, (section.text for section in item.sections), strict=True))


def number_titles(titles: Iterable[str]) -> list[str]:
    """Return the titles of sections, of which each that is repeated gets a number."""
    numbered: dict[str, None] = {}
    numbers: dict[str, int] = {}  # the last number of each title, so that many equal ones are not counted again
    for own in titles:
        title, number = own, numbers.get(own, 1)
        while title in numbered:
            number += 1
            title = f"{own} [{number}]"
        numbers[own] = number
        numbered[title] = None
    return list(numbered)


def digest_evidence(evidence: Iterable[SourceEvidence]) -> list[str]:
    """Return a short digest of each entry of evidence, by which new entries are found."""
    return [compute_digest([entry.type, entry.text])[:16] for entry in evidence]


def build_base(item: SourceItem, tool: str) -> ImportBase:
    """Return the fields of an item for the comparison at the next import."""
    return ImportBase(
        fields={name: digest_if_long(value) for name, value in list_fields(item, tool).items()},
        depends_on=sorted({*item.depends_on}),
        links=[(link.type, link.source_id) for link in _sort_links(item)],
        tags=sorted({*item.tags}),
        context_links=list(dict.fromkeys(item.context_links)),
        evidence=sorted(digest_evidence(item.evidence)),
    )
