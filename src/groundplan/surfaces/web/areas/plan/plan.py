"""Plan: the theory of change of a project, one version at a time, in several views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from groundplan.kernel.errors import NotFound
from groundplan.policies import Policies
from groundplan.purpose.model import Profile
from groundplan.purpose.versions.drafts import is_lighter
from groundplan.session import Session
from groundplan.surfaces.web.areas.plan import canvas, changes, gates, health, measures, present
from groundplan.surfaces.web.areas.plan.fixes import offer_fix
from groundplan.surfaces.web.areas.plan.gate_words import PROFILES
from groundplan.surfaces.web.areas.plan.item import read_item
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit, choose_version, open_version, read_today
from groundplan.surfaces.web.areas.plan.quick_entry import DraftItems, read_plan_lines
from groundplan.surfaces.web.forms import Reader
from groundplan.surfaces.web.visit import Area, Visit

VIEWS: Mapping[str, PlanView] = {
    view.name: view
    for view in (
        canvas.CANVAS_VIEW,
        canvas.LIST_VIEW,
        gates.GATES_VIEW,
        gates.PUBLISH_VIEW,
        measures.VIEW,
        health.VIEW,
        changes.VIEW,
        present.VIEW,
    )
}
FIRST_VIEW = canvas.CANVAS_VIEW
NAME_CHARS_MAX = 80  # of an item that the address names


def read_plan(visit: Visit) -> Mapping[str, Any]:
    """Return the data of the view in the address, and of the selected item."""
    view = VIEWS.get(visit.query.get("view", ""), FIRST_VIEW)
    plan = _open_version(visit)
    item = read_item(plan)
    wanted = visit.query.get("edge") or visit.query.get("key")
    if wanted and plan.items is not None and item is None and not plan.problem:
        plan = plan._replace(problem=f"There is no item “{wanted[:NAME_CHARS_MAX]}” in this version.")
    shown = {
        "plan": plan,
        "view": view,
        "views": VIEWS.values(),
        "theory": plan.theory,
        "item": item,
        "offer_profiles": lambda: offer_profiles(visit),
        "offer_fix": lambda code, ref: offer_fix(plan, code, ref),
    }
    return {**shown, **(view.read(plan, plan.items) if plan.items is not None else {})}


def offer_profiles(visit: Visit) -> list[tuple[str, str]]:
    """Return the profiles that a draft of the project may have, with their words."""
    least = Profile((visit.call("work.open").policies or Policies()).profile_min)
    return [
        (profile.value, f"{profile.value}: {PROFILES[profile].partition('.')[0].lower()}")
        for profile in Profile
        if not is_lighter(profile, least)
    ]


def _open_version(visit: Visit) -> PlanVisit:
    versions = visit.call("purpose.versions").versions
    today = read_today(visit)
    chosen = choose_version(visit.query, versions, today)
    theory = None
    if versions and not chosen.is_missing:
        wanted = {"version": chosen.ref, "as_of": chosen.as_of or None}
        given = {name: value for name, value in wanted.items() if value is not None}
        theory = open_version(visit, today, given)
    return PlanVisit(visit, versions, theory, today, chosen.as_of, chosen.problem)


def make_readers(session: Session, project: str) -> Mapping[str, Reader]:
    """Return the reader of a quick entry: `a > b` on a line, or rows of a spreadsheet, become edits of the draft."""

    def read_lines(text: str) -> Any:
        try:
            opened = session.call("purpose.open", project=project, version="draft", detail="full")
        except NotFound:
            return read_plan_lines(text) or UNSET  # the edit is refused, because there is no draft
        return read_plan_lines(text, DraftItems(opened.nodes or (), opened.edges or ())) or UNSET

    return {"plan": read_lines}


# The forms of plan_frame.html, which all views share, and those of each view.
OPERATIONS = frozenset({"purpose.draft", "purpose.edit", "work.plan"}).union(
    *(view.operations for view in VIEWS.values())
)
AREA = Area("plan", "Plan", "p", "plan.html", read_plan, OPERATIONS, make_readers=make_readers)
