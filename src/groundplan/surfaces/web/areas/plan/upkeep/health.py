"""Health: how well the theory is kept, what each figure means, and what to do about those that are not good."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import structs

from groundplan.purpose.model import AssumptionStatus, RiskLevel
from groundplan.surfaces.web.areas.plan.upkeep.findings import FoundPlace, PlaceBuilder
from groundplan.surfaces.web.areas.plan.upkeep.theory_index import TheoryIndex
from groundplan.surfaces.web.areas.plan.view import PlanView, PlanVisit

PLACES_MAX = 5
EFFECTS = ("OUTCOME", "GOAL")


class FigureWords(NamedTuple):
    """What a figure is called, its unit, what it means, and what to do when it is not good."""

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
_WORST_FIRST = ("red", "amber", "green", "")
BANDS = {"green": "good", "amber": "needs care", "red": "needs action"}


class Figure(NamedTuple):
    """A figure with its band, and where to begin if it is not good."""

    name: str
    words: FigureWords
    value: str
    band: str  # empty: not known
    places: Sequence[FoundPlace]
    more: int
    next: tuple[str, str] | None  # address and words, where another page mends it


class WeakLink(NamedTuple):
    """A link on which a goal depends: the weakest of its strongest path, or the only way of some activities."""

    goal: str
    title: str
    link: str
    reason: str


def read_health(plan: PlanVisit) -> Mapping[str, Any]:
    """Return the figures, and the weak spots of the structure."""
    theory = plan.theory
    if theory is None or theory.version is None:
        return {}
    index = TheoryIndex(plan)
    places = PlaceBuilder(plan, index)
    asked = {"version": theory.version.number, **({"as_of": plan.as_of} if plan.as_of else {})}
    health = plan.visit.call("purpose.health", gate="health", **asked)
    analysis = plan.visit.call("purpose.analysis", gate="analysis", **asked)
    metrics, bands = structs.asdict(health.metrics), structs.asdict(health.bands)
    today = plan.as_of or plan.today
    figures = [_show_figure(index, places, name, metrics[name], bands[name] or "", today) for name in FIGURES]
    figures.sort(key=lambda one: _WORST_FIRST.index(one.band))
    stray = [key for key in analysis.orphans if key not in analysis.dead_ends]
    return {
        "health": health,
        "figures": figures,
        "counts": Counter(one.band for one in figures),
        "bands": BANDS,
        "dead_ends": places.build("GA_ORPHANS", analysis.dead_ends[:PLACES_MAX]),
        "dead_end_total": len(analysis.dead_ends),
        "stray": places.build("GA_ORPHANS", stray[:PLACES_MAX]),
        "stray_total": len(stray),
        "weak_links": [_show_weakest(index, goal) for goal in analysis.goals if goal.weakest_link],
        "single_points": [_show_cut(index, goal) for goal in analysis.goals if goal.cut_edge],
        "refuted": [
            (index.describe(one.assumption), index.link(one.assumption), len(one.nodes)) for one in analysis.refuted
        ],
        "index": index,
    }


def _show_figure(
    index: TheoryIndex, places: PlaceBuilder, name: str, metric: float | None, band: str, today: str
) -> Figure:
    is_bad = band in ("amber", "red")
    refs = _FINDERS[name](index, today) if is_bad and name in _FINDERS else []
    shown = places.build(name, refs[:PLACES_MAX])
    if name in REVIEWED:
        shown = [_lead_to_review(index, one) for one in shown]
    words = FIGURES[name]
    return Figure(
        name,
        words,
        "not known" if metric is None else f"{metric:g}{words.unit}",
        band,
        shown,
        max(len(refs) - PLACES_MAX, 0),
        _find_next(index, name) if is_bad and not refs else None,
    )


def _lead_to_review(index: TheoryIndex, place: FoundPlace) -> FoundPlace:
    link = f"{index.link_view('measures', review=place.ref)}#assumption-{place.ref}"
    return place._replace(link=link, action="Review it")


def _show_weakest(index: TheoryIndex, goal: Any) -> WeakLink:
    link = goal.weakest_link
    confidence = f"confidence {link.confidence}" if link.confidence else "confidence not said"
    return _show_link(index, goal.key, link.source, link.target, confidence)


def _show_cut(index: TheoryIndex, goal: Any) -> WeakLink:
    cut = goal.cut_edge
    count = len(cut.cuts)
    what = "1 activity reaches" if count == 1 else f"{count} activities reach"
    return _show_link(index, goal.key, cut.source, cut.target, f"{what} the goal only through this link")


def _show_link(index: TheoryIndex, goal: str, source: str, target: str, reason: str) -> WeakLink:
    name = next((ref for ref, edge in index.edges.items() if (edge.source, edge.target) == (source, target)), "")
    return WeakLink(index.describe(goal), index.describe(name), index.link(name), reason)


def _find_incomplete(index: TheoryIndex, _today: str) -> list[str]:
    measured = {one.node for one in index.indicators.values()}
    return [
        key
        for key, node in index.nodes.items()
        if not all((text or "").strip() for text in (node.title, node.description, node.owner))
        or (node.node_type in EFFECTS and key not in measured)
    ]


def _find_unmeasured(index: TheoryIndex, _today: str) -> list[str]:
    measured = {one.node for one in index.indicators.values()}
    return [node.key for node in index.list_nodes("OUTCOME") if node.key not in measured]


def _find_without_assumption(index: TheoryIndex, _today: str) -> list[str]:
    covered = {
        index.edges[placed.on].target if placed.on in index.edges else placed.on
        for placed in index.assumptions.values()
    }
    return [key for key in index.nodes if key not in covered]


def _find_unexplained(index: TheoryIndex, _today: str) -> list[str]:
    return [
        ref for ref, edge in index.edges.items() if edge.edge_type != "FEEDBACK" and not (edge.mechanism or "").strip()
    ]


def _find_open_risks(index: TheoryIndex, _today: str) -> list[str]:
    return [
        key
        for key, placed in index.assumptions.items()
        if placed.one.risk_level is RiskLevel.HIGH and placed.one.status is not AssumptionStatus.HOLDING
    ]


def _find_stale(index: TheoryIndex, today: str) -> list[str]:
    return [key for key, placed in index.assumptions.items() if placed.one.review_by and placed.one.review_by < today]


_FINDERS: Mapping[str, Callable[[TheoryIndex, str], list[str]]] = {
    "toc_completeness": _find_incomplete,
    "indicator_coverage": _find_unmeasured,
    "assumptions_documented": _find_without_assumption,
    "mechanism_coverage": _find_unexplained,
    "open_high_risk": _find_open_risks,
    "stale_assumptions": _find_stale,
}


def _find_next(index: TheoryIndex, name: str) -> tuple[str, str] | None:
    """Return the address of the page that mends a figure, and its words."""
    return {
        "data_freshness_days": (index.link_view("measures"), "Record a measurement"),
        "required_facts_unset": (index.link_area("facts"), "Open the facts"),
        "work_alignment": (index.link_area("work"), "Open the tasks"),
    }.get(name)


VIEW = PlanView("health", "Health", "5", "plan_health.html", read_health)
