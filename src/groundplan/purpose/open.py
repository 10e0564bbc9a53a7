"""The theory of change as it stands: a version, everything in it, and how healthy it is."""

from __future__ import annotations

from typing import Any, Literal, TypeVar

import msgspec
from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.access import Permission
from groundplan.kernel.cursors import InvalidCursor, cursor_at, position_of
from groundplan.kernel.input_gate.text_limits import Name
from groundplan.kernel.operations.registry import Command, Effect, Group, Operation, Tool
from groundplan.kernel.output_gate import CHARS_PER_TOKEN, encode, fits, leading
from groundplan.kernel.store.transaction import Transaction
from groundplan.kernel.wording import refusal
from groundplan.purpose import observations
from groundplan.purpose.content import checked_content
from groundplan.purpose.dates import checked_moment, day_of
from groundplan.purpose.gates.waiving import waivers_in_force
from groundplan.purpose.health import bands_at
from groundplan.purpose.health_metrics import Band, overall_of
from groundplan.purpose.model import (
    AssumptionStatus,
    Confidence,
    Content,
    Direction,
    EdgeType,
    NodeType,
    RiskLevel,
)
from groundplan.purpose.observed import Measurement, Observations, Waiver
from groundplan.purpose.pages import Entry, Place, page_of, room_beside
from groundplan.purpose.read_observations import Known, observations_of
from groundplan.purpose.version import StaleDraft, Version, VersionRef, VersionRow, shown, version_meant, versions_of

Shown = TypeVar("Shown", bound=Struct)

NAME = "purpose.open"

ANSWER_TOKENS_AIM = 2_500  # within which an answer is kept where it can be and nobody asked for all of it: thirty nodes
VERSIONS_SHOWN = 10

# What a reader can do without at first, less and less gladly: rows are known by their keys, texts are long, and who
# looks after what is for the second look.
_IDS = ("id",)
_TEXTS = ("description", "narrative", "metadata", "mechanism", "method", "frequency", "baseline_verified")
_ALL = (*_IDS, *_TEXTS, "owner", "unit", "direction")


class OpenPurpose(Struct, forbid_unknown_fields=True):
    """Which version (the draft, else the one published last), in which detail, and as of when it was observed."""

    project: Name
    version: VersionRef | None = None
    detail: Literal["summary", "full", "observations"] | None = None
    as_of: str | None = None
    cursor: str | None = None


class AssumptionShown(Struct, omit_defaults=True, kw_only=True):
    """An assumption, and what the latest review found."""

    id: str | UnsetType = UNSET
    key: str
    assumption_text: str
    status: AssumptionStatus
    risk_level: RiskLevel | None = None
    owner: str | None = None
    review_by: str | None = None


class NodeShown(Struct, omit_defaults=True, kw_only=True):
    """A purpose node with its assumptions."""

    id: str | UnsetType = UNSET
    key: str
    node_type: NodeType
    title: str
    assumptions: list[AssumptionShown] | UnsetType = UNSET
    description: str | None = None
    narrative: str | None = None
    owner: str | None = None
    metadata: dict[str, Any] | UnsetType = UNSET


class EdgeShown(Struct, omit_defaults=True, kw_only=True):
    """An edge with its assumptions; its ends by key."""

    id: str | UnsetType = UNSET
    source: str
    target: str
    edge_type: EdgeType | UnsetType = UNSET
    assumptions: list[AssumptionShown] | UnsetType = UNSET
    mechanism: str | None = None
    confidence: Confidence | None = None


class LatestMeasurement(Struct):
    """What an indicator showed last."""

    value: float
    as_of: str


class IndicatorShown(Struct, omit_defaults=True, kw_only=True):
    """An indicator of a node."""

    id: str | UnsetType = UNSET
    key: str
    node: str
    name: str
    unit: str | None = None
    direction: Direction | None = None
    baseline: float | None = None
    baseline_verified: bool | None = None
    target: float | None = None
    method: str | None = None
    frequency: str | None = None
    owner: str | None = None
    latest: LatestMeasurement | UnsetType = UNSET


class WaiverShown(Struct):
    """A check that somebody answers for, until a day."""

    code: str
    refs: list[str]
    reason: str
    owner: str
    due: str


class Counts(Struct):
    """How much there is of everything."""

    goal: int
    outcome: int
    output: int
    activity: int
    edges: int
    assumptions: int
    indicators: int


class HealthLine(Struct):
    """How it is in short: the worst band, and the band of everything that can be told."""

    overall: Band | None
    bands: dict[str, Band]


class LeftOut(Struct, omit_defaults=True):
    """What is not in this answer: rows that follow on further pages, and fields that `detail: full` has.

    `defaults` stands for two more: where a row says no `assumptions` there are none, and an edge that says no
    `edge_type` is CONTRIBUTES_TO. `versions` are older ones, which toc_version list has.
    """

    nodes: int = 0
    edges: int = 0
    indicators: int = 0
    waivers: int = 0
    versions: int = 0
    assumptions: int = 0  # of rows that are too large for a page by themselves
    fields: list[str] = []
    defaults: bool = False


class Opened(Struct):
    """A version and everything in it. `version` is null in a project that has none."""

    project: str
    rev: int
    version: Version | None
    versions: list[Version]
    counts: Counts
    health: HealthLine
    nodes: list[NodeShown] | UnsetType = UNSET
    edges: list[EdgeShown] | UnsetType = UNSET
    indicators: list[IndicatorShown] | UnsetType = UNSET
    waivers: list[WaiverShown] | UnsetType = UNSET
    left_out: LeftOut | UnsetType = UNSET
    next_cursor: str | UnsetType = UNSET


def open_purpose(tx: Transaction, request: OpenPurpose) -> Opened:
    """A version as it stands, with what is known of its assumptions and indicators.

    Raises:
        NotFound: there is no such version.
        Invalid: the cursor or the day is none.
        StaleDraft: the draft was changed since the page before.
        ContentAltered: a published version is not what was published.
    """
    as_of = None if request.as_of is None else checked_moment(request.as_of, ("as_of",))
    query = [tx.project.id, request.version, request.detail, as_of]
    version, rev, after = (request.version, None, None)
    if request.cursor is not None:
        version, rev, after = _position(tx, query, request.cursor)
    row = version_meant(tx, version)
    if row is None:
        return Opened(tx.project.name, 0, None, [], Counts(0, 0, 0, 0, 0, 0, 0), HealthLine(None, {}), [], [], [])
    if rev is not None and rev != row.rev:
        raise StaleDraft(row, rev)  # pages of two states would be a third one, which never was
    content = checked_content(tx, row)
    observed = observations_of(tx, content, Known(as_of=as_of))
    opened = _frame(tx, row, content, observed, as_of)
    if request.detail == "summary":
        return opened
    limit = tx.preferences.answer_tokens_max
    waivers = waivers_in_force(observed.waivers, day_of(as_of or tx.now))

    def without(*dropped: str) -> Opened:
        return _filled(opened, content, observed, waivers, dropped)

    whole = without()
    aim = min(limit, ANSWER_TOKENS_AIM)
    if request.detail is None and after is None and not fits(encode(whole), aim):
        # Nothing is left out where that would not make it short, which the shortest answer tells.
        shortest = without(*_ALL)
        if fits(encode(shortest), aim):
            longer = (without(*dropped) for dropped in (_IDS, _IDS + _TEXTS))
            return next((one for one in longer if fits(encode(one), aim)), shortest)
    return whole if after is None and fits(encode(whole), limit * 9 // 10) else _page(tx, whole, row, query, after)


def _frame(tx: Transaction, row: VersionRow, content: Content, observed: Observations, as_of: str | None) -> Opened:
    by_type = {type_: len(content.of_type(type_)) for type_ in NodeType}
    counts = Counts(
        by_type[NodeType.GOAL],
        by_type[NodeType.OUTCOME],
        by_type[NodeType.OUTPUT],
        by_type[NodeType.ACTIVITY],
        len(content.edges),
        len(content.assumptions),
        len(content.indicators),
    )
    bands = bands_at(tx, content, observed, as_of=as_of)
    told = {name: band for name, band in msgspec.to_builtins(bands).items() if band is not None}
    rows = versions_of(tx)
    versions = [shown(one) for one in rows[-VERSIONS_SHOWN:]]
    opened = Opened(tx.project.name, row.rev, shown(row), versions, counts, HealthLine(overall_of(bands), told))
    if len(versions) < len(rows):
        opened.left_out = LeftOut(versions=len(rows) - len(versions))
    return opened


def _filled(
    frame: Opened, content: Content, observed: Observations, waivers: list[Waiver], dropped: tuple[str, ...]
) -> Opened:
    """A frame with the content in it, without some fields."""
    opened = msgspec.structs.replace(frame)
    statuses, latest = observed.statuses(), observed.latest()
    on: dict[Any, list[AssumptionShown]] = {}
    for one in content.assumptions.values():
        status = statuses.get(one.key, AssumptionStatus.UNTESTED)
        on.setdefault(one.node or one.edge, []).append(_shown(one, dropped, AssumptionShown, status=status))
    opened.nodes = [
        _shown(node, dropped, NodeShown, assumptions=on.get(node.key, [])) for node in content.nodes.values()
    ]
    opened.edges = [_shown(edge, dropped, EdgeShown, assumptions=on.get(edge.name, [])) for edge in content.edges]
    opened.indicators = [
        _shown(one, dropped, IndicatorShown, latest=_latest(latest.get(one.key))) for one in content.indicators.values()
    ]
    opened.waivers = [WaiverShown(one.code, one.refs, one.reason, one.owner, one.due) for one in waivers] or UNSET
    if dropped:
        opened.left_out = msgspec.structs.replace(opened.left_out or LeftOut(), fields=list(dropped))
    if dropped == _ALL:
        _drop_defaults(opened)
    return opened


def _drop_defaults(opened: Opened) -> None:
    """Leave out what most rows have alike, and what a version says of itself already."""
    for row in (*(opened.nodes or ()), *(opened.edges or ())):
        row.assumptions = row.assumptions or UNSET
    for edge in opened.edges or ():
        edge.edge_type = UNSET if edge.edge_type is EdgeType.CONTRIBUTES_TO else edge.edge_type
    opened.versions = [
        msgspec.structs.replace(version, content_hash=UNSET, context_run=UNSET) for version in opened.versions
    ]
    opened.left_out = msgspec.structs.replace(opened.left_out or LeftOut(), defaults=True)


def _latest(one: Measurement | None) -> LatestMeasurement | UnsetType:
    return UNSET if one is None else LatestMeasurement(one.value, one.as_of)


def _page(tx: Transaction, opened: Opened, row: VersionRow, query: list[Any], after: Place | None) -> Opened:
    rows = [(part, getattr(opened, part) or []) for part in ("nodes", "edges", "indicators", "waivers")]
    opened.nodes, opened.edges, opened.indicators, opened.waivers = [], [], [], []
    limit = tx.preferences.answer_tokens_max
    room = room_beside(opened, limit)
    left_out = opened.left_out or LeftOut()
    entries: list[Entry] = []
    for number, (part, items) in enumerate(rows):
        for index, item in enumerate(items):
            if after is None or (number, index) > after:
                fitting = _fitted(item, room) if limit else item
                left_out.assumptions += _assumed(item) - _assumed(fitting)
                entries.append(Entry((number, index), part, fitting))
    page = page_of(entries, frame=opened, tokens_max=limit)
    for entry in page.entries:
        getattr(opened, entry.part).append(entry.item)
    opened.waivers = opened.waivers or UNSET
    left_out = msgspec.structs.replace(left_out, **page.left)
    opened.left_out = UNSET if left_out == LeftOut() else left_out
    if page.last is not None:
        opened.next_cursor = cursor_at(tx, NAME, query, row.number, row.rev, *page.last)
    return opened


def _fitted(item: Any, room: int) -> Any:
    """A row that fits onto a page: with fewer assumptions, where it has so many that no page could hold them."""
    if len(encode(item)) <= room or not _assumed(item):
        return item
    kept = leading(item.assumptions, tokens_max=max(1, room // CHARS_PER_TOKEN // 2))
    return msgspec.structs.replace(item, assumptions=kept)


def _assumed(item: Any) -> int:
    return len(getattr(item, "assumptions", None) or ())


def _position(tx: Transaction, query: list[Any], cursor: str) -> tuple[int, int, Place]:
    match position_of(tx, NAME, query, cursor):
        case [int() as number, int() as rev, int() as part, int() as index]:
            return number, rev, (part, index)
    raise InvalidCursor


def _shown(row: Any, dropped: tuple[str, ...], shape: type[Shown], **given: Any) -> Shown:
    """A row as callers see it: the fields that its shape has, but for those that are left out."""
    fields = {name: value for name, value in msgspec.structs.asdict(row).items() if name in shape.__struct_fields__}
    fields = {name: value for name, value in fields.items() if name not in dropped}
    return shape(**fields, **given)


def read_observed(tx: Transaction, request: OpenPurpose) -> observations.Observed:
    """What was observed, up to a day where one is given.

    Raises:
        Invalid: the day or the cursor is none, or a version is named, which observations are not of.
    """
    if request.version is not None:
        raise refusal(("version",), "is not for observations, which are of all versions; leave it out")
    return observations.observed(tx, as_of=request.as_of, cursor=request.cursor)


OBSERVATIONS = Operation(
    name=observations.NAME,
    summary="Read what was observed: measurements, reviews, waivers, decisions; with as_of, as known then.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=OpenPurpose,
    output=observations.Observed,
    handler=read_observed,
    project=lambda _tx, request: request.project,
    command=Command(("purpose", "observations"), fixed={"detail": "observations"}, without=("version",)),
)

OPERATION = Operation(
    name=NAME,
    summary="Read the theory of change: versions, nodes, edges, assumptions, indicators, health; or observations.",
    permission=Permission.PURPOSE_READ,
    effect=Effect.READ,
    input=OpenPurpose,
    output=Opened,
    handler=open_purpose,
    project=lambda _tx, request: request.project,
    variants=(OBSERVATIONS,),
    choose_variant=lambda request: OBSERVATIONS if request.detail == "observations" else None,
    tool=Tool("toc_open", Group.PURPOSE),
    command=Command(("purpose", "open")),
)
