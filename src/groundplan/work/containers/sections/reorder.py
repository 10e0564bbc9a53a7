"""Reorder the sections of a container."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from groundplan.kernel.access import Permission
from groundplan.kernel.audit import changed
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Route, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import invalid_argument
from groundplan.work.containers.requests import ContainerId, EntityType, StringList
from groundplan.work.containers.sections.refs import load_section_rows, resolve_container, resolve_entity_project
from groundplan.work.containers.sections.requests import parse_ids
from groundplan.work.containers.sections.section import (
    SectionRow,
    Sections,
    insert_sections,
    load_section_tags,
    load_sections,
    remove_sections,
)
from groundplan.work.events import WorkOp


class ReorderSections(Struct, rename="camel", forbid_unknown_fields=True):
    """A container and the ids of all its sections in the new order."""

    entity_type: EntityType
    entity_id: ContainerId
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
    moved = {id_: index for index, id_ in enumerate(ids) if before[id_] != index}
    if moved:
        rows = load_section_rows(tx, list(moved))
        tags = load_section_tags(tx, list(moved))
        # Ordinals are unique and every UPDATE raises the version by one, so updates alone cannot swap two sections and
        # raise each version only once. Moved sections are deleted and inserted again.
        remove_sections(tx, moved)
        insert_sections(tx, [_move_row(tx, row, moved[row.id]) for row in rows.values()], tags)
        changes = (
            changed(f"sections.{id_}", {"ordinal": before[id_]}, {"ordinal": index}) for id_, index in moved.items()
        )
        tx.record(WorkOp.SECTION_CHANGED, node.id, *changes)
    sections = load_sections(tx, node, include_content=False)
    return Sections(sections, len(sections))


def _move_row(tx: Transaction, row: SectionRow, ordinal: int) -> SectionRow:
    version = row.version + 1
    return replace(row, ordinal=ordinal, version=version, modified_at=tx.now, modified_by=tx.actor.id)


def _refuse_incomplete_order(ids: list[str], ordinals: dict[str, int]) -> None:
    missing = [id_ for id_ in ordinals if id_ not in ids]
    foreign = [id_ for id_ in ids if id_ not in ordinals]
    if not missing and not foreign:
        return
    wrong = [f"lacks {', '.join(missing)}"] if missing else []
    wrong += [f"has {', '.join(foreign)}, not in this container"] if foreign else []
    sentence = f"{' and '.join(wrong)}; send the id of every section of this container, each once"
    raise invalid_argument(("orderedIds",), sentence, missing=missing, foreign=foreign)


OPERATION = Operation(
    name="section.reorder",
    summary="Reorder all sections of a container (orderedIds).",
    permission=Permission.WORK_UPDATE,
    effect=Effect.WRITE,
    idempotent=True,
    input=ReorderSections,
    output=Sections,
    handler=reorder,
    project=lambda tx, request: resolve_entity_project(tx, request.entity_type, request.entity_id),
    tool=Tool("manage_sections", Group.CONTAINERS, "reorder"),
    command=Command(
        ("section", "reorder"),
        arguments=("ordered_ids",),
        names={"entity_type": "type", "entity_id": "container", "ordered_ids": "sections"},
    ),
    http=Route("PUT", "/projects/{project}/work/{entityType}s/{entityId}/sections/order"),
)
