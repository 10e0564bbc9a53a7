"""The scope of a search: one project, one feature, or every project that the caller can see."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.projects.list import ListProjects, list_projects
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.refs import container, project_of
from groundplan.work.containers.requests import ContainerType


class SearchScope(NamedTuple):
    """Projects to search; or one project and a feature in it."""

    project_ids: list[str]
    feature_n: int | None = None


def resolve_project(tx: Transaction, project_id: str | None, feature_id: str | None) -> str | None:
    """Return the project that a request names, or the project of its feature; None if it names neither."""
    if project_id is not None or feature_id is None:
        return project_id
    return project_of(tx, ContainerType.FEATURE, feature_id, field="featureId")


def resolve_scope(tx: Transaction, feature_id: str | None = None) -> SearchScope:
    """Return the current project or one feature in it; without a project, all unarchived ones that the caller sees.

    Raises:
        NotFound: the feature does not exist.
        MixedProjects: it belongs to another project.
    """
    if not tx.has_project:
        return SearchScope([project.id for project in list_projects(tx, ListProjects()).projects])
    feature = None if feature_id is None else container(tx, ContainerType.FEATURE, feature_id, field="featureId")
    return SearchScope([tx.project.id], feature.n if feature else None)
