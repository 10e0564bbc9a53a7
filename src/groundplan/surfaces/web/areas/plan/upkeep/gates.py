"""The gates: what keeps a version from being published, where it is, and the edit that mends it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from groundplan.kernel.access import Permission
from groundplan.policies import Policies
from groundplan.purpose.gates.profiles import list_required_gates
from groundplan.purpose.model import VersionStatus
from groundplan.purpose.open import WaiverView
from groundplan.surfaces.web.areas.plan.upkeep.check_words import CHECKS, PROFILES
from groundplan.surfaces.web.areas.plan.upkeep.findings import ShownGate, show_gate
from groundplan.surfaces.web.areas.plan.upkeep.mends import MENDING
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit


class ShownWaiver(NamedTuple):
    """A waiver with the words of its check, and the places that it names."""

    one: WaiverView
    title: str
    places: Sequence[tuple[str, str]]  # title and address


def read_gates(plan: PlanVisit) -> Mapping[str, Any]:
    """Return both gates with their findings, the waivers, and the checklist."""
    theory = plan.theory
    if theory is None or theory.version is None:
        return {}
    index = TheoryIndex(plan)
    gates = check_gates(plan, index)
    return {
        "gates": gates,
        "blocking": sum(gate.blocking for gate in gates if gate.is_required),
        "waivers": [_show_waiver(index, one) for one in theory.waivers or ()],
        "profile": theory.version.profile,
        "profile_words": PROFILES[theory.version.profile],
        "compliance": None if plan.as_of else _read_compliance(plan),
        "may_waive": plan.can_record and plan.visit.may(Permission.PURPOSE_WAIVE),
        "index": index,
    }


def check_gates(plan: PlanVisit, index: TheoryIndex) -> list[ShownGate]:
    """Return the gates of the version that is shown."""
    required = list_required_gates(read_policies(plan))
    number = plan.theory.version.number if plan.theory and plan.theory.version else None
    asked = {"version": number, **({"as_of": plan.as_of} if plan.as_of else {})}
    return [
        show_gate(plan, index, plan.visit.call("purpose.check", gate=gate, **asked), is_required=gate in required)
        for gate in ("A", "B")
    ]


def read_policies(plan: PlanVisit) -> Policies:
    """Return the policies of the project."""
    return plan.visit.call("work.open").policies or Policies()


def _show_waiver(index: TheoryIndex, one: WaiverView) -> ShownWaiver:
    title = CHECKS[one.code].title if one.code in CHECKS else one.code
    return ShownWaiver(one, title, [(index.describe(ref), index.link(ref)) for ref in one.refs])


def _read_compliance(plan: PlanVisit) -> Any:
    """Return the checklist for what comes next: publishing the draft, or beginning one."""
    has_draft = any(one.status is VersionStatus.DRAFT for one in plan.versions)
    operation = {"kind": "publish" if has_draft else "create_draft"}
    return plan.visit.call("purpose.compliance", gate="compliance", operation=operation)


VIEW = PlanView("gates", "Gates", "2", "plan_gates.html", read_gates, MENDING)
