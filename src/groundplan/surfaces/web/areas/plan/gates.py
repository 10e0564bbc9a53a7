"""The views Gates and Publish: the findings that block a version, with their places, and its publication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from groundplan.kernel.access import Permission, allows
from groundplan.policies import Policies
from groundplan.purpose.gates.gates import Check, GateResult, is_waivable, list_required_gates
from groundplan.purpose.model import NodeType, VersionStatus
from groundplan.surfaces.web.areas.plan.changes import compare_versions, group_changes
from groundplan.surfaces.web.areas.plan.fixes import FIX_OPERATIONS
from groundplan.surfaces.web.areas.plan.gate_words import CHECKS, GATES, PROFILES
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit
from groundplan.surfaces.web.areas.plan.theory import TheoryItems

PLACES_MAX = 8  # of one check; the address of the check shows more
PLACES_OF_ONE_MAX = 100
WAIVED_REFS_MAX = 100  # as many as a waiver takes
FIXED_IN_FACTS = ("GA_CONTEXT", "GB_FACTS")

# What a refusal of the form means for a person who reads the summary.
SENTENCES = {
    "stale_rev": "Not published: the draft was changed after you read this summary. This is the new one. Read it, "
    "then publish.",
    "gate_failed": "Not published: a gate does not pass any more. What blocks is listed below.",
    "nothing_changed": "Not published: the draft has the same content and the same facts as the last version.",
}
DISCARD_SENTENCES = {
    "stale_rev": "Not discarded: the draft was changed after you opened this page. Look at it again first.",
}


class Gate(NamedTuple):
    """The result of a gate, and whether a version must pass it to be published."""

    result: GateResult
    is_required: bool

    @property
    def findings(self) -> list[Check]:
        """The checks that failed or are waived: blocking ones first, then warnings, then waived ones."""
        findings = [check for check in self.result.checks if check.result in ("failed", "waived")]
        return sorted(findings, key=lambda check: (check.result == "waived", not check.is_blocking))

    @property
    def blocking(self) -> list[Check]:
        """The findings that prevent the publication of the version."""
        return [check for check in self.findings if self.is_required and check.is_blocking]


def read_gates(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Gates: both gates with findings, the profile, and the checklist."""
    asked = plan.visit.query.get("check")
    return {
        **_check_gates(plan),
        "places_max": lambda check: PLACES_OF_ONE_MAX if asked == check.code else PLACES_MAX,
        "places_of": lambda check: list_places(theory, check),
        "waived_refs_max": WAIVED_REFS_MAX,
        "in_facts": FIXED_IN_FACTS,
        "is_waivable": is_waivable,
        "profile_words": PROFILES,
        "compliance": None if plan.as_of else _read_compliance(plan),
        "may_waive": plan.can_record and plan.visit.may(Permission.PURPOSE_WAIVE),
    }


def _check_gates(plan: PlanVisit) -> dict[str, Any]:
    """Return the gates of the shown version, with the texts for their checks."""
    policies = plan.visit.call("work.open").policies or Policies()
    required = list_required_gates(policies)
    gates = [Gate(plan.call("purpose.check", gate=gate), gate in required) for gate in ("A", "B")]
    return {
        "gates": gates,
        "blocking": [check for gate in gates for check in gate.blocking],
        "gate_words": GATES,
        "check_words": CHECKS,
        "policies": policies,
    }


def list_places(theory: TheoryItems, check: Check) -> Sequence[str]:
    """Return the refs of a check; the missing node types; or an empty ref if the check names no place."""
    if check.refs or check.result != "failed":
        return check.refs
    if check.code == "GA_MIN_TYPES":
        return [type_ for type_ in (NodeType.GOAL, NodeType.OUTCOME, NodeType.OUTPUT) if not theory.list_nodes(type_)]
    return [""] if check.code in ("GA_GOAL_COUNT", "GB_INDICATORS") else []


def _read_compliance(plan: PlanVisit) -> Any:
    """Return the checklist for publishing the draft; without a draft, for creating one."""
    operation = {"kind": "publish" if plan.has_draft else "create_draft"}
    return plan.visit.call("purpose.compliance", gate="compliance", operation=operation)


def read_publish(plan: PlanVisit, theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Publish: a summary of the draft, or the choices for a published version."""
    visit, refusal = plan.visit, plan.visit.refusal
    draft = next((version for version in plan.versions if version.status is VersionStatus.DRAFT), None)
    shown = {
        "draft": draft,
        "sentences": SENTENCES,
        "discard_sentences": DISCARD_SENTENCES,
        "may_start": draft is None and plan.may_write,
        # A form was refused because the draft was published or discarded meanwhile.
        "refused_elsewhere": refusal is not None and refusal.form in ("publish", "discard") and draft is None,
    }
    if not plan.is_draft or plan.as_of:
        return shown
    base = next((version for version in reversed(plan.versions) if version.status is VersionStatus.PUBLISHED), None)
    changes = compare_versions(plan, base, theory).changes if base is not None else ()
    checked = _check_gates(plan)
    return {
        **shown,
        **checked,
        "base": base,
        "changes": group_changes(changes),
        "change_count": len(changes),
        "may_publish": _may_publish(plan, checked["policies"]),
        "may_discard": visit.may(Permission.PURPOSE_DISCARD),
        "is_passing": all(gate.result.passed for gate in checked["gates"] if gate.is_required),
    }


def _may_publish(plan: PlanVisit, policies: Policies) -> bool:
    """Return True if the actor's role may publish under the policies of the project."""
    project = plan.visit.project
    stored = msgspec.json.encode(policies).decode()
    return project.archived_at is None and allows(project.role, Permission.PURPOSE_PUBLISH, stored)


GATES_VIEW = PlanView("gates", "Gates", "2", "plan_gates.html", read_gates, FIX_OPERATIONS)
PUBLISH_VIEW = PlanView(
    "publish", "Publish", "3", "plan_publish.html", read_publish, frozenset({"purpose.publish", "purpose.discard"})
)
