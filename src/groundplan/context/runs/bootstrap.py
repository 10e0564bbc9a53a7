"""Create a scope: a project with the caller as its first owner."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.context.runs.create_draft import ScopeId, create_first_draft, create_scope
from groundplan.context.schemas import RunOwnership
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.members import GROUP, TOOL
from groundplan.kernel.operations.registry import Effect, OpId, Route, Tool, declare
from groundplan.kernel.projects import Goal, get_creator_role
from groundplan.kernel.store.transaction import Transaction


class BootstrapScope(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to create. `scopeId` becomes the name of the project, `name` its goal."""

    scope_id: ScopeId
    name: Goal | None = None
    create_draft_run: bool = False
    op_id: OpId = field(name="op_id", default=None)


class BootstrappedScope(Struct, rename="camel"):
    """The name of the scope, the id of its project, the role of the caller, and its first draft."""

    scope_id: str
    project_id: str
    role: Role
    run_id: str | UnsetType = UNSET


def bootstrap(tx: Transaction, request: BootstrapScope) -> BootstrappedScope:
    """Create a scope.

    Raises:
        AlreadyInitialized: a scope of that name exists, possibly one that the caller cannot see.
    """
    project_id = create_scope(tx, request.scope_id, goal=request.name)
    if not request.create_draft_run:
        return BootstrappedScope(request.scope_id, project_id, get_creator_role(tx.actor))
    run = create_first_draft(tx, project_id, RunOwnership.OWNED)
    return BootstrappedScope(request.scope_id, project_id, get_creator_role(tx.actor), run.id)


OPERATION = declare(
    bootstrap,
    name="member.bootstrap",
    summary="Create a scope with yourself as its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    project=None,
    tool=Tool(TOOL, GROUP, "bootstrap"),
    http=Route("POST", "/projects/{project}/bootstrap", location="/projects/{project}/members"),
)
