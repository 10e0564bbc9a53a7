"""Work: tasks as a tree, a graph or a board, a search with filters, and one task in the inspector."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from groundplan.kernel.errors import NotFound
from groundplan.surfaces.web.areas.throughline import read_throughline
from groundplan.surfaces.web.areas.work_graph import read_graph
from groundplan.surfaces.web.forms import read_pairs, write_pairs
from groundplan.surfaces.web.visit import REFUSALS, Area, Visit
from groundplan.surfaces.web.words import write_value
from groundplan.work.containers.pipeline import DEFAULT_PIPELINES
from groundplan.work.graph.outline import Lane
from groundplan.work.graph.search import Sort
from groundplan.work.kinds import WILL_NOT_IMPLEMENT

VIEWS = ("tree", "graph", "board")
FILTERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {  # chips of the search: address → filter of work.query
    "ready": ("Ready", {"is_actionable": True}),
    "blocked": ("Blocked", {"is_blocked": True}),
    "open": ("Open", {"resolved": False}),
    "resolved": ("Resolved", {"outcome": "done"}),
    "dropped": ("Dropped", {"outcome": "dropped"}),
    "mine": ("Claimed by me", {}),
    "unclaimed": ("Not claimed", {"claimed_by": None}),
    "leaf": ("Without open children", {"is_leaf": True}),
}
FIELDS = {  # filters with a value: address → words
    "property": "Property",
    "by": "Claimed by",
    "under": "Within",
    "evidence": "With evidence of kind",
}
SORTS = {
    Sort.READINESS: "Ready first",
    Sort.RECENT: "Changed last",
    Sort.CREATED: "Oldest first",
    Sort.DEPTH: "From the top down",
}
ROWS = 50
OPEN_MAX = 40  # branches that one address may have open
NOTHING_OPEN = "-"  # in an address: the branches above the selected task are closed as well
DEPTH_MAX = 12
CLAIMED_BY = "_claimed_by"
HISTORY_SHOWN = 10
EVIDENCE_SHOWN = 40
CHILDREN_SHOWN = 100
FOUND_SHOWN = 8
VALUE_CHARS = 400  # of a value in the history
PICKS = ("wait", "move", "merge")  # forms that name another task
OWN_PROPERTIES = frozenset({"priority"})  # with a field of their own
CONTAINER_TYPES = ("task", "feature")
LINKS = ("serves", "rests_on")


class TreeRow(NamedTuple):
    """A row of the tree: a node with its depth, or a link to more nodes of a branch."""

    level: int
    node: Any = None
    is_open: bool = False
    more: str | None = None  # the cursor of the next nodes of a branch
    parent: str | None = None
    left: int = 0


class Column(NamedTuple):
    """A column of the board: its cards, their total number, and the address of the full list."""

    name: str
    cards: list[Any]
    total: int
    list_of: Mapping[str, str]


class TaskRow(NamedTuple):
    """A task in a list by status, with the fields of a search result."""

    id: str
    summary: str
    properties: Mapping[str, Any]
    resolved: bool = False  # the status says more
    outcome: str | None = None


class TaskPage(NamedTuple):
    """A page of tasks with a status."""

    nodes: list[TaskRow]
    total: int
    next_cursor: str | None


def read_work(visit: Visit) -> Mapping[str, Any]:
    """Return the data of the area for the state in the address."""
    view = visit.query.get("view") if visit.query.get("view") in VIEWS else "tree"
    chosen = [name for name in visit.query.get("filter", "").split(",") if name in FILTERS]
    given = {name: visit.query[name].strip() for name in FIELDS if visit.query.get(name, "").strip()}
    text = visit.query.get("text", "").strip()
    shown: dict[str, Any] = {
        "view": view,
        "text": text,
        "chosen": chosen,
        "given": given,
        "filters": FILTERS,
        "fields": FIELDS,
        "sorts": SORTS,
        "counts": visit.call("work.open").summary,
        "ready_count": visit.call("work.outline", lane=Lane.READY.value, limit=1).total,  # without what is claimed
    }
    selected = visit.query.get("node")
    shown["selected"] = selected
    shown["task"] = None if not selected else read_task(visit, selected)
    status = visit.query.get("status", "").strip()
    if status:
        shown |= {"given": {"status": status.lower().replace("_", " ")}, "fields": {**FIELDS, "status": "Status"}}
        shown |= _list_status(visit, status)
    elif text or chosen or given:
        shown |= _search(visit, _build_filter(visit, text, chosen, given))
    elif view == "graph":
        shown |= read_graph(visit, shown["task"]["context"] if shown["task"] else None)
    elif view == "board":
        shown["columns"] = _read_statuses(visit) if visit.query.get("columns") == "status" else _read_lanes(visit)
    else:
        shown["opened"] = _list_opened(visit, shown["task"])
        shown["rows"] = _read_tree(visit, shown["opened"])
        shown["closed"] = [row.node.id for row in shown["rows"] if row.node and row.node.children and not row.is_open]
    return shown


def _build_filter(visit: Visit, text: str, chosen: list[str], given: Mapping[str, str]) -> dict[str, Any]:
    wanted: dict[str, Any] = {"text": text} if text else {}
    for name in chosen:
        wanted |= FILTERS[name][1]
    if "mine" in chosen and visit.session.actor is not None:
        wanted["claimed_by"] = visit.session.actor.id
    if "property" in given:
        wanted["properties"] = read_pairs(given["property"])
    wanted |= {"claimed_by": given["by"]} if "by" in given else {}
    wanted |= {"ancestor": given["under"]} if "under" in given else {}
    return wanted | ({"has_evidence_type": given["evidence"]} if "evidence" in given else {})


def _search(visit: Visit, wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the search results, or the reason why there are none: a filter may name an unknown task."""
    page = {name: visit.query[name] for name in ("cursor", "sort") if visit.query.get(name)}
    try:
        return {"found": visit.call("work.query", filter=wanted, limit=ROWS, **page)}
    except REFUSALS as error:
        return {"found": None, "search_error": error.message}


def _read_lanes(visit: Visit) -> list[Column]:
    pages = {lane: visit.call("work.outline", lane=lane.value, limit=ROWS) for lane in Lane}
    filters = {Lane.READY: "ready,unclaimed"}
    return [
        Column(lane.value.capitalize(), page.nodes, page.total, {"filter": filters.get(lane, lane.value)})
        for lane, page in pages.items()
    ]


def _read_statuses(visit: Visit) -> list[Column]:
    """Return the statuses of the pipeline of tasks as columns."""
    project = visit.session.call("container.get", containerType="project", id=visit.project.name).project
    steps = [*(project.pipelines or DEFAULT_PIPELINES).task, WILL_NOT_IMPLEMENT]
    place = {"containerType": "task", "projectId": visit.project.name, "limit": ROWS}
    pages = {step: visit.session.call("container.search", **place, status=step) for step in steps}
    return [
        Column(step.replace("_", " ").capitalize(), page.items, page.count, {"status": step})
        for step, page in pages.items()
    ]


def _list_status(visit: Visit, status: str) -> Mapping[str, Any]:
    """Return a page of the tasks with a status. Its cursor is the number of tasks before the page."""
    cursor = visit.query.get("cursor", "")
    place = {"containerType": "task", "projectId": visit.project.name, "status": status, "limit": ROWS}
    try:
        page = visit.session.call("container.search", **place, offset=cursor if cursor.isdecimal() else "0")
    except REFUSALS as error:
        return {"found": None, "search_error": error.message}
    nodes = [
        TaskRow(item.id, item.title, {CLAIMED_BY: item.claimed_by} if item.claimed_by else {}) for item in page.items
    ]
    return {"found": TaskPage(nodes, page.count, str(page.next_offset) if page.next_offset else None)}


def _list_opened(visit: Visit, task: Mapping[str, Any] | None) -> list[str]:
    """Return the branches that the address opens; by default those that lead to the selected task."""
    if task is not None and "open" not in visit.query:
        return [node.id for node in task["context"].ancestors or () if node.id != visit.project.id]
    return [ref for ref in visit.query.get("open", "").split(",") if ref not in ("", NOTHING_OPEN)][:OPEN_MAX]


def _read_tree(visit: Visit, opened: list[str]) -> list[TreeRow]:
    """Return the rows of the tree: the children of the root and of every open branch."""
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


def read_task(visit: Visit, node_id: str) -> Mapping[str, Any]:
    """Return the details of a task for the inspector."""
    session = visit.session
    context = session.call("work.context", node_id=node_id, depth=1, lean=False)
    node = context.node
    (row,) = visit.call("work.outline", node=node.id).nodes
    properties = {name: value for name, value in (node.properties or {}).items() if not name.startswith("_")}
    history = {"cursor": visit.query["past"]} if visit.query.get("past") else {}
    shown: dict[str, Any] = {
        "context": context,
        "row": row,
        "properties": properties,
        "property_lines": write_pairs({k: v for k, v in properties.items() if k not in OWN_PROPERTIES}),
        "history": session.call("work.history", node_id=node.id, limit=HISTORY_SHOWN, lean=False, **history),
        "own": {name: [link for link in getattr(node, name) or () if not link.inherited_from] for name in LINKS},
        "evidence": list(node.evidence or ())[: -EVIDENCE_SHOWN - 1 : -1],  # the newest first
        "children_shown": CHILDREN_SHOWN,
        "evidence_total": node.evidence_total or len(node.evidence or ()),
        "host_of": host_of,
        "say": lambda value: write_value(value, VALUE_CHARS),
        "encode": lambda value: msgspec.json.encode(value).decode(),  # the filter tojson would not escape quotes
        "pick": visit.query.get("pick") if visit.query.get("pick") in PICKS else None,
    }
    if node.parent:
        kind = row.kind if row.kind in CONTAINER_TYPES else "task"
        shown |= _read_container(visit, node.id, kind)
        shown["line"] = read_throughline(visit, node.id)
        if shown["pick"] and visit.is_writer:
            shown["picked"] = _find_tasks(visit, visit.query.get("find", "").strip(), without=node.id)
            shown["target"] = _read_target(visit, node.id)
    return shown


def host_of(text: str) -> str | None:
    """Return the host of an address that may be shown as a link, which is one with http or https."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") and not set(text.strip()) & set(' \n\t"<>\\') else None


def _read_container(visit: Visit, node_id: str, kind: str) -> Mapping[str, Any]:
    """Return the status, the tags and the sections of a task, and the knowledge about its files."""
    place = {"containerType": kind, "id": node_id}
    with_knowledge = {"includeGraphContext": True} if kind == "task" else {}
    details = visit.session.call("container.get", **place, includeSections=True, **with_knowledge)
    known = details.graph_context or None
    atoms = (
        [] if known is None else [atom for molecule in known.molecules for atom in molecule.atoms] + known.orphan_atoms
    )
    templates = visit.session.call("template.list", targetEntityType=kind.upper(), isEnabled=True).templates
    return {
        "kind": kind,
        "container": getattr(details, kind),
        "sections": details.sections or [],
        "atoms": atoms,
        "unknown_paths": [] if known is None else known.unmatched_paths,
        "templates": templates if visit.is_writer else [],
        "workflow": visit.session.call("container.workflow_state", **place),
    }


def _find_tasks(visit: Visit, text: str, *, without: str) -> list[Any]:
    """Find tasks by a text in their summaries, or by an id."""
    if not text:
        return []
    nodes = list(visit.call("work.query", filter={"text": text}, limit=FOUND_SHOWN, lean=True).nodes)
    with suppress(*REFUSALS):  # it is no id, or the beginning of several
        nodes = [*visit.call("work.outline", node=text).nodes, *nodes]
    return [node for node in {node.id: node for node in nodes}.values() if node.id != without]


def _read_target(visit: Visit, node_id: str) -> Any:
    """Return the task in the address as the target of a merge, which the page asks to confirm."""
    target = visit.query.get("into")
    if not target or target == node_id:
        return None
    try:
        return visit.call("work.outline", node=target).nodes[0]
    except NotFound:
        return None


OPERATIONS = frozenset(
    {
        "work.plan",
        "work.update",
        "work.claim",
        "work.restructure",
        "dependency.create",
        "dependency.delete",
        "section.add",
        "section.update",
        "section.delete",
        "template.apply",
        "container.update",
        "container.advance",
        "container.revert",
        "container.block",
        "container.unblock",
        "container.terminate",
    }
)
AREA = Area("work", "Work", "w", "work.html", read_work, OPERATIONS)
