"""Store the policies of a project. Each policy is applied by the slice that it belongs to."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from groundplan.kernel.audit import KernelOp, changed
from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction

sql = load_queries(__file__)


def configure(tx: Transaction, project_id: str, before: Struct, after: Struct, *, decision: str | None) -> str:
    """Store the policies of a project and return them as stored. Records nothing if no value changes."""
    text = msgspec.json.encode(after).decode()
    if record_policies(tx, project_id, before, after, decision=decision):
        tx.run(sql.set_policies, id=project_id, policies=text)
    return text


def record_policies(tx: Transaction, project_id: str, before: Struct, after: Struct, *, decision: str | None) -> bool:
    """Record which policies of a project change, and return whether any does."""
    names = [name for name in after.__struct_fields__ if getattr(after, name) != getattr(before, name)]
    if names:
        changes = [changed(f"policies.{name}", getattr(before, name), getattr(after, name)) for name in names]
        tx.record(KernelOp.PROJECT_CONFIGURED, project_id, *changes, decision=decision, project_id=project_id)
    return bool(names)
