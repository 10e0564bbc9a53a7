"""A visit of the plan: the version in the address, its items, and the cache of versions.

The cache is keyed by the project's revision and the day. A visit reads both, and its permission, before it asks the
cache. A value that is read for it may belong to a newer revision; nobody asks for the older one from then on.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

from groundplan.kernel.access import Permission
from groundplan.kernel.errors import NotFound
from groundplan.purpose.dates import get_day, is_day
from groundplan.purpose.model import VersionStatus
from groundplan.purpose.open import OpenedPurpose, name_edge
from groundplan.purpose.versions.versions import Version, VersionRef
from groundplan.surfaces.web.areas.plan.theory import TheoryItems, format_edge
from groundplan.surfaces.web.visit import Visit, find_place, get_base

DRAFT = "DRAFT"
NAMES = ("draft", "published")
T = TypeVar("T")
CACHE_KEY = "web.plan"  # the key of the cache in the store's memory
ENTRIES_MAX = 32  # four for each version that somebody looks at


class VersionChoice(NamedTuple):
    """The version to open, and the day of its observations. `ref` is None for the default version."""

    ref: VersionRef | None = None
    as_of: str = ""
    is_missing: bool = False  # nothing was in force on that day
    problem: str = ""  # why the address cannot be shown as it says


class PlanVisit(NamedTuple):
    """A visit of the plan with the version in the address, by default the draft, else the latest version."""

    visit: Visit
    versions: list[Version]
    items: TheoryItems | None  # None before the first draft, or if nothing was in force on the day
    today: str = ""
    as_of: str = ""  # the day in the past that is shown; nothing can be changed there
    problem: str = ""  # why the address cannot be shown as it says

    @property
    def theory(self) -> OpenedPurpose | None:
        """The opened version."""
        return self.items.opened if self.items is not None else None

    @property
    def is_draft(self) -> bool:
        """True if the version is the draft."""
        return self.items is not None and self.items.version.status == DRAFT

    @property
    def can_edit(self) -> bool:
        """True if the version is the draft and the role may change it."""
        return self.is_draft and self.may_write

    @property
    def can_record(self) -> bool:
        """True if the role may record measurements and reviews, which is possible for every version."""
        return self.items is not None and self.may_write

    @property
    def may_write(self) -> bool:
        """True if the role may change the plan, and the page does not show a day in the past."""
        return not self.as_of and self.visit.may(Permission.PURPOSE_WRITE)

    @property
    def has_draft(self) -> bool:
        """True if the project has a draft."""
        return any(version.status == DRAFT for version in self.versions)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation on the shown version, as of the shown day."""
        number = self.items.version.number if self.items is not None else None
        day = {"as_of": self.as_of} if self.as_of else {}
        return self.visit.call(operation, version=number, **day, **arguments)

    def link(self, ref: str) -> str:
        """Return the address that shows an item of the version in the inspector, or a fact in the area Facts."""
        if ref.startswith("/"):
            return find_place(get_base(self.visit.project.name), "context", ref)
        edge = self.items.edges.get(ref) if self.items is not None else None
        return self._link("", key="" if edge else ref, edge=format_edge(name_edge(edge)) if edge else "")

    def link_view(self, view: str, **query: str) -> str:
        """Return the address of another view of the same version."""
        return self._link(view, **query)

    def link_area(self, area: str) -> str:
        """Return the address of another area of the project."""
        return f"{get_base(self.visit.project.name)}/{area}"

    def _link(self, view: str, **query: str) -> str:
        shown = {"view": view, "version": self.visit.query.get("version", ""), "as_of": self.as_of, **query}
        return self.link_area(f"plan?{urlencode({name: value for name, value in shown.items() if value})}")


class PlanView(NamedTuple):
    """A view of the plan. It has a tab, and the address `plan?view=NAME`."""

    name: str
    title: str
    key: str  # opens it
    template: str  # extends plan_frame.html
    read: Callable[[PlanVisit, TheoryItems], Mapping[str, Any]]
    operations: frozenset[str] = frozenset()  # that its forms run; all others are refused


def read_today(visit: Visit) -> str:
    """Return the current day by the clock of the store."""
    return get_day(visit.session.store.read(visit.session.actor, lambda tx: tx.now))


def choose_version(query: Mapping[str, str], versions: Sequence[Version], today: str) -> VersionChoice:
    """Return the version in an address. A day takes precedence over a version."""
    day = query.get("as_of", "").strip()
    if day:
        return _find_in_force(day, versions, today)
    wanted = query.get("version", "")
    if wanted.isascii() and wanted.isdigit():
        return VersionChoice(int(wanted[:9]))
    if wanted == "draft" and not any(version.status is VersionStatus.DRAFT for version in versions):
        return VersionChoice(problem="There is no draft any more. This is the version in force.")
    if wanted == "published" and not any(version.status is VersionStatus.PUBLISHED for version in versions):
        return VersionChoice(problem="No version is published yet. This is the draft.")
    return VersionChoice("draft" if wanted == "draft" else "published") if wanted in NAMES else VersionChoice()


def _find_in_force(day: str, versions: Sequence[Version], today: str) -> VersionChoice:
    if not is_day(day):
        return VersionChoice(problem=f"“{day}” is not a day such as {today}. This is the plan of today.")
    if day > today:
        return VersionChoice(problem=f"{day} is in the future. This is the plan of today.")
    published = [version for version in versions if version.published_at and get_day(version.published_at) <= day]
    if not published:
        return VersionChoice(as_of=day, is_missing=True)
    return VersionChoice(max(version.number for version in published), as_of=day)


def open_version(visit: Visit, today: str, wanted: Mapping[str, Any]) -> TheoryItems:
    """Return a version of the plan with its content."""

    def read() -> TheoryItems:
        opened = visit.call("purpose.open", detail="full", **wanted)
        if opened.version is None:  # the only draft was discarded since the versions were listed
            raise NotFound("theory of change", visit.project.name)
        return TheoryItems(opened, opened.version)

    return _read_cached(visit, today, ("open", *sorted(wanted.items())), read)


def read_cached(plan: PlanVisit, name: Hashable, read: Callable[[], T]) -> T:
    """Return the result of `read` for the version of a visit, which may come from the cache and must not be changed."""
    number = plan.items.version.number if plan.items is not None else None
    return _read_cached(plan.visit, plan.today, (name, number, plan.as_of), read)


def _read_cached(visit: Visit, today: str, name: Hashable, read: Callable[[], T]) -> T:
    cache = visit.session.store.cache
    kept: ReadCache = cache.get(CACHE_KEY) or cache.setdefault(CACHE_KEY, ReadCache())
    actor, project = visit.session.actor, visit.project
    organization = actor.organization if actor is not None else None  # ids are unique within one only
    return kept.read((organization, project.id, project.rev, project.updated_at, today, name), read)


class ReadCache:
    """A cache of the answers that were used last."""

    def __init__(self, kept_max: int = ENTRIES_MAX) -> None:
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
        """Return the value of a key. It is read if it is not cached; two threads may read it at the same time."""
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
