"""Create a scope: a project with the caller as its first owner."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType, field

from groundplan.kernel import ports
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.errors import NameTaken
from groundplan.kernel.input_gate.text_limits import NormalizedName
from groundplan.kernel.members.view import GROUP, TOOL
from groundplan.kernel.operations.registry import Effect, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.projects.create import Goal, create_owned_project
from groundplan.kernel.store.transaction import Transaction

SCOPE_ID_LIMITS = NormalizedName(200, "pciv_scope_id_required", "pciv_scope_id_too_long")

ScopeId = Annotated[str, SCOPE_ID_LIMITS]
# An existing scope may be a project with a longer name.
ScopeRef = Annotated[str, NormalizedName(255, "pciv_scope_id_required", "pciv_scope_id_too_long")]


class AlreadyInitialized(NameTaken):
    """The scope already exists. It cannot be created again, else a stranger could become its owner."""

    code = "pciv_scope_already_initialized"

    def __init__(self, scope_id: str) -> None:
        super().__init__(
            f"scope {scope_id!r} already exists; use it if it is yours, or ask an owner to add you",
            scope_id=scope_id,
        )


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
    project_id = create_owned_project(tx, request.scope_id, goal=request.name)
    if project_id is None:
        raise AlreadyInitialized(request.scope_id)
    if not request.create_draft_run:
        return BootstrappedScope(request.scope_id, project_id, Role.OWNER)
    run_id = ports.begin_first_draft(tx, project_id)
    return BootstrappedScope(request.scope_id, project_id, Role.OWNER, run_id)


OPERATION = Operation(
    name="member.bootstrap",
    summary="Create a scope with yourself as its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    input=BootstrapScope,
    output=BootstrappedScope,
    handler=bootstrap,
    tool=Tool(TOOL, GROUP, "bootstrap"),
)
