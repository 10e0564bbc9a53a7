"""A member as callers see it. The names on the wire are the context contract's, which knows projects as scopes."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.operations.registry import Group

TOOL = "members"
GROUP = Group.CONTEXT


class MemberView(Struct, rename="camel"):
    """Somebody in a project, and as what."""

    user_id: str
    role: Role
    created_at: str
    created_by: str
