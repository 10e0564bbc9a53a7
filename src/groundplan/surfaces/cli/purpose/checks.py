"""Views of gates, health, analysis and compliance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from groundplan.purpose.analysis import Analysis, AssumptionImpact, GoalAnalysis
from groundplan.purpose.compliance.checklist import Compliance
from groundplan.purpose.gates.gates import Check, GateResult
from groundplan.purpose.health import Health
from groundplan.purpose.model import EdgeName
from groundplan.surfaces.cli.drawing import GAP, Fields, ForEach, Lines, Part, Rows, TypeSwitch, View, When
from groundplan.surfaces.cli.purpose.formatting import ARROW, STYLES, humanize, join_names, list_named_keys, pluralize
from groundplan.surfaces.cli.screen.styled_text import StyledText
from groundplan.surfaces.cli.terminal import EMPTY_CELL

REFUTED_TITLE = "{assumption} is refuted. Affected:"
_RESULT_ORDER = ("failed", "waived", "passed", "not_applicable")


def format_verdict(result: GateResult) -> str:
    """Return the result and score of a gate."""
    score = EMPTY_CELL if result.score is None else f"{result.score:g}"
    return f"{'passed' if result.passed else 'not passed'}, {result.message or f'score {score}'}"


def format_finding(check: Check) -> str:
    """Return a check that did not pass on one line."""
    level = "waived" if check.result == "waived" else check.severity
    refs = f" ({join_names(check.refs)})" if check.refs else ""
    return f"{check.code}, {level}: {check.message}{refs}"


def _sort_checks(answer: GateResult) -> list[Check]:
    """Return the checks of a gate, failed ones first."""
    return sorted(answer.checks, key=lambda one: (_RESULT_ORDER.index(one.result), one.severity == "warn", one.code))


def _list_metrics(answer: Health) -> Iterator[dict[str, Any]]:
    metrics, bands = (msgspec.to_builtins(part) for part in (answer.metrics, answer.bands))
    for name, value in metrics.items():
        yield {"metric": humanize(name), "value": _format_measure(name, value), "band": _style_band(bands[name])}


def _style_band(band: str | None) -> StyledText:
    return StyledText(EMPTY_CELL) if band is None else StyledText(band, STYLES[band])


def _format_measure(name: str, value: float | None) -> str | None:
    if value is not None and name.endswith("_days"):
        return pluralize(int(value), "day")
    return f"{value:g} %" if isinstance(value, float) else value


def _format_checklist(checklist: Compliance) -> Iterator[str]:
    if checklist.markdown is not UNSET:
        yield from checklist.markdown.splitlines()
        return
    yield str(checklist.status)
    for title, lines in (
        ("Failed:", [f"{item.section}. {item.text}" for item in checklist.failed or ()]),
        ("Reasons:", checklist.reasons if checklist.failed else []),
        ("Required actions:", checklist.required_actions),
    ):
        if lines:
            yield from ("", title, *(f"  {line}" for line in lines))


def _format_goal_health(goal: Any) -> Iterator[str]:
    yield _format_strongest_path(goal.strongest_path, goal.confidence)
    if edge := goal.weakest_edge:
        yield f"without {_format_edge(edge)} {pluralize(edge.cuts, 'activity')} lose their path to it"


def _format_goal(goal: GoalAnalysis) -> Iterator[str]:
    yield _format_strongest_path(goal.strongest_path, goal.confidence)
    if goal.weakest_link:
        yield f"weakest edge of it: {_format_edge(goal.weakest_link)} ({goal.weakest_link.confidence or 'not given'})"
    if goal.cut_edge:
        yield f"without {_format_edge(goal.cut_edge)}, no path from: {join_names(goal.cut_edge.cuts)}"


def _format_strongest_path(path: Sequence[str], confidence: str | None) -> str:
    if not path:
        return "no path leads to it"
    return f"strongest path: {ARROW.join(path)} ({confidence or 'no confidence given'})"


def _format_edge(edge: Any) -> str:
    return str(EdgeName(edge.source, edge.target, edge.edge_type))


def _format_touched(one: AssumptionImpact) -> Iterator[str]:
    return list_named_keys(one, "goals, nodes, edges, activities before it: activities")


def _format_paths(answer: Analysis) -> list[str]:
    if not isinstance(answer.pathways, list):
        return []
    more = ["and more. To see them, raise --limit."] if answer.pathways_cut else []
    return [*map(ARROW.join, answer.pathways), *more] or ["none to a goal"]


def _format_marked_work(mark: Any) -> list[str]:
    more = mark.work_total - len(mark.work)
    return [*(ARROW.join(one.path) for one in mark.work), *([f"and {more} more"] if more else [])] or ["none"]


def _format_unsearched_goals(answer: Health | Analysis) -> Iterator[Part]:
    goals = answer.weakest_edge_left_out if isinstance(answer, Health) else answer.cut_edge_left_out
    if goals:
        yield GAP
        yield f"The edge that cuts off most was not searched for {join_names(goals)}: the theory is too large."


GATE = (
    Fields("gate, profile", ("result", format_verdict)),
    GAP,
    Rows(
        _sort_checks,
        ("result", lambda one: StyledText(humanize(one.result), STYLES[one.result])),
        "check: code, severity, message",
        whole=("result", "check", "severity"),
    ),
    Lines(_sort_checks, lambda one: [f"{one.code}: {join_names(one.refs)}"] if one.refs else [], title="Affected:"),
    Lines(_sort_checks, lambda one: [f"{one.code}: {one.fix}"] if one.fix else [], title="Next steps:"),
)
HEALTH = (
    lambda answer: StyledText("overall  ").append_text(_style_band(answer.overall)),
    GAP,
    Rows(_list_metrics, "metric, value, band"),
    ForEach("goals", Lines(_format_goal_health, title="{key}:")),
    _format_unsearched_goals,
)
ANALYSIS = (
    When("goals", otherwise=("There are no goals.",)),
    ForEach("goals", Lines(_format_goal, title="{key}:")),
    _format_unsearched_goals,
    Lines(lambda answer: join_names(answer.orphans), title="Not connected to a goal:"),
    Lines(lambda answer: join_names(answer.dead_ends), title="Dead ends:"),
    ForEach("refuted", Lines(_format_touched, title=REFUTED_TITLE)),
    When("left_out.refuted", GAP, "{left_out.refuted} more are refuted. To see them, raise --limit."),
    ForEach("marks", Lines(_format_marked_work, title="{ref} is marked as {status}. Open work: {work_total}")),
    When("left_out.marks", GAP, "{left_out.marks} more are marked. The inbox lists all."),
    Lines(_format_paths, title="Paths:"),
    ForEach("touched", Lines(_format_touched, title="Affected if {assumption} does not hold:")),
)
# Some requests get the answer of another of these operations.
CHECK = View(
    TypeSwitch({GateResult: GATE, Health: HEALTH, Analysis: ANALYSIS, Compliance: (_format_checklist,)}), footer=()
)
