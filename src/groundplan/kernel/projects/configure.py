"""Set the policies of a project. Each policy is applied by the slice that it belongs to."""

from __future__ import annotations

import msgspec

from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.policies import Policies, PolicyChanges
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def configure(
    tx: Transaction, project_id: str, policies: Policies, wanted: PolicyChanges, *, decision: str | None
) -> Policies:
    """Set policies of a project and return all of them. Records nothing if no value changes."""
    after = wanted.applied(policies)
    if after != policies:
        tx.run(sql.set_policies, id=project_id, policies=msgspec.json.encode(after).decode())
        changed_names = [name for name in wanted.given() if getattr(after, name) != getattr(policies, name)]
        changes = [changed(f"policies.{name}", getattr(policies, name), getattr(after, name)) for name in changed_names]
        tx.record(KernelOp.PROJECT_CONFIGURED, project_id, *changes, decision=decision, project_id=project_id)
    return after
