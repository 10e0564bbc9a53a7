"""Delete sections. The history of their container keeps their text."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.optimistic_locking import refuse_stale
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.requests import ContainerId, EntityType, StringList, Version
from groundplan.work.containers.sections.refs import (
    load_section_row,
    load_section_rows,
    parse_required_ids,
    refuse_other_container,
    refuse_unknown_ids,
    resolve_section_project,
    resolve_sections_project,
)
from groundplan.work.containers.sections.section import SectionRow, delete_sections, load_section_tags, to_event_fields
from groundplan.work.engine.row import WorkNodeRow, fetch_node
from groundplan.work.events import WorkOp


class DeleteSection(Struct, rename="camel", forbid_unknown_fields=True):
    """A section, and the version that the caller read."""

    section_id: str
    version: Version
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeleteSections(Struct, rename="camel", forbid_unknown_fields=True):
    """Sections to delete, at any version."""

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
    """Delete a section. The version of its container does not change.

    Raises:
        StaleVersion: its version changed; `currentVersion` is the new one.
        OtherContainer: it belongs to another container than the named one.
        NotFound: it does not exist.
    """
    row = load_section_row(tx, request.section_id)
    node = fetch_node(tx, row.node_n)
    refuse_other_container(tx, row, node, request.entity_type, request.entity_id)
    refuse_stale("section", row.id, current=row.version, given=request.version)
    _remove(tx, {row.node_n: node}, [row])
    return DeletedSection(row.id)


def bulk_delete(tx: Transaction, request: DeleteSections) -> DeletedSections:
    """Delete several sections of one project: all of them, or none.

    Raises:
        OtherContainer: one belongs to another container than the named one.
        NotFound: one does not exist.
        Invalid: one belongs to another project than the first.
    """
    ids = parse_required_ids(request.section_ids)
    found = load_section_rows(tx, ids)
    refuse_unknown_ids(tx, ids, found)
    rows = [found[id_] for id_ in ids]
    nodes = {n: fetch_node(tx, n) for n in dict.fromkeys(row.node_n for row in rows)}
    for row in rows:
        refuse_other_container(tx, row, nodes[row.node_n], request.entity_type, request.entity_id)
    _remove(tx, nodes, rows)
    return DeletedSections(ids, len(ids))


def _remove(tx: Transaction, nodes: dict[int, WorkNodeRow], rows: Collection[SectionRow]) -> None:
    ids = [row.id for row in rows]
    tags = load_section_tags(tx, ids)
    delete_sections(tx, ids)
    for n, node in nodes.items():
        of_this = (row for row in rows if row.node_n == n)
        changes = (changed(f"sections.{row.id}", to_event_fields(row, tags.get(row.id, [])), None) for row in of_this)
        tx.record(WorkOp.SECTION_DELETED, node.id, *changes)


OPERATION = Operation(
    name="section.delete",
    summary="Delete a section at the version you read.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.DESTROY,
    input=DeleteSection,
    output=DeletedSection,
    handler=delete,
    project=lambda tx, request: resolve_section_project(tx, request.section_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "delete"),
    command=Command(
        ("section", "delete"),
        arguments=("section_id",),
        names={"section_id": "section", "entity_type": "type", "entity_id": "container"},
    ),
    http=Route("DELETE", "/projects/{project}/work/sections/{sectionId}"),
)

BULK_DELETE = Operation(
    name="section.bulk_delete",
    summary="Delete several sections, all or none.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.DESTROY,
    input=DeleteSections,
    output=DeletedSections,
    handler=bulk_delete,
    project=lambda tx, request: resolve_sections_project(tx, request.section_ids),
    tool=Tool("manage_sections", Group.CONTAINERS, "bulkDelete"),
    command=Command(
        ("section", "bulk-delete"),
        arguments=("section_ids",),
        names={"section_ids": "sections", "entity_type": "type", "entity_id": "container"},
    ),
    http=Route("DELETE", "/projects/{project}/work/sections"),
)
