"""Section 7: who may see and write what, by the queries of this slice, the policies in place and the role held."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.kernel.access import Permission, allows
from groundplan.kernel.errors import NotFound
from groundplan.kernel.store.authorize import authorize_organization
from groundplan.kernel.store.live_catalog import LiveTable, check_row_security
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, verdict

SLICE = Path(__file__).parents[1]
GUARDED_TABLES = ("toc_nodes", "toc_edges", "toc_versions")
NO_ROW_SECURITY = "this engine has no row level security; the tenant in every query is the fence"


class TenantFilters(NamedTuple):
    """The queries of the slice, and those of them that would look beyond the tenant, by folder and name."""

    queries: int
    open: list[str]
    unfiltered_on_nodes: list[str]


def check_tenant_isolation(tx: Transaction, kind: OperationKind, tables: Mapping[str, LiveTable]) -> SectionResult:
    """Whether nobody gets at what is not theirs, and whether whoever asks may do this."""
    queries = check_tenant_filters()
    findings = check_row_security(tx, [*dict.fromkeys((*GUARDED_TABLES, *tables))])
    role, permission = tx.project.role, kind.permission
    checks = [
        CheckedItem(
            "All queries filter by `tenant_id`",
            not queries.open,
            f"these queries do not filter by tenant_id: {', '.join(queries.open)}",
            "Do not use this build of Groundplan; report these queries.",
        ),
        CheckedItem(
            "RLS policies active on `toc_nodes`, `toc_edges`, `toc_versions`",
            None if findings is None else not findings,
            "; ".join(findings or []),
            "Let the owner of the database set it up again, which puts policies, grants and guards up anew.",
        ),
        CheckedItem(
            "User has membership in target tenant (`user_memberships` check)",
            _is_member(tx),
            "you do not belong to the organization of this project",
            "Ask somebody in it to add you to the project.",
        ),
        CheckedItem(
            "Role in the project carries the permission that the operation needs",
            allows(role, permission, tx.project.policies),
            f"you are {role} of this project, and this needs {permission}",
            "Ask an owner of the project for a larger role, or let somebody who has it do this.",
        ),
    ]
    facts: dict[str, Any] = {
        "queries": queries.queries,
        "queries_without_tenant": queries.open,
        "row_security": NO_ROW_SECURITY if findings is None else {name: _guard(one) for name, one in tables.items()},
        "findings": findings,
        "actor": tx.actor.id,
        "tenant": tx.actor.organization,
        "access": tx.actor.access,
        "role": role,
        "permission": permission,
    }
    return SectionResult(7, "Tenant Isolation", checks, facts, verdict(checks))


def _is_member(tx: Transaction) -> bool:
    try:
        authorize_organization(tx, Permission.PROJECT_LIST)  # which every member may, and whoever is trusted anyway
    except NotFound:
        return False
    return True


def _guard(table: LiveTable) -> dict[str, Any] | None:
    guard = table.row_security
    return None if guard is None else {"enabled": guard.enabled, "forced": guard.forced, "policies": guard.commands}


def check_tenant_filters() -> TenantFilters:
    """Whether each query of the slice names its tenant, on either engine."""
    count = 0
    found: list[str] = []
    on_nodes: list[str] = []
    for file in sorted(SLICE.rglob("queries.sql")):
        for query in load_queries(str(file)):
            count += 1
            if not _filters_by_tenant(query):
                found.append(f"{file.parent.relative_to(SLICE.parent)}: {query.name}")
                on_nodes += found[-1:] if "toc_nodes" in query.sqlite else []
    return TenantFilters(count, found, on_nodes)


def _filters_by_tenant(query: Query) -> bool:
    return ":tenant_id" in query.sqlite and "%(tenant_id)s" in query.postgres
