"""Add a new member to a project."""

from __future__ import annotations

from groundplan.kernel.access import Role
from groundplan.kernel.actors import ActorKind
from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def join(tx: Transaction, project_id: str, user_id: str, *, role: Role, kind: ActorKind) -> None:
    """Add a new member to a project, and to the organization if they are new there."""
    tx.run(sql.add_principal, id=user_id, kind=kind)
    is_new = tx.run(sql.add_to_organization, user_id=user_id)
    tx.run(sql.add_member, project_id=project_id, user_id=user_id, role=role)
    changes = [changed("role", None, role)]
    if is_new:
        changes.append(changed("in_organization", False, True))
    tx.record(KernelOp.MEMBER_ADDED, user_id, *changes, project_id=project_id)
