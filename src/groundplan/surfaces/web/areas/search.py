"""Search: find words in tasks, plan, facts and notes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from groundplan.kernel.errors import Invalid
from groundplan.surfaces.web.visit import Area, Visit, find_place, get_base

HITS_MAX = 50
SLICES = {"work": "Tasks", "purpose": "Plan", "context": "Facts", "knowledge": "Notes"}


def read_search(visit: Visit) -> Mapping[str, Any]:
    """Return the hits by slice. The slice with the best hit comes first."""
    text = visit.query.get("text", "").strip()
    shown: dict[str, Any] = {"text": text, "problem": "", "groups": [], "total": 0}
    if not text:
        return shown
    try:
        result = visit.call("briefing.search", text=text, limit=HITS_MAX)
    except Invalid as error:
        return {**shown, "problem": error.message}
    base = get_base(visit.project.name)
    groups: dict[str, list[tuple[Any, str]]] = {}
    for hit in result.hits:
        groups.setdefault(hit.slice, []).append((hit, find_place(base, hit.slice, hit.ref, hit.kind)))
    more = set(result.more or ())
    return {
        **shown,
        "groups": [(SLICES[slice_], slice_, hits, slice_ in more) for slice_, hits in groups.items()],
        "total": len(result.hits),
    }


AREA = Area("search", "Search", "", "search.html", read_search)
