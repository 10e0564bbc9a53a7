"""Build the compliance checklist of a proposed operation: seven sections of checks, and the decision.

All of it is computed: tables and policies are read from the live database, versions and nodes from the plan, rights
from the permission table. It changes nothing, and gives the same verdict as the operation itself, with one exception:
metadata is free for the editor, and the checklist blocks the structure of the theory in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from groundplan.kernel.store.live_catalog import list_tables_with_prefix, read_live_tables
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.compliance.checklist_markdown import render_checklist
from groundplan.purpose.compliance.content_checks import (
    check_assumption_operation,
    check_edge_operation,
    check_node_operation,
)
from groundplan.purpose.compliance.graph_model import check_graph_model
from groundplan.purpose.compliance.isolation import check_tenant_filters, check_tenant_isolation
from groundplan.purpose.compliance.metadata_structure import find_structure
from groundplan.purpose.compliance.proposal import OperationKind, ProposedOperation
from groundplan.purpose.compliance.proposal_context import read_proposal_context
from groundplan.purpose.compliance.section import (
    SECTION_TITLES,
    CheckedItem,
    ChecklistItem,
    ChecklistSection,
    Compliance,
)
from groundplan.purpose.compliance.version_checks import check_version_constraints, check_version_state

TABLE_PREFIX = "toc_"
EVERYTHING_HOLDS = "all checks that apply to this operation pass"


def build_checklist(tx: Transaction, proposal: ProposedOperation) -> Compliance:
    """Return whether an operation may proceed in the project; if not, the reasons and the required actions."""
    ctx = read_proposal_context(tx, proposal)
    tables = read_live_tables(tx, list_tables_with_prefix(tx, TABLE_PREFIX))
    parts = [
        check_graph_model(tables, find_structure(_get_metadata(proposal))),
        check_version_state(ctx),
        check_version_constraints(tx, ctx, tables.get("toc_versions")),
        check_node_operation(ctx, is_fenced=not check_tenant_filters().unfiltered_on_nodes),
        check_edge_operation(ctx),
        check_assumption_operation(ctx),
        check_tenant_isolation(tx, ctx.kind, tables),
    ]
    failed = [check for part in parts for check in part.checks if check.ok is False]
    # One cause can fail in several sections, so drop duplicates.
    reasons = list(dict.fromkeys(check.reason for check in failed))
    actions = list(dict.fromkeys(_describe_action(tx, check) for check in failed))
    facts = {"reasons": reasons or [EVERYTHING_HOLDS], "required_actions": actions}
    status: Literal["APPROVED", "BLOCKED"] = "BLOCKED" if failed else "APPROVED"
    sections = [
        *(
            ChecklistSection(number, SECTION_TITLES[number], [*_to_items(checks)], section_facts, verdict)
            for number, checks, section_facts, verdict in parts
        ),
        ChecklistSection(8, SECTION_TITLES[8], [], facts, status),
    ]
    return Compliance(status, sections, reasons, actions, render_checklist(sections, proposal, tx.now))


def _get_metadata(proposal: ProposedOperation) -> object:
    """Return the metadata that the operation writes."""
    return proposal.metadata if proposal.kind in (OperationKind.CREATE_NODE, OperationKind.UPDATE_NODE) else None


def _to_items(checks: list[CheckedItem]) -> Iterator[ChecklistItem]:
    yield from (ChecklistItem(check.text, check.ok) for check in checks)


def _describe_action(tx: Transaction, check: CheckedItem) -> str:
    """Return the required action of a failed check, worded for the surface of the caller."""
    described = f"{tx.describe(check.next_step)}." if check.next_step else ""
    return " ".join(filter(None, (check.action, described)))
