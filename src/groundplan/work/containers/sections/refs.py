"""From what callers write to the sections and containers they mean.

What is in a project that the actor may not see reads like what is missing.
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
    """The section is of another container than the one that was named beside it."""

    code = "other_container"

    def __init__(self, field: str, section_id: str, entity_type: EntityType, entity_id: str) -> None:
        super().__init__(
            f"{field} names another container: section {section_id} is of the {entity_type.container_type} "
            f"{entity_id}; name that one, or none",
            field=field,
            id=section_id,
            entityType=entity_type,
            entityId=entity_id,
        )


def resolve_entity_project(tx: Transaction, entity_type: EntityType, entity_id: str) -> str:
    """The project of the container that is meant.

    Raises:
        NotFound: there is and was none that the actor may see.
        AmbiguousNode: there are several that begin like this.
    """
    try:
        return refs.project_of(tx, entity_type.container_type, entity_id)
    except GroundplanError as error:
        error.details = {**error.details, "field": "entityId"}
        raise


def container(tx: Transaction, entity_type: EntityType, entity_id: str) -> WorkNodeRow:
    """The container that is meant, in the project entered.

    Raises:
        NotFound: there is none of this type that the actor may see.
    """
    return refs.container(tx, entity_type.container_type, entity_id, field="entityId")


def project_of(tx: Transaction, section_id: str) -> str:
    """The project of a section, also of a deleted one: a request that is sent again must find its answer.

    Raises:
        Invalid: the id is no UUID.
        NotFound: there is and was none that the actor may see.
    """
    path: ArgumentPath = ("sectionId",)
    return _resolve_project(tx, parse_id(section_id, path), path)


def resolve_sections_project(tx: Transaction, section_ids: Sequence[str] | str) -> str:
    """The project of some sections, told by the first of them.

    Raises:
        Invalid: there is no id, or one is no UUID.
        NotFound: there is and was no such section that the actor may see.
    """
    return _resolve_project(tx, parse_required_ids(section_ids)[0], ("sectionIds", 0))


def parse_required_ids(section_ids: Sequence[str] | str) -> list[str]:
    """The ids of some sections, one at least.

    Raises:
        Invalid: there is none, or one is no UUID.
    """
    ids = parse_ids(section_ids, "sectionIds")
    if not ids:
        raise invalid_argument(("sectionIds",), "names no section", next_steps=NextStep("section.list", "lists ids"))
    return ids


def section_row(tx: Transaction, section_id: str) -> SectionRow:
    """A section of the project entered.

    Raises:
        NotFound: there is none.
    """
    id_ = parse_id(section_id, ("sectionId",))
    row = section_rows(tx, [id_]).get(id_)
    if row is None:
        raise missing_section(id_, ("sectionId",))
    return row


def section_rows(tx: Transaction, ids: Sequence[str]) -> dict[str, SectionRow]:
    """Those among some sections that are in the project entered."""
    rows = tx.all(sql.sections_by_id, SectionRow, project_id=tx.project.id, ids=to_json_array(ids))
    return {row.id: row for row in rows}


def refuse_unknown_ids(tx: Transaction, ids: Sequence[str], found: Collection[str]) -> None:
    """Refuse ids of which none was found in the project entered.

    Raises:
        NotFound: there is no such section that the actor may see.
        Invalid: there is one in another project.
    """
    for place, id_ in enumerate(ids):
        if id_ in found:
            continue
        path: ArgumentPath = ("sectionIds", place)
        project_id = tx.scalar(sql.project_of_section, id=id_)
        if project_id is None or not _sees(tx, project_id):
            raise missing_section(id_, path)
        wrong = "is of another project than those before it; send one call for each project"
        raise invalid_argument(path, wrong, code="mixed_projects", id=id_)


def refuse_other_container(
    tx: Transaction, row: SectionRow, node: WorkNodeRow, entity_type: EntityType | None, entity_id: str | None
) -> None:
    """A section says by itself what it is of; whoever names the container too must mean the same.

    Raises:
        OtherContainer: they do not.
        NotFound: there is no such container that the actor may see.
    """
    own_type = EntityType[refs.type_of(node).name]
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
    """The refusal of an id that leads nowhere."""
    return NotFound(
        "section", id_, next_steps=NextStep("section.list", "lists what is there"), field=format_argument_path(path)
    )


def _resolve_project(tx: Transaction, id_: str, path: ArgumentPath) -> str:
    project_id = tx.scalar(sql.project_of_section, id=id_) or tx.scalar(sql.project_of_deleted_section, id=id_)
    if project_id is None or not _sees(tx, project_id):
        raise missing_section(id_, path)
    return ProjectId(project_id)


def _sees(tx: Transaction, project_id: str) -> bool:
    seen = find_visible_project_ids(tx)
    return seen is None or project_id in seen
