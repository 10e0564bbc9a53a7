"""From ids to atoms and molecules, and to the project that they are of.

What is in a project that the actor may not see reads like what is missing.
"""

from __future__ import annotations

from collections.abc import Mapping

from groundplan.kernel.errors import GroundplanError, NotFound, RuleViolated
from groundplan.kernel.next_steps import NextStep
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
    """What belongs together is in one project."""

    code = "other_project"

    def __init__(self, thing: str, id_: str, path: ArgumentPath) -> None:
        field = format_argument_path(path)
        super().__init__(
            f"{field}: {thing} {id_} is of another project; name one of this project",
            field=field,
            id=id_,
        )


def resolve_entity_project(tx: Transaction, entity_type: KnowledgeEntityType, id_: str, field: str) -> str:
    """The project of an atom or a molecule, also of a deleted one: a request that is sent again must find its answer.

    Raises:
        Invalid: the id is no UUID.
        NotFound: there is and was none that the actor may see.
    """
    canonical = parse_id(id_, (field,))
    project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=canonical)
    project_id = project_id or tx.scalar(sql.project_of_deleted, id=canonical, entity_type=entity_type.value)
    seen = find_visible_project_ids(tx)
    if project_id is None or not (seen is None or project_id in seen):
        raise missing_entity(entity_type, id_, (field,))
    return ProjectId(project_id)


def refuse_unknown_ids(tx: Transaction, entity_type: KnowledgeEntityType, ids: Mapping[str, ArgumentPath]) -> None:
    """Refuse ids of which there is none in the project entered; `ids` says where each was given.

    Raises:
        NotFound: there is none that the actor may see.
        OtherProject: there is one in another project.
    """
    here = load_names(tx, entity_type, ids)
    for id_, path in ids.items():
        if id_ in here:
            continue
        project_id = tx.scalar(_PROJECT_QUERIES[entity_type], id=id_)
        seen = find_visible_project_ids(tx)
        if project_id is not None and (seen is None or project_id in seen):
            raise OtherProject(entity_type, id_, path)
        raise missing_entity(entity_type, id_, path)


def load_names(
    tx: Transaction, entity_type: KnowledgeEntityType, ids: Mapping[str, object] | set[str]
) -> dict[str, str]:
    """The names of those among some atoms or molecules that are in the project entered."""
    if not ids:
        return {}
    query = sql.atom_names if entity_type is KnowledgeEntityType.ATOM else sql.molecule_names
    rows = tx.all(query, project_id=tx.project.id, ids=to_json_array(sorted(ids)))
    return {id_: name for id_, name in rows if name is not None}


def validate_molecule_id(tx: Transaction, given: str) -> str:
    """The id of a molecule of this project.

    Raises:
        Invalid: it is no UUID.
        NotFound: there is none.
        OtherProject: it is of another project.
    """
    molecule_id = parse_id(given, ("moleculeId",))
    refuse_unknown_ids(tx, KnowledgeEntityType.MOLECULE, {molecule_id: ("moleculeId",)})
    return molecule_id


def resolve_task_id(tx: Transaction, ref: str, field: str) -> str:
    """The whole id of a task of the project entered.

    Raises:
        GroundplanError: there is no such task; the details name the field.
        OtherProject: it is of another project.
    """
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


def refuse_other_project(tx: Transaction, given: str | None, entity_type: KnowledgeEntityType, id_: str) -> None:
    """An id says by itself in which project it is; whoever names the project too must mean the same.

    Raises:
        OtherProject: they do not.
    """
    if given is not None and given not in (tx.project.id, tx.project.name):
        raise OtherProject(entity_type, id_, ("id",))


def missing_entity(entity_type: KnowledgeEntityType, id_: str, path: ArgumentPath) -> NotFound:
    """The refusal of an id that leads nowhere."""
    step = NextStep("knowledge.search", "lists what is there", {"entityType": entity_type.value})
    return NotFound(entity_type.value, id_, next_steps=step, field=format_argument_path(path))
