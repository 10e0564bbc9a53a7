"""The view of a project in answers."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ProjectView(Struct):
    """A project, and the role of the caller in it."""

    id: str
    name: str
    goal: str | None
    role: Role
    rev: int
    created_at: str
    created_by: str
    updated_at: str
    archived_at: str | None


class OneProject(Struct):
    """The answer of operations on one project."""

    project: ProjectView


def read_project_view(tx: Transaction, project_id: str, role: Role) -> ProjectView:
    """Return the project as this transaction sees it."""
    return tx.one(sql.project, ProjectView, id=project_id, role=role)
