"""Authorization: it is checked inside the transaction, so that the check and the change see the same state."""

from __future__ import annotations

from difflib import get_close_matches

import msgspec
from msgspec.structs import replace

from groundplan.kernel.access import (
    ADMINISTRATOR_PERMISSIONS,
    AGENT_ROLE_POLICY,
    GRANTS,
    ORGANIZATION_GRANTS,
    OWN_DRAFT_PERMISSIONS,
    PERSON_PERMISSIONS,
    OrganizationRole,
    Permission,
    ProjectCreators,
    Role,
    allows,
    get_smaller_role,
    limit_agent_role,
)
from groundplan.kernel.actors import LOCAL_ORGANIZATION, NOBODY, Access, Actor, ActorKind
from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from groundplan.kernel.store.queries import load_queries, to_json_array
from groundplan.kernel.store.transaction import Project, Transaction

sql = load_queries(__file__)

ROLES = {role.value: role for role in Role}


class AmbiguousProject(Invalid):
    """The reference is the id of one project and the name of another."""

    code = "ambiguous_project"

    def __init__(self, ref: str, by_id: ProjectAccessRow, by_name: ProjectAccessRow) -> None:
        super().__init__(
            f"{ref!r} is the id of one project and the name of another; "
            f"use {by_id.name!r} for the first or {by_name.id!r} for the second",
            ref=ref,
            instead=[by_id.name, by_name.id],
        )


class AgentNotAllowed(Forbidden):
    """The actor is an agent, and the project allows this only to people."""

    code = "agent_not_allowed"

    def name_command(self, command: str) -> AgentNotAllowed:
        """Return the error with the command that a person can use."""
        return AgentNotAllowed(f"{self.message}; the person's command is {command}", **self.details, command=command)


class TokenLimited(Forbidden):
    """The role of the actor allows this, but its token does not."""

    code = "token_limited"

    def __init__(self, permission: Permission, role: Role) -> None:
        super().__init__(
            f"this token allows what a {role} may do, and this needs {permission}; "
            "use a token with a larger role, or one that is not limited to projects",
            role=role,
            permission=permission,
        )


class AdministratorRequired(Forbidden):
    """Only an administrator of the organization may do this."""

    code = "administrator_required"

    def __init__(self, permission: Permission) -> None:
        super().__init__(
            f"only an administrator of the organization may do this ({permission}); ask one of them",
            permission=permission,
        )


class ProjectCreationRestricted(Forbidden):
    """A setting of the organization limits who may create projects, and the actor may not."""

    code = "project_creation_restricted"

    def __init__(self, creators: ProjectCreators) -> None:
        allowed = {
            ProjectCreators.OWNERS: "people who own a project already, and administrators, may",
            ProjectCreators.ADMINISTRATORS: "administrators may",
        }
        super().__init__(
            f"in this organization only {allowed.get(creators, 'members may')} create projects; ask one of them",
            project_creators=creators,
        )


def agent_needs(permission: Permission, role: Role) -> AgentNotAllowed:
    """Return the refusal for an agent whose role the policies of the project limit."""
    needed = next(role for role in Role if role in GRANTS[permission])
    return AgentNotAllowed(
        f"an agent acts as {role} in this project, and this needs {permission}; "
        f"ask a person to do it, or an owner to set the policy {AGENT_ROLE_POLICY} to {needed}",
        role=role,
        permission=permission,
        policy={AGENT_ROLE_POLICY: needed},
    )


class ProjectId(str):
    """The id of a project as the database returned it. It is never interpreted as a name."""

    __slots__ = ()


def authorize_project(tx: Transaction, ref: str, permission: Permission, *, by_id: bool = False) -> Project:
    """Return the project with this id or name if the actor has the permission; `by_id` or a ProjectId ignores names."""
    row = _find_visible_project(tx, ref, by_id=by_id or isinstance(ref, ProjectId))
    if row is None:
        raise NotFound("project", ref, near=find_similar_names(tx, ref), hint=_explain_entry(tx))
    membership = ROLES[row.role or ""]
    role = limit_role(tx.actor, membership, row.policies)
    target = Project(row.id, row.name, row.rev, role, row.archived_at, row.policies, row.updated_at, row.machine_start)
    if (
        tx.actor.kind is ActorKind.AGENT
        and permission in OWN_DRAFT_PERMISSIONS
        and allows(role, Permission.PROJECT_WRITE)
    ):
        return target  # the use case refuses drafts that others have written
    if not allows(role, permission, target.policies):
        by_policy = limit_role(replace(tx.actor, role_max=None), membership, target.policies)
        if allows(by_policy, permission, target.policies):
            raise TokenLimited(permission, role)
        if allows(membership, permission, target.policies):
            raise agent_needs(permission, by_policy)
        raise Forbidden(
            f"your role in this project is {target.role} and this needs {permission}; ask an owner for a higher role",
            role=target.role,
            permission=permission,
        )
    return target


def find_project_id(tx: Transaction, ref: str) -> str | None:
    """Return the id of the project with this id or name, or None if the actor sees none."""
    row = _find_visible_project(tx, ref, by_id=False)
    return None if row is None else row.id


def limit_role(actor: Actor, role: Role, policies: str) -> Role:
    """Return a role limited by the actor's token and, for an agent, by the policies of the project."""
    if actor.kind is ActorKind.AGENT:
        role = limit_agent_role(role, policies)
    return role if actor.role_max is None else get_smaller_role(role, actor.role_max)


def authorize_organization(tx: Transaction, permission: Permission) -> None:
    """Check a permission in the organization."""
    assert permission in ORGANIZATION_GRANTS, permission  # noqa: S101 - a mistake in the registry, not in the input
    membership = find_organization_role(tx)
    if permission in PERSON_PERMISSIONS and tx.actor.kind is not ActorKind.PERSON:
        raise AgentNotAllowed(f"only a person may do this ({permission}); ask a person", permission=permission)
    role = get_organization_role(tx.actor)
    if role not in ORGANIZATION_GRANTS[permission]:
        raise TokenLimited(permission, role)
    is_administrator = membership is OrganizationRole.ADMINISTRATOR
    if permission in ADMINISTRATOR_PERMISSIONS and not is_administrator:
        raise AdministratorRequired(permission)
    if permission is Permission.PROJECT_CREATE and not is_administrator:
        _refuse_creation(tx)


def administers(tx: Transaction) -> bool:
    """Return True if the actor is a person who administers the organization, without limits of a token."""
    actor = tx.actor
    is_unlimited = actor.kind is ActorKind.PERSON and get_organization_role(actor) is Role.OWNER
    return is_unlimited and find_organization_role(tx) is OrganizationRole.ADMINISTRATOR


def find_organization_role(tx: Transaction) -> OrganizationRole:
    """Return the role of the actor in the organization. A person whom the store trusts administers it."""
    actor = tx.actor
    if actor.access is Access.OPEN:
        # A local store is opened often, and the organization that it always has need not be looked up.
        if actor.organization != LOCAL_ORGANIZATION and tx.one_or_none(sql.organization_exists) is None:
            raise NotFound("organization", actor.organization, hint="check its id")
        return OrganizationRole.ADMINISTRATOR if actor.kind is ActorKind.PERSON else OrganizationRole.MEMBER
    role = tx.scalar(sql.organization_membership)
    if role is None:
        raise NotFound("organization", actor.organization, hint=_explain_entry(tx))
    return OrganizationRole(role)


def _explain_entry(tx: Transaction) -> str:
    """Return how to let in an actor without any role in the organization; empty for one that has a role."""
    actor = tx.actor
    if actor.access is Access.OPEN or actor == NOBODY or tx.scalar(sql.organization_membership) is not None:
        return ""
    remedy = "an owner of a project, or an administrator of the organization, can add the name"
    # Who comes with a token has no such option.
    option = "" if actor.token_id else "; --access open trusts everybody who can open the store"
    return f"stored roles decide here, and {actor.id!r} has none: {remedy}{option}"


def _refuse_creation(tx: Transaction) -> None:
    creators = ProjectCreators(tx.scalar(sql.project_creators) or ProjectCreators.MEMBERS)
    if creators is ProjectCreators.MEMBERS:
        return
    if creators is ProjectCreators.ADMINISTRATORS or tx.one_or_none(sql.owned_project) is None:
        raise ProjectCreationRestricted(creators)


def get_organization_role(actor: Actor) -> Role:
    """Return the organization role whose permissions the actor's token allows; owner if the token has no limits."""
    return Role.VIEWER if actor.projects is not None else actor.role_max or Role.OWNER


def owns_organization(actor: Actor) -> bool:
    """Return True if the actor is a person whom the store trusts with all projects, and no token limits them."""
    is_trusted = actor.access is Access.OPEN and actor.kind is ActorKind.PERSON
    return is_trusted and get_organization_role(actor) is Role.OWNER


def refuse_foreign_draft(tx: Transaction, permission: Permission, sole_writer: str | None) -> None:
    """Raise AgentNotAllowed when an agent without the permission deletes a draft that other actors have edited."""
    if not allows(tx.project.role, permission) and sole_writer != tx.actor.id:
        raise agent_needs(permission, tx.project.role)


def find_visible_project_ids(tx: Transaction) -> frozenset[str] | None:
    """Return the ids of the projects that the actor may see; None means all of them."""
    actor = tx.actor
    visible = None if actor.access is Access.OPEN else frozenset(tx.scalars(sql.projects_of_member))
    if actor.sponsor is not None:
        of_sponsor = frozenset(find_roles_of_sponsor(tx))
        visible = of_sponsor if visible is None else visible & of_sponsor
    if actor.projects is not None:
        visible = actor.projects if visible is None else visible & actor.projects
    return visible


def find_roles_of_sponsor(tx: Transaction) -> dict[str, Role]:
    """Return the role of the actor's sponsor in each project that the sponsor is a member of."""
    return {project_id: ROLES[role] for project_id, role in tx.all(sql.roles_of_user, user_id=tx.actor.sponsor)}


class ProjectAccessRow(msgspec.Struct, frozen=True):
    """A project row, with the role of the actor."""

    id: str
    name: str
    rev: int
    archived_at: str | None
    policies: str
    updated_at: str
    machine_start: str | None
    role: str | None


def _find_visible_project(tx: Transaction, ref: str, *, by_id: bool) -> ProjectAccessRow | None:
    # Skip projects that the actor cannot see: the id of a hidden project must not shadow the name of a visible one.
    visible: list[ProjectAccessRow] = []
    actor = tx.actor
    query = sql.projects_by_ref if actor.access is Access.OPEN else sql.projects_for_actor
    for row in tx.all(query, ProjectAccessRow, ref=ref):
        if row.role is None or (by_id and row.id != ref):
            continue
        if not actor.is_limited:
            visible.append(row)
        elif (role := _limit_membership(tx, row.id, ROLES[row.role])) is not None:
            visible.append(msgspec.structs.replace(row, role=role))
    if len(visible) < 2:
        return visible[0] if visible else None
    first, second = sorted(visible, key=lambda project: project.id != ref)
    if first.id != second.id:
        raise AmbiguousProject(ref, first, second)
    return first


def _limit_membership(tx: Transaction, project_id: str, role: Role) -> Role | None:
    """Return the role that the actor's sponsor also has; None if the token of the actor hides the project."""
    actor = tx.actor
    if actor.projects is not None and project_id not in actor.projects:
        return None
    if actor.sponsor is None:
        return role
    of_sponsor = tx.scalar(sql.role_of_user, project_id=project_id, user_id=actor.sponsor)
    return None if of_sponsor is None else get_smaller_role(role, ROLES[of_sponsor])


def find_similar_names(tx: Transaction, ref: str) -> list[str]:
    """Return the names of visible projects that resemble a text."""
    if tx.actor.is_limited and (visible := find_visible_project_ids(tx)) is not None:
        names = tx.scalars(sql.names_of_projects, ids=to_json_array(sorted(visible)))
        return get_close_matches(ref, names, n=2)
    query = sql.project_names if tx.actor.access is Access.OPEN else sql.project_names_of_member
    return get_close_matches(ref, tx.scalars(query), n=2)
