"""Sections 1 and 7: check the tables of the theory and the isolation of tenants in the live database.

Section 1 is about the tables of nodes and edges, and the structure that a node may hold in its metadata. Section 7 is
about the queries of this slice, the active policies and the role of the actor.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
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
from groundplan.kernel.store.live_catalog import LiveTable, Reference, check_row_security
from groundplan.kernel.store.queries import Query, load_queries
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.compliance.checklist import (
    CheckedItem,
    OperationKind,
    SectionResult,
    decide_verdict,
    has_failures,
)
from groundplan.purpose.metadata_structure import (
    PATH_NAMES,
    TREE_NAMES,
    MetadataStructure,
    fold_name,
    format_names,
)

NODES, EDGES = "toc_nodes", "toc_edges"
ENDS = ("source_node_id", "target_node_id")
REQUIRED_COLUMNS = {NODES: ("id", "node_type", "title"), EDGES: ("id", *ENDS, "edge_type")}

# Column types that can hold a tree.
TREE_TYPES = {"json", "jsonb", "ltree"}

RESTORE_ACTION = "Restore the database to the schema of its migrations."


def check_graph_model(tables: Mapping[str, LiveTable], metadata: MetadataStructure) -> SectionResult:
    """Check the tables of the graph, and search the metadata of a proposed node for structure."""
    missing = [
        f"{table}.{column}"
        for table, columns in REQUIRED_COLUMNS.items()
        for column in columns
        if table not in tables or column not in tables[table].columns
    ]
    unlinked = [] if missing else [end for end in ENDS if not _leads_to_nodes(tables[EDGES].references, end)]
    parents = [
        *_find_columns(tables, lambda name, _type: name == "parent" or name.startswith("parent_")),
        *(
            f"{NODES}.{', '.join(reference.columns)}"
            for reference in _list_references(tables, NODES)
            if reference.table == NODES
        ),
    ]
    structures = TREE_NAMES | PATH_NAMES
    trees = _find_columns(tables, lambda name, kind: kind.lower() in TREE_TYPES or fold_name(name) in structures)
    narrow = [
        key
        for key in (tables[EDGES].keys if EDGES in tables else [])
        if any(end in key for end in ENDS) and not all(end in key for end in ENDS) and "id" not in key
    ]
    checks = [
        CheckedItem(
            "Operation uses `toc_nodes` + `toc_edges` tables (hybrid model)",
            not missing and not unlinked,
            f"the tables are incomplete: {_join_names(missing) or _join_names(unlinked) + ' does not reference nodes'}",
            RESTORE_ACTION,
        ),
        CheckedItem(
            "NOT using adjacency list (`parent_id` column)",
            not parents and not metadata.links,
            *_describe_structure("there is an adjacency list beside the edges", parents, metadata.links),
        ),
        CheckedItem(
            "NOT using JSONB tree structure",
            not trees and not metadata.trees,
            *_describe_structure("a tree can be stored beside the edges", trees, metadata.trees),
        ),
        CheckedItem(
            "Edges allow multiple parents (graph, not tree)",
            EDGES in tables and not narrow,
            f"a node can have only one edge: {EDGES} is unique by {' and by '.join(_join_names(key) for key in narrow)}"
            if narrow
            else f"there is no table {EDGES}",
            RESTORE_ACTION,
        ),
    ]
    facts = {
        "tables": list(tables),
        "columns": {name: list(tables[name].columns) for name in REQUIRED_COLUMNS if name in tables},
        "unique_keys": tables[EDGES].keys if EDGES in tables else [],
        "references": [
            f"{', '.join(reference.columns)} -> {reference.table}" for reference in _list_references(tables, EDGES)
        ],
        "parent_columns": parents,
        "tree_columns": trees,
        "structure_in_metadata": [*metadata.links, *metadata.trees],
    }
    return SectionResult(
        1,
        checks,
        facts,
        "OTHER (BLOCKED)" if has_failures(checks) else "HYBRID GRAPH-RELATIONAL",
    )


def _leads_to_nodes(references: list[Reference], column: str) -> bool:
    return any(reference.table == NODES and column in reference.columns for reference in references)


def _list_references(tables: Mapping[str, LiveTable], table: str) -> list[Reference]:
    return tables[table].references if table in tables else []


def _find_columns(tables: Mapping[str, LiveTable], is_match: Callable[[str, str], bool]) -> list[str]:
    return [
        f"{table.name}.{name}"
        for table in tables.values()
        for name, kind in table.columns.items()
        if is_match(name, kind)
    ]


def _describe_structure(problem: str, columns: list[str], names: list[str]) -> tuple[str, str]:
    """Return the reason and the action for structure that is stored in columns or in metadata."""
    where, actions = [], []
    if columns:
        where.append(_join_names(columns))
        actions.append(f"Drop {_join_names(columns)} and connect the nodes by {EDGES}.")
    if names:
        where.append(f"{format_names(names)} of the node")
        actions.append(f"Leave out {format_names(names)}, and connect the nodes by edges (create_edge).")
    return f"{problem}: {', '.join(where)}", " ".join(actions)


def _join_names(names: list[str]) -> str:
    return ", ".join(names)


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
    ]
    verdict = decide_verdict(checks)  # about the tenant: the role has a line of its own
    checked_role = _check_role(tx, kind)
    facts: dict[str, Any] = {
        "queries": queries.queries,
        "queries_without_tenant": queries.open,
        "row_security": NO_ROW_SECURITY
        if findings is None
        else {name: _describe_row_security(table) for name, table in tables.items()},
        "findings": findings,
        "actor": tx.actor.id,
        "tenant": tx.actor.organization,
        "access": tx.actor.access,
        "role": role,
        "permission": permission,
        "role_allows": checked_role.ok,
    }
    return SectionResult(7, [*checks, checked_role], facts, verdict)


def _check_role(tx: Transaction, kind: OperationKind) -> CheckedItem:
    """Check the permission in the way of the operation itself, so that the suggested action is the same."""
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
    """Check that every query of the slice filters by tenant on both engines."""
    count = 0
    unfiltered: list[str] = []
    on_nodes: list[str] = []
    for file in sorted(path for path in SLICE.rglob("*.sql") if not path.name.endswith(".postgres.sql")):
        for query in load_queries(str(file)):
            count += 1
            if not _filters_by_tenant(query):
                unfiltered.append(f"{file.relative_to(SLICE.parent).as_posix()}: {query.name}")
                on_nodes += unfiltered[-1:] if "toc_nodes" in query.sqlite else []
    return TenantFilters(count, unfiltered, on_nodes)


def _filters_by_tenant(query: Query) -> bool:
    return ":tenant_id" in query.sqlite and "%(tenant_id)s" in query.postgres
