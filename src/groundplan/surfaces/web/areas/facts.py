"""Facts: what the plan stands on, with provenance, sources and what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.context.schemas import RunStatus
from groundplan.surfaces.web.areas.area import Area, Visit


def read_facts(visit: Visit) -> Mapping[str, Any]:
    """Return the facts of the run that the address names, else of the one in force, else of the draft."""
    scope = {"scopeId": visit.project.name}
    runs = visit.session.call("context.list", **scope).runs
    draft = next((run for run in runs if run.status is RunStatus.DRAFT), None)
    committed = next((run for run in runs if run.status is not RunStatus.DRAFT), None)
    chosen = next((run for run in runs if run.id == visit.query.get("run")), None) or committed or draft
    view = None if chosen is None else visit.session.call("context.view", **scope, runId=chosen.id)
    return {"runs": runs, "run": chosen, "draft": draft, "view": view, "pointer": visit.query.get("fact")}


AREA = Area("facts", "Facts", "f", "facts.html", read_facts)
