"""The view Health: figures about the theory with their meanings and remedies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from msgspec import structs

from groundplan.purpose.model import EdgeName
from groundplan.surfaces.web.areas.plan.plan_visit import PlanView, PlanVisit
from groundplan.surfaces.web.areas.plan.theory import TheoryItems

PLACES_MAX = 5


class FigureWords(NamedTuple):
    """The texts for a figure: title, unit and meaning, and advice for a bad value."""

    title: str
    unit: str
    meaning: str
    advice: str


FIGURES = {
    "toc_completeness": FigureWords(
        "Complete items",
        "%",
        "Items with a title, a description and an owner; outcomes and goals also with an indicator.",
        "Complete these items.",
    ),
    "indicator_coverage": FigureWords(
        "Measured outcomes", "%", "Outcomes with an indicator.", "Add an indicator to these outcomes."
    ),
    "data_freshness_days": FigureWords(
        "Days since the last measurement", "", "How old the newest number is.", "Record what was measured since."
    ),
    "assumptions_documented": FigureWords(
        "Items with assumptions",
        "%",
        "Items with at least one written assumption.",
        "Say what must hold for these items.",
    ),
    "mechanism_coverage": FigureWords(
        "Explained links", "%", "Links that say how the one brings about the other.", "Explain these links."
    ),
    "open_high_risk": FigureWords(
        "High risks that do not hold yet",
        "",
        "Assumptions of high risk whose latest review does not say that they hold.",
        "Review these assumptions.",
    ),
    "stale_assumptions": FigureWords(
        "Overdue reviews",
        "",
        "Assumptions whose review day has passed.",
        "Review them, then give each a new day in the draft.",
    ),
    "required_facts_unset": FigureWords(
        "Required facts without a value", "", "Facts that the plan needs and that have no value.", "Set the facts."
    ),
    "work_alignment": FigureWords(
        "Work that serves a goal",
        "%",
        "Open tasks that trace to a goal of the published version.",
        "Link tasks to what they serve, or drop them.",
    ),
}
REVIEWED = ("open_high_risk", "stale_assumptions")  # a review is what they need
WORST_FIRST = ("red", "amber", "green", None)
BANDS = {"green": "good", "amber": "needs care", "red": "needs action"}
# Where a figure is mended that has no places: a view of the plan or another area, and its words.
ELSEWHERE = {
    "data_freshness_days": ("", "Record a measurement"),
    "required_facts_unset": ("facts", "Open the facts"),
    "work_alignment": ("work", "Open the tasks"),
}


def read_health(plan: PlanVisit, _theory: TheoryItems) -> Mapping[str, Any]:
    """Return the values of the view Health: the figures, and the weak points of the structure."""
    health, analysis = plan.call("purpose.health", gate="health"), plan.call("purpose.analysis", gate="analysis")
    bands = structs.asdict(health.bands)
    return {
        "health": health,
        "analysis": analysis,
        "figures": sorted(FIGURES, key=lambda name: WORST_FIRST.index(bands[name])),
        "figure_words": FIGURES,
        "counts": Counter(bands.values()),
        "bands": BANDS,
        "reviewed": REVIEWED,
        "elsewhere": ELSEWHERE,
        "places_max": PLACES_MAX,
        "places_of": lambda name: getattr(health.places, name, []),
        "stray": [key for key in analysis.orphans if key not in analysis.dead_ends],
        "name_link": lambda link: str(EdgeName(link.source, link.target, link.edge_type)),
    }


VIEW = PlanView("health", "Health", "5", "plan_health.html", read_health)
