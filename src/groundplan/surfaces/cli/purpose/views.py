"""Views of the purpose operations: versions and their content, gates, health, analysis, compliance, observations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import UNSET

from groundplan.purpose.exchange.theory import name_relation
from groundplan.purpose.health import Health
from groundplan.purpose.model import EdgeName, EdgeType, NodeType, edge_order
from groundplan.purpose.open import (
    AssumptionView,
    IndicatorView,
    OpenedPurpose,
    PurposeEdgeView,
    PurposeItems,
    PurposeNodeView,
    name_edge,
    orient_edge_view,
)
from groundplan.surfaces.cli.drawing import (
    FOOTER,
    GAP,
    Fields,
    ForEach,
    Lines,
    Part,
    Rows,
    TypeSwitch,
    View,
    When,
    list_columns,
    read,
)
from groundplan.surfaces.cli.screen.text import StyledText, escape_control_chars
from groundplan.surfaces.cli.terminal import (
    EMPTY_CELL,
    INDENT,
    format_time,
    format_title,
    format_value,
    humanize,
    join_first,
    pluralize,
    to_one_line,
)

if TYPE_CHECKING:
    from groundplan.purpose.analysis import Analysis, AssumptionImpact, GoalAnalysis
    from groundplan.purpose.compliance.checklist import Compliance
    from groundplan.purpose.gates.gates import Check, GateResult
    from groundplan.purpose.versions.publish import Published
    from groundplan.purpose.versions.versions import Version

ARROW = " -> "
REFS_SHOWN_MAX = 12
# The colours of bands, results and statuses.
STYLES = {
    "green": "green",
    "amber": "yellow",
    "red": "red",
    "passed": "green",
    "waived": "yellow",
    "failed": "red",
    "not_applicable": "dim",
    "holding": "green",
    "at_risk": "yellow",
    "refuted": "red",
    "untested": "dim",
}


def format_refs(refs: Sequence[str]) -> str:
    """Return the first refs, or a text that says that the whole check is meant."""
    if not refs:
        return "the check as a whole"
    return join_names(refs)


def join_names(names: Sequence[str]) -> str:
    """Return the first names, and the number of the rest."""
    return join_first(names, REFS_SHOWN_MAX)


def list_named_keys(item: Any, lists: str) -> Iterator[str]:
    """Yield a line for each list of keys that is not empty, with the name of its field or another before a colon."""
    for heading, field in list_columns(lists):
        if keys := read(item, field):
            yield f"{heading}: {join_names(keys)}"


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
    TypeSwitch({"GateResult": GATE, "Health": HEALTH, "Analysis": ANALYSIS, "Compliance": (_format_checklist,)}),
    footer=(),
)


class _Step(NamedTuple):
    """A line to print: a node, its depth, and the edge to the node above it."""

    key: str
    depth: int
    edge: PurposeEdgeView | None
    effect: str | None = None  # the node above it


def format_tree(answer: OpenedPurpose) -> Iterator[StyledText]:
    """Yield the lines of a version: its goals, then the nodes that lead to none."""
    nodes = {node.key: node for node in answer.nodes or ()}
    edges = [(orient_edge_view(edge, nodes), edge) for edge in answer.edges or ()]
    causes: dict[str, list[tuple[str, PurposeEdgeView]]] = {}
    effects: dict[str, list[str]] = {}
    for (cause, effect, edge_type), edge in sorted(edges, key=lambda oriented: edge_order(oriented[0])):
        if edge_type.is_causal:
            causes.setdefault(effect, []).append((cause, edge))
            effects.setdefault(cause, []).append(effect)
    drawn: set[str] = set()
    goals = [key for key, node in nodes.items() if node.node_type is NodeType.GOAL]
    for key in goals:
        yield from _format_branch(key, nodes, causes, effects, drawn)
    # Then the nodes without effects, and last the nodes in cycles.
    ends = [key for key in nodes if key not in effects]
    left = [key for key in (*ends, *nodes) if key not in drawn]
    if left:
        yield StyledText("")
        yield StyledText("Not connected to a goal:")
    for key in left:
        if key not in drawn:
            yield from _format_branch(key, nodes, causes, effects, drawn, depth=1)


def _format_branch(
    root: str,
    nodes: Mapping[str, PurposeNodeView],
    causes: Mapping[str, Sequence[tuple[str, PurposeEdgeView]]],
    effects: Mapping[str, Sequence[str]],
    drawn: set[str],
    *,
    depth: int = 0,
) -> Iterator[StyledText]:
    """Yield a node and what leads to it. No recursion: a theory may be deeper than Python's stack."""
    waiting = [_Step(root, depth, None)]
    while waiting:
        step = waiting.pop()
        node = nodes.get(step.key)
        is_new = step.key not in drawn
        line = StyledText(f"{INDENT * step.depth}{step.key}")
        line.append(
            f"  {escape_control_chars(to_one_line(node.title))}" if node else "  (on another page)",
            "" if is_new else "dim",
        )
        line.append(_format_edge_note(step.edge))
        if node is not None and is_new:
            line.append(f"  {escape_control_chars(to_one_line(node.owner))}" if node.owner else "", "dim")
            others = [key for key in dict.fromkeys(effects.get(step.key, ())) if key != step.effect]
            line.append(f"  also{ARROW}{', '.join(others)}" if others else "", "cyan")
        elif node is not None:
            line.append("  see above", "dim")
        yield line
        on_edge = (step.edge.assumptions or ()) if step.edge else ()
        on_node = (node.assumptions or ()) if node and is_new else ()
        for one in (*on_edge, *on_node):
            yield format_assumption_line(one, depth=step.depth)
        if is_new:
            drawn.add(step.key)
            below = reversed(causes.get(step.key, ()))
            waiting += [_Step(cause, step.depth + 1, edge, step.key) for cause, edge in below]


def _format_edge_note(edge: PurposeEdgeView | None) -> str:
    if edge is None:
        return ""
    relation = name_relation(edge.edge_type or EdgeType.CONTRIBUTES_TO)
    note = ", ".join(word for word in (relation, edge.confidence) if word)
    return f"  [{note}]" if note else ""


def format_assumption_line(one: AssumptionView, *, depth: int) -> StyledText:
    """Return the line of an assumption."""
    line = StyledText(f"{INDENT * depth}   ? {one.key}  ")
    line.append(one.status.replace("_", " "), STYLES[one.status])
    risk = f", {one.risk_level} risk" if one.risk_level else ""
    due = "".join((f"  {one.owner}" if one.owner else "", f"  by {one.review_by}" if one.review_by else ""))
    line.append(f"{risk}: {escape_control_chars(to_one_line(one.assumption_text))}")
    line.append(escape_control_chars(to_one_line(due) and f"  {to_one_line(due)}"), "dim")
    return line


COUNTED = ("goal", "outcome", "output", "activity", "edge", "assumption", "indicator")


# --- One version ------------------------------------------------------------------------------------------------------


def summarize_theory(answer: OpenedPurpose) -> list[str]:
    """Return a theory in three lines of at most 80 characters."""
    if not answer.versions:
        return ["none yet"]
    last = answer.versions[-1]
    published = last.number - (last.status == "DRAFT")
    states = (
        f"{pluralize(published, 'version')} published",
        *(["a draft in progress"] if last.status == "DRAFT" else []),
    )
    counts = _format_counts(answer)
    return [
        f"{' and '.join(states)}; health: {answer.health.overall or EMPTY_CELL}",
        f"{', '.join(counts[:4])},",
        ", ".join(counts[4:]),
    ]


def _format_counts(answer: OpenedPurpose) -> list[str]:
    """Return the number of nodes of each type, edges, assumptions and indicators."""
    return [pluralize(count, noun) for count, noun in zip(msgspec.structs.astuple(answer.counts), COUNTED, strict=True)]


def _format_version(version: Version) -> str:
    if version.status == "DRAFT":
        source = f", from v{version.source}" if version.source else ""
        return f"v{version.number}, draft{source} ({version.profile})"
    name = f"v{version.number}" if version.label == f"v{version.number}" else f"v{version.number} {version.label}"
    at = format_time(version.published_at) if version.published_at else EMPTY_CELL
    return f"{to_one_line(name)}, published {at} by {format_value(version.published_by)} ({version.profile})"


def _format_other_versions(answer: OpenedPurpose) -> str:
    number = answer.version.number if answer.version else None
    return "; ".join(_format_version(one) for one in answer.versions if one.number != number)


def _format_health(answer: OpenedPurpose) -> str:
    overall, bands = answer.health.overall, answer.health.bands
    if overall is None:
        return "no data"
    worse = [f"{humanize(name)} {band}" for name, band in bands.items() if band != "green"]
    return f"{overall}: {', '.join(worse)}" if worse else overall


def _is_empty_draft(answer: OpenedPurpose) -> bool:
    is_draft = answer.version is not None and answer.version.status == "DRAFT"
    return is_draft and not (answer.nodes or answer.next_cursor or any(msgspec.structs.astuple(answer.counts)))


def _format_feedback(answer: OpenedPurpose) -> Iterator[Part]:
    for edge in answer.edges or ():
        if edge.edge_type is EdgeType.FEEDBACK:
            yield format_title(f"{edge.source}{ARROW}{edge.target}", edge.mechanism or "")
            yield from _format_assumptions(edge)


def _format_assumptions(on: Any) -> Iterator[Part]:
    yield from (format_assumption_line(one, depth=0) for one in on.assumptions or ())


def _format_edges(answer: PurposeItems) -> Iterator[Part]:
    for edge in answer.edges:
        words = (edge.confidence and f"{edge.confidence} confidence", edge.mechanism)
        yield format_title(str(name_edge(edge)), ", ".join(filter(None, words)))
        yield from _format_assumptions(edge)


def _format_baseline(one: IndicatorView) -> str:
    return format_value(one.baseline) + (" (unverified)" if one.baseline_verified is False else "")


def _format_latest(one: IndicatorView) -> str | None:
    return f"{format_value(one.latest.value)} ({one.latest.as_of[:10]})" if one.latest else None


def _format_waiver(one: Any) -> str:
    return f"{one.code} for {format_refs(one.refs)}, {one.owner} until {one.due}: {to_one_line(one.reason)}"


def _format_left_out(answer: OpenedPurpose) -> str:
    left = answer.left_out or {}
    parts = ("nodes", "edges", "indicators")
    return f"Not shown: {', '.join(f'{left[part]} {part}' for part in parts if left.get(part))}."


# --- Versions and observations ----------------------------------------------------------------------------------------


def _list_gates(answer: Published) -> Iterator[tuple[str, str]]:
    for one in answer.gates:
        yield f"gate {one.gate}", format_verdict(one)


def _list_findings(answer: Published) -> list[str]:
    return [format_finding(one) for gate in answer.gates for one in gate.checks if one.result in ("failed", "waived")]


# --- Views ------------------------------------------------------------------------------------------------------------

INDICATORS = Rows(
    "indicators",
    "key, of: node, name",
    ("baseline", _format_baseline),
    ("latest", _format_latest),
    "target, unit",
    title="Indicators:",
)
THEORY = (
    Fields(
        "project",
        ("version", lambda answer: _format_version(answer.version)),
        ("other versions", _format_other_versions),
        "rev",
        ("health", _format_health),
        ("contents", _format_counts),
    ),
    GAP,
    format_tree,
    When(_is_empty_draft, GAP, "The draft is empty. Next: groundplan purpose edit @FILE --project {project}"),
    Lines(_format_feedback, title="Feedback:"),
    INDICATORS,
    # Last, where they are seen.
    Lines("waivers", _format_waiver, title="Waived:"),
    When("next_cursor", GAP, _format_left_out, "Next page: add --cursor {next_cursor}"),
)
ITEMS = (
    Fields("project", ("version", lambda answer: _format_version(answer.version)), "rev"),
    ForEach(
        "nodes",
        lambda node: [format_title(node.key, node.title)],
        Fields("type: node_type, owner, description, narrative, metadata", indent=INDENT),
        _format_assumptions,
    ),
    Lines(_format_edges, title="Edges:"),
    INDICATORS,
    Lines("waivers", _format_waiver, title="Waived:"),
)
OBSERVATIONS = (
    Rows("measurements", "indicator, value, as of: as_of, source, note, by", title="Measurements:"),
    Rows(
        "reviews",
        "assumption",
        ("status", lambda one: humanize(one.status)),
        "reason, evidence, at, by",
        title="Reviews:",
    ),
    Rows(
        "waivers",
        "check: code",
        ("for", lambda one: format_refs(one.refs)),
        "reason, owner, until: due, at, by",
        title="Waivers:",
    ),
    Rows(
        "decisions",
        "id, decision: text, why: rationale",
        ("about", lambda one: join_names(one.about)),
        "outcome, supersedes, superseded by: superseded_by, answers, at, by",
        title="Decisions:",
    ),
    Rows(
        "requests",
        "id, question",
        ("about", lambda one: join_names(one.about)),
        "to, answered by: answered_by, at, by",
        title="Requests:",
    ),
    When(
        lambda answer: answer.measurements or answer.reviews or answer.waivers or answer.decisions or answer.requests,
        otherwise=("No observations here. Next: groundplan purpose measure INDICATOR VALUE --project {project}",),
    ),
)
NO_THEORY = "No theory of change here. Next: groundplan purpose draft --project {project}"
OPENED = View(
    TypeSwitch(
        {
            "OpenedPurpose": (When("version", *THEORY, otherwise=(NO_THEORY,)),),
            "ObservationsPage": (*OBSERVATIONS, *FOOTER),  # of a request with the detail `observations`
            "PurposeItems": ITEMS,
        }
    ),
    footer=(),
)
VERSION = ("version", lambda answer: _format_version(answer.version))


RENDERERS: dict[str, Callable[..., None]] = {
    "purpose.open": OPENED,
    "purpose.observations": View(*OBSERVATIONS),
    "purpose.items": View(*ITEMS),
    "purpose.edit": View(
        Rows("created", "created: kind, ref, key"),
        GAP,
        lambda answer: (
            f"{pluralize(answer.applied, 'operation')} applied. The draft of v{answer.version} is at rev {answer.rev}."
        ),
    ),
    "purpose.draft": View(Fields(VERSION, "rev"), GAP, "Next: groundplan purpose edit @FILE --project PROJECT"),
    "purpose.publish": View(
        Fields(
            VERSION,
            "hash: version.content_hash",
            ("facts", lambda answer: f"run {run}" if (run := answer.version.context_run) else "none committed"),
            _list_gates,
        ),
        Lines(_list_findings, title="Warnings:"),
    ),
    "purpose.discard": View("Discarded the draft of v{discarded}."),
    "purpose.versions": View(
        Rows(
            "versions",
            "number, status, label",
            ("from", lambda one: f"v{one.source}" if one.source else None),
            "profile, published_at, by: published_by, facts: context_run, hash: content_hash",
            empty="No versions here. Next: groundplan purpose draft --project PROJECT",
        )
    ),
    "purpose.diff": View(
        Lines(
            lambda answer: answer.markdown or "The comparison is too large to show. To see its beginning, use --json."
        )
    ),
    "purpose.check": CHECK,
    "purpose.health": CHECK,
    "purpose.analysis": CHECK,
    "purpose.compliance": CHECK,
    "purpose.record": View(
        lambda answer: f"Recorded {pluralize(answer.recorded, 'observation')}.",
        Fields(
            ("decisions", lambda answer: ", ".join(answer.decisions or ()) or None),
            ("requests", lambda answer: ", ".join(answer.requests or ()) or None),
        ),
        ForEach("affected", Lines(lambda one: list_named_keys(one, "nodes, edges, work"), title=REFUTED_TITLE)),
    ),
}
