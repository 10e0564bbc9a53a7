"""Resolve ids to atoms, molecules, tasks and their projects.

An entity in a project that the actor may not see is reported as missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.kernel.errors import GroundplanError, NextStep, NotFound, RuleViolated
from groundplan.kernel.store.authorize import ProjectId, find_visible_project_ids
from groundplan.kernel.store.queries import Query, load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import ArgumentPath, format_argument_path
from groundplan.knowledge.requests import KnowledgeEntityType, parse_id
from groundplan.providers import resolve_task

sql = load_queries(__file__)

_PROJECT_QUERIES: Mapping[KnowledgeEntityType, Query] = {
    KnowledgeEntityType.ATOM: sql.project_of_atom,
    KnowledgeEntityType.MOLECULE: sql.project_of_molecule,
}


class OtherProject(RuleViolated):
    """The referenced entity belongs to another project."""

    code = "other_project"

    def __init__(self, thing: str, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: {thing} {id_} belongs to another project; name one of this project",
            field=field,
            id=id_,
        )


def resolve_entity_project(tx: Transaction, entity_type: KnowledgeEntityType, id_: str, field: str) -> str:
    """Return the project of an atom or a molecule, even a deleted one, so that a retry finds its stored answer."""
    canonical = parse_id(id_, (field,))
    project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=canonical)
    project_id = project_id or tx.scalar(sql.project_of_deleted, id=canonical, entity_type=entity_type.value)
    visible = find_visible_project_ids(tx)
    if project_id is None or not (visible is None or project_id in visible):
        raise missing_entity(entity_type, id_, (field,))
    return ProjectId(project_id)


def refuse_unknown_ids(tx: Transaction, entity_type: KnowledgeEntityType, ids: Mapping[str, ArgumentPath]) -> None:
    """Refuse ids that are not in the current project; `ids` maps each to its argument."""
    names = load_names(tx, entity_type, ids)
    for id_, path in ids.items():
        if id_ in names:
            continue
        project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=id_)
        visible = find_visible_project_ids(tx)
        if project_id is not None and (visible is None or project_id in visible):
            raise OtherProject(entity_type, id_, path)
        raise missing_entity(entity_type, id_, path)


def load_names(
    tx: Transaction, entity_type: KnowledgeEntityType, ids: Mapping[str, object] | set[str]
) -> dict[str, str]:
    """Return the names of those atoms or molecules that are in the current project, by id."""
    if not ids:
        return {}
    query = sql.atom_names if entity_type is KnowledgeEntityType.ATOM else sql.molecule_names
    rows = tx.all(query, project_id=tx.project.id, ids=to_json_array(sorted(ids)))
    return {id_: name for id_, name in rows if name is not None}


def validate_molecule_id(tx: Transaction, given_id: str) -> str:
    """Return the canonical id of a molecule of this project."""
    molecule_id = parse_id(given_id, ("moleculeId",))
    refuse_unknown_ids(tx, KnowledgeEntityType.MOLECULE, {molecule_id: ("moleculeId",)})
    return molecule_id


def resolve_task_id(tx: Transaction, ref: str, field: str) -> str:
    """Return the full id of a task of the current project."""
    try:
        project_id, task_id = resolve_task(tx, ref)
    except NotFound as error:
        raise NotFound(
            "task", ref, near=error.details.get("near", ()), next_steps=error.next_steps, field=field
        ) from None
    except GroundplanError as error:
        error.details = {**error.details, "field": field}
        raise
    if project_id != tx.project.id:
        raise OtherProject("task", task_id, (field,))
    return task_id


def refuse_other_project(
    tx: Transaction, given_project: str | None, entity_type: KnowledgeEntityType, id_: str
) -> None:
    """Refuse a given project that is not the project of the entity."""
    if given_project is not None and given_project not in (tx.project.id, tx.project.name):
        raise OtherProject(entity_type, id_, ("id",))


def missing_entity(entity_type: KnowledgeEntityType, id_: str, path: ArgumentPath) -> NotFound:
    """Return the refusal of an id that names no atom or molecule."""
    step = NextStep("knowledge.search", "lists the existing ones", {"entityType": entity_type.value})
    return NotFound(entity_type.value, id_, next_steps=step, field=format_argument_path(path))
