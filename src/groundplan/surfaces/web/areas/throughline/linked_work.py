"""The work that serves each part of the plan."""

from __future__ import annotations

from collections.abc import Iterable

from groundplan.briefing.throughline.chain import StepRelation
from groundplan.kernel.errors import NotFound
from groundplan.surfaces.web.areas.area import Visit
from groundplan.surfaces.web.areas.throughline.item import Item
from groundplan.surfaces.web.areas.throughline.line import follow, to_item


def read_linked_work(visit: Visit, goals: Iterable[str]) -> dict[str, list[Item]]:
    """Return the tasks that serve each node below some goals, by the key of the node."""
    found: dict[str, dict[str, Item]] = {}
    for goal in dict.fromkeys(goals):
        try:
            line = follow(visit, goal, "down")
        except NotFound:  # a goal of an old version
            continue
        for step in line.chain:
            for link in step.to:
                if link.by is StepRelation.SERVES:
                    found.setdefault(link.ref, {})[step.ref] = to_item(visit, step)
    return {key: list(tasks.values()) for key, tasks in found.items()}
