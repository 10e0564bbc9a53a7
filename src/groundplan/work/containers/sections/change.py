"""List, add, update, reorder and delete the sections of a project, a feature or a task."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType, convert, field
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.errors import refuse_stale
from groundplan.kernel.operations.registry import Effect, OpId, Route
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.fields import ContainerId, EntityType, StringList, Version, parse_tags
from groundplan.work.containers.operations import declare_tool
from groundplan.work.containers.sections.section import (
    Content,
    ContentFormat,
    NewSection,
    Ordinal,
    Section,
    SectionRow,
    Sections,
    Title,
    Usage,
    UsedOrdinals,
    add_sections,
    build_section,
    delete_sections,
    insert_sections,
    load_section_row,
    load_section_rows,
    load_section_tags,
    load_sections,
    missing_section,
    parse_id,
    parse_ids,
    refuse_malformed,
    refuse_other_container,
    refuse_unknown_ids,
    remove_sections,
    resolve_container,
    resolve_entity_project,
    resolve_section_project,
    to_event_fields,
)
from groundplan.work.events import WorkOp
from groundplan.work.nodes import WorkNodeRow, fetch_node

BULK_MAX = 50  # in one call

sql = load_queries(__file__)


class _OfContainer(Struct, rename="camel", forbid_unknown_fields=True):
    entity_type: EntityType
    entity_id: ContainerId


# --- List ---


class ListSections(_OfContainer, forbid_unknown_fields=True):
    """The container, and filters by tags (one must match) or by ids."""

    include_content: bool = True
    tags: StringList = ""
    section_ids: StringList = ""


def list_sections(tx: Transaction, request: ListSections) -> Sections:
    """Return the sections of a container.

    Raises:
        NotFound: the container does not exist, or has no section with one of the ids.
    """
    tags, ids = set(parse_tags(request.tags)), parse_ids(request.section_ids)
    node = resolve_container(tx, request.entity_type, request.entity_id)
    sections = load_sections(tx, node, include_content=request.include_content)
    known_ids = {section.id for section in sections}
    for index, id_ in enumerate(ids):
        if id_ not in known_ids:
            raise missing_section(id_, ("sectionIds", index))
    matches = [
        section
        for section in sections
        if (not tags or not tags.isdisjoint(section.tags)) and (not ids or section.id in ids)
    ]
    return Sections(matches, len(matches))


# --- Add ---


class AddSection(_OfContainer, forbid_unknown_fields=True):
    """A container and its new section. Without an ordinal the section goes to the end."""

    title: Title
    usage_description: Usage = ""
    content: Content = ""
    content_format: ContentFormat = ContentFormat.MARKDOWN
    tags: StringList = ""
    ordinal: Ordinal | None = None
    op_id: OpId = field(name="op_id", default=None)


class AddSections(_OfContainer, forbid_unknown_fields=True):
    """A container and its new sections."""

    # The schema omits the fields of a section, because every session already has them as the arguments of `add`.
    sections: Annotated[
        list[NewSection],
        Meta(min_length=1, max_length=BULK_MAX, extra_json_schema={"items": {"type": "object", "required": ["title"]}}),
    ]
    op_id: OpId = field(name="op_id", default=None)


def add(tx: Transaction, request: AddSection) -> Section:
    """Add a section to a container.

    Raises:
        OrdinalTaken: another section has this ordinal.
        TooManySections: the container has the maximum number of sections.
        NotFound: the container does not exist.
    """
    section = convert(request, NewSection, from_attributes=True)
    (added,) = add_sections(
        tx, resolve_container(tx, request.entity_type, request.entity_id), [section], base_path=None
    )
    return added


def bulk_create(tx: Transaction, request: AddSections) -> Sections:
    """Add several sections to a container. Either all are added, or none.

    Raises:
        OrdinalTaken: two sections would have the same ordinal.
        TooManySections: the container would have too many.
        NotFound: the container does not exist.
    """
    made = add_sections(tx, resolve_container(tx, request.entity_type, request.entity_id), request.sections)
    return Sections(made, len(made))


# --- Update. The version of the container does not change ---


class UpdateSection(Struct, rename="camel", forbid_unknown_fields=True):
    """Changes of one section. Omitted fields are kept."""

    section_id: str
    version: Version
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    title: Title | UnsetType = UNSET
    usage_description: Usage | UnsetType = UNSET
    content: Content | UnsetType = UNSET
    content_format: ContentFormat | UnsetType = UNSET
    tags: StringList | UnsetType = UNSET
    ordinal: Ordinal | UnsetType = UNSET
    op_id: OpId = field(name="op_id", default=None)


class UpdateText(Struct, rename="camel", forbid_unknown_fields=True):
    """The new text of one section."""

    section_id: str
    version: Version
    content: Content
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


# The fields that an update can change, from request name to wire name.
UPDATABLE_FIELDS = {
    "title": "title",
    "usage_description": "usageDescription",
    "content": "content",
    "content_format": "contentFormat",
    "tags": "tags",
    "ordinal": "ordinal",
}


def update(tx: Transaction, request: UpdateSection) -> Section:
    """Update a section and increase its version by one.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OrdinalTaken: another section has this ordinal.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    fields = {name: value for name in UPDATABLE_FIELDS if (value := getattr(request, name)) is not UNSET}
    if not fields:
        raise invalid_argument((), f"change nothing; send at least one of {', '.join(UPDATABLE_FIELDS.values())}")
    if "tags" in fields:
        fields["tags"] = sorted(parse_tags(fields["tags"]))
    return _update_section(tx, request, fields)


def update_text(tx: Transaction, request: UpdateText) -> Section:
    """Replace the text of a section and increase its version by one.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    return _update_section(tx, request, {"content": request.content})


def _update_section(tx: Transaction, request: UpdateSection | UpdateText, fields: dict[str, Any]) -> Section:
    row = load_section_row(tx, request.section_id)
    node = fetch_node(tx, row.node_n)
    refuse_other_container(tx, row, node, request.entity_type, request.entity_id)
    refuse_stale("section", row.id, current=row.version, given=request.version)
    before = to_event_fields(row, load_section_tags(tx, [row.id]).get(row.id, []))
    after = {**before, **fields}
    if "content" in fields or "content_format" in fields:
        refuse_malformed(
            after["content"], after["content_format"], ("content" if "content" in fields else "contentFormat",)
        )
    if "ordinal" in fields:
        UsedOrdinals(tx, node).refuse(fields["ordinal"], ("ordinal",), except_id=row.id)
    tags = after.pop("tags")
    written = replace(row, **after, version=row.version + 1, modified_at=tx.now, modified_by=tx.actor.id)
    # The statement compares the version too, so that no concurrent write is lost.
    if not tx.run_with_record(sql.update_section, written, project_id=tx.project.id, version=row.version):
        raise LookupError("section vanished although its project is locked")
    if tags != before["tags"]:
        tx.run(sql.remove_tags, project_id=tx.project.id, ids=to_json_array([row.id]))
        tx.run(sql.add_tags, project_id=tx.project.id, id=row.id, tags=to_json_array(tags))
    change = changed(f"sections.{row.id}", {name: before[name] for name in fields}, fields)
    tx.record(WorkOp.SECTION_CHANGED, node.id, change)
    return build_section(tx, node, written, tags)


# --- Reorder ---


class ReorderSections(_OfContainer, forbid_unknown_fields=True):
    """A container and the ids of all its sections in the new order."""

    ordered_ids: StringList
    op_id: OpId = field(name="op_id", default=None)


def reorder(tx: Transaction, request: ReorderSections) -> Sections:
    """Give the sections of a container the ordinals 0, 1, 2 …; each moved section gets a new version.

    Raises:
        NotFound: the container does not exist.
    """
    node = resolve_container(tx, request.entity_type, request.entity_id)
    ids = parse_ids(request.ordered_ids, "orderedIds")
    before = {section.id: section.ordinal for section in load_sections(tx, node, include_content=False)}
    _refuse_incomplete_order(ids, before)
    new_ordinals = {id_: index for index, id_ in enumerate(ids) if before[id_] != index}
    if new_ordinals:
        now: dict[str, Any] = {"modified_at": tx.now, "modified_by": tx.actor.id}
        rows = load_section_rows(tx, list(new_ordinals)).values()
        tags = load_section_tags(tx, list(new_ordinals))
        # Ordinals are unique and every UPDATE raises the version by one, so updates alone cannot swap two sections and
        # raise each version only once. Moved sections are deleted and inserted again.
        remove_sections(tx, new_ordinals)
        insert_sections(
            tx, [replace(row, ordinal=new_ordinals[row.id], version=row.version + 1, **now) for row in rows], tags
        )
        changes = (
            changed(f"sections.{id_}", {"ordinal": before[id_]}, {"ordinal": index})
            for id_, index in new_ordinals.items()
        )
        tx.record(WorkOp.SECTION_CHANGED, node.id, *changes)
    sections = load_sections(tx, node, include_content=False)
    return Sections(sections, len(sections))


def _refuse_incomplete_order(ids: list[str], ordinals: dict[str, int]) -> None:
    missing = [id_ for id_ in ordinals if id_ not in ids]
    foreign = [id_ for id_ in ids if id_ not in ordinals]
    if not missing and not foreign:
        return
    wrong = [f"lacks {', '.join(missing)}"] if missing else []
    wrong += [f"has {', '.join(foreign)}, not in this container"] if foreign else []
    sentence = f"{' and '.join(wrong)}; send the id of every section of this container, each once"
    raise invalid_argument(("orderedIds",), sentence, missing=missing, foreign=foreign)


# --- Delete. The history of the container keeps the text ---


class DeleteSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A section, and the version that the caller read."""

    section_id: str
    version: Version
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeleteSections(Struct, rename="camel", forbid_unknown_fields=True):
    """The sections to delete. Their versions are not checked."""

    section_ids: StringList
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedSection(Struct):
    """The id of the deleted section."""

    deleted: str


class DeletedSections(Struct):
    """The ids of the deleted sections, and their number."""

    deleted: list[str]
    count: int


def delete(tx: Transaction, request: DeleteSection) -> DeletedSection:
    """Delete a section.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    row = load_section_row(tx, request.section_id)
    node = fetch_node(tx, row.node_n)
    refuse_other_container(tx, row, node, request.entity_type, request.entity_id)
    refuse_stale("section", row.id, current=row.version, given=request.version)
    _delete_rows(tx, {row.node_n: node}, [row])
    return DeletedSection(row.id)


def bulk_delete(tx: Transaction, request: DeleteSections) -> DeletedSections:
    """Delete several sections of one project. Either all are deleted, or none.

    Raises:
        OtherContainer: one belongs to another container than the named one.
        NotFound: one does not exist.
        Invalid: one belongs to another project than the first.
    """
    ids = parse_ids(request.section_ids, are_required=True)
    rows_by_id = load_section_rows(tx, ids)
    refuse_unknown_ids(tx, ids, rows_by_id)
    rows = [rows_by_id[id_] for id_ in ids]
    nodes = {n: fetch_node(tx, n) for n in dict.fromkeys(row.node_n for row in rows)}
    for row in rows:
        refuse_other_container(tx, row, nodes[row.node_n], request.entity_type, request.entity_id)
    _delete_rows(tx, nodes, rows)
    return DeletedSections(ids, len(ids))


def _delete_rows(tx: Transaction, nodes: dict[int, WorkNodeRow], rows: Collection[SectionRow]) -> None:
    ids = [row.id for row in rows]
    tags = load_section_tags(tx, ids)
    delete_sections(tx, ids)
    for n, node in nodes.items():
        changes = (
            changed(f"sections.{row.id}", to_event_fields(row, tags.get(row.id, [])), None)
            for row in rows
            if row.node_n == n
        )
        tx.record(WorkOp.SECTION_DELETED, node.id, *changes)


# --- Operations ---

OF_CONTAINER = "/projects/{project}/work/{entityType}s/{entityId}/sections"
ONE = "/projects/{project}/work/sections/{sectionId}"

_of_container = partial(
    declare_tool,
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool="manage_sections",
)
_of_section = partial(
    declare_tool,
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    project=lambda tx, request: resolve_section_project(tx, parse_id(request.section_id)),
    tool="manage_sections",
)

LIST = _of_container(
    list_sections,
    "section.list",
    "Sections of a container in order; with any of some tags, or by ids.",
    permission=Permission.WORK_READ,
    effect=Effect.READ,
    tool="query_sections",
    http=Route("GET", OF_CONTAINER),
)
ADD = _of_container(
    add,
    "section.add",
    "Add a section, behind the last or at a free ordinal.",
    selector="add",
    http=Route("POST", OF_CONTAINER, location=OF_CONTAINER),
)
BULK_CREATE = _of_container(
    bulk_create,
    "section.bulk_create",
    "Add several (sections: [{title, content, …}]), all or none.",
    selector="bulkCreate",
    http=Route("POST", f"{OF_CONTAINER}/batch", location=OF_CONTAINER),
)
REORDER = _of_container(
    reorder,
    "section.reorder",
    "Reorder all sections of a container (orderedIds).",
    selector="reorder",
    http=Route("PUT", f"{OF_CONTAINER}/order"),
    idempotent=True,
)
UPDATE = _of_section(
    update,
    "section.update",
    "Change a section at the version you read.",
    selector="update",
    http=Route("PATCH", ONE),
)
UPDATE_TEXT = _of_section(
    update_text,
    "section.update_text",
    "Replace the content of a section.",
    selector="updateText",
    http=Route("PATCH", f"{ONE}/text"),
)
DELETE = _of_section(
    delete,
    "section.delete",
    "Delete a section at the version you read.",
    effect=Effect.DESTROY,
    selector="delete",
    http=Route("DELETE", ONE),
)
BULK_DELETE = declare_tool(
    bulk_delete,
    "section.bulk_delete",
    "Delete several sections, all or none.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.DESTROY,
    project=lambda tx, request: resolve_section_project(
        tx, parse_ids(request.section_ids, are_required=True)[0], ("sectionIds", 0)
    ),
    tool="manage_sections",
    selector="bulkDelete",
    http=Route("DELETE", "/projects/{project}/work/sections"),
)
