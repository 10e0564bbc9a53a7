"""The list: the same as the picture, as a table for phones, screen readers and browsers without script."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit


def read_list(_plan: PlanVisit) -> Mapping[str, Any]:
    """Return what the view shows."""
    return {}


VIEW = PlanView("list", "List", "l", "plan_list.html", read_list)
