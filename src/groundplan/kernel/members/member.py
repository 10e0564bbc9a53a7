"""A member of a project: the view in answers, whom a name means, and how somebody joins.

The wire names are those of the context contract, where a project is a scope.
"""

from __future__ import annotations

from typing import ClassVar

from msgspec import Struct

from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.operations.registry import Group
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

TOOL = "members"
GROUP = Group.CONTEXT

sql = load_queries(__file__)


class MemberView(Struct, rename="camel", omit_defaults=True):
    """A member of a project, with their role."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"created_at", "created_by", "kind"})

    user_id: str
    role: Role
    created_at: str
    created_by: str
    kind: ActorKind = ActorKind.PERSON  # the contract has no field for it, so answers say it only of others


def join(tx: Transaction, project_id: str, user_id: str, *, role: Role, kind: ActorKind) -> None:
    """Add a new member to a project, and to the organization if they are new there."""
    is_new = add_to_organization(tx, user_id, kind=kind)
    tx.run(sql.add_member, project_id=project_id, user_id=user_id, role=role)
    changes = [changed("role", None, role)]
    if is_new:
        changes.append(changed("in_organization", False, True))
    tx.record(KernelOp.MEMBER_ADDED, user_id, *changes, project_id=project_id)


def add_to_organization(tx: Transaction, user_id: str, *, kind: ActorKind) -> bool:
    """Add somebody to the organization, and return whether they are new there."""
    tx.run(sql.add_principal, id=user_id, kind=kind)
    return bool(tx.run(sql.add_to_organization, user_id=user_id))


def find_principal(tx: Transaction, ref: str) -> str | None:
    """Return the id of the principal with this id or name; an id takes precedence."""
    found = tx.scalars(sql.principals_by_ref, ref=ref)
    return ref if ref in found else next(iter(found), None)
