"""What the pages of a plan read, kept for everybody who looks at the same plan in the same state.

It follows from the revision of the project and the day. A visit has read both, and whether it may see the project,
before it asks here. What is read for it may be newer than that; then nobody asks for the older revision any more.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from typing import Any, TypeVar

from groundplan.kernel.errors import NotFound
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.areas.plan.view import PlanVisit
from groundplan.surfaces.web.canvas.items import CanvasCard, CanvasLink, LinkedWork, list_cards, list_links
from groundplan.surfaces.web.visit import Visit

T = TypeVar("T")

CACHE_KEY = "web.plan"  # the key of the cache in the store's memory
KEPT_MAX = 32  # four for each version that somebody looks at


class KeptReads:
    """The answers that were asked for last."""

    def __init__(self, kept_max: int = KEPT_MAX) -> None:
        self.kept_max = kept_max
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def list_keys(self) -> list[Hashable]:
        """Return the keys, the least recently used first."""
        with self._lock:
            return list(self._kept)

    def read(self, key: Hashable, read: Callable[[], T]) -> T:
        """Return what is kept under a key; else read it, which two threads may do at once."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                kept: T = self._kept[key]
                return kept
        value = read()
        with self._lock:
            self._kept[key] = value
            while len(self._kept) > self.kept_max:
                self._kept.popitem(last=False)
        return value


def open_version(visit: Visit, today: str, wanted: Mapping[str, Any]) -> TheoryItems:
    """Return a version of the plan with everything in it."""

    def read() -> TheoryItems:
        opened = visit.call("purpose.open", detail="full", **wanted)
        if opened.version is None:  # the only draft was discarded since the versions were listed
            raise NotFound("theory of change", visit.project.name)
        return TheoryItems(opened, opened.version)

    return _read_kept(visit, today, ("open", *sorted(wanted.items())), read)


def read_once(plan: PlanVisit, name: Hashable, read: Callable[[], T]) -> T:
    """Return what `read` returns for the version of a visit. The caller does not change it."""
    number = plan.items.version.number if plan.items is not None else None
    return _read_kept(plan.visit, plan.today, (name, number, plan.as_of), read)


def read_linked_work(plan: PlanVisit) -> Mapping[str, LinkedWork]:
    """Return the work that serves each node."""

    def read() -> dict[str, LinkedWork]:
        served = plan.visit.call("briefing.serving").served
        return {one.key: LinkedWork(one.total, one.resolved) for one in served}

    return read_once(plan, "work", read)


def list_items(plan: PlanVisit, theory: TheoryItems) -> tuple[list[CanvasCard], list[CanvasLink]]:
    """Return all cards and links of the version."""
    opened = theory.opened
    return read_once(plan, "items", lambda: (list_cards(opened, read_linked_work(plan)), list_links(opened)))


def _read_kept(visit: Visit, today: str, name: Hashable, read: Callable[[], T]) -> T:
    cache = visit.session.store.cache
    kept: KeptReads = cache.get(CACHE_KEY) or cache.setdefault(CACHE_KEY, KeptReads())
    actor, project = visit.session.actor, visit.project
    organization = actor.organization if actor is not None else None  # ids are unique within one only
    return kept.read((organization, project.id, project.rev, project.updated_at, today, name), read)
