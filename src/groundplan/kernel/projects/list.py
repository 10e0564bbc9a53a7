"""List the projects of the caller."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission, get_smaller_role
from groundplan.kernel.actors import Access, ActorKind
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.projects.view import ProjectView
from groundplan.kernel.store.authorize import find_roles_of_sponsor, find_visible_project_ids, limit_role
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


class ListProjects(Struct, forbid_unknown_fields=True):
    """The filter of a project list."""

    archived: bool = False


class Projects(Struct):
    """Projects, ordered by name."""

    projects: list[ProjectView]


def list_projects(tx: Transaction, request: ListProjects) -> Projects:
    """Return the projects of the caller, ordered by name; archived ones only on request."""
    query = sql.projects if tx.actor.access is Access.OPEN else sql.projects_of_member
    views = tx.all(query, ProjectView, with_archived=request.archived)
    if tx.actor.is_limited:
        views = _limit_views(tx, views)
    if tx.actor.kind is ActorKind.AGENT or tx.actor.is_limited:
        policies: dict[str, str] = dict(tx.all(sql.policies_of_projects, ids=to_json_array(view.id for view in views)))
        for view in views:
            view.role = limit_role(tx.actor, view.role, policies[view.id])
    return Projects(sorted(views, key=lambda view: view.name))


def _limit_views(tx: Transaction, views: list[ProjectView]) -> list[ProjectView]:
    """Return the projects that exist for the token of the actor, with at most the roles of its sponsor."""
    visible = find_visible_project_ids(tx)
    limited = [view for view in views if visible is None or view.id in visible]
    if tx.actor.sponsor is not None:
        roles = find_roles_of_sponsor(tx)
        for view in limited:
            view.role = get_smaller_role(view.role, roles[view.id])
    return limited


OPERATION = declare(
    list_projects,
    name="project.list",
    summary="List your projects; archived ones too when asked.",
    permission=Permission.PROJECT_LIST,
    effect=Effect.READ,
    command=Command(("project", "list"), columns=("name", "id", "role", "archived_at", "goal")),
    http=Route("GET", "/projects"),
)
