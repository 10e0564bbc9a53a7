"""Resolve refs of callers to sections and containers.

Sections in a project that the actor may not see are reported as missing.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from groundplan.kernel.errors import GroundplanError, Invalid, NotFound
from groundplan.kernel.next_steps import NextStep
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path, invalid_argument
from groundplan.work.containers import refs
from groundplan.work.containers.requests import ContainerType, EntityType
from groundplan.work.containers.sections.requests import parse_id, parse_ids
from groundplan.work.containers.sections.section import SectionRow
from groundplan.work.engine.row import WorkNodeRow

sql = load_queries(__file__)


class OtherContainer(Invalid):
    """The section belongs to another container than the named one."""

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


def resolve_entity_project(tx: Transaction, entity_type: EntityType, entity_id: str) -> str:
    """Return the project of a container, even a deleted one.

    Raises:
        NotFound: the actor can see no such container, deleted or not.
        AmbiguousNode: several ids begin with this ref.
    """
    try:
        return refs.resolve_container_project(tx, entity_type.container_type, entity_id)
    except GroundplanError as error:
        error.details = {**error.details, "field": "entityId"}
        raise


def resolve_container(tx: Transaction, entity_type: EntityType, entity_id: str) -> WorkNodeRow:
    """Return the container of this type and id in the current project.

    Raises:
        NotFound: the actor can see no such container of this type.
    """
    return refs.resolve_container(tx, entity_type.container_type, entity_id, field="entityId")


def resolve_section_project(tx: Transaction, section_id: str) -> str:
    """Return the project of a section, even a deleted one, so that a retried request finds its stored answer.

    Raises:
        Invalid: the id is not a UUID.
        NotFound: the actor can see no such section, deleted or not.
    """
    path: ArgumentPath = ("sectionId",)
    return _resolve_project(tx, parse_id(section_id, path), path)


def resolve_sections_project(tx: Transaction, section_ids: Sequence[str] | str) -> str:
    """Return the project of the first of some sections.

    Raises:
        Invalid: the list is empty, or an id is not a UUID.
        NotFound: the actor can see no such section, deleted or not.
    """
    return _resolve_project(tx, parse_required_ids(section_ids)[0], ("sectionIds", 0))


def parse_required_ids(section_ids: Sequence[str] | str) -> list[str]:
    """Parse the ids of sections; at least one is required.

    Raises:
        Invalid: the list is empty, or an id is not a UUID.
    """
    ids = parse_ids(section_ids, "sectionIds")
    if not ids:
        raise invalid_argument(
            ("sectionIds",), "is empty; send at least one section id", next_steps=NextStep("section.list", "lists ids")
        )
    return ids


def load_section_row(tx: Transaction, section_id: str) -> SectionRow:
    """Return the row of a section of the current project.

    Raises:
        NotFound: the section does not exist.
    """
    id_ = parse_id(section_id, ("sectionId",))
    row = load_section_rows(tx, [id_]).get(id_)
    if row is None:
        raise missing_section(id_, ("sectionId",))
    return row


def load_section_rows(tx: Transaction, ids: Sequence[str]) -> dict[str, SectionRow]:
    """Return those of some sections that are in the current project, by id."""
    rows = tx.all(sql.sections_by_id, SectionRow, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}


def refuse_unknown_ids(tx: Transaction, ids: Sequence[str], found: Collection[str]) -> None:
    """Reject ids that were not found in the current project.

    Raises:
        NotFound: the actor can see no section with this id.
        Invalid: the section belongs to another project.
    """
    for index, id_ in enumerate(ids):
        if id_ in found:
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
    """Reject a named container that is not the container of the section. Naming one is optional.

    Raises:
        OtherContainer: the section belongs to another container.
        NotFound: the actor can see no such container.
    """
    own_type = EntityType[refs.get_container_type(node).name]
    is_project = own_type is EntityType.PROJECT
    own_id = tx.project.id if is_project else node.id
    if entity_type not in (None, own_type):
        raise OtherContainer("entityType", row.id, own_type, own_id)
    if entity_id in (None, own_id) or (is_project and entity_id == tx.project.name):
        return
    if is_project:
        raise OtherContainer("entityId", row.id, own_type, own_id)
    if refs.find_any_container(tx, str(entity_id), field="entityId", thing=ContainerType[own_type.name]).n != node.n:
        raise OtherContainer("entityId", row.id, own_type, own_id)


def missing_section(id_: str, path: ArgumentPath) -> NotFound:
    """Return the error for an unknown section id."""
    return NotFound(
        "section", id_, next_steps=NextStep("section.list", "lists the sections"), field=format_argument_path(path)
    )


def _resolve_project(tx: Transaction, id_: str, path: ArgumentPath) -> str:
    project_id = tx.scalar(sql.project_of_section, id=id_) or tx.scalar(sql.project_of_deleted_section, id=id_)
    if project_id is None or not _can_see(tx, project_id):
        raise missing_section(id_, path)
    return ProjectId(project_id)


def _can_see(tx: Transaction, project_id: str) -> bool:
    visible = find_visible_project_ids(tx)
    return visible is None or project_id in visible
