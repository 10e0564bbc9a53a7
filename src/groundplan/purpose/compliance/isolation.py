"""Section 7: check tenant isolation, by the queries of this slice, the active policies and the role of the actor."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import Forbidden, NotFound
from groundplan.kernel.store.authorize import (
    AgentNotAllowed,
    ProjectId,
    TokenLimited,
    authorize_organization,
    authorize_project,
)
from groundplan.kernel.store.live_catalog import LiveTable, check_row_security
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.compliance.proposal import OperationKind
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, decide_verdict

SLICE = Path(__file__).parents[1]
GUARDED_TABLES = ("toc_nodes", "toc_edges", "toc_versions")
# The commands with which a person does what an agent may not.
COMMANDS = {
    OperationKind.PUBLISH: ("groundplan", "purpose", "publish"),
    OperationKind.CREATE_DRAFT: ("groundplan", "purpose", "draft"),
}
EDIT_COMMAND = ("groundplan", "purpose", "edit")
NO_ROW_SECURITY = "this engine has no row level security; the tenant filter in every query isolates tenants"


class TenantFilters(NamedTuple):
    """The number of queries in the slice, and those without a tenant filter, by folder and name."""

    queries: int
    open: list[str]
    unfiltered_on_nodes: list[str]


def check_tenant_isolation(tx: Transaction, kind: OperationKind, tables: Mapping[str, LiveTable]) -> SectionResult:
    """Check that tenants are isolated, and that the actor has the permission."""
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
            "Have the owner of the database run the setup again, which restores policies, grants and guards.",
        ),
        CheckedItem(
            "User has membership in target tenant (`user_memberships` check)",
            _is_member(tx),
            "you are not a member of the organization of this project",
            "Ask a member to add you to the project.",
        ),
        _check_role(tx, kind),
    ]
    facts: dict[str, Any] = {
        "queries": queries.queries,
        "queries_without_tenant": queries.open,
        "row_security": NO_ROW_SECURITY
        if findings is None
        else {name: _describe_row_security(one) for name, one in tables.items()},
        "findings": findings,
        "actor": tx.actor.id,
        "tenant": tx.actor.organization,
        "access": tx.actor.access,
        "role": role,
        "permission": permission,
    }
    return SectionResult(7, checks, facts, decide_verdict(checks))


def _check_role(tx: Transaction, kind: OperationKind) -> CheckedItem:
    """Check the permission as the operation itself would, so that the way out is that of its refusal."""
    text = "Role in the project carries the permission that the operation needs"
    try:
        authorize_project(tx, ProjectId(tx.project.id), kind.permission)
    except AgentNotAllowed as error:
        command = " ".join((*COMMANDS.get(kind, EDIT_COMMAND), "--project", shlex.quote(tx.project.name)))
        policies = " and ".join(f"{name} to {role}" for name, role in error.details["policy"].items())
        reason = f"an agent acts as {error.details['role']} in this project, but this needs {kind.permission}"
        action = f"Ask a person to do this with {command}, or an owner to set the policy {policies}."
        return CheckedItem(text, False, reason, action)
    except TokenLimited as error:
        reason = f"your token allows what a {error.details['role']} may do, but this needs {kind.permission}"
        return CheckedItem(
            text, False, reason, "Use a token with a larger role, or have somebody with that role do this."
        )
    except Forbidden:
        reason = f"your role in this project is {tx.project.role}, but this needs {kind.permission}"
        action = "Ask an owner of the project for a higher role, or have somebody with that role do this."
        return CheckedItem(text, False, reason, action)
    return CheckedItem(text, True)


def _is_member(tx: Transaction) -> bool:
    try:
        authorize_organization(tx, Permission.PROJECT_LIST)  # every member and every trusted actor has it
    except NotFound:
        return False
    return True


def _describe_row_security(table: LiveTable) -> dict[str, Any] | None:
    guard = table.row_security
    return None if guard is None else {"enabled": guard.enabled, "forced": guard.forced, "policies": guard.commands}


def check_tenant_filters() -> TenantFilters:
    """Check that each query of the slice filters by tenant on both engines."""
    count = 0
    found: list[str] = []
    on_nodes: list[str] = []
    for file in sorted(path for path in SLICE.rglob("*.sql") if not path.name.endswith(".postgres.sql")):
        for query in load_queries(str(file)):
            count += 1
            if not _filters_by_tenant(query):
                found.append(f"{file.relative_to(SLICE.parent).as_posix()}: {query.name}")
                on_nodes += found[-1:] if "toc_nodes" in query.sqlite else []
    return TenantFilters(count, found, on_nodes)


def _filters_by_tenant(query: Query) -> bool:
    return ":tenant_id" in query.sqlite and "%(tenant_id)s" in query.postgres
