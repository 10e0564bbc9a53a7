"""Who may do what: one table of permissions and roles.

The check in Python, the row level security policies of PostgreSQL, the authorization matrix of the tests and the page
`docs/reference/access.md` are all derived from `GRANTS`. To allow something is to change a row here.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from groundplan.kernel.policies import Policies


class Role(StrEnum):
    """What a member of a project is there for."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


class Permission(StrEnum):
    """Everything that can be allowed, as thing:verb (slices put their own name in front)."""

    PROJECT_CREATE = "project:create"
    PROJECT_LIST = "project:list"
    PROJECT_READ = "project:read"
    PROJECT_WRITE = "project:write"
    PROJECT_ARCHIVE = "project:archive"
    MEMBER_READ = "member:read"
    MEMBER_MANAGE = "member:manage"
    PROJECT_CONFIGURE = "project:configure"
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
    # Every change inside a project moves the project's revision on, so this is what any writer needs.
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
    # Whoever may write facts may also begin and commit runs; to take a run away is the owner's.
    Permission.CONTEXT_WRITE: _EDITORS,
    Permission.CONTEXT_DELETE: _OWNERS,
    Permission.PURPOSE_READ: _VIEWERS,
    Permission.PURPOSE_WRITE: _EDITORS,
    # What is published is final, what is discarded is gone, and a waiver is the only way past a gate.
    Permission.PURPOSE_PUBLISH: _OWNERS,
    Permission.PURPOSE_DISCARD: _OWNERS,
    Permission.PURPOSE_RECORD: _EDITORS,
    Permission.PURPOSE_WAIVE: _OWNERS,
}

# Permissions that a project may give to more than their roles: the policy that says so, by naming a role.
WIDENING_POLICIES: Mapping[Permission, str] = {Permission.PURPOSE_PUBLISH: "publish_role"}

# Permissions that every member of the organization has; no project is involved.
ORGANIZATION_GRANTS: frozenset[Permission] = frozenset(
    {Permission.PROJECT_CREATE, Permission.PROJECT_LIST, Permission.TEMPLATE_READ, Permission.TEMPLATE_WRITE}
)


def allows(role: Role, permission: Permission, policies: Policies | None = None) -> bool:
    """Whether a project role carries a permission, by itself or by the policies of the project."""
    if role in GRANTS[permission]:
        return True
    policy = WIDENING_POLICIES.get(permission)
    return policy is not None and policies is not None and getattr(policies, policy) == role
