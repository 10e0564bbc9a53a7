"""Sections: the ordered parts of the text of a project, a feature or a task; finding, adding and storing them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import count
from typing import Annotated, Any, ClassVar, NoReturn

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from groundplan.kernel.answers import CutLists, DropField, LeftOut, Trimming
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import GroundplanError, Invalid, NextStep, NotFound
from groundplan.kernel.ids import new_uuid, parse_uuid
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument, quote_text
from groundplan.work.containers import refs
from groundplan.work.containers.fields import ContainerType, EntityType, StringList, parse_list, parse_tags
from groundplan.work.containers.refs import get_container_type
from groundplan.work.events import WorkOp
from groundplan.work.nodes import WorkNodeRow
from groundplan.work.requests import SECTIONS_MAX

USAGE_BYTES_MAX = 4_096
CONTENT_BYTES_MAX = 32_768
ID_CHARS_MAX = 64  # longer than an id, so that a longer text gets the error about UUIDs

Title = Name
Usage = Annotated[str, MaxBytes(USAGE_BYTES_MAX)]
Content = Annotated[str, MaxBytes(CONTENT_BYTES_MAX)]
Ordinal = Annotated[int, Meta(ge=0, le=2**31)]

TRIMMABLE_FIELDS = ("content", "usage_description", "tags")  # in the order in which a too long answer drops them

sql = load_queries(__file__)


class ContentFormat(StrEnum):
    """The format of the content of a section."""

    PLAIN_TEXT = "PLAIN_TEXT"
    MARKDOWN = "MARKDOWN"
    JSON = "JSON"
    CODE = "CODE"


class NewSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A new section. Without an ordinal it goes to the end."""

    title: Title
    usage_description: Usage = ""
    content: Content = ""
    content_format: ContentFormat = ContentFormat.MARKDOWN
    tags: StringList = ""
    ordinal: Ordinal | None = None


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


# --- Ids, and the container of a section. Those that the actor may not see are reported as missing ---


class OtherContainer(Invalid):
    """The section belongs to another container than the request says."""

    code = "other_container"

    def __init__(self, field: str, section_id: str, entity_type: EntityType, entity_id: str) -> None:
        super().__init__(
            f"{field} names another container: section {section_id} belongs to "
            f"{entity_type.container_type} {entity_id}; name that one, or none",
            field=field,
            id=section_id,
            entityType=entity_type,
            entityId=entity_id,
        )


def parse_id(text: str, path: ArgumentPath = ("sectionId",)) -> str:
    """Return an id in its canonical spelling. Dashes are optional."""
    parsed = parse_uuid(text.strip())
    if parsed is None:
        wrong = f"must be a UUID, not {quote_text(text)}"
        raise invalid_argument(path, wrong, code="invalid_id", next_steps=NextStep("section.list", "lists ids"))
    return parsed


def parse_ids(values: Sequence[str] | str, field: str = "sectionIds", *, are_required: bool = False) -> list[str]:
    """Return ids in their canonical spelling, without duplicates, in the given order."""
    texts = parse_list(values, (field,), items_max=SECTIONS_MAX, chars_max=ID_CHARS_MAX)
    if are_required and not texts:
        step = NextStep("section.list", "lists ids")
        raise invalid_argument((field,), "is empty; send at least one section id", next_steps=step)
    return list(dict.fromkeys(parse_id(text, (field, index)) for index, text in enumerate(texts)))


def resolve_entity_project(tx: Transaction, entity_type: EntityType, entity_id: str) -> str:
    """Return the project of a container, even a deleted one."""
    try:
        return refs.resolve_container_project(tx, entity_type.container_type, entity_id)
    except GroundplanError as error:
        error.details = {**error.details, "field": "entityId"}
        raise


def resolve_container(tx: Transaction, entity_type: EntityType, entity_id: str) -> WorkNodeRow:
    """Return the container of this type and id in the current project."""
    return refs.resolve_container(tx, entity_type.container_type, entity_id, field="entityId")


def resolve_section_project(tx: Transaction, id_: str, path: ArgumentPath = ("sectionId",)) -> str:
    """Return the project of a section, even of a deleted one, so that a retry finds its stored answer."""
    project_id = tx.scalar(sql.project_of_section, id=id_) or tx.scalar(sql.project_of_deleted_section, id=id_)
    if project_id is None or not _can_see(tx, project_id):
        raise missing_section(id_, path)
    return ProjectId(project_id)


def load_section_row(tx: Transaction, section_id: str) -> SectionRow:
    """Return the row of a section of the current project."""
    id_ = parse_id(section_id)
    row = load_section_rows(tx, [id_]).get(id_)
    if row is None:
        raise missing_section(id_, ("sectionId",))
    return row


def load_section_rows(tx: Transaction, ids: Sequence[str]) -> dict[str, SectionRow]:
    """Return the rows of sections of the current project, by id; other ids are left out."""
    rows = tx.all(sql.sections_by_id, SectionRow, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}


def refuse_unknown_ids(tx: Transaction, ids: Sequence[str], known_ids: Collection[str]) -> None:
    """Refuse ids that are not in the current project."""
    for index, id_ in enumerate(ids):
        if id_ in known_ids:
            continue
        path: ArgumentPath = ("sectionIds", index)
        project_id = tx.scalar(sql.project_of_section, id=id_)
        if project_id is None or not _can_see(tx, project_id):
            raise missing_section(id_, path)
        wrong = "belongs to another project than those before it; send one call per project"
        raise invalid_argument(path, wrong, code="mixed_projects", id=id_)


def refuse_other_container(
    tx: Transaction, row: SectionRow, node: WorkNodeRow, entity_type: EntityType | None, entity_id: str | None
) -> None:
    """Refuse a container in the request that is not the container of the section. The argument is optional."""
    own_type, own_id = _name_container(tx, node)
    if entity_type not in (None, own_type):
        raise OtherContainer("entityType", row.id, own_type, own_id)
    is_project = own_type is EntityType.PROJECT
    if entity_id in (None, own_id) or (is_project and entity_id == tx.project.name):
        return
    thing = own_type.container_type
    if is_project or refs.find_any_container(tx, str(entity_id), field="entityId", thing=thing).n != node.n:
        raise OtherContainer("entityId", row.id, own_type, own_id)


def missing_section(id_: str, path: ArgumentPath) -> NotFound:
    """Return the error for an unknown section id."""
    step = NextStep("section.list", "lists the sections")
    return NotFound("section", id_, next_steps=step, field=format_argument_path(path))


def _can_see(tx: Transaction, project_id: str) -> bool:
    visible = find_visible_project_ids(tx)
    return visible is None or project_id in visible


def _name_container(tx: Transaction, node: WorkNodeRow) -> tuple[EntityType, str]:
    """Return the type and the id of a container in the spelling of sections."""
    container_type = get_container_type(node)
    id_ = tx.project.id if container_type is ContainerType.PROJECT else node.id
    return EntityType[container_type.name], id_


# --- What a section may be ---


class OrdinalTaken(Invalid):
    """Another section has this ordinal."""

    code = "ordinal_taken"


class TooManySections(Invalid):
    """A container would have more than the maximum number of sections."""

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

    def refuse(self, ordinal: int, path: ArgumentPath, *, except_id: str | None = None) -> None:
        """Raise OrdinalTaken if a section other than `except_id` has the ordinal."""
        id_, title = self._taken.get(ordinal, (except_id, ""))
        if id_ != except_id:
            raise self._build_error(path, ordinal, f"section {id_} ({quote_text(title)})", sectionId=id_)

    def assign(self, sections: Sequence[NewSection], paths: Sequence[ArgumentPath]) -> list[int]:
        """Return the ordinals of new sections: the requested ordinal, else the next one after all others."""
        requested: dict[int, ArgumentPath] = {}
        for section, path in zip(sections, paths, strict=True):
            if section.ordinal is None:
                continue
            field = (*path, "ordinal")
            self.refuse(section.ordinal, field)
            if section.ordinal in requested:
                by = f"{format_argument_path(requested[section.ordinal])} of this call"
                raise self._build_error(field, section.ordinal, by, requested)
            requested[section.ordinal] = path
        following = count(max((*self._taken, *requested), default=-1) + 1)
        return [next(following) if section.ordinal is None else section.ordinal for section in sections]

    def _build_error(
        self, path: ArgumentPath, ordinal: int, by: str, requested: Collection[int] = (), **details: Any
    ) -> OrdinalTaken:
        field = format_argument_path(path)
        free = next(n for n in count(ordinal + 1) if n not in self._taken and n not in requested)
        advice = f"send {free}, the next free one, or leave it out to add after the last"
        return OrdinalTaken(
            f"{field} {ordinal} is taken by {by}; {advice}",
            next_steps=NextStep("section.reorder", "changes the order of all sections"),
            field=field,
            ordinal=ordinal,
            free=free,
            **details,
        )


def refuse_malformed(content: str, content_format: ContentFormat, path: ArgumentPath) -> None:
    """Refuse content in the format JSON that is not JSON. Empty content is allowed."""
    if content_format is not ContentFormat.JSON or not content:
        return
    try:
        _JSON.decode(content)
    except json.JSONDecodeError as error:
        wrong = f"is not JSON at line {error.lineno}, column {error.colno}: {error.msg}"
    except (ValueError, RecursionError):
        wrong = "is not JSON"
    else:
        return
    raise invalid_argument(path, f"{wrong}; correct it, or choose another contentFormat", code="invalid_json")


def _reject_constant(literal: str) -> NoReturn:
    raise ValueError(literal)  # NaN and Infinity, which Python accepts but JSON does not


# Numbers stay strings, so that long ones are cheap and none is out of range.
_JSON: Any = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_reject_constant)


# --- Rows ---


def add_sections(
    tx: Transaction,
    node: WorkNodeRow,
    sections: Sequence[NewSection],
    *,
    base_path: ArgumentPath | None = ("sections",),
) -> list[Section]:
    """Add sections to a container of the current project and record an event. Either all are added, or none.

    `base_path` is the argument that lists them, for error messages; None if the request itself is the only section.
    """
    paths: list[ArgumentPath] = [() if base_path is None else (*base_path, index) for index in range(len(sections))]
    tags = [sorted(parse_tags(new.tags, (*path, "tags"))) for new, path in zip(sections, paths, strict=True)]
    for section, path in zip(sections, paths, strict=True):
        refuse_malformed(section.content, section.content_format, (*path, "content"))
    ordinals = UsedOrdinals(tx, node)
    if len(ordinals) + len(sections) > SECTIONS_MAX:
        raise TooManySections(len(ordinals), len(sections))
    rows = [
        SectionRow(
            id=new_uuid(),
            node_n=node.n,
            ordinal=ordinal,
            version=1,
            title=section.title,
            usage_description=section.usage_description,
            content_format=section.content_format,
            content=section.content,
            created_at=tx.now,
            created_by=tx.actor.id,
            modified_at=tx.now,
            modified_by=tx.actor.id,
        )
        for section, ordinal in zip(sections, ordinals.assign(sections, paths), strict=True)
    ]
    tags_by_id = {row.id: row_tags for row, row_tags in zip(rows, tags, strict=True)}
    insert_sections(tx, rows, tags_by_id)
    if rows:
        changes = (changed(f"sections.{row.id}", None, to_event_fields(row, tags_by_id[row.id])) for row in rows)
        tx.record(WorkOp.SECTION_ADDED, node.id, *changes)
    return [build_section(tx, node, row, tags_by_id[row.id]) for row in rows]


def insert_sections(tx: Transaction, rows: Iterable[SectionRow], tags: Mapping[str, list[str]]) -> None:
    """Insert sections with their tags."""
    values = [{"project_id": tx.project.id, **msgspec.structs.asdict(row)} for row in rows]
    if values:
        tx.run_many(sql.add_section, values)
    for value in values:
        if section_tags := tags.get(value["id"]):
            tx.run(sql.add_tags, project_id=tx.project.id, id=value["id"], tags=to_json_array(section_tags))


def remove_sections(tx: Transaction, ids: Collection[str]) -> None:
    """Delete sections with their tags."""
    tx.run(sql.remove_tags, project_id=tx.project.id, ids=to_json_array(ids))
    tx.run(sql.remove_sections, project_id=tx.project.id, ids=to_json_array(ids))


def delete_sections(tx: Transaction, ids: Collection[str]) -> None:
    """Delete sections. Their ids remain in use."""
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
    tags: dict[str, list[str]] = {}
    for id_, tag in tx.all(sql.tags_of, project_id=tx.project.id, ids=to_json_array(ids)) if ids else ():
        tags.setdefault(id_, []).append(tag)
    return tags


def build_section(
    tx: Transaction, node: WorkNodeRow, row: SectionRow, tags: list[str], *, include_content: bool = True
) -> Section:
    """Return a section as callers see it, from its row."""
    entity_type, entity_id = _name_container(tx, node)
    shown = {name: getattr(row, name) for name in Section.__struct_fields__ if hasattr(row, name)}
    section = Section(entity_type=entity_type, entity_id=entity_id, tags=tags, **shown)
    if not include_content:
        section.content = UNSET
    return section


def to_event_fields(row: SectionRow, tags: list[str]) -> dict[str, Any]:
    """Return all fields of a section for an event."""
    return {**{name: getattr(row, name) for name in SectionText.__struct_fields__}, "tags": tags}
