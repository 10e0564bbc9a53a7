"""Where to look: in one project, in the project of a feature, or in every project that the caller sees."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.projects.list import ListProjects, list_projects
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.refs import container, project_of
from groundplan.work.containers.requests import ContainerType


class SearchScope(NamedTuple):
    """Some projects, and perhaps one feature in the only one of them."""

    project_ids: list[str]
    feature_n: int | None = None


def resolve_project(tx: Transaction, project_id: str | None, feature_id: str | None) -> str | None:
    """The project that a request names, or that of the feature it names; None where it names neither."""
    if project_id is not None or feature_id is None:
        return project_id
    return project_of(tx, ContainerType.FEATURE, feature_id, field="featureId")


def resolve_scope(tx: Transaction, feature_id: str | None = None) -> SearchScope:
    """The project entered or one feature in it; without a project, every one that the caller sees and is not put away.

    Raises:
        NotFound: there is no such feature here.
        MixedProjects: it is of another project.
    """
    if not tx.has_project:
        return SearchScope([project.id for project in list_projects(tx, ListProjects()).projects])
    feature = None if feature_id is None else container(tx, ContainerType.FEATURE, feature_id, field="featureId")
    return SearchScope([tx.project.id], feature.n if feature else None)
