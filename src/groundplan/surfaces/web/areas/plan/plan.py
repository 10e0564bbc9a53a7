"""Plan: the theory of change of a project, one version at a time, in several views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.area import Area, Visit
from groundplan.surfaces.web.areas.plan import canvas, theory_list
from groundplan.surfaces.web.areas.plan.item import read_item
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit

VIEWS: Mapping[str, PlanView] = {view.name: view for view in (canvas.VIEW, theory_list.VIEW)}
FIRST_VIEW = canvas.VIEW


def read_plan(visit: Visit) -> Mapping[str, Any]:
    """Return what the view in the address shows, and the item that is selected."""
    view = VIEWS.get(visit.query.get("view", ""), FIRST_VIEW)
    versions = visit.call("purpose.versions").versions
    wanted = {"version": visit.query["version"]} if visit.query.get("version") else {}
    plan = PlanVisit(visit, versions, visit.call("purpose.open", detail="full", **wanted) if versions else None)
    shown = {"plan": plan, "view": view, "views": VIEWS.values(), "theory": plan.theory, "item": read_item(plan)}
    return {**shown, **view.read(plan)}


AREA = Area("plan", "Plan", "p", "plan.html", read_plan)
