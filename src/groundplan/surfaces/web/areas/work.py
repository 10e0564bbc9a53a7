"""Work: the tree or the board of tasks, a search with filters, and one task in the inspector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.work.graph.search.outline import Lane

VIEWS = ("tree", "board")
FILTERS = {  # chips of the search: address → filter of work.query
    "ready": ("Ready", {"is_actionable": True}),
    "blocked": ("Blocked", {"is_blocked": True}),
    "open": ("Open", {"resolved": False}),
    "resolved": ("Resolved", {"resolved": True}),
    "mine": ("Claimed by me", {}),
    "leaf": ("Without children", {"is_leaf": True}),
}
ROWS = 50
OPEN_MAX = 40  # branches that one address may have open
DEPTH_MAX = 12


class TreeRow(NamedTuple):
    """A line of the tree: a node with its depth, or the link to more nodes of a branch."""

    level: int
    node: Any = None
    is_open: bool = False
    more: str | None = None  # the cursor of the next nodes of a branch
    parent: str | None = None
    left: int = 0


def read_work(visit: Visit) -> Mapping[str, Any]:
    """Return what the area shows for the state in the address."""
    view = visit.query.get("view") if visit.query.get("view") in VIEWS else "tree"
    chosen = [name for name in visit.query.get("filter", "").split(",") if name in FILTERS]
    text = visit.query.get("text", "").strip()
    counts = visit.call("work.open").summary
    shown: dict[str, Any] = {"view": view, "text": text, "chosen": chosen, "filters": FILTERS, "counts": counts}
    if text or chosen:
        shown["found"] = _search(visit, text, chosen)
    elif view == "board":
        shown["lanes"] = [(lane, visit.call("work.outline", lane=lane.value, limit=ROWS)) for lane in Lane]
    else:
        shown["rows"] = _read_tree(visit)
    selected = visit.query.get("node")
    shown["selected"] = selected
    shown["task"] = None if not selected else _read_task(visit, selected)
    return shown


def _search(visit: Visit, text: str, chosen: Sequence[str]) -> Any:
    wanted: dict[str, Any] = {"text": text} if text else {}
    for name in chosen:
        wanted |= FILTERS[name][1]
    if "mine" in chosen and visit.session.actor is not None:
        wanted["claimed_by"] = visit.session.actor.id
    cursor = {"cursor": visit.query["cursor"]} if "cursor" in visit.query else {}
    return visit.call("work.query", filter=wanted, limit=ROWS, **cursor)


def _read_tree(visit: Visit) -> list[TreeRow]:
    """Return the lines of the tree: the children of the root, and of every branch that the address opens."""
    opened = [ref for ref in visit.query.get("open", "").split(",") if ref][:OPEN_MAX]
    after = visit.query.get("after", "").partition(":")  # branch:cursor, to show more of one branch
    rows: list[TreeRow] = []
    waiting: list[tuple[int, str | None, list[Any]]] = []

    def read_branch(level: int, parent: str | None) -> None:
        of_parent = {} if parent is None else {"parent": parent}
        cursor = {"cursor": after[2]} if after[2] and after[0] == (parent or "") else {}
        page = visit.call("work.outline", limit=ROWS, **of_parent, **cursor)
        waiting.append((level, parent, [*page.nodes, page]))

    read_branch(0, None)
    while waiting:
        level, parent, nodes = waiting[-1]
        if len(nodes) == 1:  # the page itself is last: it says whether there is more
            waiting.pop()
            page = nodes.pop()
            if page.next_cursor:
                rows.append(TreeRow(level, more=page.next_cursor, parent=parent, left=page.total))
            continue
        node = nodes.pop(0)
        is_open = bool(node.children) and node.id in opened and level < DEPTH_MAX
        rows.append(TreeRow(level, node, is_open))
        if is_open:
            read_branch(level + 1, node.id)
    return rows


def _read_task(visit: Visit, node_id: str) -> Any:
    session = visit.session
    return {
        "context": session.call("work.context", node_id=node_id, depth=1),
        "history": session.call("work.history", node_id=node_id, limit=10),
    }


AREA = Area("work", "Work", "w", "work.html", read_work)
