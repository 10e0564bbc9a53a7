"""The checks that keep the draft of the purpose from being published."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.kernel.store.queries import load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.policies import get_policies
from groundplan.purpose.content import read_content
from groundplan.purpose.gates.gates import Check, Gate, describe_fix, list_required_gates
from groundplan.purpose.gates.run import read_gate_inputs, run_checks
from groundplan.purpose.versions.versions import read_versions

sql = load_queries(__file__)


class BlockingCheck(NamedTuple):
    """A check of a gate that fails without a waiver, worded for the caller."""

    gate: Gate
    check: Check
    changed_at: str  # when the draft was last changed


def list_blocking_checks(tx: Transaction) -> list[BlockingCheck]:
    """Return the failing checks of the gates that the draft must pass; none if there is no draft."""
    draft = next((row for row in read_versions(tx) if row.is_draft), None)
    if draft is None:
        return []
    changed_at = tx.scalar(sql.version_changed_at, version_id=draft.id)
    content = read_content(tx, draft.id)
    observations, outside, today = read_gate_inputs(tx, draft, content)
    found = []
    for gate in list_required_gates(get_policies(tx)):
        checks, fixes = run_checks(
            gate, content, observations, profile=draft.profile, external_facts=outside, today=today
        )
        for check in checks:
            if check.is_blocking:
                check.fix = describe_fix(fixes.get(check.code), tx.preferences.vocabulary)
                found.append(BlockingCheck(gate, check, changed_at))
    return found
