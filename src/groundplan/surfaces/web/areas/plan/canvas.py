"""The canvas: the theory of change as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit


def read_canvas(_plan: PlanVisit) -> Mapping[str, Any]:
    """Return what the view shows."""
    return {}


VIEW = PlanView("canvas", "Picture", "1", "plan_canvas.html", read_canvas)
