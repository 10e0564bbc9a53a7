"""Find an item of the project by its ref, and the tasks or nodes of the plan that it is tied to.

/site/size      a fact: the tasks and nodes that rest on it
a UUID          a note: the tasks that wrote it
AS3, IN2        an assumption or an indicator: the node that it is on, or the beginning of its link
OC1             a node of the plan: itself
q8cdfw          a task: itself
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.errors import NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.places import find_place, get_base


class Item(NamedTuple):
    """Something in the project: what it is, what it is called, and where the page shows it."""

    ref: str
    kind: str  # work, goal, outcome, output, activity, fact, note, assumption or indicator
    title: str
    place: str


class TiedItem(NamedTuple):
    """An item that is no step of a line, and the refs of the tasks or nodes that it is tied to."""

    item: Item
    starts: list[str]


def find_tied_item(visit: Visit, ref: str) -> TiedItem | None:
    """Return a fact, a note, an assumption or an indicator; None if the ref can only name a task or a node.

    Raises:
        NotFound: there is no such fact or note.
    """
    if ref.startswith("/"):
        return _find_fact(visit, ref)
    if parse_uuid(ref) is not None:
        return _find_note(visit, ref)
    return _find_part_of_plan(visit, ref)


def make_item(visit: Visit, slice_: str, ref: str, kind: str, title: str) -> Item:
    """Return an item with the address at which it is shown."""
    return Item(ref, kind, title, find_place(get_base(visit.project.name), slice_, ref))


def _find_fact(visit: Visit, pointer: str) -> TiedItem:
    trace = visit.session.call("context.trace", scopeId=visit.project.name, pointer=pointer)
    title = trace.runs[0].label if trace.runs else pointer
    return TiedItem(make_item(visit, "context", pointer, "fact", title), [one.ref for one in trace.resting])


def _find_note(visit: Visit, id_: str) -> TiedItem:
    found = _get_note(visit, "atom", id_) or _get_note(visit, "molecule", id_)
    if found is None:
        raise NotFound("note", id_)
    tasks = dict.fromkeys((found.last_task_id, found.created_by_task_id))
    return TiedItem(make_item(visit, "knowledge", found.id, "note", found.name), [one for one in tasks if one])


def _get_note(visit: Visit, kind: str, id_: str) -> Any:
    arguments = {"entityType": kind, "id": id_, "projectId": visit.project.name, "includeChangelog": False}
    try:
        return getattr(visit.session.call("knowledge.get", **arguments), kind)
    except NotFound:
        return None


def _find_part_of_plan(visit: Visit, key: str) -> TiedItem | None:
    """Return an assumption or an indicator of the draft, else of the published version."""
    for version in ("draft", "published"):
        theory = visit.try_call("purpose.open", detail="full", version=version)
        if theory is None:
            continue
        for indicator in theory.indicators or ():
            if indicator.key == key:
                return TiedItem(make_item(visit, "purpose", key, "indicator", indicator.name), [indicator.node])
        for subject in (*(theory.nodes or ()), *(theory.edges or ())):
            for one in subject.assumptions or ():
                if one.key == key:
                    start = getattr(subject, "key", None) or subject.source
                    return TiedItem(make_item(visit, "purpose", key, "assumption", one.assumption_text), [start])
    return None
