"""A section as callers see it, and how a container is given more of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, ClassVar, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel.audit import changed
from groundplan.kernel.budget import DropField, LeftOut, Trimming
from groundplan.kernel.errors import Invalid
from groundplan.kernel.ids import new_uuid
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, quote_text
from groundplan.work.containers.refs import type_of
from groundplan.work.containers.requests import ContainerType, EntityType
from groundplan.work.containers.sections.requests import ContentFormat, refuse_malformed
from groundplan.work.engine.row import WorkNodeRow
from groundplan.work.engine.sections_and_tags import SECTIONS_MAX
from groundplan.work.events import WorkOp

sql = load_queries(__file__)

TRIMMABLE_FIELDS = (
    "content",
    "usage_description",
    "tags",
)  # in the order in which an answer that is too long gives them up


class Section(Struct, rename="camel", kw_only=True):
    """A part of the text about a container."""

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


class SectionDraft(NamedTuple):
    """A section that is to be."""

    title: str
    usage_description: str
    content: str
    content_format: ContentFormat
    tags: list[str]
    ordinal: int | None  # None: behind the last


class SectionText(Struct):
    """What a section says, beside its tags."""

    ordinal: int
    title: str
    usage_description: str
    content_format: ContentFormat
    content: str


class SectionRow(SectionText):
    """A section as it is stored."""

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
    """Return the refusal of an ordinal that another section of the container has."""
    field = format_argument_path(path)
    return OrdinalTaken(
        f"{field} {ordinal} is taken by {by}; the next free one is {free}, or leave it out to stand behind the last",
        next_steps=NextStep("section.reorder", "puts all of them into another order"),
        field=field,
        ordinal=ordinal,
        free=free,
        **details,
    )


class TooManySections(Invalid):
    """A container has as many sections as it can have."""

    code = "too_many_sections"

    def __init__(self, there: int, given: int) -> None:
        super().__init__(
            f"it has {there} sections and would have {there + given}, the limit is {SECTIONS_MAX}; "
            "delete some, or put more into each",
            limit=SECTIONS_MAX,
            count=there,
        )


class UsedOrdinals:
    """Where the sections of a container stand."""

    def __init__(self, tx: Transaction, node: WorkNodeRow) -> None:
        rows = tx.all(sql.used_ordinals, project_id=tx.project.id, n=node.n)
        self._taken = {ordinal: (id_, title) for ordinal, id_, title in rows}

    def __len__(self) -> int:
        return len(self._taken)

    def refuse_taken_ordinal(self, ordinal: int, path: ArgumentPath, *, but: str | None = None) -> None:
        """Raises OrdinalTaken where a section stands there, but for the one with this id."""
        id_, title = self._taken.get(ordinal, (but, ""))
        if id_ != but:
            by = f"section {id_} ({quote_text(title)})"
            raise ordinal_taken(path, ordinal, by, free=self._free(ordinal), sectionId=id_)

    def assign(self, drafts: Sequence[SectionDraft], paths: Sequence[ArgumentPath]) -> list[int]:
        """The ordinal of each of some new sections: what it asks for, else one behind all others.

        Raises:
            OrdinalTaken: it asks for one where another stands, or that another asks for.
        """
        asked: dict[int, ArgumentPath] = {}
        for draft, path in zip(drafts, paths, strict=True):
            if draft.ordinal is None:
                continue
            here = (*path, "ordinal")
            self.refuse_taken_ordinal(draft.ordinal, here)
            if draft.ordinal in asked:
                by = f"{format_argument_path(asked[draft.ordinal])} of this call"
                raise ordinal_taken(here, draft.ordinal, by, free=self._free(draft.ordinal, asked))
            asked[draft.ordinal] = path
        behind = count(max((*self._taken, *asked), default=-1) + 1)
        return [next(behind) if draft.ordinal is None else draft.ordinal for draft in drafts]

    def _free(self, ordinal: int, asked: Collection[int] = ()) -> int:
        return next(one for one in count(ordinal + 1) if one not in self._taken and one not in asked)


def add_sections(
    tx: Transaction, node: WorkNodeRow, drafts: Sequence[SectionDraft], *, within: ArgumentPath | None = ("sections",)
) -> list[Section]:
    """Give a container of the project entered more sections, and say so in its history: all of them, or none.

    `within` is the argument that lists them, for refusals to name; None where the one there is stands by itself.

    Raises:
        TooManySections: it would have too many.
        OrdinalTaken: one asks for the place of another.
        Invalid: content that should be JSON is not.
    """
    paths: list[ArgumentPath] = [() if within is None else (*within, place) for place in range(len(drafts))]
    for draft, path in zip(drafts, paths, strict=True):
        refuse_malformed(draft.content, draft.content_format, (*path, "content"))
    places = UsedOrdinals(tx, node)
    if len(places) + len(drafts) > SECTIONS_MAX:
        raise TooManySections(len(places), len(drafts))
    made = [
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
        for draft, ordinal in zip(drafts, places.assign(drafts, paths), strict=True)
    ]
    tags = {row.id: sorted(draft.tags) for row, draft in zip(made, drafts, strict=True)}
    insert_sections(tx, made, tags)
    if made:
        changes = (changed(f"sections.{row.id}", None, to_event_fields(row, tags[row.id])) for row in made)
        tx.record(WorkOp.SECTION_ADDED, node.id, *changes)
    return [build_section(tx, node, row, tags[row.id]) for row in made]


def insert_sections(tx: Transaction, rows: Iterable[SectionRow], tags: Mapping[str, list[str]]) -> None:
    """Write sections that are not there, with their tags."""
    values = [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows]
    if values:
        tx.many(sql.add_section, values)
    for value in values:
        if of_this := tags.get(value["id"]):
            tx.run(sql.add_tags, project_id=tx.project.id, id=value["id"], tags=to_json_array(of_this))


def remove_sections(tx: Transaction, ids: Collection[str]) -> None:
    """Take sections away, with their tags."""
    tx.run(sql.remove_tags, project_id=tx.project.id, ids=to_json_array(ids))
    tx.run(sql.remove_sections, project_id=tx.project.id, ids=to_json_array(ids))


def load_sections(tx: Transaction, node: WorkNodeRow, *, include_content: bool = True) -> list[Section]:
    """The sections of a container of the project entered, in their order."""
    query = sql.sections_of if include_content else sql.sections_without_content
    rows = tx.all(query, SectionRow, project_id=tx.project.id, n=node.n)
    tags = tags_of(tx, [row.id for row in rows])
    return [build_section(tx, node, row, tags.get(row.id, []), include_content=include_content) for row in rows]


def tags_of(tx: Transaction, ids: Collection[str]) -> dict[str, list[str]]:
    """The tags of some sections of the project entered, sorted; nothing for those that have none."""
    found: dict[str, list[str]] = {}
    for id_, tag in tx.all(sql.tags_of, project_id=tx.project.id, ids=to_json_array(ids)) if ids else ():
        found.setdefault(id_, []).append(tag)
    return found


def build_section(
    tx: Transaction, node: WorkNodeRow, row: SectionRow, tags: list[str], *, include_content: bool = True
) -> Section:
    """A section as callers see it."""
    container_type = type_of(node)
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
    """Everything that a section says, for the history."""
    return {**{name: getattr(row, name) for name in SectionText.__struct_fields__}, "tags": tags}
