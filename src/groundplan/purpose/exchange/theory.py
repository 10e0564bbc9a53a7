"""The input of the file writers: a version with its content and observations."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.model import Assumption, AssumptionStatus, Content, EdgeName, Indicator, Profile, VersionStatus
from groundplan.purpose.observing.records import Measurement, Waiver


class Theory(NamedTuple):
    """A version to export. Equal theories give equal bytes."""

    project: str
    number: int
    label: str
    status: VersionStatus
    profile: Profile
    published_at: str | None
    content: Content
    statuses: dict[str, AssumptionStatus]  # by key of the reviewed assumption
    latest: dict[str, Measurement]  # by key of the measured indicator
    waivers: list[Waiver]  # active ones that apply to this version, sorted, without duplicates

    @property
    def display_name(self) -> str:
        """The display name of the version: `v2`, `v2 Two wells`, `v3 (draft)`."""
        if self.status is VersionStatus.DRAFT:
            return f"v{self.number} (draft)"
        return self.label if self.label == f"v{self.number}" else f"v{self.number} {self.label}"

    def get_status(self, assumption: str) -> AssumptionStatus:
        """Return the status of an assumption by its latest review."""
        return self.statuses.get(assumption, AssumptionStatus.UNTESTED)

    def group_indicators_by_node(self) -> dict[str, list[Indicator]]:
        """Return the indicators by the key of their node."""
        found: dict[str, list[Indicator]] = {}
        for one in self.content.indicators.values():
            found.setdefault(one.node, []).append(one)
        return found

    def group_assumptions_by_subject(self) -> dict[str | EdgeName, list[Assumption]]:
        """Return the assumptions by the node key or edge name they are on."""
        found: dict[str | EdgeName, list[Assumption]] = {}
        for one in self.content.assumptions.values():
            on = one.node if one.edge is None else one.edge
            if on is not None:
                found.setdefault(on, []).append(one)
        return found
