"""Through-line: from any item up to the goals and down to work and evidence, and work without a purpose.

A line begins at a task or a node of the plan. Other items are tied to some of them:

/site/size      a fact: the tasks and nodes that rest on it
a UUID          a note: the tasks that wrote it
AS3, IN2        an assumption or an indicator: the node that it is on, or the beginning of its link
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from groundplan.briefing.chain import (
    ChainAssumption,
    ChainLink,
    ChainStep,
    StepRelation,
    StepType,
    Throughline,
)
from groundplan.briefing.outline import REASONS, describe_work
from groundplan.context.schemas import RunStatus
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.purpose.model import AssumptionStatus, RiskLevel
from groundplan.surfaces.web.render import inline_picture
from groundplan.surfaces.web.visit import Area, Visit, find_place, get_base
from groundplan.surfaces.web.words import describe_fact_value

SERVING_NOTHING_SHOWN = 12
UNSERVED_SHOWN = 12
BELOW = ("work", "activity", "output", "outcome", "goal", "assumption", "indicator")  # kinds with something below
STARTS_MAX = 10  # tasks and nodes of a fact that are followed
IN_DOUBT = (AssumptionStatus.AT_RISK, AssumptionStatus.REFUTED)


class Item(NamedTuple):
    """An item of the project: its kind, its name, and its address."""

    ref: str
    kind: str  # work, goal, outcome, output, activity, fact, note, assumption or indicator
    title: str
    place: str


class LinkedItem(NamedTuple):
    """An item that is not a step of a line, and the refs of the tasks or nodes that it belongs to."""

    item: Item
    starts: list[str]


class PathStep(NamedTuple):
    """A step of the path from a goal down to the start of the line, and its assumptions in doubt."""

    item: Item
    is_draft: bool
    doubts: list[ChainAssumption]


class ItemLine(NamedTuple):
    """An item, and its line to the goals."""

    item: Item
    path: list[PathStep]  # the shortest way, the goal first and the item last; without the item it serves nothing
    reaches_goal: bool
    more_goals: int  # goals besides the one of the path
    starts: list[Item]  # what the item is tied to, if it is no task and no node
    up: Throughline | None  # None if it is tied to nothing
    address: str  # of the whole line


class StepView(NamedTuple):
    """A step of the whole line, and the steps after it."""

    item: Item
    step: ChainStep
    is_start: bool
    address: str  # of its own line


class EndView(NamedTuple):
    """An end of a line without a goal or without work, in words."""

    title: str
    reason: str
    address: str


class UnlinkedTask(NamedTuple):
    """An open task without a purpose."""

    id: str
    title: str
    place: str


def read_page(visit: Visit) -> Mapping[str, Any]:
    """Return the line of the item in the address, and the work without a purpose."""
    ref = visit.query.get("ref", "").strip()
    shown: dict[str, Any] = {"ref": ref, "line": None, "is_unknown": False, "near": [], **_read_gaps(visit)}
    if not ref:
        return shown
    try:
        line = find_throughline(visit, ref)
    except GroundplanError as error:
        if error.status not in (400, 404):
            raise
        near = [(nearby, make_address(visit, nearby)) for nearby in error.details.get("near", ())]
        return {**shown, "is_unknown": True, "near": near}
    return {**shown, "line": line, **_read_whole_line(visit, line)}


def _read_whole_line(visit: Visit, line: ItemLine) -> dict[str, Any]:
    start = line.up.start if line.up is not None else None
    down = follow(visit, start, "down") if start is not None and line.item.kind in BELOW else None
    lines = [half for half in (line.up, down) if half is not None]
    titles = {step.ref: step.title for half in lines for step in half.chain}
    ends = [
        EndView(titles.get(end.ref, end.ref), REASONS[end.reason], make_address(visit, end.ref))
        for end in {end.ref + end.reason: end for half in lines for end in half.dead_ends}.values()
    ]
    up_steps = line.up.chain[::-1] if line.up is not None else []
    return {
        "start": start,
        "above": _build_steps(visit, up_steps, start),
        "below": _build_steps(visit, down.chain if down is not None else [], start, skip_start=True),
        "work_below": describe_work(down.work) if down is not None and down.work else "",
        "ends": ends,
        "left_out": sum(sum((half.left_out or {}).values()) for half in lines),
        "titles": titles,
        **_read_facts(visit, lines),
        "picture": _draw(visit, line.item.title, lines),
    }


def _build_steps(
    visit: Visit, steps: Iterable[ChainStep], start: str | None, *, skip_start: bool = False
) -> list[StepView]:
    return [
        StepView(to_item(visit, step), step, step.ref == start, make_address(visit, step.ref))
        for step in steps
        if not (skip_start and step.ref == start)
    ]


def _read_facts(visit: Visit, lines: Sequence[Throughline]) -> dict[str, Any]:
    """Return the values in force of the facts on the line."""
    pointers = {fact.pointer for line in lines for step in line.chain for fact in step.facts or ()}
    shown: dict[str, Any] = {"fact_values": {}, "fact_place": f"{get_base(visit.project.name)}/facts?fact="}
    for pointer in pointers:
        trace = visit.session.call("context.trace", scopeId=visit.project.name, pointer=pointer)
        current = next((run for run in trace.runs if run.status is not RunStatus.DRAFT), None)
        if current is not None:
            shown["fact_values"][pointer] = describe_fact_value(current.value_kind, current.value)
    return shown


def _draw(visit: Visit, title: str, lines: Sequence[Throughline]) -> str:
    """Return the line as a picture, from the work to the goals; nothing if it has only one step."""
    steps: dict[str, ChainStep] = {}
    for line in lines:
        for step in line.chain:
            steps.setdefault(step.ref, step)  # of the start the upward step counts: it has the links
    if len(steps) < 2:
        return ""
    from groundplan.briefing.outline import build_line_picture  # loaded only to draw
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    picture = build_line_picture(lines[0], visit.project.name, list(steps.values()))
    drawn = draw(picture._replace(title=title, subtitle=f"{len(steps)} steps"), Theme.AUTO)
    return inline_picture(drawn.svg, f"The line of {title}; the lists have the same")


def _read_gaps(visit: Visit) -> dict[str, Any]:
    """Return open work without a purpose and purpose without work, with the nodes to link to."""
    gaps = visit.call("briefing.coverage")
    theory = visit.try_call("purpose.open", detail="full", version="published")
    theory = theory or visit.try_call("purpose.open", detail="full", version="draft")
    nodes = list(theory.nodes or ()) if theory is not None else []
    titles = {node.key: node.title for node in nodes}
    unlinked = gaps.serving_nothing[:SERVING_NOTHING_SHOWN]
    titled = visit.call("briefing.titles", refs=unlinked).found if unlinked else []
    titles_of_tasks = {task.ref: task.title for task in titled}
    tasks = [UnlinkedTask(id_, titles_of_tasks[id_], make_address(visit, id_)) for id_ in unlinked]
    return {
        "nodes": nodes,
        "tasks": tasks,
        "tasks_total": gaps.counts.serving_nothing,
        "unserved": [(key, titles.get(key, key), make_address(visit, key)) for key in gaps.unserved[:UNSERVED_SHOWN]],
        "unserved_total": gaps.counts.unserved,
    }


def read_throughline(visit: Visit, ref: str) -> ItemLine | None:
    """Return the line of an item of any area to the goals; None if the versions in force do not have it."""
    try:
        return find_throughline(visit, ref)
    except GroundplanError as error:
        if error.status not in (400, 404):
            raise
        return None


def find_throughline(visit: Visit, ref: str) -> ItemLine:
    """Return the line of an item of any area to the goals."""
    try:
        up = follow(visit, ref, "up")
    except NotFound:
        tied = find_linked_item(visit, ref)
        if tied is None:
            raise
        return _build_linked_line(visit, tied)
    return _build_line(visit, to_item(visit, find_start(up)), up)


def follow(visit: Visit, ref: str, direction: str) -> Throughline:
    """Return the line from a task or a node."""
    line: Throughline = visit.call("briefing.throughline", **{"from": ref, "direction": direction})
    return line


def find_start(line: Throughline) -> ChainStep:
    """Return the first step of a line."""
    return next(step for step in line.chain if step.ref == line.start)


def make_address(visit: Visit, ref: str) -> str:
    """Return the address of the whole line of an item."""
    return f"{get_base(visit.project.name)}/throughline?{urlencode({'ref': ref})}"


def _build_linked_line(visit: Visit, linked: LinkedItem) -> ItemLine:
    """Return the line of an item that is not a step: the line of the first step that it belongs to."""
    lines = [line for ref in linked.starts[:STARTS_MAX] if (line := _try_follow(visit, ref)) is not None]
    starts = [to_item(visit, find_start(line)) for line in lines]
    best = next((line for line in lines if line.goals), lines[0] if lines else None)
    if best is None:
        return ItemLine(linked.item, [], False, 0, [], None, make_address(visit, linked.item.ref))
    shown = _build_line(visit, linked.item, best)
    return shown._replace(path=[*shown.path, PathStep(linked.item, False, [])], starts=starts)


def _try_follow(visit: Visit, ref: str) -> Throughline | None:
    try:
        return follow(visit, ref, "up")
    except NotFound:  # a link to something that is gone
        return None


def _build_line(visit: Visit, item: Item, up: Throughline) -> ItemLine:
    steps = find_path(up)
    reaches_goal = steps[-1].type is StepType.GOAL
    path = [PathStep(to_item(visit, step), bool(step.draft), _find_doubts(step, steps)) for step in reversed(steps)]
    more_goals = len(up.goals) - 1 if reaches_goal else len(up.goals)
    return ItemLine(item, path, reaches_goal, more_goals, [], up, make_address(visit, item.ref))


def find_path(line: Throughline) -> list[ChainStep]:
    """Return the shortest path from the start to a goal; without a goal, the path to the farthest step upwards."""
    steps = {step.ref: step for step in line.chain}
    before: dict[str, str | None] = {line.start: None}
    queue = [line.start]
    for ref in queue:  # grows while it is read: breadth first
        if steps[ref].type is StepType.GOAL:
            return _walk_back(steps, before, ref)
        for link in steps[ref].to:
            if link.ref in steps and link.ref not in before:
                before[link.ref] = ref
                queue.append(link.ref)
    return _walk_back(steps, before, queue[-1])


def _walk_back(steps: Mapping[str, ChainStep], before: Mapping[str, str | None], last: str) -> list[ChainStep]:
    way = []
    at: str | None = last
    while at is not None:
        way.append(steps[at])
        at = before[at]
    return way[::-1]


def _find_doubts(step: ChainStep, path: Iterable[ChainStep]) -> list[ChainAssumption]:
    """Return the assumptions in doubt of a step and of its links on the path."""
    refs = {other.ref for other in path}
    links: list[ChainLink] = [link for link in step.to if link.ref in refs]
    assumptions = [*(step.assumptions or ()), *(assumption for link in links for assumption in link.assumptions or ())]
    return [
        assumption for assumption in assumptions if assumption.status in IN_DOUBT or assumption.risk is RiskLevel.HIGH
    ]


def to_item(visit: Visit, step: ChainStep) -> Item:
    """Return a step as an item with its address."""
    return make_item(visit, "work" if step.is_work else "purpose", step.ref, step.type.lower(), step.title)


def find_linked_item(visit: Visit, ref: str) -> LinkedItem | None:
    """Return a fact, a note, an assumption or an indicator; None if the ref can only belong to a task or a node."""
    if ref.startswith("/"):
        return _find_fact(visit, ref)
    if parse_uuid(ref) is not None:
        return _find_note(visit, ref)
    return _find_part_of_plan(visit, ref)


def make_item(visit: Visit, slice_: str, ref: str, kind: str, title: str) -> Item:
    """Return an item with its address."""
    return Item(ref, kind, title, find_place(get_base(visit.project.name), slice_, ref))


def _find_fact(visit: Visit, pointer: str) -> LinkedItem:
    trace = visit.session.call("context.trace", scopeId=visit.project.name, pointer=pointer)
    title = trace.runs[0].label if trace.runs else pointer
    return LinkedItem(make_item(visit, "context", pointer, "fact", title), [item.ref for item in trace.resting])


def _find_note(visit: Visit, id_: str) -> LinkedItem:
    note = _get_note(visit, "atom", id_) or _get_note(visit, "molecule", id_)
    if note is None:
        raise NotFound("note", id_)
    tasks = dict.fromkeys((note.last_task_id, note.created_by_task_id))
    return LinkedItem(make_item(visit, "knowledge", note.id, "note", note.name), [task for task in tasks if task])


def _get_note(visit: Visit, kind: str, id_: str) -> Any:
    arguments = {"entityType": kind, "id": id_, "projectId": visit.project.name, "includeChangelog": False}
    try:
        return getattr(visit.session.call("knowledge.get", **arguments), kind)
    except NotFound:
        return None


def _find_part_of_plan(visit: Visit, key: str) -> LinkedItem | None:
    """Return an assumption or an indicator of the draft, else of the published version."""
    for version in ("draft", "published"):
        theory = visit.try_call("purpose.open", detail="full", version=version)
        if theory is None:
            continue
        for indicator in theory.indicators or ():
            if indicator.key == key:
                return LinkedItem(make_item(visit, "purpose", key, "indicator", indicator.name), [indicator.node])
        for subject in (*(theory.nodes or ()), *(theory.edges or ())):
            for assumption in subject.assumptions or ():
                if assumption.key == key:
                    start = getattr(subject, "key", None) or subject.source
                    return LinkedItem(
                        make_item(visit, "purpose", key, "assumption", assumption.assumption_text), [start]
                    )
    return None


def read_linked_work(visit: Visit, goals: Iterable[str]) -> dict[str, list[Item]]:
    """Return the tasks that serve each node below some goals, by the key of the node."""
    tasks_by_key: dict[str, dict[str, Item]] = {}
    for goal in dict.fromkeys(goals):
        try:
            line = follow(visit, goal, "down")
        except NotFound:  # a goal of an old version
            continue
        for step in line.chain:
            for link in step.to:
                if link.by is StepRelation.SERVES:
                    tasks_by_key.setdefault(link.ref, {})[step.ref] = to_item(visit, step)
    return {key: list(tasks.values()) for key, tasks in tasks_by_key.items()}


AREA = Area("throughline", "Through-line", "", "throughline_page.html", read_page, frozenset({"work.update"}))
