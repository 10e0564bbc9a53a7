"""Authorization, checked inside the transaction, so that the check and the change see the same state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from groundplan.kernel.access import (
    AGENT_ROLE_POLICY,
    GRANTS,
    ORGANIZATION_GRANTS,
    OWN_DRAFT_PERMISSIONS,
    Permission,
    Role,
    allows,
    limit_agent_role,
)
from groundplan.kernel.actors import Access, ActorKind
from groundplan.kernel.errors import Forbidden, Invalid, NotFound
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Project, Transaction

sql = load_queries(__file__)

ROLES = {role.value: role for role in Role}


class AmbiguousProject(Invalid):
    """The reference is the id of one project and the name of another."""

    code = "ambiguous_project"

    def __init__(self, ref: str, by_id: Project, by_name: Project) -> None:
        super().__init__(
            f"{ref!r} is the id of one project and the name of another; "
            f"use {by_id.name!r} for the first or {by_name.id!r} for the second",
            ref=ref,
            instead=[by_id.name, by_name.id],
        )


class AgentNotAllowed(Forbidden):
    """The actor is an agent, and the project leaves this to persons."""

    code = "agent_not_allowed"

    def name_command(self, words: Sequence[str]) -> AgentNotAllowed:
        """Return the refusal with the command with which a person does it."""
        command = " ".join(("groundplan", *words))
        return AgentNotAllowed(f"{self.message}; the person's command is {command}", **self.details, command=command)


def agent_needs(permission: Permission, role: Role) -> AgentNotAllowed:
    """Return the refusal for an agent whose role in a project is limited by the policy of the project."""
    needed = next(role for role in Role if role in GRANTS[permission])
    return AgentNotAllowed(
        f"an agent acts as {role} in this project, and this needs {permission}; "
        f"ask a person to do it, or an owner to set the policy {AGENT_ROLE_POLICY} to {needed}",
        role=role,
        permission=permission,
        policy={AGENT_ROLE_POLICY: needed},
    )


class ProjectId(str):
    """The id of a project from the database; unlike text of a caller, it cannot be a name."""

    __slots__ = ()


def authorize_project(tx: Transaction, ref: str, permission: Permission, *, by_id: bool = False) -> Project:
    """Return the project with this id or name if the actor has the permission; `by_id` or a ProjectId ignores names.

    Raises:
        AmbiguousProject: `ref` is the id of one project and the name of another, and the actor sees both.
        NotFound: there is no such project, or the actor is not a member of it.
        Forbidden: the actor is a member, but the role does not have the permission.
        AgentNotAllowed: a person with this membership could do it, but not an agent.
    """
    found = _find_visible_project(tx, ref, by_id=by_id or isinstance(ref, ProjectId))
    if found is None:
        raise NotFound("project", ref, near=_find_similar_names(tx, ref))
    membership = found.role
    if tx.actor.kind is ActorKind.AGENT:
        found = replace(found, role=limit_agent_role(membership, found.policies))
        if permission in OWN_DRAFT_PERMISSIONS and allows(found.role, Permission.PROJECT_WRITE):
            return found  # the use case refuses drafts that others have written
    if not allows(found.role, permission, found.policies):
        if allows(membership, permission, found.policies):
            raise agent_needs(permission, found.role)
        raise Forbidden(
            f"your role in this project is {found.role} and this needs {permission}; ask an owner for a higher role",
            role=found.role,
            permission=permission,
        )
    return found


def authorize_organization(tx: Transaction, permission: Permission) -> None:
    """Raise NotFound if the actor is not in the organization; its existence is not revealed."""
    assert permission in ORGANIZATION_GRANTS, permission  # noqa: S101 - a mistake in the registry, not in the input
    if tx.actor.access is Access.MEMBERS and tx.one_or_none(sql.organization_membership) is None:
        raise NotFound("organization", tx.actor.organization, hint="ask one of its members to add you to a project")


def refuse_foreign_draft(tx: Transaction, permission: Permission, sole_writer: str | None) -> None:
    """Raise AgentNotAllowed when an agent without the permission deletes a draft that others have written."""
    if not allows(tx.project.role, permission) and sole_writer != tx.actor.id:
        raise agent_needs(permission, tx.project.role)


def find_visible_project_ids(tx: Transaction) -> frozenset[str] | None:
    """Return the ids of the projects that the actor may see; None means all of them."""
    if tx.actor.access is Access.OPEN:
        return None
    return frozenset(tx.scalars(sql.projects_of_member))


class ProjectAccessRow(NamedTuple):
    """A project row, with the role of the actor."""

    id: str
    name: str
    rev: int
    archived_at: str | None
    policies: str
    updated_at: str
    machine_start: str | None
    role: str | None


def _find_visible_project(tx: Transaction, ref: str, *, by_id: bool) -> Project | None:
    # Skip projects that the actor cannot see: the id of a hidden project must not shadow the name of a visible one.
    found: list[Project] = []
    query = sql.projects_by_ref if tx.actor.access is Access.OPEN else sql.projects_for_actor
    for row in tx.all(query, ProjectAccessRow, ref=ref):
        if row.role is not None and (row.id == ref or not by_id):
            role = ROLES[row.role]
            found.append(
                Project(
                    row.id, row.name, row.rev, role, row.archived_at, row.policies, row.updated_at, row.machine_start
                )
            )
    if len(found) < 2:
        return found[0] if found else None
    first, second = sorted(found, key=lambda project: project.id != ref)
    if first.id != second.id:
        raise AmbiguousProject(ref, first, second)
    return first


def _find_similar_names(tx: Transaction, ref: str) -> list[str]:
    from difflib import get_close_matches  # here, because only an error needs it

    query = sql.project_names if tx.actor.access is Access.OPEN else sql.project_names_of_member
    return get_close_matches(ref, tx.scalars(query), n=2)
