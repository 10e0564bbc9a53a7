"""Begin a new scope: the project comes into being and the caller is its first owner."""

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
# A scope that is there already may be one of the projects with longer names.
ScopeRef = Annotated[str, NormalizedName(255, "pciv_scope_id_required", "pciv_scope_id_too_long")]


class AlreadyInitialized(NameTaken):
    """A scope is begun once; a second bootstrap could be a stranger who wants to become owner."""

    code = "pciv_scope_already_initialized"

    def __init__(self, scope_id: str) -> None:
        super().__init__(
            f"scope {scope_id!r} exists already; use it if it is yours, or ask an owner to let you in",
            scope_id=scope_id,
        )


class BootstrapScope(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to begin. `scopeId` becomes the project's name, `name` a sentence about it."""

    scope_id: ScopeId
    name: Goal | None = None
    create_draft_run: bool = False
    op_id: OpId = field(name="op_id", default=None)


class BootstrappedScope(Struct, rename="camel"):
    """The scope as the caller calls it, the id of its project, what the caller is in it, and its first draft."""

    scope_id: str
    project_id: str
    role: Role
    run_id: str | UnsetType = UNSET


def bootstrap(tx: Transaction, request: BootstrapScope) -> BootstrappedScope:
    """Begin a scope.

    Raises:
        AlreadyInitialized: there is one of that name, whether the caller may see it or not.
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
    summary="Begin a new scope with yourself as its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    input=BootstrapScope,
    output=BootstrappedScope,
    handler=bootstrap,
    tool=Tool(TOOL, GROUP, "bootstrap"),
)
