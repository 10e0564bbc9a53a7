"""All stored rows of work, to compare a project before and after a change."""

from __future__ import annotations

from typing import Any

from tests.engines import Engine

# Without revisions, times, numbers of claims and the order among equals.
ROWS = {
    "nodes": "SELECT n, id, parent_n, kind, feature_n, depth, open_children, open_deps, blocked_above, summary, "
    "properties, priority, complexity, context_links, resolved, outcome, status, held_reason, blocked_reason, state, "
    "claimed_by, claimed_at, claimed_until, is_ready, is_blocked FROM work_nodes",
    "edges": "SELECT from_n, type, to_n FROM work_edges",
    "evidence": "SELECT node_n, k, type, ref, agent, at, checked FROM work_evidence",
    "merged": "SELECT id, into_id FROM work_merged",
    "texts": "SELECT id, node_n, summary, description FROM work_merged_texts",
    "aliases": "SELECT alias, node_n FROM work_aliases",
    "imports": "SELECT tool, source_id, node_n FROM work_imports",
    "sections": "SELECT id, node_n, ordinal, title FROM work_sections",
    "tags": "SELECT node_n, tag FROM work_node_tags",
    "links": "SELECT source, type, target, node_n FROM links",
    "features": "SELECT n, tasks, tasks_closed, tasks_dropped FROM work_features",
    "counts": "SELECT total, resolved, dropped, blocked, actionable, features, tasks, tasks_closed, tasks_dropped, "
    "last_n FROM work_projects",
}


def dump(engine: Engine) -> dict[str, Any]:
    return {name: sorted(map(repr, engine.as_owner(query))) for name, query in ROWS.items()}
