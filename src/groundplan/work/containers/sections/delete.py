"""Take sections away. What they said stays in the history of their container."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct, field

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.queries import listed, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.version import refuse_stale
from groundplan.work.containers.requests import ContainerId, EntityType, Several, Version
from groundplan.work.containers.sections.refs import (
    named,
    project_of,
    project_of_all,
    refuse_other_container,
    refuse_strangers,
    section_row,
    section_rows,
)
from groundplan.work.containers.sections.section import SectionRow, tags_of, take, told
from groundplan.work.engine.row import NodeRow, fetch
from groundplan.work.events import Op

sql = load_queries(__file__)


class DeleteSection(Struct, rename="camel", forbid_unknown_fields=True):
    """Which section, at which version."""

    section_id: str
    version: Version
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeleteSections(Struct, rename="camel", forbid_unknown_fields=True):
    """Which sections, at whatever version they are."""

    section_ids: Several
    entity_type: EntityType | None = None
    entity_id: ContainerId | None = None
    op_id: OpId = field(name="op_id", default=None)


class DeletedSection(Struct):
    """What is gone."""

    deleted: str


class DeletedSections(Struct):
    """What is gone, and how much that is."""

    deleted: list[str]
    count: int


def delete(tx: Transaction, request: DeleteSection) -> DeletedSection:
    """Delete a section. The version of its container stays.

    Raises:
        StaleVersion: it is at another version; `currentVersion` says at which.
        OtherContainer: it is of another container than the one that was named.
        NotFound: it is not there.
    """
    row = section_row(tx, request.section_id)
    node = fetch(tx, row.node_n)
    refuse_other_container(tx, row, node, request.entity_type, request.entity_id)
    refuse_stale("section", row.id, current=row.version, given=request.version)
    _remove(tx, {row.node_n: node}, [row])
    return DeletedSection(row.id)


def bulk_delete(tx: Transaction, request: DeleteSections) -> DeletedSections:
    """Delete several sections of one project: all of them, or none.

    Raises:
        OtherContainer: one is of another container than the one that was named.
        NotFound: one is not there.
        Invalid: one is of another project than the first.
    """
    ids = named(request.section_ids)
    found = section_rows(tx, ids)
    refuse_strangers(tx, ids, found)
    rows = [found[id_] for id_ in ids]
    nodes = {n: fetch(tx, n) for n in dict.fromkeys(row.node_n for row in rows)}
    for row in rows:
        refuse_other_container(tx, row, nodes[row.node_n], request.entity_type, request.entity_id)
    _remove(tx, nodes, rows)
    return DeletedSections(ids, len(ids))


def _remove(tx: Transaction, nodes: dict[int, NodeRow], rows: Collection[SectionRow]) -> None:
    ids = [row.id for row in rows]
    tags = tags_of(tx, ids)
    take(tx, ids)
    tx.run(sql.remember_deleted, project_id=tx.project.id, ids=listed(ids))
    for n, node in nodes.items():
        of_this = (row for row in rows if row.node_n == n)
        changes = (changed(f"sections.{row.id}", told(row, tags.get(row.id, [])), None) for row in of_this)
        tx.record(Op.SECTION_DELETED, node.id, *changes)


OPERATION = Operation(
    name="section.delete",
    summary="Delete a section at the version you read.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.DESTROY,
    input=DeleteSection,
    output=DeletedSection,
    handler=delete,
    project=lambda tx, request: project_of(tx, request.section_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "delete"),
    command=Command(
        ("section", "delete"),
        arguments=("section_id",),
        names={"section_id": "section", "entity_type": "type", "entity_id": "container"},
    ),
)

BULK_DELETE = Operation(
    name="section.bulk_delete",
    summary="Delete several sections, all or none.",
    permission=Permission.WORK_UPDATE,
    effect=Effect.DESTROY,
    input=DeleteSections,
    output=DeletedSections,
    handler=bulk_delete,
    project=lambda tx, request: project_of_all(tx, request.section_ids),
    tool=Tool("manage_sections", Group.CONTAINERS, "bulkDelete"),
    command=Command(
        ("section", "bulk-delete"),
        arguments=("section_ids",),
        names={"section_ids": "sections", "entity_type": "type", "entity_id": "container"},
    ),
)
