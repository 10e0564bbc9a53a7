"""What a writer of files is given: a version with its content, and what is known of it."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.model import Assumption, AssumptionStatus, Content, EdgeName, Indicator, Profile, VersionStatus
from groundplan.purpose.observing.observation_rows import Measurement, Waiver


class Theory(NamedTuple):
    """One version, ready to be written out. Equal theories give equal bytes."""

    project: str
    number: int
    label: str
    status: VersionStatus
    profile: Profile
    published_at: str | None
    content: Content
    statuses: dict[str, AssumptionStatus]  # of assumptions that were reviewed
    latest: dict[str, Measurement]  # of indicators that were measured
    waivers: list[Waiver]  # in force and about this version; sorted, each said once

    @property
    def called(self) -> str:
        """The version as people call it: `v2`, `v2 Two wells`, `v3 (draft)`."""
        if self.status is VersionStatus.DRAFT:
            return f"v{self.number} (draft)"
        return self.label if self.label == f"v{self.number}" else f"v{self.number} {self.label}"

    def status_of(self, assumption: str) -> AssumptionStatus:
        """What the latest review of an assumption found."""
        return self.statuses.get(assumption, AssumptionStatus.UNTESTED)

    def measured(self) -> dict[str, list[Indicator]]:
        """The indicators, by the key of their node."""
        found: dict[str, list[Indicator]] = {}
        for one in self.content.indicators.values():
            found.setdefault(one.node, []).append(one)
        return found

    def assumptions_by_subject(self) -> dict[str | EdgeName, list[Assumption]]:
        """What is assumed, by the key of the node or the name of the edge it is on."""
        found: dict[str | EdgeName, list[Assumption]] = {}
        for one in self.content.assumptions.values():
            on = one.node if one.edge is None else one.edge
            if on is not None:
                found.setdefault(on, []).append(one)
        return found
