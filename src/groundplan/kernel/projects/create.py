"""Create a project. Its creator is its first owner."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from groundplan.kernel import ports
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import NameTaken
from groundplan.kernel.ids import new_short_id
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.members.member import join
from groundplan.kernel.operations.registry import Command, Effect, Operation
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.projects.view import OneProject, read_project_view
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

ID_TRIES_MAX = 4  # ids are random; repeated collisions mean that the name is in use

sql = load_queries(__file__)

Goal = Annotated[str, MaxBytes(4096)]


class ProjectExists(NameTaken):
    """The name is in use in the organization, possibly by a project that the caller cannot see."""

    code = "project_exists"

    def __init__(self, name: str) -> None:
        super().__init__(f"project {name!r} already exists; choose another name", name=name)


class CreateProject(Struct, forbid_unknown_fields=True):
    """The project to create."""

    name: Name
    goal: Goal | None = None
    op_id: OpId = None


def create(tx: Transaction, request: CreateProject) -> OneProject:
    """Create a project with the caller as its owner.

    Raises:
        ProjectExists: the name is in use.
    """
    project_id = create_owned_project(tx, request.name, goal=request.goal)
    if project_id is None:
        raise ProjectExists(request.name)
    return OneProject(read_project_view(tx, project_id, Role.OWNER))


def create_owned_project(tx: Transaction, name: str, *, goal: str | None) -> str | None:
    """Create a project and return its id, or None if the name is in use. Needs the lock of the organization."""
    for _ in range(ID_TRIES_MAX):
        project_id = new_short_id()
        if tx.run(sql.add_project, id=project_id, name=name, goal=goal):
            break
    else:
        return None
    changes = (changed("name", None, name), changed("goal", None, goal))
    tx.record(KernelOp.PROJECT_CREATED, project_id, *changes)
    tx.record(KernelOp.PROJECT_CREATED, project_id, *changes, project_id=project_id)
    join(tx, project_id, tx.actor.id, role=Role.OWNER, kind=tx.actor.kind)
    ports.on_project_created(tx, project_id, goal or name)
    return project_id


OPERATION = Operation(
    name="project.create",
    summary="Create a project; you become its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    input=CreateProject,
    output=OneProject,
    handler=create,
    command=Command(("project", "create"), arguments=("name",)),
)
