"""The view of a member in answers. The wire names are those of the context contract, where a project is a scope."""

from __future__ import annotations

from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.operations.registry import Group

TOOL = "members"
GROUP = Group.CONTEXT


class MemberView(Struct, rename="camel"):
    """A member of a project, with their role."""

    user_id: str
    role: Role
    created_at: str
    created_by: str
