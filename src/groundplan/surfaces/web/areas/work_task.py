"""One task in the inspector: everything about it, and what can be done with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.throughline.line import read_throughline
from groundplan.surfaces.web.form_arguments import write_pairs

HISTORY_SHOWN = 10
EVIDENCE_SHOWN = 40
FOUND_SHOWN = 8
VALUE_CHARS = 400  # of a value in the history
PICKS = ("wait", "move", "merge")  # forms that name another task
OWN_PROPERTIES = frozenset({"priority"})  # with a field of their own
CONTAINER_TYPES = ("task", "feature")


def read_task(visit: Visit, node_id: str) -> Mapping[str, Any]:
    """Return everything that the inspector shows about a task."""
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
        "own": {name: [one for one in getattr(node, name) or () if not one.inherited_from] for name in LINKS},
        "evidence": list(node.evidence or ())[: -EVIDENCE_SHOWN - 1 : -1],  # the newest first
        "evidence_total": node.evidence_total or len(node.evidence or ()),
        "host_of": host_of,
        "say": say_value,
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


LINKS = ("serves", "rests_on")


def host_of(text: str) -> str | None:
    """Return the host of an address that may be shown as a link: only http and https, whatever else it contains."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        return None
    return parts.hostname if parts.scheme in ("http", "https") and not set(text.strip()) & set(' \n\t"<>\\') else None


def say_value(value: Any) -> str:
    """Return a stored value as a reader sees it."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"{text[:VALUE_CHARS]} …" if len(text) > VALUE_CHARS else text


def _read_container(visit: Visit, node_id: str, kind: str) -> Mapping[str, Any]:
    """Return the status, the tags and the sections of a task, and what is known about the files in them."""
    place = {"containerType": kind, "id": node_id}
    with_knowledge = {"includeGraphContext": True} if kind == "task" else {}
    details = visit.session.call("container.get", **place, includeSections=True, **with_knowledge)
    known = details.graph_context or None
    atoms = [] if known is None else [atom for one in known.molecules for atom in one.atoms] + known.orphan_atoms
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
    """Return tasks by a text in their summaries, or by an id."""
    if not text:
        return []
    found = list(visit.call("work.query", filter={"text": text}, limit=FOUND_SHOWN, lean=True).nodes)
    try:
        found = [*visit.call("work.outline", node=text).nodes, *found]
    except GroundplanError as error:  # it is no id, or the beginning of several
        if error.status >= 500:
            raise
    return [one for one in {one.id: one for one in found}.values() if one.id != without]


def _read_target(visit: Visit, node_id: str) -> Any:
    """Return the task to merge into that the address names; it is asked about before anything happens."""
    target = visit.query.get("into")
    if not target or target == node_id:
        return None
    try:
        return visit.call("work.outline", node=target).nodes[0]
    except NotFound:
        return None
