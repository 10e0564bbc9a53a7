"""The line from an item up to the goals, for the block "Why this matters" of every inspector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from groundplan.briefing.throughline.chain import ChainAssumption, ChainLink, ChainStep, StepType, Throughline
from groundplan.kernel.errors import GroundplanError, NotFound
from groundplan.purpose.model import AssumptionStatus, RiskLevel
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.throughline.item import Item, TiedItem, find_tied_item, make_item
from groundplan.surfaces.web.places import get_base

STARTS_MAX = 10  # tasks and nodes of a fact that are followed
IN_DOUBT = (AssumptionStatus.AT_RISK, AssumptionStatus.REFUTED)


class PathStep(NamedTuple):
    """An item on the way from a goal down to what the line begins at, and the assumptions in doubt on it."""

    item: Item
    is_draft: bool
    doubts: list[ChainAssumption]


class ShownLine(NamedTuple):
    """An item, and what it is for."""

    item: Item
    path: list[PathStep]  # the shortest way, the goal first and the item last; without the item it serves nothing
    reaches_goal: bool
    more_goals: int  # goals besides the one of the path
    starts: list[Item]  # what the item is tied to, if it is no task and no node
    up: Throughline | None  # None if it is tied to nothing
    address: str  # of the whole line


def read_throughline(visit: Visit, ref: str) -> ShownLine | None:
    """Return what an item of any area is for; None if the versions in force do not have it."""
    try:
        return find_throughline(visit, ref)
    except GroundplanError as error:
        if error.status not in (400, 404):
            raise
        return None


def find_throughline(visit: Visit, ref: str) -> ShownLine:
    """Return what an item of any area is for.

    Raises:
        NotFound: there is no such item.
    """
    try:
        up = follow(visit, ref, "up")
    except NotFound:
        tied = find_tied_item(visit, ref)
        if tied is None:
            raise
        return _build_tied_line(visit, tied)
    return _build_line(visit, to_item(visit, find_start(up)), up)


def follow(visit: Visit, ref: str, direction: str) -> Throughline:
    """Return the line from a task or a node."""
    line: Throughline = visit.call("briefing.throughline", **{"from": ref, "direction": direction})
    return line


def find_start(line: Throughline) -> ChainStep:
    """Return the step at which a line begins."""
    return next(step for step in line.chain if step.ref == line.start)


def make_address(visit: Visit, ref: str) -> str:
    """Return the address of the whole line of an item."""
    return f"{get_base(visit.project.name)}/throughline?{urlencode({'ref': ref})}"


def _build_tied_line(visit: Visit, tied: TiedItem) -> ShownLine:
    """Return the line of an item that is no step itself: the line of the first that it is tied to."""
    lines = [line for ref in tied.starts[:STARTS_MAX] if (line := _try_follow(visit, ref)) is not None]
    starts = [to_item(visit, find_start(line)) for line in lines]
    best = next((line for line in lines if line.goals), lines[0] if lines else None)
    if best is None:
        return ShownLine(tied.item, [], False, 0, [], None, make_address(visit, tied.item.ref))
    shown = _build_line(visit, tied.item, best)
    return shown._replace(path=[*shown.path, PathStep(tied.item, False, [])], starts=starts)


def _try_follow(visit: Visit, ref: str) -> Throughline | None:
    try:
        return follow(visit, ref, "up")
    except NotFound:  # a link to something that is gone
        return None


def _build_line(visit: Visit, item: Item, up: Throughline) -> ShownLine:
    steps = find_path(up)
    reaches_goal = steps[-1].type is StepType.GOAL
    path = [PathStep(to_item(visit, step), bool(step.draft), _find_doubts(step, steps)) for step in reversed(steps)]
    more_goals = len(up.goals) - 1 if reaches_goal else len(up.goals)
    return ShownLine(item, path, reaches_goal, more_goals, [], up, make_address(visit, item.ref))


def find_path(line: Throughline) -> list[ChainStep]:
    """Return the shortest way from the start to a goal; without a goal the way to the step that is farthest up."""
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
    """Return the assumptions in doubt of a step, and of its links that are on the path."""
    refs = {one.ref for one in path}
    links: list[ChainLink] = [link for link in step.to if link.ref in refs]
    found = [*(step.assumptions or ()), *(one for link in links for one in link.assumptions or ())]
    return [one for one in found if one.status in IN_DOUBT or one.risk is RiskLevel.HIGH]


def to_item(visit: Visit, step: ChainStep) -> Item:
    """Return a step with the address at which the page shows it."""
    return make_item(visit, "work" if step.is_work else "purpose", step.ref, step.type.lower(), step.title)
