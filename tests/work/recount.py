"""What the database keeps beside the facts, computed anew from them: parents, edges, what is resolved, and events."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from tests.engines import Engine

NODES = (
    "SELECT project_id, n, parent_n, resolved, id, rev, depth, open_children, open_deps, blocked_above, is_ready, "
    "is_blocked FROM work_nodes ORDER BY project_id, n"
)
EDGES = "SELECT project_id, from_n, to_n FROM work_edges WHERE type = 'depends_on'"
EVENTS = "SELECT subject, count(*) FROM events WHERE op LIKE 'work.%' GROUP BY subject"
COUNTS = "SELECT project_id, total, resolved, blocked, actionable FROM work_projects"
INHERITING = "SELECT id, policies FROM projects"

Kept = dict[Any, dict[str, Any]]


def stored(engine: Engine) -> Kept:
    """What is kept of every node and of every project."""
    kept: Kept = {}
    for project, n, _, _, _, rev, depth, children, deps, above, ready, blocked in engine.as_owner(NODES):
        kept[project, n] = _node(rev, depth, children, deps, above, bool(ready), bool(blocked))
    for project, *counts in engine.as_owner(COUNTS):
        kept[project] = _counts(*counts)
    return kept


def recomputed(engine: Engine) -> Kept:
    """The same, from the facts alone."""
    rows = {(row[0], row[1]): row for row in engine.as_owner(NODES)}
    waits = [((project, source), (project, target)) for project, source, target in engine.as_owner(EDGES)]
    events: dict[str, int] = dict(engine.as_owner(EVENTS))
    inheriting = {
        project
        for project, said in engine.as_owner(INHERITING)
        if msgspec.json.decode(said).get("inherit_dependencies")
    }
    is_open = {key: not row[3] for key, row in rows.items()}
    open_deps = Counter(source for source, target in waits if is_open[target])
    open_children = Counter((row[0], row[2]) for key, row in rows.items() if is_open[key] and row[2] is not None)
    kept: Kept = {}
    for key, (project, _, parent_n, _, node_id, *_) in rows.items():
        above = _above(rows, key)
        held = sum(open_deps[one] > 0 for one in above) if project in inheriting else 0
        blocked = is_open[key] and (open_deps[key] > 0 or held > 0)
        ready = is_open[key] and not blocked and not open_children[key] and parent_n is not None
        kept[key] = _node(events[node_id], len(above), open_children[key], open_deps[key], held, ready, blocked)
    for project in {key[0] for key in rows}:
        mine = [key for key in rows if key[0] == project]
        kept[project] = _counts(
            len(mine),
            sum(not is_open[key] for key in mine),
            sum(kept[key]["is_blocked"] for key in mine),
            sum(kept[key]["is_ready"] for key in mine),
        )
    return kept


def _above(rows: dict[Any, Any], key: Any) -> list[Any]:
    above: list[Any] = []
    while (parent_n := rows[key][2]) is not None:
        key = (key[0], parent_n)
        assert key not in above, "a node lies below itself"
        above.append(key)
    return above


def _node(
    rev: int, depth: int, children: int, deps: int, above: int, is_ready: bool, is_blocked: bool
) -> dict[str, Any]:
    return {
        "rev": rev,
        "depth": depth,
        "open_children": children,
        "open_deps": deps,
        "blocked_above": above,
        "is_ready": is_ready,
        "is_blocked": is_blocked,
    }


def _counts(total: int, resolved: int, blocked: int, actionable: int) -> dict[str, Any]:
    return {"total": total, "resolved": resolved, "blocked": blocked, "actionable": actionable}
