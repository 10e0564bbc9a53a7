"""The permissions and roles, and the table of the permissions of each role.

The check in Python, the row level security policies of PostgreSQL and the page `docs/reference/access.md` are all
derived from `GRANTS`. To change a permission, change its row here, and in `tests/access/permissions.toml`, which tests
expect.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache

import msgspec


class Role(StrEnum):
    """The role of a member in a project."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


class OrganizationRole(StrEnum):
    """The role of a member in the organization. It gives no access to projects."""

    MEMBER = "member"
    ADMINISTRATOR = "administrator"


class ProjectCreators(StrEnum):
    """The members who may create projects in an organization; administrators always may."""

    MEMBERS = "members"
    OWNERS = "owners"  # whoever owns a project already
    ADMINISTRATORS = "administrators"


class Permission(StrEnum):
    """Every permission, as thing:verb; permissions of a slice start with its name."""

    ORGANIZATION_READ = "organization:read"
    ORGANIZATION_MANAGE = "organization:manage"
    ORGANIZATION_LEAVE = "organization:leave"
    INVITATION_LIST = "invitation:list"
    INVITATION_REVOKE = "invitation:revoke"
    PROJECT_CREATE = "project:create"
    PROJECT_LIST = "project:list"
    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"
    PROJECT_ARCHIVE = "project:archive"
    MEMBER_READ = "member:read"
    MEMBER_MANAGE = "member:manage"
    PROJECT_CONFIGURE = "project:configure"
    TOKEN_CREATE = "token:create"  # noqa: S105 - a permission
    TOKEN_LIST = "token:list"  # noqa: S105 - a permission
    TOKEN_REVOKE = "token:revoke"  # noqa: S105 - a permission
    WORK_READ = "work:node:read"
    WORK_PLAN = "work:node:plan"
    WORK_CLAIM = "work:node:claim"
    WORK_UPDATE = "work:node:update"
    WORK_CONNECT = "work:node:connect"
    WORK_RESTRUCTURE = "work:node:restructure"
    TEMPLATE_READ = "work:template:read"
    TEMPLATE_WRITE = "work:template:write"
    KNOWLEDGE_READ = "knowledge:read"
    KNOWLEDGE_WRITE = "knowledge:write"
    CONTEXT_READ = "context:read"
    CONTEXT_WRITE = "context:write"
    CONTEXT_DELETE = "context:run:delete"
    PURPOSE_READ = "purpose:read"
    PURPOSE_WRITE = "purpose:write"
    PURPOSE_PUBLISH = "purpose:version:publish"
    PURPOSE_DISCARD = "purpose:version:discard"
    PURPOSE_RECORD = "purpose:record"
    PURPOSE_WAIVE = "purpose:waive"


_VIEWERS = frozenset(Role)
_EDITORS = frozenset({Role.EDITOR, Role.OWNER})
_OWNERS = frozenset({Role.OWNER})

# Permissions inside a project, by role in that project.
GRANTS: Mapping[Permission, frozenset[Role]] = {
    Permission.PROJECT_READ: _VIEWERS,
    # Every change in a project increases the project's revision, so every writer needs this.
    Permission.PROJECT_WRITE: _EDITORS,
    Permission.PROJECT_ARCHIVE: _OWNERS,
    Permission.MEMBER_READ: _VIEWERS,
    Permission.MEMBER_MANAGE: _OWNERS,
    Permission.PROJECT_CONFIGURE: _OWNERS,
    Permission.WORK_READ: _VIEWERS,
    Permission.WORK_PLAN: _EDITORS,
    Permission.WORK_CLAIM: _EDITORS,
    Permission.WORK_UPDATE: _EDITORS,
    Permission.WORK_CONNECT: _EDITORS,
    Permission.WORK_RESTRUCTURE: _EDITORS,
    Permission.KNOWLEDGE_READ: _VIEWERS,
    Permission.KNOWLEDGE_WRITE: _EDITORS,
    Permission.CONTEXT_READ: _VIEWERS,
    # Permission to write facts includes creating and committing runs, and discarding a draft that nobody else has
    # written; only owners delete a run.
    Permission.CONTEXT_WRITE: _EDITORS,
    Permission.CONTEXT_DELETE: _OWNERS,
    Permission.PURPOSE_READ: _VIEWERS,
    Permission.PURPOSE_WRITE: _EDITORS,
    # A published version is final, a discarded one is lost, and a waiver is the only way past a gate.
    Permission.PURPOSE_PUBLISH: _OWNERS,
    Permission.PURPOSE_DISCARD: _OWNERS,
    Permission.PURPOSE_RECORD: _EDITORS,
    Permission.PURPOSE_WAIVE: _OWNERS,
}

# Permissions that a project policy can give to one more role, and the policy that names this role.
WIDENING_POLICIES: Mapping[Permission, str] = {Permission.PURPOSE_PUBLISH: "publish_role"}

# The policy with the largest role that an agent has in a project, whatever its membership; and its default.
AGENT_ROLE_POLICY = "agents"
AGENT_ROLE = Role.EDITOR

# Permissions that an agent also has without the role, for a draft that only it has written. The use case checks the
# draft, and on PostgreSQL the row level security does.
OWN_DRAFT_PERMISSIONS: frozenset[Permission] = frozenset({Permission.PURPOSE_DISCARD})

# Permissions that every member of the organization has, independent of projects. A token that is limited to a role has
# those with that role; one that is limited to projects has those of a viewer, because the others reach all projects.
ORGANIZATION_GRANTS: Mapping[Permission, frozenset[Role]] = {
    Permission.ORGANIZATION_READ: _VIEWERS,
    Permission.ORGANIZATION_MANAGE: _OWNERS,
    Permission.ORGANIZATION_LEAVE: _OWNERS,
    Permission.INVITATION_LIST: _VIEWERS,
    Permission.INVITATION_REVOKE: _OWNERS,
    Permission.PROJECT_CREATE: _EDITORS,
    Permission.PROJECT_LIST: _VIEWERS,
    Permission.TEMPLATE_READ: _VIEWERS,
    Permission.TEMPLATE_WRITE: _EDITORS,
    # A limited token must not create one without limits.
    Permission.TOKEN_CREATE: _OWNERS,
    Permission.TOKEN_LIST: _VIEWERS,
    Permission.TOKEN_REVOKE: _OWNERS,
}

# Permissions that only a person has: an agent must not give itself another identity.
PERSON_PERMISSIONS: frozenset[Permission] = frozenset(
    {
        Permission.TOKEN_CREATE,
        Permission.TOKEN_REVOKE,
        Permission.ORGANIZATION_MANAGE,
        Permission.ORGANIZATION_LEAVE,
        Permission.INVITATION_REVOKE,
    }
)

# Permissions that only administrators of the organization have.
ADMINISTRATOR_PERMISSIONS: frozenset[Permission] = frozenset({Permission.ORGANIZATION_MANAGE})


def get_smaller_role(first: Role, second: Role) -> Role:
    """Return the one of two roles that has fewer permissions."""
    return min(first, second, key=list(Role).index)


@lru_cache(maxsize=256)
def limit_agent_role(role: Role, policies: str) -> Role:
    """Return the role of an agent: its own role, but at most the largest role that the project's policies allow."""
    return get_smaller_role(role, Role(msgspec.json.decode(policies).get(AGENT_ROLE_POLICY, AGENT_ROLE)))


def allows(role: Role, permission: Permission, policies: str = "{}") -> bool:
    """Return True if a role has a permission, by `GRANTS` or by a policy of the project. `policies` is stored JSON."""
    if role in GRANTS[permission]:
        return True
    policy = WIDENING_POLICIES.get(permission)
    return policy is not None and msgspec.json.decode(policies).get(policy) == role
