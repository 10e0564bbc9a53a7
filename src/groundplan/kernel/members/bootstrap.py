"""Begin a new scope: the project comes into being and the caller is its first owner."""

from __future__ import annotations

from msgspec import Struct, field

from groundplan.kernel.access import Permission, Role
from groundplan.kernel.errors import Conflict, RuleViolated
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.members.view import GROUP, TOOL
from groundplan.kernel.operations.registry import Effect, Operation, Tool
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.projects.create import Goal, found
from groundplan.kernel.store.transaction import Transaction


class AlreadyInitialized(Conflict):
    """A scope is begun once; a second bootstrap could be a stranger who wants to become owner."""

    code = "pciv_scope_already_initialized"

    def __init__(self, scope_id: str) -> None:
        super().__init__(f"scope {scope_id!r} exists already; ask one of its owners to let you in", scope_id=scope_id)


class NoRunsYet(RuleViolated):
    """Context runs come with a later version."""

    code = "runs_not_available"

    def __init__(self) -> None:
        super().__init__("this version has no context runs yet; begin the scope without createDraftRun")


class Bootstrap(Struct, rename="camel", forbid_unknown_fields=True):
    """The scope to begin. `scopeId` becomes the project's name, `name` a sentence about it."""

    scope_id: Name
    name: Goal | None = None
    create_draft_run: bool = False
    op_id: OpId = field(name="op_id", default=None)


class Begun(Struct, rename="camel"):
    """The scope as the caller calls it, the id of its project, and what the caller is in it."""

    scope_id: str
    project_id: str
    role: Role


def bootstrap(tx: Transaction, request: Bootstrap) -> Begun:
    """Begin a scope.

    Raises:
        NoRunsYet: a draft run was asked for.
        AlreadyInitialized: there is one of that name, whether the caller may see it or not.
    """
    if request.create_draft_run:
        raise NoRunsYet
    project_id = found(tx, request.scope_id, goal=request.name)
    if project_id is None:
        raise AlreadyInitialized(request.scope_id)
    return Begun(request.scope_id, project_id, Role.OWNER)


OPERATION = Operation(
    name="member.bootstrap",
    summary="Begin a new scope with yourself as its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    input=Bootstrap,
    output=Begun,
    handler=bootstrap,
    tool=Tool(TOOL, GROUP, "bootstrap"),
)
