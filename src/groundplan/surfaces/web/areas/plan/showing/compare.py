"""Compare: two versions in one picture, and the list of what changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.purpose.version import Version
from groundplan.surfaces.web.areas.inline_picture import inline_picture
from groundplan.surfaces.web.areas.plan.showing.changes import list_changes
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit

CHANGES_SHOWN = 300


def read_comparison(plan: PlanVisit) -> Mapping[str, Any]:
    """Return the changes of the version that is shown since the one that the address names as `base`."""
    theory = plan.theory
    shown: dict[str, Any] = {"base": None, "changes": [], "bases": []}
    if theory is None or theory.version is None:
        return shown
    others = [one for one in plan.versions if one.number != theory.version.number]
    base = _choose_base(plan, theory.version, others)
    if base is None:
        return shown
    visit = plan.visit
    ends = {"from": base.number, "to": theory.version.number}
    comparison = visit.call("purpose.diff", **ends)
    before = visit.call("purpose.open", detail="full", version=base.number)
    changes = list_changes(visit, comparison, before, theory)
    chosen = next((one for one in changes if one.key == visit.query.get("change")), None)
    drawn = visit.call("purpose.render", version=theory.version.number, compare=base.number, theme="auto")
    label = f"Changes from version {base.number} to version {theory.version.number}; the list has the same"
    return {
        "base": base,
        "bases": others,
        "changes": changes[:CHANGES_SHOWN],
        "changes_total": len(changes),
        "counts": {sign: sum(one.sign == sign for one in changes) for sign in ("added", "changed", "removed")},
        "chosen": chosen,
        "picture": inline_picture(drawn.svg, label, "" if chosen is None else chosen.shown_at),
    }


def _choose_base(plan: PlanVisit, shown: Version, others: list[Version]) -> Version | None:
    """Return the version in the address, else the one that the shown version began from, else the one before it."""
    wanted = plan.visit.query.get("base", "")
    named = next((one for one in others if wanted in (str(one.number), one.status.lower())), None)
    source = next((one for one in others if one.number == shown.source), None)
    earlier = [one for one in others if one.number < shown.number]
    return named or source or max(earlier or others, key=lambda one: one.number, default=None)


VIEW = PlanView("compare", "Compare", "v", "plan_compare.html", read_comparison)
