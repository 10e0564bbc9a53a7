"""A view of the plan, and a visit of it: which version is shown, and what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from groundplan.kernel.access import Permission
from groundplan.purpose.open import OpenedPurpose
from groundplan.purpose.versions.versions import Version
from groundplan.surfaces.web.areas.plan.theory import TheoryItems
from groundplan.surfaces.web.canvas.items import format_edge, name_edge
from groundplan.surfaces.web.visit import Visit, find_place, get_base

DRAFT = "DRAFT"


class PlanVisit(NamedTuple):
    """A visit of the plan, with the version that the address names: by default the draft, else the latest."""

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
        """Whether the version is the draft."""
        return self.items is not None and self.items.version.status == DRAFT

    @property
    def can_edit(self) -> bool:
        """Whether the page offers to change the version: it is the draft, and the role may."""
        return self.is_draft and self.may_write

    @property
    def can_record(self) -> bool:
        """Whether the page offers to record measurements and reviews, which every version takes."""
        return self.items is not None and self.may_write

    @property
    def may_write(self) -> bool:
        """Whether the role may change the plan. A day in the past never changes."""
        return not self.as_of and self.visit.may(Permission.PURPOSE_WRITE)

    @property
    def has_draft(self) -> bool:
        """Whether the project has a draft."""
        return any(version.status == DRAFT for version in self.versions)

    def call(self, operation: str, /, **arguments: Any) -> Any:
        """Run an operation on the version that is shown, with what was known on the day that is shown."""
        number = self.items.version.number if self.items is not None else None
        day = {"as_of": self.as_of} if self.as_of else {}
        return self.visit.call(operation, version=number, **day, **arguments)

    def link(self, ref: str) -> str:
        """Return the address that shows an item of the version with everything about it."""
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
    """One way to look at the plan. It has a tab, and the address `plan?view=NAME`."""

    name: str
    title: str
    key: str  # opens it
    template: str  # extends plan_frame.html
    read: Callable[[PlanVisit, TheoryItems], Mapping[str, Any]]
    operations: frozenset[str] = frozenset()  # that its forms run; all others are refused
