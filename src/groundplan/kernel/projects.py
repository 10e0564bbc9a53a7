"""Projects: list, create, archive and configure them, and the checks of the doctor about them.

The creator of a project is its first owner, or the person who is responsible for the agent that creates it. An archived
project can be read but not changed. Each policy is applied by the slice that it belongs to.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Annotated

import msgspec
from msgspec import Struct

from groundplan import providers
from groundplan.kernel.access import Permission, Role, get_smaller_role
from groundplan.kernel.actors import Access, Actor, ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.clock import find_jump
from groundplan.kernel.errors import NameTaken
from groundplan.kernel.input_gate.text_limits import MaxBytes, Name
from groundplan.kernel.members import join
from groundplan.kernel.operations.registry import Effect, Operation, OpId, Route, declare
from groundplan.kernel.principals import find_kind, find_principal
from groundplan.kernel.store.authorize import (
    AgentNotAllowed,
    authorize_project,
    find_roles_of_sponsor,
    find_visible_project_ids,
    limit_role,
)
from groundplan.kernel.store.checkup import Finding, ok, warn
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Project, Transaction
from groundplan.kernel.wording import PROGRAM

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
    """Return the projects that the token of the actor allows, with at most the roles of its sponsor."""
    visible = find_visible_project_ids(tx)
    limited = [view for view in views if visible is None or view.id in visible]
    if tx.actor.sponsor is not None:
        roles = find_roles_of_sponsor(tx)
        for view in limited:
            view.role = get_smaller_role(view.role, roles[view.id])
    return limited


LIST = declare(
    list_projects,
    name="project.list",
    summary="List your projects; archived ones too when asked.",
    permission=Permission.PROJECT_LIST,
    effect=Effect.READ,
    http=Route("GET", "/projects"),
)


NAME_CHARS_KEPT = 200  # of a project that is set aside
ID_TRIES_MAX = 4  # ids are random; repeated collisions mean that the name is in use


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


def create_project(tx: Transaction, request: CreateProject) -> OneProject:
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
    """
    owner = _find_owner(tx, name)
    defaults = read_default_policies(tx)
    for _ in range(ID_TRIES_MAX):
        project_id = providers.generate_project_id(tx)
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
        if tx.actor.kind is not ActorKind.PERSON:
            tx.warnings.append(f"no person owns {name!r}; a person becomes its owner with: {_spell_adoption(name)}")
    else:
        join(tx, project_id, owner, role=Role.OWNER, kind=ActorKind.PERSON)
        join(tx, project_id, tx.actor.id, role=Role.EDITOR, kind=tx.actor.kind)
    providers.create_root(tx, project_id, goal or name)
    return project_id


def _spell_adoption(name: str) -> str:
    """Return the command with which a person becomes the owner of a project."""
    return shlex.join((PROGRAM, "member", "add", "NAME", "--project", name, "--role", Role.OWNER))


def find_time_without_person(tx: Transaction) -> str | None:
    """Return when the current project was created if no person owns it; None if one does."""
    created_at: str | None = tx.scalar(sql.created_without_person, project_id=tx.project.id)
    return created_at


def read_default_policies(tx: Transaction) -> str:
    """Return the policies of new projects in this organization, as a project stores them."""
    return tx.scalar(sql.default_policies) or "{}"


@contextmanager
def enter_new_project(tx: Transaction, project_id: str, name: str, policies: str) -> Iterator[None]:
    """Within the block, make a project that this transaction created the current project at its first revision."""
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
    """Return the stored role of the creator of a project. It is editor for an agent if the store checks roles."""
    is_limited = actor.kind is ActorKind.AGENT and actor.access is Access.MEMBERS
    return Role.EDITOR if is_limited else Role.OWNER


def _find_owner(tx: Transaction, name: str) -> str:
    """Return the owner of a new project: its creator, or the person who is responsible for an agent."""
    actor = tx.actor
    if get_creator_role(actor) is Role.OWNER:
        return actor.id
    if actor.responsible is None:
        # By an agent of the stdio server; one with a token has the person who issued it.
        raise AgentNotAllowed(
            "an agent creates a project only for a person who then owns it; "
            "ask a person to create it and to add you, or to start you with --owner NAME"
        ).name_command(shlex.join((PROGRAM, "project", "create", name)))
    owner = find_principal(tx, actor.responsible)
    if owner is not None and find_kind(tx, owner) != ActorKind.PERSON:
        raise AgentNotAllowed(f"{actor.responsible!r} is not a person, and only a person owns a project of an agent")
    return owner or actor.responsible


CREATE = declare(
    create_project,
    name="project.create",
    summary="Create a project; you become its owner.",
    permission=Permission.PROJECT_CREATE,
    effect=Effect.WRITE,
    http=Route("POST", "/projects", location="/projects/{project.id}/work"),
)


class ArchiveProject(Struct, forbid_unknown_fields=True):
    """The project to archive or restore, by id or name."""

    project: Name
    op_id: OpId = None


class ArchivedProject(Struct):
    """The project and the time of its archiving. It has no revision, because archiving it again changes nothing."""

    id: str
    name: str
    archived_at: str | None


def archive_project(tx: Transaction, request: ArchiveProject) -> ArchivedProject:
    """Archive a project. Archiving it again changes nothing."""
    return _set_archived(tx, KernelOp.PROJECT_ARCHIVED, archived_at=tx.project.archived_at or tx.now)


def restore_project(tx: Transaction, request: ArchiveProject) -> ArchivedProject:
    """Restore an archived project."""
    return _set_archived(tx, KernelOp.PROJECT_RESTORED, archived_at=None)


def _set_archived(tx: Transaction, op: KernelOp, *, archived_at: str | None) -> ArchivedProject:
    project = tx.project
    if archived_at != project.archived_at:
        tx.run(sql.set_archived, id=project.id, archived_at=archived_at)
        tx.record(op, project.id, changed("archived_at", project.archived_at, archived_at))
    return ArchivedProject(project.id, project.name, archived_at)


def set_aside(tx: Transaction, request: ArchiveProject) -> ArchivedProject:
    """Archive a project in which nothing was done, and free its name. Its history stays."""
    project = tx.project
    name = f"{project.name[:NAME_CHARS_KEPT]} (removed {project.id})"
    tx.run(sql.set_aside, id=project.id, name=name)
    changes = changed("archived_at", project.archived_at, tx.now), changed("name", project.name, name)
    tx.record(KernelOp.PROJECT_ARCHIVED, project.id, *changes)
    return ArchivedProject(project.id, name, tx.now)


# An undo of its creation runs this. It has no name in the catalog: nothing else may take the name of a project.
SET_ASIDE = declare(
    set_aside,
    name="project.set_aside",
    summary="Archive a project in which nothing was done, and free its name.",
    permission=Permission.PROJECT_ARCHIVE,
    effect=Effect.WRITE,
)

_OPERATION = partial(
    Operation,
    permission=Permission.PROJECT_ARCHIVE,
    effect=Effect.WRITE,
    input=ArchiveProject,
    output=ArchivedProject,
    project=lambda _tx, request: request.project,
    on_archived=True,
    idempotent=True,
)

ARCHIVE = _OPERATION(
    name="project.archive",
    summary="Archive a project: it can be read, but not changed.",
    handler=archive_project,
    http=Route("POST", "/projects/{project}/archive"),
)

RESTORE = _OPERATION(
    name="project.restore",
    summary="Restore an archived project.",
    handler=restore_project,
    http=Route("POST", "/projects/{project}/restore"),
)


def configure_project(tx: Transaction, project_id: str, before: Struct, after: Struct, *, decision: str | None) -> str:
    """Store the policies of a project and return them as stored. Records nothing if no value changes."""
    text = msgspec.json.encode(after).decode()
    if record_policies(tx, project_id, before, after, decision=decision):
        tx.run(sql.set_policies, id=project_id, policies=text)
    return text


def record_policies(tx: Transaction, project_id: str, before: Struct, after: Struct, *, decision: str | None) -> bool:
    """Record the policies of a project that change. Return False if none does."""
    names = [name for name in after.__struct_fields__ if getattr(after, name) != getattr(before, name)]
    if names:
        changes = [changed(f"policies.{name}", getattr(before, name), getattr(after, name)) for name in names]
        tx.record(KernelOp.PROJECT_CONFIGURED, project_id, *changes, decision=decision, project_id=project_id)
    return bool(names)


OWNERS = "owners"


def check_owners(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the organization that no person owns."""
    names = tx.scalars(sql.projects_without_person)
    for name in names:
        fix = f"a person becomes its owner with: {_spell_adoption(name)}"
        yield warn(OWNERS, f"no person owns the project {name}", fix)
    if not names:
        yield ok(OWNERS, "a person owns each project")


CLOCKS = "clocks"


def check_clocks(tx: Transaction) -> Iterator[Finding]:
    """Yield a finding for each project of the actor whose last write disagrees with the clock."""
    agree = True
    for view in list_projects(tx, ListProjects(archived=True)).projects:
        project = authorize_project(tx, view.id, Permission.PROJECT_READ, by_id=True)
        jump = find_jump(tx.now, project, tx.uptime)
        if jump is not None:
            agree = False
            wrong, _, fix = jump.describe().partition("; ")
            yield warn(CLOCKS, f"{project.name}: {wrong}", fix)
    if agree:
        yield ok(CLOCKS, "this clock agrees with the last changes")
