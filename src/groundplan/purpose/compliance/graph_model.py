"""Section 1: check the tables of nodes and edges in the live database, and that metadata holds no structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from groundplan.kernel.store.live_catalog import LiveTable, Reference
from groundplan.purpose.compliance.metadata_structure import (
    PATH_NAMES,
    TREE_NAMES,
    MetadataStructure,
    fold_name,
    format_names,
)
from groundplan.purpose.compliance.section import CheckedItem, SectionResult, has_failures

NODES, EDGES = "toc_nodes", "toc_edges"
ENDS = ("source_node_id", "target_node_id")
REQUIRED_COLUMNS = {NODES: ("id", "node_type", "title"), EDGES: ("id", *ENDS, "edge_type")}

# Column types that can hold a tree.
TREE_TYPES = {"json", "jsonb", "ltree"}

RESTORE_ACTION = "Restore the database to the schema of its migrations."


def check_graph_model(tables: Mapping[str, LiveTable], metadata: MetadataStructure) -> SectionResult:
    """Check the tables of the graph, and the structure in the metadata of a proposed node."""
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
        "references": [f"{', '.join(one.columns)} -> {one.table}" for one in _list_references(tables, EDGES)],
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


def _describe_structure(problem: str, columns: list[str], names: list[str]) -> tuple[str, str]:
    """Return the reason and the action for structure in columns, and under names in metadata."""
    where, actions = [], []
    if columns:
        where.append(_join_names(columns))
        actions.append(f"Drop {_join_names(columns)} and connect the nodes by {EDGES}.")
    if names:
        where.append(f"{format_names(names)} in metadata")
        actions.append(f"Remove {format_names(names)} from metadata and connect the nodes by edges (create_edge).")
    return f"{problem}: {', '.join(where)}", " ".join(actions)


def _join_names(names: list[str]) -> str:
    return ", ".join(names)
