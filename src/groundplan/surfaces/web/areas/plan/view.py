"""A view of the plan, and a visit of it: which version is shown, and what is in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from groundplan.kernel.access import Permission
from groundplan.purpose.open import OpenedPurpose
from groundplan.purpose.version import Version
from groundplan.surfaces.web.areas.area import Visit

DRAFT = "DRAFT"


class PlanVisit(NamedTuple):
    """A visit of the plan, with the version that the address names: by default the draft, else the latest."""

    visit: Visit
    versions: list[Version]
    theory: OpenedPurpose | None  # None before the first draft, or if nothing was in force on the day
    today: str = ""
    as_of: str = ""  # the day in the past that is shown; nothing can be changed there
    problem: str = ""  # why the address cannot be shown as it says

    @property
    def is_draft(self) -> bool:
        """Whether the version is the draft."""
        return self.theory is not None and self.theory.version is not None and self.theory.version.status == DRAFT

    @property
    def can_edit(self) -> bool:
        """Whether the page offers to change the version: it is the draft, and the role may."""
        return self.is_draft and self.may_write

    @property
    def can_record(self) -> bool:
        """Whether the page offers to record measurements and reviews, which every version takes."""
        return self.theory is not None and self.may_write

    @property
    def may_write(self) -> bool:
        """Whether the role may change the plan. A day in the past never changes."""
        return not self.as_of and self.visit.may(Permission.PURPOSE_WRITE)

    @property
    def has_draft(self) -> bool:
        """Whether the project has a draft."""
        return any(version.status == DRAFT for version in self.versions)


class PlanView(NamedTuple):
    """One way to look at the plan. It has a tab, and the address `plan?view=NAME`."""

    name: str
    title: str
    key: str  # opens it
    template: str  # extends plan_frame.html
    read: Callable[[PlanVisit], Mapping[str, Any]]
    operations: frozenset[str] = frozenset()  # that its forms run; all others are refused
