"""Terminal output of gates, health, analysis and compliance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UnsetType
from rich.text import Text

from groundplan.purpose.analysis.analyse import Analysis, GoalAnalysis, Touched
from groundplan.purpose.analysis.health_metrics import Health
from groundplan.purpose.compliance.section import Compliance
from groundplan.purpose.gates.result import Check, GateResult
from groundplan.purpose.model import EdgeName
from groundplan.surfaces.cli.purpose.formatting import (
    ARROW,
    STYLES,
    draw_styled_table,
    humanize,
    join_names,
    pluralize,
    print_lines,
    to_text,
)
from groundplan.surfaces.cli.terminal import EMPTY_CELL, INDENT, draw_pairs, echo, echo_list

REFUTED_TITLE = "{} is refuted. Affected:"
_RESULT_ORDER = ("failed", "waived", "passed", "not_applicable")


def draw_check(answer: GateResult | Health | Analysis | Compliance) -> None:
    """Print the answer of any check: some requests get the answer of another operation."""
    match answer:
        case GateResult():
            draw_gate(answer)
        case Health():
            draw_health(answer)
        case Analysis():
            draw_analysis(answer)
        case Compliance():
            echo(*answer.markdown.splitlines())


def draw_gate(answer: GateResult) -> None:
    """Print every check of a gate, failed ones first, and how to fix them."""
    draw_pairs((("gate", answer.gate), ("profile", answer.profile), ("result", verdict(answer))))
    echo("")
    checks = sorted(answer.checks, key=lambda one: (_RESULT_ORDER.index(one.result), one.severity == "warn", one.code))
    rows = [
        (Text(humanize(one.result), STYLES[one.result]), to_text(one.code), to_text(one.severity), to_text(one.message))
        for one in checks
    ]
    draw_styled_table(("result", "check", "severity", "message"), rows, whole=("result", "check", "severity"))
    echo_list("Affected:", (f"{one.code}: {join_names(one.refs)}" for one in checks if one.refs))
    echo_list("Next steps:", (f"{one.code}: {one.fix}" for one in checks if one.fix))


def verdict(result: GateResult) -> str:
    """Return the result and score of a gate."""
    score = EMPTY_CELL if result.score is None else f"{result.score:g}"
    return f"{'passed' if result.passed else 'not passed'}, {result.message or f'score {score}'}"


def finding(check: Check) -> str:
    """Return a check that did not pass on one line."""
    level = "waived" if check.result == "waived" else check.severity
    refs = f" ({join_names(check.refs)})" if check.refs else ""
    return f"{check.code}, {level}: {check.message}{refs}"


def draw_health(answer: Health) -> None:
    """Print the health metrics with their bands, and the strongest path to each goal."""
    print_lines([Text("overall  ").append_text(_band(answer.overall))])
    echo("")
    metrics, bands = (msgspec.to_builtins(part) for part in (answer.metrics, answer.bands))
    rows = [
        (to_text(humanize(name)), to_text(_measure(name, value)), _band(bands[name])) for name, value in metrics.items()
    ]
    draw_styled_table(("metric", "value", "band"), rows)
    for goal in answer.goals:
        edge = goal.weakest_edge
        cut = f"without {_format_edge(edge)} {pluralize(edge.cuts, 'activity')} lose their path to it" if edge else ""
        echo_list(
            f"{goal.key}:", (_format_strongest_path(goal.strongest_path, goal.confidence), *([cut] if cut else []))
        )
    _echo_unsearched_goals(answer.weakest_edge_left_out)


def _band(band: str | None) -> Text:
    return Text(EMPTY_CELL) if band is None else Text(band, STYLES[band])


def _measure(name: str, value: float | None) -> str:
    if value is None:
        return EMPTY_CELL
    if name.endswith("_days"):
        return pluralize(int(value), "day")
    return f"{value:g} %" if isinstance(value, float) else str(value)


def _format_strongest_path(path: Sequence[str], confidence: str | None) -> str:
    if not path:
        return "no path leads to it"
    return f"strongest path: {ARROW.join(path)} ({confidence or 'no confidence given'})"


def _format_edge(edge: Any) -> str:
    return str(EdgeName(edge.source, edge.target, edge.edge_type))


def _echo_unsearched_goals(goals: Sequence[str] | UnsetType) -> None:
    if goals:
        echo("", f"The edge that cuts off most was not searched for {join_names(goals)}: the theory is too large.")


def draw_analysis(answer: Analysis) -> None:
    """Print the analysis: goals, nodes without a path to a goal, refuted assumptions, then what was asked for."""
    echo(*([] if answer.goals else ["There are no goals."]))
    for index, goal in enumerate(answer.goals):
        echo(*([""] if index else []), f"{goal.key}:", *(f"{INDENT}{line}" for line in _goal(goal)))
    _echo_unsearched_goals(answer.cut_edge_left_out)
    echo_list("Not connected to a goal:", [join_names(answer.orphans)] if answer.orphans else [])
    echo_list("Dead ends:", [join_names(answer.dead_ends)] if answer.dead_ends else [])
    for one in answer.refuted:
        _echo_touched(REFUTED_TITLE.format(one.assumption), one)
    if answer.left_out and "refuted" in answer.left_out:
        echo("", f"{answer.left_out['refuted']} more are refuted. To see them, raise --limit.")
    if isinstance(answer.pathways, list):
        echo_list("Paths:", map(ARROW.join, answer.pathways) if answer.pathways else ["none to a goal"])
        if answer.pathways_cut:
            echo(f"{INDENT}and more. To see them, raise --limit.")
    if answer.touched:
        _echo_touched(f"Affected if {answer.touched.assumption} does not hold:", answer.touched)


def _goal(goal: GoalAnalysis) -> Iterator[str]:
    yield _format_strongest_path(goal.strongest_path, goal.confidence)
    if goal.weakest_link:
        yield f"weakest edge of it: {_format_edge(goal.weakest_link)} ({goal.weakest_link.confidence or 'not given'})"
    if goal.cut_edge:
        yield f"without {_format_edge(goal.cut_edge)}, no path from: {join_names(goal.cut_edge.cuts)}"


def _echo_touched(title: str, one: Touched) -> None:
    parts = (("goals", one.goals), ("nodes", one.nodes), ("edges", one.edges), ("activities before it", one.activities))
    echo_list(title, (f"{name}: {join_names(keys)}" for name, keys in parts if keys))
