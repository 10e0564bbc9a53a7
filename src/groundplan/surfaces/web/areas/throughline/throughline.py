"""Through-line: from any item up to the goals and down to work and evidence, and the work that serves nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.briefing.throughline.chain import ChainStep, Throughline
from groundplan.briefing.throughline.wording import REASONS, describe_work
from groundplan.context.schemas import RunStatus
from groundplan.kernel.errors import GroundplanError
from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.surfaces.web.areas.inline_picture import inline_picture
from groundplan.surfaces.web.areas.throughline.item import Item
from groundplan.surfaces.web.areas.throughline.line import ShownLine, find_throughline, follow, make_address, to_item
from groundplan.surfaces.web.event_words import describe_fact_value
from groundplan.surfaces.web.places import get_base

SERVING_NOTHING_SHOWN = 12
UNSERVED_SHOWN = 12
BELOW = ("work", "activity", "output", "outcome", "goal", "assumption", "indicator")  # kinds with something below


class StepView(NamedTuple):
    """A step of the whole line, and the steps that it leads to."""

    item: Item
    step: ChainStep
    is_start: bool
    address: str  # of its own line


class EndView(NamedTuple):
    """Where a line ends without a goal or without work, in words."""

    title: str
    reason: str
    address: str


class UnlinkedTask(NamedTuple):
    """An open task that serves nothing."""

    id: str
    title: str
    place: str


def read_page(visit: Visit) -> Mapping[str, Any]:
    """Return the line of the item that the address names, and the work that serves nothing."""
    ref = visit.query.get("ref", "").strip()
    shown: dict[str, Any] = {"ref": ref, "line": None, "is_unknown": False, "near": [], **_read_gaps(visit)}
    if not ref:
        return shown
    try:
        line = find_throughline(visit, ref)
    except GroundplanError as error:
        if error.status not in (400, 404):
            raise
        near = [(one, make_address(visit, one)) for one in error.details.get("near", ())]
        return {**shown, "is_unknown": True, "near": near}
    return {**shown, "line": line, **_read_whole_line(visit, line)}


def _read_whole_line(visit: Visit, line: ShownLine) -> dict[str, Any]:
    start = line.up.start if line.up is not None else None
    down = follow(visit, start, "down") if start is not None and line.item.kind in BELOW else None
    lines = [one for one in (line.up, down) if one is not None]
    titles = {step.ref: step.title for one in lines for step in one.chain}
    ends = [
        EndView(titles.get(one.ref, one.ref), REASONS[one.reason], make_address(visit, one.ref))
        for one in {end.ref + end.reason: end for each in lines for end in each.dead_ends}.values()
    ]
    up_steps = line.up.chain[::-1] if line.up is not None else []
    return {
        "start": start,
        "above": _build_steps(visit, up_steps, start),
        "below": _build_steps(visit, down.chain if down is not None else [], start, skip_start=True),
        "work_below": describe_work(down.work) if down is not None and down.work else "",
        "ends": ends,
        "left_out": sum(sum((one.left_out or {}).values()) for one in lines),
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
        current = next((one for one in trace.runs if one.status is not RunStatus.DRAFT), None)
        if current is not None:
            shown["fact_values"][pointer] = describe_fact_value(current.value_kind, current.value)
    return shown


def _draw(visit: Visit, title: str, lines: Sequence[Throughline]) -> str:
    """Return the line as a picture, from the work to the goals; nothing if it has a single step."""
    steps: dict[str, ChainStep] = {}
    for line in lines:
        for step in line.chain:
            steps.setdefault(step.ref, step)  # of the start the upward step counts: it has the links
    if len(steps) < 2:
        return ""
    from groundplan.briefing.throughline.picture import build_line_picture  # loaded only to draw
    from groundplan.purpose.picture.svg import draw
    from groundplan.purpose.picture.tokens import Theme

    picture = build_line_picture(lines[0], visit.project.name, list(steps.values()))
    drawn = draw(picture._replace(title=title, subtitle=f"{len(steps)} steps"), Theme.AUTO)
    return inline_picture(drawn.svg, f"The line of {title}; the lists have the same")


def _read_gaps(visit: Visit) -> dict[str, Any]:
    """Return the open work that serves nothing and the plan that no work serves, with the nodes to link to."""
    gaps = visit.call("briefing.coverage")
    theory = visit.try_call("purpose.open", detail="full", version="published")
    theory = theory or visit.try_call("purpose.open", detail="full", version="draft")
    nodes = list(theory.nodes or ()) if theory is not None else []
    titles = {node.key: node.title for node in nodes}
    tasks = []
    for id_ in gaps.serving_nothing[:SERVING_NOTHING_SHOWN]:
        (row,) = visit.call("work.outline", node=id_).nodes
        tasks.append(UnlinkedTask(id_, row.summary, make_address(visit, id_)))
    return {
        "nodes": nodes,
        "tasks": tasks,
        "tasks_total": gaps.counts.serving_nothing,
        "unserved": [(key, titles.get(key, key), make_address(visit, key)) for key in gaps.unserved[:UNSERVED_SHOWN]],
        "unserved_total": gaps.counts.unserved,
    }


AREA = Area("throughline", "Through-line", "", "throughline_page.html", read_page, frozenset({"work.update"}))
