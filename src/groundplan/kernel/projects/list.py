"""List the projects of the caller."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Permission, limit_agent_role
from groundplan.kernel.actors import Access, ActorKind
from groundplan.kernel.operations.registry import Command, Effect, Operation, Route
from groundplan.kernel.projects.view import ProjectView
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
    if tx.actor.kind is ActorKind.AGENT:
        policies: dict[str, str] = dict(tx.all(sql.policies_of_projects, ids=to_json_array(view.id for view in views)))
        for view in views:
            view.role = limit_agent_role(view.role, policies[view.id])
    return Projects(sorted(views, key=lambda view: view.name))


OPERATION = Operation(
    name="project.list",
    summary="List your projects; archived ones too when asked.",
    permission=Permission.PROJECT_LIST,
    effect=Effect.READ,
    input=ListProjects,
    output=Projects,
    handler=list_projects,
    command=Command(("project", "list"), columns=("name", "id", "role", "archived_at", "goal")),
    http=Route("GET", "/projects"),
)
