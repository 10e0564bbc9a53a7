"""A project as callers see it."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Row, Transaction

sql = load_queries(__file__)


class ProjectView(Struct):
    """A project, and what the caller is in it."""

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
    """The answer of everything that is done to one project."""

    project: ProjectView


def from_row(row: Row, role: Role) -> ProjectView:
    """Build the view from the columns that the queries of this folder select."""
    id_, name, goal, rev, created_at, created_by, updated_at, archived_at = row
    return ProjectView(id_, name, goal, role, rev, created_at, created_by, updated_at, archived_at)


def view(tx: Transaction, project_id: str, role: Role) -> ProjectView:
    """The project as it is now, inside this transaction."""
    return from_row(tx.one(sql.project, id=project_id), role)
