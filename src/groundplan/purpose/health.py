"""Health: metrics of the maintenance of a theory, each with its band, and the analysis of each goal.

Percentages have one decimal and are null if there is nothing to count. The band is that of the rounded number.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from typing import ClassVar, Literal, NamedTuple

from msgspec import UNSET, Struct, UnsetType, structs

from groundplan import providers
from groundplan.kernel.answers import CutLists, LeftOut, Trimming
from groundplan.kernel.links import LinkType, list_links_of_type
from groundplan.kernel.store.transaction import Transaction
from groundplan.purpose.content import read_content
from groundplan.purpose.dates import get_day, to_last_instant
from groundplan.purpose.gates.run import read_context_facts
from groundplan.purpose.graph.cuts import GoalTrace, trace_goals
from groundplan.purpose.graph.graph import build_causal_graph, find_leading_to, find_valid_causal_edges
from groundplan.purpose.model import (
    AssumptionStatus,
    Confidence,
    Content,
    EdgeType,
    NodeType,
    RiskLevel,
    edge_order,
    sort_keys,
)
from groundplan.purpose.observing.records import Observations
from groundplan.purpose.versions.versions import VersionRow, find_latest_published

Band = Literal["green", "amber", "red"]

SHARE_GREEN_MIN, SHARE_AMBER_MIN = 80, 50  # percent
FRESH_GREEN_MAX, FRESH_AMBER_MAX = 90, 180  # days
COUNT_GREEN_MAX, COUNT_AMBER_MAX = 0, 3
# The largest green and amber value of each metric that is not a share.
_AMOUNT_LIMITS = {
    "data_freshness_days": (FRESH_GREEN_MAX, FRESH_AMBER_MAX),
    "open_high_risk": (COUNT_GREEN_MAX, COUNT_AMBER_MAX),
    "stale_assumptions": (COUNT_GREEN_MAX, COUNT_AMBER_MAX),
    "required_facts_unset": (COUNT_GREEN_MAX, COUNT_AMBER_MAX),
}
_EFFECTS = (NodeType.OUTCOME, NodeType.GOAL)
_WORST_FIRST: tuple[Band, ...] = ("red", "amber", "green")


class Metrics(Struct, frozen=True):
    """The metrics. None means that a metric has nothing to count or is unknown."""

    toc_completeness: float | None
    indicator_coverage: float | None
    data_freshness_days: int | None
    assumptions_documented: float | None
    mechanism_coverage: float | None
    open_high_risk: int
    stale_assumptions: int
    required_facts_unset: int | None
    work_alignment: float | None


class Bands(Struct, frozen=True):
    """The band of each metric."""

    toc_completeness: Band | None
    indicator_coverage: Band | None
    data_freshness_days: Band | None
    assumptions_documented: Band | None
    mechanism_coverage: Band | None
    open_high_risk: Band | None
    stale_assumptions: Band | None
    required_facts_unset: Band | None
    work_alignment: Band | None


class WeakestEdge(Struct, frozen=True):
    """The edge whose removal disconnects the most activities from a goal, and their number."""

    source: str
    target: str
    edge_type: EdgeType
    cuts: int


class GoalHealth(Struct, frozen=True):
    """The analysis of one goal. Its path is empty if nothing leads to the goal."""

    key: str
    strongest_path: list[str]
    confidence: Confidence | None
    weakest_edge: WeakestEdge | UnsetType = UNSET


class HealthPlaces(Struct):
    """The items that lower each metric: keys of nodes and assumptions, and names of edges (`AC1->OP2`)."""

    toc_completeness: list[str]
    indicator_coverage: list[str]
    assumptions_documented: list[str]
    mechanism_coverage: list[str]
    open_high_risk: list[str]
    stale_assumptions: list[str]


class Health(Struct):
    """The health of one version."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset({"places"})
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(tuple(f"places.{name}" for name in HealthPlaces.__struct_fields__)),
        CutLists(("goals", "weakest_edge_left_out")),
    )

    metrics: Metrics
    bands: Bands
    overall: Band | None
    goals: list[GoalHealth]
    places: HealthPlaces
    weakest_edge_left_out: list[str] | UnsetType = UNSET  # goals not searched, because the theory is too large
    left_out: LeftOut = UNSET


def compute_health(
    content: Content,
    observations: Observations,
    *,
    now: str,
    required_facts_unset: int | None,
    work: tuple[int, int] | None,
) -> Health:
    """Return the health of a theory at an instant. `work` has the numbers of open and of aligned work nodes."""
    places = find_places(content, observations, get_day(now))
    metrics = compute_metrics(
        content, observations, places, now=now, required_facts_unset=required_facts_unset, work=work
    )
    bands = classify_metrics(metrics)
    reached = trace_goals(build_causal_graph(content))
    return Health(
        metrics,
        bands,
        find_overall_band(content, bands),
        [_to_goal_health(goal) for goal in reached.goals],
        places,
        weakest_edge_left_out=reached.left_out or UNSET,
    )


def find_places(content: Content, observations: Observations, today: str) -> HealthPlaces:
    """Return the items that lower each metric that counts items."""
    measured = {indicator.node for indicator in content.indicators.values()}
    assumed = {
        content.orient(assumption.edge).target if assumption.edge is not None else assumption.node
        for assumption in content.assumptions.values()
    }
    unexplained = {edge.name for edge in find_valid_causal_edges(content) if not (edge.mechanism or "").strip()}
    statuses = observations.get_statuses()
    return HealthPlaces(
        toc_completeness=sort_keys(
            key
            for key, node in content.nodes.items()
            if not all((text or "").strip() for text in (node.title, node.description, node.owner))
            or (node.node_type in _EFFECTS and key not in measured)
        ),
        indicator_coverage=sort_keys(
            key for key, node in content.nodes.items() if node.node_type is NodeType.OUTCOME and key not in measured
        ),
        assumptions_documented=sort_keys(content.nodes.keys() - assumed),
        mechanism_coverage=[str(name) for name in sorted(unexplained, key=edge_order)],
        # Of HIGH risk, and the latest review does not say that they hold.
        open_high_risk=sort_keys(
            key
            for key, assumption in content.assumptions.items()
            if assumption.risk_level is RiskLevel.HIGH and statuses.get(key) is not AssumptionStatus.HOLDING
        ),
        # The review date has passed. A new version can set a new date.
        stale_assumptions=sort_keys(
            key
            for key, assumption in content.assumptions.items()
            if assumption.review_by is not None and assumption.review_by < today
        ),
    )


def compute_metrics(
    content: Content,
    observations: Observations,
    places: HealthPlaces,
    *,
    now: str,
    required_facts_unset: int | None,
    work: tuple[int, int] | None,
) -> Metrics:
    """Return only the metrics. They need no search of the graph."""
    node_count = len(content.nodes)
    outcome_count = sum(node.node_type is NodeType.OUTCOME for node in content.nodes.values())
    edge_count = len({edge.name for edge in find_valid_causal_edges(content)})
    open_work, aligned_work = work or (0, 0)
    return Metrics(
        toc_completeness=_compute_percent(node_count - len(places.toc_completeness), node_count),
        indicator_coverage=_compute_percent(outcome_count - len(places.indicator_coverage), outcome_count),
        data_freshness_days=_count_days_since_measured(content.indicators, observations, get_day(now)),
        assumptions_documented=_compute_percent(node_count - len(places.assumptions_documented), node_count),
        mechanism_coverage=_compute_percent(edge_count - len(places.mechanism_coverage), edge_count),
        open_high_risk=len(places.open_high_risk),
        stale_assumptions=len(places.stale_assumptions),
        required_facts_unset=required_facts_unset,
        work_alignment=_compute_percent(aligned_work, open_work),
    )


def classify_metrics(metrics: Metrics) -> Bands:
    """Return the band of each metric."""
    return Bands(*(_classify(name, value) for name, value in structs.asdict(metrics).items()))


def _classify(name: str, value: float | None) -> Band | None:
    if value is None:
        return None
    if name in _AMOUNT_LIMITS:
        green_max, amber_max = _AMOUNT_LIMITS[name]
        return "green" if value <= green_max else "amber" if value <= amber_max else "red"
    return "green" if value >= SHARE_GREEN_MIN else "amber" if value >= SHARE_AMBER_MIN else "red"


def find_overall_band(content: Content, bands: Bands) -> Band | None:
    """Return the worst band; None for a theory without nodes, in which all counts are 0."""
    present = structs.astuple(bands) if content.nodes else ()
    return next((band for band in _WORST_FIRST if band in present), None)


def _to_goal_health(goal: GoalTrace) -> GoalHealth:
    edge = UNSET if goal.cut is None else WeakestEdge(*goal.cut.edge.name, cuts=len(goal.cut.activities))
    confidence = None if goal.weakest_link is None else goal.weakest_link.confidence
    return GoalHealth(goal.key, goal.keys, confidence, edge)


def _count_days_since_measured(indicators: Collection[str], observations: Observations, today: str) -> int | None:
    """Return the number of days since the newest measurement of an indicator."""
    days = [
        get_day(measurement.as_of) for measurement in observations.measurements if measurement.indicator in indicators
    ]
    if not days:
        return None
    return max(0, (date.fromisoformat(today) - date.fromisoformat(max(days))).days)


def _compute_percent(part: int, total: int) -> float | None:
    return round(100 * part / total, 1) if total else None


class HealthInputs(NamedTuple):
    """The inputs of health besides content and observations."""

    now: str
    required_facts_unset: int | None
    work: tuple[int, int] | None


def read_health(tx: Transaction, content: Content, observations: Observations, *, as_of: str | None) -> Health:
    """Return the health of some content, now or as of a day."""
    return compute_health(content, observations, **_read_health_inputs(tx, as_of)._asdict())


def read_bands(tx: Transaction, content: Content, observations: Observations, *, as_of: str | None) -> Bands:
    """Return only the bands. They need no search of the graph."""
    inputs = _read_health_inputs(tx, as_of)
    places = find_places(content, observations, get_day(inputs.now))
    return classify_metrics(compute_metrics(content, observations, places, **inputs._asdict()))


def _read_health_inputs(tx: Transaction, as_of: str | None) -> HealthInputs:
    if as_of is not None:
        return HealthInputs(to_last_instant(as_of), None, None)  # the facts of other slices on that day are not known
    context = read_context_facts(tx)
    unset = len(context.required_unset) if context and context.run else None
    return HealthInputs(tx.now, unset, _count_aligned_work(tx))


def _count_aligned_work(tx: Transaction) -> tuple[int, int] | None:
    """Return the number of open work nodes, and the number of them that lead to a goal of the published version."""
    published = find_latest_published(tx)
    if published is None:
        return None
    has_links = bool(list_links_of_type(tx, LinkType.SERVES, at_most=1))
    counts = providers.count_aligned_work(tx, _list_leading_to_goals(tx, published) if has_links else [])
    return counts.open, counts.aligned


def _list_leading_to_goals(tx: Transaction, row: VersionRow) -> list[str]:
    """Return the keys of the goals of a version and of all nodes that lead to a goal."""
    causal = build_causal_graph(read_content(tx, row.id))
    return causal.to_keys(sorted(find_leading_to(causal.graph, causal.list_numbers(NodeType.GOAL))))
