"""Section 1: check in the live database that nodes and edges have their own tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groundplan.kernel.store.live_catalog import LiveTable, Reference
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, has_failures

NODES, EDGES = "toc_nodes", "toc_edges"
ENDS = ("source_node_id", "target_node_id")
REQUIRED_COLUMNS = {NODES: ("id", "node_type", "title"), EDGES: ("id", *ENDS, "edge_type")}

# Column types and names that can hold a tree.
TREE_TYPES = {"json", "jsonb", "ltree"}
TREE_NAMES = {"children", "tree", "subtree", "nested", "path", "ancestors", "descendants"}

RESTORE_ACTION = "Restore the database to the schema of its migrations."


def check_graph_model(tables: Mapping[str, LiveTable]) -> SectionResult:
    """Check the tables of the graph."""
    missing = [
        f"{table}.{column}"
        for table, columns in REQUIRED_COLUMNS.items()
        for column in columns
        if table not in tables or column not in tables[table].columns
    ]
    unlinked = [] if missing else [end for end in ENDS if not _leads_to_nodes(tables[EDGES].references, end)]
    parents = [
        *_find_columns(tables, lambda name, _type: name == "parent" or name.startswith("parent_")),
        *(f"{NODES}.{', '.join(one.columns)}" for one in _list_references(tables, NODES) if one.table == NODES),
    ]
    trees = _find_columns(tables, lambda name, kind: kind.lower() in TREE_TYPES or name in TREE_NAMES)
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
            not parents,
            f"there is an adjacency list beside the edges: {_join_names(parents)}",
            f"Drop {_join_names(parents)} and connect the nodes by {EDGES}.",
        ),
        CheckedItem(
            "NOT using JSONB tree structure",
            not trees,
            f"a tree can be stored beside the edges: {_join_names(trees)}",
            f"Drop {_join_names(trees)} and connect the nodes by {EDGES}.",
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
        "references": [f"{', '.join(one.columns)} -> {one.table}" for one in _list_references(tables, EDGES)],
        "parent_columns": parents,
        "tree_columns": trees,
    }
    return SectionResult(
        1,
        checks,
        facts,
        "OTHER (BLOCKED)" if has_failures(checks) else "HYBRID GRAPH-RELATIONAL",
    )


def _leads_to_nodes(references: list[Reference], column: str) -> bool:
    return any(one.table == NODES and column in one.columns for one in references)


def _list_references(tables: Mapping[str, LiveTable], table: str) -> list[Reference]:
    return tables[table].references if table in tables else []


def _find_columns(tables: Mapping[str, LiveTable], is_match: Callable[[str, str], bool]) -> list[str]:
    return [
        f"{table.name}.{name}"
        for table in tables.values()
        for name, kind in table.columns.items()
        if is_match(name, kind)
    ]


def _join_names(names: list[str]) -> str:
    return ", ".join(names)
