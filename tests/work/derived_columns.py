"""Derived columns of the work tables: as stored, and recomputed from parents, edges, resolutions and events."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import msgspec

from tests.engines import Engine

NODES = (
    "SELECT project_id, n, parent_n, kind, resolved, outcome, status, held_reason, id, rev, depth, feature_n, "
    "open_children, open_deps, blocked_above, is_ready, is_blocked FROM work_nodes ORDER BY project_id, n"
)
EDGES = "SELECT project_id, from_n, to_n FROM work_edges WHERE type = 'depends_on'"
# Events of sections do not change the revision of their node.
EVENTS = "SELECT subject, count(*) FROM events WHERE op LIKE 'work.%' AND op NOT LIKE 'work.section_%' GROUP BY subject"
COUNTS = (
    "SELECT project_id, total, resolved, dropped, blocked, actionable, features, tasks, tasks_closed, tasks_dropped "
    "FROM work_projects"
)
FEATURES = "SELECT project_id, n, tasks, tasks_closed, tasks_dropped FROM work_features"
# Waits of open nodes in ordered projects that the order keys deny: both must have a key, and the awaited the lower one.
AGAINST_ORDER = (
    "WITH steps AS ("
    "SELECT tenant_id, project_id, parent_n AS waiting, n AS awaited FROM work_nodes WHERE parent_n IS NOT NULL "
    "UNION ALL "
    "SELECT tenant_id, project_id, from_n, to_n FROM work_edges WHERE type = 'depends_on') "
    "SELECT s.project_id, s.waiting, s.awaited, w.order_key, a.order_key FROM steps AS s "
    "JOIN work_projects AS p ON p.tenant_id = s.tenant_id AND p.project_id = s.project_id "
    "JOIN work_nodes AS w ON w.tenant_id = s.tenant_id AND w.project_id = s.project_id AND w.n = s.waiting "
    "JOIN work_nodes AS a ON a.tenant_id = s.tenant_id AND a.project_id = s.project_id AND a.n = s.awaited "
    "WHERE p.is_ordered AND NOT w.resolved AND NOT a.resolved AND NOT coalesce(a.order_key < w.order_key, false)"
)
INHERITING = "SELECT id, policies FROM projects"

Key = tuple[str, int]
Derived = dict[Any, dict[Any, Any]]


class NodeRow(NamedTuple):
    """A node: first its facts, then its derived columns."""

    project: str
    n: int
    parent_n: int | None
    kind: str | None
    resolved: bool
    outcome: str | None
    status: str | None
    held_reason: str | None
    id: str
    rev: int
    depth: int
    feature_n: int | None
    open_children: int
    open_deps: int
    blocked_above: int
    is_ready: bool
    is_blocked: bool


def read_nodes(engine: Engine) -> list[NodeRow]:
    """Return every node, in the order of its project."""
    return list(map(NodeRow._make, engine.as_owner(NODES)))


def read_derived(engine: Engine, rows: list[NodeRow] | None = None) -> Derived:
    """Return the derived columns of all nodes, features and projects; `rows` are the nodes if already read."""
    kept: Derived = {}
    for row in read_nodes(engine) if rows is None else rows:
        kept[row.project, row.n] = {
            "rev": row.rev,
            "depth": row.depth,
            "feature_n": row.feature_n,
            "open_children": row.open_children,
            "open_deps": row.open_deps,
            "blocked_above": row.blocked_above,
            "is_ready": bool(row.is_ready),
            "is_blocked": bool(row.is_blocked),
        }
    for project, n, *tasks in engine.as_owner(FEATURES):
        kept[project, n, "feature"] = dict(zip(("tasks", "closed", "dropped tasks"), tasks, strict=True))
    for project, *counts in engine.as_owner(COUNTS):
        names = (
            "total",
            "resolved",
            "dropped",
            "blocked",
            "actionable",
            "features",
            "tasks",
            "closed",
            "dropped tasks",
        )
        kept[project] = dict(zip(names, counts, strict=True))
    kept["against order"] = dict(enumerate(engine.as_owner(AGAINST_ORDER)))
    return kept


def recompute_derived(engine: Engine, known: list[NodeRow] | None = None) -> Derived:
    """Return the same values, recomputed from the facts."""
    rows = {(row.project, row.n): row for row in (read_nodes(engine) if known is None else known)}
    waits = [((project, source), (project, target)) for project, source, target in engine.as_owner(EDGES)]
    events: dict[str, int] = dict(engine.as_owner(EVENTS))
    inheriting = {
        project
        for project, said in engine.as_owner(INHERITING)
        if msgspec.json.decode(said).get("inherit_dependencies")
    }
    open_deps = Counter(source for source, target in waits if not rows[target].resolved)
    children = Counter((row.project, row.parent_n) for row in rows.values() if not row.resolved and row.parent_n)
    waiting = {key for key, row in rows.items() if open_deps[key] or row.held_reason is not None}
    kept: Derived = {}
    all_above: dict[Key, list[Key]] = {}
    for key, row in rows.items():
        above = _above(rows, key, all_above)
        held = sum(one in waiting and (row.project in inheriting or rows[one].kind == "feature") for one in above)
        is_blocked = not row.resolved and (key in waiting or held > 0)
        begun_or_new = row.status in (None, "ACTIVE")
        is_work = row.parent_n is not None and row.kind != "feature" and begun_or_new
        kept[key] = {
            "rev": events[row.id],
            "depth": len(above),
            "feature_n": next((n for project, n in above if rows[project, n].kind == "feature"), None),
            "open_children": children[key],
            "open_deps": open_deps[key],
            "blocked_above": held,
            "is_ready": not row.resolved and not is_blocked and not children[key] and is_work,
            "is_blocked": is_blocked,
        }
    for (project, n), row in rows.items():
        if row.kind == "feature":
            mine = [one for key, one in rows.items() if kept[key]["feature_n"] == n and key[0] == project]
            kept[project, n, "feature"] = _tasks(mine)
    for project in {key[0] for key in rows}:
        mine = [one for key, one in rows.items() if key[0] == project]
        kept[project] = {
            "total": len(mine),
            "resolved": sum(bool(one.resolved) for one in mine),
            "dropped": sum(one.outcome is not None for one in mine),
            "blocked": sum(kept[project, one.n]["is_blocked"] for one in mine),
            "actionable": sum(kept[project, one.n]["is_ready"] for one in mine),
            "features": sum(one.kind == "feature" for one in mine),
            **_tasks(mine),
        }
    kept["against order"] = {}
    return kept


def _tasks(rows: list[NodeRow]) -> dict[str, int]:
    tasks = [row for row in rows if row.kind not in ("project", "feature")]
    return {
        "tasks": len(tasks),
        "closed": sum(bool(row.resolved) and row.outcome is None for row in tasks),
        "dropped tasks": sum(row.outcome is not None for row in tasks),
    }


def _above(rows: dict[Key, NodeRow], key: Key, known: dict[Key, list[Key]]) -> list[Key]:
    """Return the ancestors of a node, nearest first; `known` caches them."""
    below: list[Key] = []
    while key not in known and (parent_n := rows[key].parent_n) is not None:
        below.append(key)
        key = (key[0], parent_n)
        assert len(below) < len(rows), "a node lies below itself"
    above = known.setdefault(key, [])
    for lower in reversed(below):
        above = known[lower] = [key, *above]
        key = lower
    return above
