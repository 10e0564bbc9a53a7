"""Create a project. Its creator is its first owner, or the person who is responsible for the agent that creates it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import msgspec
from msgspec import Struct

from groundplan.kernel import ports
from groundplan.kernel.access import Permission, Role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.errors import NameTaken
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.members.member import find_principal, join
from groundplan.kernel.operations.registry import Command, Effect, Route, declare
from groundplan.kernel.operations.requests import OpId
from groundplan.kernel.projects.view import OneProject, read_project_view
from groundplan.kernel.store.authorize import AgentNotAllowed, limit_role
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Project, Transaction

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
    return OneProject(read_project_view(tx, project_id, limit_role(tx.actor, get_creator_role(tx.actor), "{}")))


def create_owned_project(tx: Transaction, name: str, *, goal: str | None, policies: str | None = None) -> str | None:
    """Create a project and return its id, or None if the name is in use. Needs the lock of the organization.

    Without `policies` it has those that the organization gives to new projects.

    Raises:
        AgentNotAllowed: the actor is an agent, stored roles decide, and no person is responsible for it.
    """
    owner = _find_owner(tx, name)
    defaults = read_default_policies(tx)
    for _ in range(ID_TRIES_MAX):
        project_id = ports.generate_project_id(tx, None)
        if tx.run(sql.add_project, id=project_id, name=name, goal=goal, policies=policies or defaults):
            break
    else:
        return None
    changes = (changed("name", None, name), changed("goal", None, goal))
    tx.record(KernelOp.PROJECT_CREATED, project_id, *changes)
    tx.record(KernelOp.PROJECT_CREATED, project_id, *changes, project_id=project_id)
    if policies is None and (given := msgspec.json.decode(defaults)):
        tx.record(
            KernelOp.PROJECT_CONFIGURED,
            project_id,
            *(changed(f"policies.{policy}", None, value) for policy, value in given.items()),
            project_id=project_id,
        )
    if owner == tx.actor.id:
        join(tx, project_id, owner, role=Role.OWNER, kind=tx.actor.kind)
    else:
        join(tx, project_id, owner, role=Role.OWNER, kind=ActorKind.PERSON)
        join(tx, project_id, tx.actor.id, role=Role.EDITOR, kind=tx.actor.kind)
    ports.on_project_created(tx, project_id, goal or name)
    return project_id


def read_default_policies(tx: Transaction) -> str:
    """Return the policies of new projects in this organization, as a project stores them."""
    return tx.scalar(sql.default_policies) or "{}"


@contextmanager
def enter_new_project(tx: Transaction, project_id: str, name: str, policies: str) -> Iterator[None]:
    """Make a project that this transaction has created the current one within the block, at its first revision."""
    rev = tx.rev
    role = limit_role(tx.actor, get_creator_role(tx.actor), policies)
    tx.set_project(Project(project_id, name, 1, role, None, policies, tx.now, None))
    tx.rev = 1
    try:
        yield
    finally:
        tx.set_project(None)
        tx.rev = rev


def get_creator_role(actor: Actor) -> Role:
    """Return the stored role of the creator of a project: editor for an agent where stored roles decide."""
    is_limited = actor.kind is ActorKind.AGENT and actor.access is Access.MEMBERS
    return Role.EDITOR if is_limited else Role.OWNER


def _find_owner(tx: Transaction, name: str) -> str:
    """Return who owns a new project: its creator, or the person who is responsible for an agent."""
    actor = tx.actor
    if get_creator_role(actor) is Role.OWNER:
        return actor.id
    if actor.responsible is None:
        import shlex  # only a refusal needs it

        # By an agent of the stdio server; one with a token has the person who issued it.
        raise AgentNotAllowed(
            "an agent creates a project only for a person who then owns it; "
            "ask a person to create it and to add you, or to start you with --owner NAME"
        ).name_command(("project", "create", shlex.quote(name)))
    owner = find_principal(tx, actor.responsible)
    if owner is not None and tx.scalar(sql.kind_of_principal, id=owner) != ActorKind.PERSON:
        raise AgentNotAllowed(f"{actor.responsible!r} is not a person, and only a person owns a project of an agent")
    return owner or actor.responsible


OPERATION = declare(
    create,
    name="project.create",
    summary="Create a project; you become its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    command=Command(("project", "create"), arguments=("name",)),
    http=Route("POST", "/projects", location="/projects/{project.id}/work"),
)
