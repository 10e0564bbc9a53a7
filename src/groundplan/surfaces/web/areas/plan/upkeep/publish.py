"""Publish: what changes, whether the gates pass, and the button; also discarding a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from groundplan.kernel.access import Permission, allows
from groundplan.purpose.model import VersionStatus
from groundplan.purpose.version import Version
from groundplan.surfaces.web.areas.plan.upkeep.changes import count_changes, describe_changes
from groundplan.surfaces.web.areas.plan.upkeep.gates import check_gates, read_policies
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit

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


def read_publish(plan: PlanVisit) -> Mapping[str, Any]:
    """Return the summary of the draft, or what can be done with a published version."""
    theory = plan.theory
    if theory is None or theory.version is None:
        return {}
    index = TheoryIndex(plan)
    draft = next((one for one in plan.versions if one.status is VersionStatus.DRAFT), None)
    shown = {
        "index": index,
        "draft": draft,
        "is_now": not plan.as_of,
        "sentences": SENTENCES,
        "discard_sentences": DISCARD_SENTENCES,
        "may_start": draft is None and not plan.as_of and plan.visit.may(Permission.PURPOSE_WRITE),
        "refused_elsewhere": _has_lost_form(plan, draft),
    }
    if not plan.is_draft or plan.as_of:
        return shown
    base = next((one for one in reversed(plan.versions) if one.status is VersionStatus.PUBLISHED), None)
    gates = check_gates(plan, index)
    changes = []
    if base is not None:
        found = plan.visit.call("purpose.diff", **{"from": base.number, "to": theory.version.number})
        changes = describe_changes(index, found)
    return {
        **shown,
        "base": base,
        "changes": changes,
        "change_count": count_changes(changes),
        "gates": gates,
        "blocking": [one for gate in gates if gate.is_required for one in gate.findings if one.is_blocking],
        "is_passing": all(gate.result.passed for gate in gates if gate.is_required),
        "may_publish": _may_publish(plan),
        "may_discard": plan.visit.may(Permission.PURPOSE_DISCARD),
        "publish_role": read_policies(plan).publish_role,
    }


def _may_publish(plan: PlanVisit) -> bool:
    """Return whether the actor may publish: owners, and editors if the policy of the project says so."""
    project = plan.visit.project
    policies = msgspec.json.encode(read_policies(plan)).decode()
    return project.archived_at is None and allows(project.role, Permission.PURPOSE_PUBLISH, policies)


def _has_lost_form(plan: PlanVisit, draft: Version | None) -> bool:
    """Return whether a form of the draft was refused because the draft is gone: published or discarded meanwhile."""
    refusal = plan.visit.refusal
    return refusal is not None and refusal.form in ("publish", "discard") and draft is None


OPERATIONS = frozenset({"purpose.publish", "purpose.discard"})
VIEW = PlanView("publish", "Publish", "3", "plan_publish.html", read_publish, OPERATIONS)
