"""The findings of a gate as people read them: what is wrong, at which places, and the edit that mends each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from groundplan.purpose.gates.profiles import is_waivable
from groundplan.purpose.gates.result import Check, GateResult
from groundplan.purpose.model import NodeType
from groundplan.surfaces.web.areas.plan.upkeep.check_words import CHECKS, GATES, CheckWords
from groundplan.surfaces.web.areas.plan.upkeep.mends import EDIT, Mend, MendBuilder
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex
from groundplan.surfaces.web.areas.plan.view import PlanVisit

PLACES_MAX = 8  # of one check; the address of the check shows more
PLACES_OF_ONE_MAX = 100
WAIVED_REFS_MAX = 100  # as many as a waiver takes
AREAS = {"GA_CONTEXT": ("facts", "Open the facts"), "GB_FACTS": ("facts", "Open the facts")}


class FoundPlace(NamedTuple):
    """A place that breaks a check."""

    ref: str
    title: str
    link: str
    mend: Mend | None
    action: str = "Open it"  # what the link is for


class GateFinding(NamedTuple):
    """A check that failed or is waived."""

    code: str
    words: CheckWords
    is_blocking: bool
    is_waived: bool
    message: str
    places: Sequence[FoundPlace]
    more: int  # places that are not shown
    refs: Sequence[str]  # that a waiver can name; empty if they are too many
    is_waivable: bool
    area: tuple[str, str] | None  # the address of the area that mends it, and its words


class ShownGate(NamedTuple):
    """A gate with its findings: what blocks first, then warnings, then what is waived."""

    result: GateResult
    words: CheckWords
    is_required: bool  # to publish
    findings: Sequence[GateFinding]
    passed: Sequence[Check]
    not_applicable: Sequence[Check]

    @property
    def blocking(self) -> int:
        """The number of checks that block."""
        return sum(one.is_blocking for one in self.findings)


class PlaceBuilder:
    """Builds the places of one version, with the forms that the actor may send."""

    def __init__(self, plan: PlanVisit, index: TheoryIndex) -> None:
        self._plan = plan
        self._index = index
        self._mends = MendBuilder(index, plan.visit.project.name)

    def build(self, code: str, refs: Iterable[str]) -> list[FoundPlace]:
        """Return the places that a check or a figure found."""
        return [
            FoundPlace(ref, self._index.describe(ref), self._index.link(ref), self._offer(self._mends.build(code, ref)))
            for ref in refs
        ]

    def _offer(self, mend: Mend | None) -> Mend | None:
        """Return the form if the page offers it: an edit needs the draft, anything else only the role."""
        if mend is None:
            return None
        return mend if (self._plan.can_edit if mend.operation == EDIT else self._plan.can_record) else None


def show_gate(plan: PlanVisit, index: TheoryIndex, result: GateResult, *, is_required: bool) -> ShownGate:
    """Return a gate with its findings."""
    places = PlaceBuilder(plan, index)
    findings = [
        _show_finding(plan, index, places, check) for check in result.checks if check.result in ("failed", "waived")
    ]
    findings.sort(key=lambda one: (one.is_waived, not one.is_blocking))
    return ShownGate(
        result,
        GATES[result.gate],
        is_required,
        findings,
        [check for check in result.checks if check.result == "passed"],
        [check for check in result.checks if check.result == "not_applicable"],
    )


def _show_finding(plan: PlanVisit, index: TheoryIndex, places: PlaceBuilder, check: Check) -> GateFinding:
    at_most = PLACES_OF_ONE_MAX if plan.visit.query.get("check") == check.code else PLACES_MAX
    is_failed = check.result == "failed"
    shown = places.build(check.code, _list_places(index, check)[:at_most])
    area = AREAS.get(check.code)
    return GateFinding(
        check.code,
        CHECKS[check.code],
        check.is_blocking,
        not is_failed,
        check.message,
        shown if is_failed else [place._replace(mend=None) for place in shown],
        max(len(check.refs) - at_most, 0),
        check.refs if len(check.refs) <= WAIVED_REFS_MAX else (),
        is_failed and is_waivable(check.code),
        (index.link_area(area[0]), area[1]) if area else None,
    )


def _list_places(index: TheoryIndex, check: Check) -> list[str]:
    """Return the refs of a check; where it misses something, the types of what is missing, or an empty ref."""
    if check.refs or check.result != "failed":
        return check.refs
    return list(_list_missing(index, check.code))


def _list_missing(index: TheoryIndex, code: str) -> Iterator[str]:
    if code == "GA_MIN_TYPES":
        yield from (one for one in (NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT) if not index.list_nodes(one))
    elif code in ("GA_GOAL_COUNT", "GB_INDICATORS"):
        yield ""
