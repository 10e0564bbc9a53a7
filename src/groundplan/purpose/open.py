"""Read the theory of change: a version, its content and its health."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.answers import Budget, CutLists, DropField, LeftOut, Trimming, count_chars, trim
from groundplan.kernel.cursors import Cursor, InvalidCursor, decode_cursor, encode_cursor
from groundplan.kernel.errors import NextStep, NotFound
from groundplan.kernel.ids import parse_uuid
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Effect, Group, Operation, Route, Tool, declare
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import format_argument_path, invalid_argument
from groundplan.purpose.content import read_verified_content
from groundplan.purpose.dates import get_day, parse_moment
from groundplan.purpose.gates.gates import select_active_waivers
from groundplan.purpose.health import Band, find_overall_band, read_bands
from groundplan.purpose.model import (
    AssumptionStatus,
    Confidence,
    Content,
    EdgeName,
    EdgeType,
    IndicatorDirection,
    NodeType,
    PurposeEdge,
    Ref,
    RiskLevel,
    convert_row,
    orient_edge,
)
from groundplan.purpose.observing import read
from groundplan.purpose.observing.read import Cutoff, read_version_observations
from groundplan.purpose.observing.records import Measurement, Observations, Waiver
from groundplan.purpose.pages import PagePosition, fill_page, list_entries
from groundplan.purpose.versions.versions import (
    Version,
    VersionRef,
    VersionRow,
    read_versions,
    require_version,
    resolve_version,
    stale_draft,
    to_version,
)

NAME = "purpose.open"

VERSIONS_SHOWN_MAX = 10

PARTS = ("nodes", "edges", "indicators", "waivers")  # in page order

ROW_ID = frozenset({"id"})


KEYS_MAX = 100
Keys = Annotated[
    Ref | Annotated[list[Ref], Meta(min_length=1, max_length=KEYS_MAX)],
    Meta(extra_json_schema={"type": ["array", "string"]}),
]


class OpenPurpose(Struct, forbid_unknown_fields=True):
    """The version (by default the draft, else the latest published), the detail, and the day of the observations."""

    project: Name
    version: VersionRef | None = None
    detail: Literal["summary", "full", "observations"] | None = None
    keys: Keys | None = None
    as_of: str | None = None
    cursor: Cursor = None
    lean: bool | None = None


class AssumptionView(Struct, omit_defaults=True, kw_only=True):
    """An assumption with the status of its latest review."""

    bookkeeping: ClassVar[frozenset[str]] = ROW_ID

    id: str | UnsetType = UNSET
    key: str
    assumption_text: str
    status: AssumptionStatus
    risk_level: RiskLevel | None = None
    owner: str | None = None
    review_by: str | None = None


class PurposeNodeView(Struct, omit_defaults=True, kw_only=True):
    """A purpose node with its assumptions."""

    bookkeeping: ClassVar[frozenset[str]] = ROW_ID

    id: str | UnsetType = UNSET
    key: str
    node_type: NodeType
    title: str
    assumptions: list[AssumptionView] | UnsetType = UNSET
    description: str | None = None
    narrative: str | None = None
    owner: str | None = None
    metadata: dict[str, Any] | UnsetType = UNSET


class PurposeEdgeView(Struct, omit_defaults=True, kw_only=True):
    """An edge with its assumptions. Source and target are keys."""

    bookkeeping: ClassVar[frozenset[str]] = ROW_ID

    id: str | UnsetType = UNSET
    source: str
    target: str
    edge_type: EdgeType | UnsetType = UNSET
    assumptions: list[AssumptionView] | UnsetType = UNSET
    mechanism: str | None = None
    confidence: Confidence | None = None


def name_edge(edge: PurposeEdgeView) -> EdgeName:
    """Return the name of an edge."""
    return EdgeName(edge.source, edge.target, edge.edge_type or EdgeType.CONTRIBUTES_TO)


def orient_edge_view(edge: PurposeEdgeView, nodes: Mapping[str, PurposeNodeView]) -> EdgeName:
    """Return the name of an edge with its cause as the source and its effect as the target."""
    name = name_edge(edge)
    if name.source not in nodes or name.target not in nodes:
        return name  # an end is on another page
    return orient_edge(name, nodes[name.source].node_type, nodes[name.target].node_type)


class LatestMeasurement(Struct):
    """The latest measurement of an indicator."""

    value: float
    as_of: str


class IndicatorView(Struct, omit_defaults=True, kw_only=True):
    """An indicator of a node."""

    bookkeeping: ClassVar[frozenset[str]] = ROW_ID

    id: str | UnsetType = UNSET
    key: str
    node: str
    name: str
    unit: str | None = None
    direction: IndicatorDirection | None = None
    baseline: float | None = None
    baseline_verified: bool | None = None
    target: float | None = None
    method: str | None = None
    frequency: str | None = None
    owner: str | None = None
    latest: LatestMeasurement | UnsetType = UNSET


class WaiverView(Struct):
    """An active waiver of a check."""

    code: str
    refs: list[str]
    reason: str
    owner: str
    due: str


class ContentCounts(Struct):
    """The number of items of each kind."""

    goal: int
    outcome: int
    output: int
    activity: int
    edges: int
    assumptions: int
    indicators: int


class HealthSummary(Struct):
    """The worst band, and the band of each known metric."""

    overall: Band | None
    bands: dict[str, Band]


class OpenedPurpose(Struct):
    """A version and its content. `version` is null if the project has none.

    `left_out.defaults` counts the fields that are left out because they have their default: empty `assumptions`, empty
    `metadata`, and the `edge_type` CONTRIBUTES_TO.
    """

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    # For a single row that is too large for a page.
    trimming: ClassVar[Trimming] = Trimming(
        CutLists(("nodes[].assumptions", "edges[].assumptions")),
        *(DropField(f"nodes[].{field}") for field in ("metadata", "narrative", "description")),
    )

    project: str
    rev: int
    version: Version | None
    versions: list[Version]
    counts: ContentCounts
    health: HealthSummary
    nodes: list[PurposeNodeView] | UnsetType = UNSET
    edges: list[PurposeEdgeView] | UnsetType = UNSET
    indicators: list[IndicatorView] | UnsetType = UNSET
    waivers: list[WaiverView] | UnsetType = UNSET
    left_out: LeftOut = UNSET
    next_cursor: str | UnsetType = UNSET


class PurposeItems(Struct):
    """Some items of a version: nodes with their edges and indicators, all with their assumptions and waivers."""

    bookkeeping: ClassVar[frozenset[str]] = frozenset()
    trimming: ClassVar[Trimming] = Trimming(CutLists(("nodes", "edges", "indicators", "waivers")))

    project: str
    rev: int
    version: Version
    nodes: list[PurposeNodeView]
    edges: list[PurposeEdgeView]
    indicators: list[IndicatorView]
    waivers: list[WaiverView] | UnsetType = UNSET
    left_out: LeftOut = UNSET


def open_purpose(tx: Transaction, request: OpenPurpose) -> OpenedPurpose:
    """Return a version with the status of its assumptions and the latest measurements of its indicators.

    Raises:
        NotFound: there is no such version.
        Invalid: the cursor or the date is invalid.
        StaleRevision: the draft has changed since the previous page.
        ContentAltered: the content of a published version does not match its hash.
    """
    as_of = None if request.as_of is None else parse_moment(request.as_of, ("as_of",))
    query = [tx.project.id, request.version, request.detail, as_of]
    version, rev, after = (request.version, None, None)
    if request.cursor is not None:
        version, rev, after = _decode_position(tx, query, request.cursor)
    row = resolve_version(tx, version)
    if row is None:
        return OpenedPurpose(
            tx.project.name, 0, None, [], ContentCounts(0, 0, 0, 0, 0, 0, 0), HealthSummary(None, {}), [], [], []
        )
    if rev is not None and rev != row.rev:
        raise stale_draft(row, rev)  # pages of two states would mix into one that never existed
    content = read_verified_content(tx, row)
    observed = read_version_observations(tx, content, Cutoff(as_of=as_of))
    opened = _build_summary(tx, row, content, observed, as_of)
    if request.detail == "summary":
        return opened
    waivers = select_active_waivers(observed.waivers, get_day(as_of or tx.now))

    def whole() -> OpenedPurpose:
        return _add_content(opened, content, observed, waivers)

    budget = tx.budget
    if after is None and not budget.is_limited:
        return whole()
    aim = Budget(min(budget.free_chars, Budget.for_answer(ANSWER_TOKENS_AIM).free_chars))
    if after is None and request.detail is None and count_chars_min(content) <= budget.free_chars:
        brief = whole()
        drop_optional_fields(brief, aim)
        if count_chars(brief) <= budget.free_chars:
            return brief
    return _build_page(tx, opened, whole(), row, query, after)


def _build_summary(
    tx: Transaction, row: VersionRow, content: Content, observed: Observations, as_of: str | None
) -> OpenedPurpose:
    by_type = {type_: len(content.list_nodes_of_type(type_)) for type_ in NodeType}
    counts = ContentCounts(
        by_type[NodeType.GOAL],
        by_type[NodeType.OUTCOME],
        by_type[NodeType.OUTPUT],
        by_type[NodeType.ACTIVITY],
        len(content.edges),
        len(content.assumptions),
        len(content.indicators),
    )
    bands = read_bands(tx, content, observed, as_of=as_of)
    known_bands = {name: band for name, band in msgspec.to_builtins(bands).items() if band is not None}
    rows = read_versions(tx)
    versions = [to_version(version) for version in rows[-VERSIONS_SHOWN_MAX:]]
    health = HealthSummary(find_overall_band(content, bands), known_bands)
    opened = OpenedPurpose(tx.project.name, row.rev, to_version(row), versions, counts, health)
    if len(versions) < len(rows):
        opened.left_out = {"versions": len(rows) - len(versions)}
    return opened


def _add_content(
    summary: OpenedPurpose, content: Content, observed: Observations, waivers: list[Waiver]
) -> OpenedPurpose:
    """Add the content to the summary, and return the summary."""
    versions = [msgspec.structs.replace(version) for version in summary.versions]
    return msgspec.structs.replace(summary, versions=versions, **_build_views(content, observed, waivers))


def _build_views(content: Content, observed: Observations, waivers: list[Waiver]) -> dict[str, Any]:
    """Return the fields of an answer with the content of a version."""
    statuses, latest = observed.get_statuses(), observed.get_latest_measurements()
    by_subject: dict[Any, list[AssumptionView]] = {}
    for assumption in content.assumptions.values():
        status = statuses.get(assumption.key, AssumptionStatus.UNTESTED)
        by_subject.setdefault(assumption.node or assumption.edge, []).append(
            convert_row(assumption, AssumptionView, status=status)
        )
    return {
        "nodes": [
            convert_row(node, PurposeNodeView, assumptions=by_subject.get(node.key, []))
            for node in content.nodes.values()
        ],
        "edges": [
            convert_row(edge, PurposeEdgeView, assumptions=by_subject.get(edge.name, [])) for edge in content.edges
        ],
        "indicators": [
            convert_row(indicator, IndicatorView, latest=_to_latest_measurement(latest.get(indicator.key)))
            for indicator in content.indicators.values()
        ],
        "waivers": [convert_row(waiver, WaiverView) for waiver in waivers] or UNSET,
    }


def _to_latest_measurement(measurement: Measurement | None) -> LatestMeasurement | UnsetType:
    return UNSET if measurement is None else convert_row(measurement, LatestMeasurement)


def _build_page(
    tx: Transaction,
    summary: OpenedPurpose,
    opened: OpenedPurpose,
    row: VersionRow,
    query: list[Any],
    after: PagePosition | None,
) -> OpenedPurpose:
    entries = list_entries(((part, getattr(opened, part) or ()) for part in PARTS), after)
    page = msgspec.structs.replace(summary, nodes=[], edges=[], indicators=[], waivers=[])
    left_out = fill_page(
        page, entries, tx.budget, lambda last: encode_cursor(tx, NAME, query, row.number, row.rev, *last)
    )
    page.waivers = page.waivers or UNSET
    page.left_out = {**(page.left_out or {}), **(left_out or {})} or UNSET
    return page


def _decode_position(tx: Transaction, query: list[Any], cursor: str) -> tuple[int, int, PagePosition]:
    match decode_cursor(tx, NAME, query, cursor):
        case [int() as number, int() as rev, int() as part, int() as index]:
            return number, rev, (part, index)
    raise InvalidCursor


def open_observations(tx: Transaction, request: OpenPurpose) -> read.ObservationsPage:
    """Return the recorded observations, up to `as_of` if given.

    Raises:
        Invalid: the date or the cursor is invalid, or a version is given.
    """
    if request.version is not None:
        raise invalid_argument(("version",), "does not apply to observations, which belong to all versions; omit it")
    return read.read_observations_page(tx, as_of=request.as_of, cursor=request.cursor)


def open_items(tx: Transaction, request: OpenPurpose) -> PurposeItems:
    """Return some items of a version with what is on them. An assumption comes with the node or edge that it is on.

    Raises:
        NotFound: there is no such version or item.
        Invalid: the date is invalid, or an argument is given that keys leave no use for.
        ContentAltered: the content of a published version does not match its hash.
    """
    for name in ("detail", "cursor"):
        if getattr(request, name) is not None:
            raise invalid_argument((name,), "does not apply to keys, whose items are always whole; omit it")
    as_of = None if request.as_of is None else parse_moment(request.as_of, ("as_of",))
    row = require_version(tx, request.version)
    content = read_verified_content(tx, row)
    observed = read_version_observations(tx, content, Cutoff(as_of=as_of))
    part = _select_items(tx, content, _split_keys(request.keys or []))
    names = {*part.nodes, *part.assumptions, *part.indicators, *(str(edge.name) for edge in part.edges)}
    active = select_active_waivers(observed.waivers, get_day(as_of or tx.now))
    waivers = [waiver for waiver in active if not names.isdisjoint(waiver.refs)]
    items = PurposeItems(tx.project.name, row.rev, to_version(row), **_build_views(part, observed, waivers))
    trim(items, tx.budget)
    return items


def _split_keys(keys: str | list[str]) -> list[str]:
    """Return the keys in a text with commas, also in one that is JSON: no key has a comma, a quote or a bracket."""
    if isinstance(keys, list):
        return keys
    return [key for part in keys.split(",") if (key := part.strip('[]" '))] or [keys]


def _select_items(tx: Transaction, content: Content, keys: list[str]) -> Content:
    """Return the part of a version that keys, row ids and edge names select."""
    edges = {str(edge.name): edge for edge in content.edges}
    ids = {
        item.id: key
        for items in (content.nodes, edges, content.assumptions, content.indicators)
        for key, item in items.items()
    }
    nodes: set[str] = set()
    names: set[EdgeName] = set()
    indicators: set[str] = set()
    for index, ref in enumerate(keys):
        key = ids.get(parse_uuid(ref) or "", ref)
        if key in content.nodes:
            nodes.add(key)
            names |= {edge.name for edge in content.edges if key in edge.name[:2]}
            indicators |= {indicator.key for indicator in content.indicators.values() if indicator.node == key}
        elif key in content.indicators:
            indicators.add(key)
        elif (name := _find_edge_name(content, edges, key)) is not None:
            names.add(name)
        elif key in content.assumptions:
            nodes.add(str(content.assumptions[key].node))
        else:
            show = NextStep("purpose.open", "shows the keys and the edges", {"project": tx.project.name})
            raise NotFound("item", ref, next_steps=show, field=format_argument_path(("keys", index)))
    return content._replace(
        nodes={key: node for key, node in content.nodes.items() if key in nodes},
        edges=[edge for edge in content.edges if edge.name in names],
        assumptions={
            key: assumption
            for key, assumption in content.assumptions.items()
            if assumption.node in nodes or assumption.edge in names
        },
        indicators={key: indicator for key, indicator in content.indicators.items() if key in indicators},
    )


def _find_edge_name(content: Content, edges: Mapping[str, PurposeEdge], key: str) -> EdgeName | None:
    """Return the edge that a name means, or that an assumption is on."""
    if key in edges:
        return edges[key].name
    return content.assumptions[key].edge if key in content.assumptions else None


ANSWER_TOKENS_AIM = 3_000  # size to which an answer is shortened unless `detail` is full: about thirty nodes
DESCRIPTION_CHARS_SHORT = 160  # longer descriptions are left out before shorter ones

_ASSUMPTION_PATHS = ("nodes[].assumptions[]", "edges[].assumptions[]")

# Fields to drop from a long answer, the least useful first: row ids, because rows have keys, then long descriptions and
# metadata and narratives, then the default values, and then the fields of _TRIM_LAST. Mechanisms, confidences and
# assumptions stay.
_TRIM_IDS = Trimming(
    *(DropField(f"versions[].{name}") for name in ("id", "project_id")),
    *(DropField(f"{rows}.id") for rows in ("nodes[]", "edges[]", "indicators[]", *_ASSUMPTION_PATHS)),
)
_TRIM_EXTRAS = Trimming(DropField("nodes[].metadata"), DropField("nodes[].narrative"))
_DEFAULTS: dict[str, Any] = {"assumptions": [], "metadata": {}, "edge_type": EdgeType.CONTRIBUTES_TO}
_TRIM_LAST = Trimming(
    *(DropField(f"indicators[].{field}") for field in ("method", "frequency", "baseline_verified")),
    *(DropField(f"versions[].{field}") for field in ("content_hash", "context_run", "published_by", "published_at")),
    DropField("nodes[].description"),
    *(DropField(f"{rows}.owner") for rows in ("nodes[]", "indicators[]", *_ASSUMPTION_PATHS)),
    *(DropField(f"indicators[].{field}") for field in ("unit", "direction")),
)


def count_chars_min(content: Content) -> int:
    """Return a lower bound for the size of an answer, from the names and texts that are never left out."""
    return (
        sum(len(node.title) + 40 for node in content.nodes.values())
        + sum(len(assumption.assumption_text) + 50 for assumption in content.assumptions.values())
        + sum(len(indicator.name) + 30 for indicator in content.indicators.values())
        + sum(len(edge.mechanism or "") + 30 for edge in content.edges)
    )


def drop_optional_fields(opened: OpenedPurpose, aim: Budget) -> None:
    """Drop optional fields until the answer fits or no optional field is left."""
    trim(opened, aim, _TRIM_IDS)
    if count_chars(opened) > aim.free_chars:
        _leave_out_long_descriptions(opened)
        trim(opened, aim, _TRIM_EXTRAS)
    if count_chars(opened) > aim.free_chars:
        _leave_out_defaults(opened)
        trim(opened, aim, _TRIM_LAST)


def _leave_out_long_descriptions(opened: OpenedPurpose) -> None:
    long = [node for node in opened.nodes or () if len(node.description or "") > DESCRIPTION_CHARS_SHORT]
    for node in long:
        node.description = None
    if long:
        opened.left_out = {**(opened.left_out or {}), "nodes.description": len(long)}


def _leave_out_defaults(opened: OpenedPurpose) -> None:
    """Drop fields with their default value."""
    count = 0
    for row in (*(opened.nodes or ()), *(opened.edges or ())):
        for field, default in _DEFAULTS.items():
            if getattr(row, field, UNSET) == default:
                setattr(row, field, UNSET)
                count += 1
    opened.left_out = {**(opened.left_out or {}), "defaults": count}


OBSERVATIONS = declare(
    open_observations,
    name=read.NAME,
    summary="Read what was observed: measurements, reviews, waivers, decisions; with as_of, as known then.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route(
        "GET", "/projects/{project}/purpose/observations", fixed={"detail": "observations"}, without=("version", "keys")
    ),
)

ITEMS = declare(
    open_items,
    name="purpose.items",
    summary="Read some items of a version, by their keys, with what is on them.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    http=Route("GET", "/projects/{project}/purpose/items/{keys}", without=("detail", "cursor")),
)


def _choose_variant(request: OpenPurpose) -> Operation[OpenPurpose, Any] | None:
    if request.keys is not None:
        return ITEMS
    return OBSERVATIONS if request.detail == "observations" else None


OPERATION = declare(
    open_purpose,
    name=NAME,
    summary="Read the theory of change: versions, nodes, edges, assumptions, indicators, health; or observations.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    variants=(OBSERVATIONS, ITEMS),
    choose_variant=_choose_variant,
    tool=Tool("toc_open", Group.PURPOSE),
    http=Route("GET", "/projects/{project}/purpose"),
    other_routes=(Route("GET", "/projects/{project}/purpose/versions/{version}"),),
)
