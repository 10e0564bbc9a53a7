"""Sections as answers show them, and functions that add, load and remove them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.audit import changed
from groundplan.kernel.budget import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.errors import Invalid
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, quote_text
from groundplan.work.containers.refs import get_container_type
from groundplan.work.containers.requests import ContainerType, EntityType
from groundplan.work.containers.sections.requests import ContentFormat, refuse_malformed
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.events import WorkOp
from groundplan.work.requests import SECTIONS_MAX

sql = load_queries(__file__)

TRIMMABLE_FIELDS = (
    "content",
    "usage_description",
    "tags",
)  # in the order in which a too long answer drops them


class Section(Struct, rename="camel", kw_only=True):
    """A section of a container."""

    trimming: ClassVar[Trimming] = Trimming(*map(DropField, TRIMMABLE_FIELDS))

    id: str
    entity_type: EntityType
    entity_id: str
    title: str
    usage_description: str | UnsetType = UNSET
    content: str | UnsetType = UNSET
    content_format: ContentFormat
    ordinal: int
    tags: list[str]
    version: int
    created_at: str
    modified_at: str
    left_out: LeftOut = field(name="left_out", default=UNSET)


class Sections(Struct, rename="camel"):
    """Sections in order, and their number."""

    trimming: ClassVar[Trimming] = Trimming(
        *(DropField(f"sections[].{part}") for part in TRIMMABLE_FIELDS), CutLists(("sections",))
    )

    sections: list[Section]
    count: int
    left_out: LeftOut = field(name="left_out", default=UNSET)


class SectionDraft(NamedTuple):
    """A section to add."""

    title: str
    usage_description: str
    content: str
    content_format: ContentFormat
    tags: list[str]
    ordinal: int | None  # None: after the last


class SectionText(Struct):
    """The fields of a section without its tags."""

    ordinal: int
    title: str
    usage_description: str
    content_format: ContentFormat
    content: str


class SectionRow(SectionText):
    """The stored row of a section."""

    id: str
    node_n: int
    version: int
    created_at: str
    created_by: str
    modified_at: str
    modified_by: str


class OrdinalTaken(Invalid):
    """Another section has this ordinal."""

    code = "ordinal_taken"


def ordinal_taken(path: ArgumentPath, ordinal: int, by: str, *, free: int, **details: Any) -> OrdinalTaken:
    """Return the error for an ordinal that another section of the container has."""
    field = format_argument_path(path)
    return OrdinalTaken(
        f"{field} {ordinal} is taken by {by}; send {free}, the next free one, or leave it out to add after the last",
        next_steps=NextStep("section.reorder", "changes the order of all sections"),
        field=field,
        ordinal=ordinal,
        free=free,
        **details,
    )


class TooManySections(Invalid):
    """A container has the maximum number of sections."""

    code = "too_many_sections"

    def __init__(self, present: int, added: int) -> None:
        super().__init__(
            f"container has {present} sections and would have {present + added}, the limit is {SECTIONS_MAX}; "
            "delete some, or put more text into each",
            limit=SECTIONS_MAX,
            count=present,
        )


class UsedOrdinals:
    """The ordinals of the sections of a container."""

    def __init__(self, tx: Transaction, node: WorkNodeRow) -> None:
        rows = tx.all(sql.used_ordinals, project_id=tx.project.id, n=node.n)
        self._taken = {ordinal: (id_, title) for ordinal, id_, title in rows}

    def __len__(self) -> int:
        return len(self._taken)

    def refuse_taken_ordinal(self, ordinal: int, path: ArgumentPath, *, except_id: str | None = None) -> None:
        """Raise OrdinalTaken if a section other than `except_id` has the ordinal."""
        id_, title = self._taken.get(ordinal, (except_id, ""))
        if id_ != except_id:
            by = f"section {id_} ({quote_text(title)})"
            raise ordinal_taken(path, ordinal, by, free=self._find_next_free(ordinal), sectionId=id_)

    def assign(self, drafts: Sequence[SectionDraft], paths: Sequence[ArgumentPath]) -> list[int]:
        """Return the ordinals of new sections: the requested one, otherwise the next after all others.

        Raises:
            OrdinalTaken: another section has or requests the same ordinal.
        """
        requested: dict[int, ArgumentPath] = {}
        for draft, path in zip(drafts, paths, strict=True):
            if draft.ordinal is None:
                continue
            field = (*path, "ordinal")
            self.refuse_taken_ordinal(draft.ordinal, field)
            if draft.ordinal in requested:
                by = f"{format_argument_path(requested[draft.ordinal])} of this call"
                raise ordinal_taken(field, draft.ordinal, by, free=self._find_next_free(draft.ordinal, requested))
            requested[draft.ordinal] = path
        following = count(max((*self._taken, *requested), default=-1) + 1)
        return [next(following) if draft.ordinal is None else draft.ordinal for draft in drafts]

    def _find_next_free(self, ordinal: int, requested: Collection[int] = ()) -> int:
        return next(n for n in count(ordinal + 1) if n not in self._taken and n not in requested)


def add_sections(
    tx: Transaction,
    node: WorkNodeRow,
    drafts: Sequence[SectionDraft],
    *,
    base_path: ArgumentPath | None = ("sections",),
) -> list[Section]:
    """Add sections to a container of the current project and record them in its history: all of them, or none.

    `base_path` is the argument that lists them, for error messages; None if the request itself is the only section.

    Raises:
        TooManySections: the container would have too many.
        OrdinalTaken: two sections would have the same ordinal.
        Invalid: content in the format JSON is not JSON.
    """
    paths: list[ArgumentPath] = [() if base_path is None else (*base_path, index) for index in range(len(drafts))]
    for draft, path in zip(drafts, paths, strict=True):
        refuse_malformed(draft.content, draft.content_format, (*path, "content"))
    ordinals = UsedOrdinals(tx, node)
    if len(ordinals) + len(drafts) > SECTIONS_MAX:
        raise TooManySections(len(ordinals), len(drafts))
    rows = [
        SectionRow(
            id=new_uuid(),
            node_n=node.n,
            ordinal=ordinal,
            version=1,
            title=draft.title,
            usage_description=draft.usage_description,
            content_format=draft.content_format,
            content=draft.content,
            created_at=tx.now,
            created_by=tx.actor.id,
            modified_at=tx.now,
            modified_by=tx.actor.id,
        )
        for draft, ordinal in zip(drafts, ordinals.assign(drafts, paths), strict=True)
    ]
    tags = {row.id: sorted(draft.tags) for row, draft in zip(rows, drafts, strict=True)}
    insert_sections(tx, rows, tags)
    if rows:
        changes = (changed(f"sections.{row.id}", None, to_event_fields(row, tags[row.id])) for row in rows)
        tx.record(WorkOp.SECTION_ADDED, node.id, *changes)
    return [build_section(tx, node, row, tags[row.id]) for row in rows]


def insert_sections(tx: Transaction, rows: Iterable[SectionRow], tags: Mapping[str, list[str]]) -> None:
    """Insert sections with their tags."""
    values = [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows]
    if values:
        tx.run_many(sql.add_section, values)
    for value in values:
        if of_this := tags.get(value["id"]):
            tx.run(sql.add_tags, project_id=tx.project.id, id=value["id"], tags=to_json_array(of_this))


def remove_sections(tx: Transaction, ids: Collection[str]) -> None:
    """Delete sections with their tags."""
    tx.run(sql.remove_tags, project_id=tx.project.id, ids=to_json_array(ids))
    tx.run(sql.remove_sections, project_id=tx.project.id, ids=to_json_array(ids))


def delete_sections(tx: Transaction, ids: Collection[str]) -> None:
    """Delete sections for good: their ids stay taken."""
    remove_sections(tx, ids)
    tx.run(sql.record_deleted_sections, project_id=tx.project.id, ids=to_json_array(ids))


def load_sections(tx: Transaction, node: WorkNodeRow, *, include_content: bool = True) -> list[Section]:
    """Return the sections of a container of the current project, in order."""
    query = sql.sections_of if include_content else sql.sections_without_content
    rows = tx.all(query, SectionRow, project_id=tx.project.id, n=node.n)
    tags = load_section_tags(tx, [row.id for row in rows])
    return [build_section(tx, node, row, tags.get(row.id, []), include_content=include_content) for row in rows]


def load_section_tags(tx: Transaction, ids: Collection[str]) -> dict[str, list[str]]:
    """Return the sorted tags of some sections of the current project; sections without tags are left out."""
    found: dict[str, list[str]] = {}
    for id_, tag in tx.all(sql.tags_of, project_id=tx.project.id, ids=to_json_array(ids)) if ids else ():
        found.setdefault(id_, []).append(tag)
    return found


def build_section(
    tx: Transaction, node: WorkNodeRow, row: SectionRow, tags: list[str], *, include_content: bool = True
) -> Section:
    """Build the answer for a section from its row."""
    container_type = get_container_type(node)
    return Section(
        id=row.id,
        entity_type=EntityType[container_type.name],
        entity_id=tx.project.id if container_type is ContainerType.PROJECT else node.id,
        title=row.title,
        usage_description=row.usage_description,
        content=row.content if include_content else UNSET,
        content_format=row.content_format,
        ordinal=row.ordinal,
        tags=tags,
        version=row.version,
        created_at=row.created_at,
        modified_at=row.modified_at,
    )


def to_event_fields(row: SectionRow, tags: list[str]) -> dict[str, Any]:
    """Return all fields of a section, for its history."""
    return {**{name: getattr(row, name) for name in SectionText.__struct_fields__}, "tags": tags}
