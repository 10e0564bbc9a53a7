"""Resolve the refs of callers to projects, features and tasks, and to the scope of a search.

Containers in a project that the actor may not see are reported as missing.
"""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.errors import MixedProjects, NextStep, NotFound
from groundplan.kernel.projects import ListProjects, list_projects
from groundplan.kernel.store.transaction import Transaction
from groundplan.work import refs
from groundplan.work.containers.fields import ContainerType
from groundplan.work.kinds import ROOT_N
from groundplan.work.nodes import WorkNodeRow, fetch_node


class SearchScope(NamedTuple):
    """The projects to search, or one project with a feature in it."""

    project_ids: list[str]
    feature_n: int | None = None


def container_of_another_project(tx: Transaction, ref: str, field: str) -> MixedProjects:
    """Return the error for a container outside the current project."""
    return MixedProjects(
        f"{field} {ref!r} belongs to another project than {tx.project.name!r}; name one of that project", field=field
    )


def resolve_container_project(tx: Transaction, container_type: ContainerType, ref: str, *, field: str = "id") -> str:
    """Return the project of a container, even of a deleted one, so that a retry finds its stored answer."""
    if container_type is ContainerType.PROJECT:
        return ref
    try:
        return refs.resolve_node_project(tx, ref)
    except NotFound as error:
        raise _rename_not_found(error, container_type, field=field) from None


def resolve_container(tx: Transaction, container_type: ContainerType, ref: str, *, field: str = "id") -> WorkNodeRow:
    """Return the container of this type and ref in the current project."""
    if container_type is ContainerType.PROJECT:
        return fetch_node(tx, ROOT_N)
    node = find_any_container(tx, ref, field=field, thing=container_type)
    if get_container_type(node) is not container_type:
        hint = f"it is a {get_container_type(node)}"
        raise NotFound(container_type, ref, hint=hint, field=field)
    return node


def find_any_container(
    tx: Transaction, ref: str, *, field: str, thing: ContainerType = ContainerType.TASK
) -> WorkNodeRow:
    """Return the feature or task with this ref in the current project."""
    try:
        return fetch_node(tx, refs.find_node_in_project(tx, ref).n)
    except NotFound as error:
        raise _rename_not_found(error, thing, field=field) from None
    except MixedProjects:
        raise container_of_another_project(tx, ref, field) from None


def get_container_type(node: WorkNodeRow) -> ContainerType:
    """Return the container type of a node; a node without a kind is a task."""
    return ContainerType.TASK if node.kind is None else ContainerType(node.kind)


def resolve_project(tx: Transaction, project_id: str | None, feature_id: str | None) -> str | None:
    """Return the project in the request, or the project of its feature; None if the request has neither."""
    if project_id is not None or feature_id is None:
        return project_id
    return resolve_container_project(tx, ContainerType.FEATURE, feature_id, field="featureId")


def resolve_scope(tx: Transaction, feature_id: str | None = None) -> SearchScope:
    """Return the scope of a search: the current project or a feature in it, else all unarchived projects."""
    if not tx.has_project:
        return SearchScope([project.id for project in list_projects(tx, ListProjects()).projects])
    feature = (
        None if feature_id is None else resolve_container(tx, ContainerType.FEATURE, feature_id, field="featureId")
    )
    return SearchScope([tx.project.id], feature.n if feature else None)


def _rename_not_found(error: NotFound, thing: ContainerType, *, field: str) -> NotFound:
    similar = error.details.get("near", ())
    search = NextStep("container.search", "finds them by text", {"containerType": thing.value})
    next_steps = search if error.next_steps else ()
    return NotFound(thing, error.details["ref"], near=similar, hint=error.hint, next_steps=next_steps, field=field)
