"""The compliance checklist of a proposed operation: seven sections of what holds, and the decision that follows.

Nothing in it is a constant: tables and policies are read from the database in use, versions and nodes from the plan,
rights from the table of permissions. It says of an operation what the operation itself would say, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from groundplan.kernel.store.live_catalog import list_tables_with_prefix, read_live_tables
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.compliance.checklist_markdown import checklist_markdown
from groundplan.purpose.compliance.content_checks import (
    check_assumption_operation,
    check_edge_operation,
    check_node_operation,
)
from groundplan.purpose.compliance.graph_model import graph_model
from groundplan.purpose.compliance.isolation import check_tenant_filters, check_tenant_isolation
from groundplan.purpose.compliance.proposal import ProposedOperation
from groundplan.purpose.compliance.proposal_context import seen
from groundplan.purpose.compliance.section import CheckedItem, ChecklistItem, ChecklistSection, Compliance
from groundplan.purpose.compliance.version_checks import check_version_constraints, check_version_state

TABLE_PREFIX = "toc_"
EVERYTHING_HOLDS = "everything that applies to this operation holds"


def checklist(tx: Transaction, proposal: ProposedOperation) -> Compliance:
    """Whether an operation may go ahead in the project entered; if not, why, and what to do first."""
    it = seen(tx, proposal)
    tables = read_live_tables(tx, list_tables_with_prefix(tx, TABLE_PREFIX))
    parts = [
        graph_model(tables),
        check_version_state(it),
        check_version_constraints(tx, it, tables.get("toc_versions")),
        check_node_operation(it, is_fenced=not check_tenant_filters().unfiltered_on_nodes),
        check_edge_operation(it),
        check_assumption_operation(it),
        check_tenant_isolation(tx, it.kind, tables),
    ]
    failed = [check for part in parts for check in part.checks if check.ok is False]
    # One cause can show in several sections; it is said once.
    reasons = list(dict.fromkeys(check.reason for check in failed))
    actions = list(dict.fromkeys(_action(tx, check) for check in failed))
    facts = {"reasons": reasons or [EVERYTHING_HOLDS], "required_actions": actions}
    status: Literal["APPROVED", "BLOCKED"] = "BLOCKED" if failed else "APPROVED"
    sections = [
        *(
            ChecklistSection(number, title, [*_items(checks)], found, said)
            for number, title, checks, found, said in parts
        ),
        ChecklistSection(8, "Decision", [], facts, status),
    ]
    return Compliance(status, sections, reasons, actions, checklist_markdown(sections, proposal, tx.now))


def _items(checks: list[CheckedItem]) -> Iterator[ChecklistItem]:
    yield from (ChecklistItem(check.text, check.ok) for check in checks)


def _action(tx: Transaction, check: CheckedItem) -> str:
    """What to do about a check, in the caller's words."""
    described = f"{tx.describe(check.next_step)}." if check.next_step else ""
    return " ".join(filter(None, (check.action, described)))
