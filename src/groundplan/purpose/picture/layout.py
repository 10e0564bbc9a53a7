"""The layout of a picture: cards in columns, columns in bands, and edges between and around them.

    columns → lanes → order → heights → routes → tray

The layout knows only sizes of cards and pairs of edges. Equal input gives an equal layout.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.model import EdgeName
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.columns import Columns, Ends, Lanes, Sizes, assign_lanes, generate_columns
from groundplan.purpose.picture.ordering import compute_min_column_height, order_elements, place_elements
from groundplan.purpose.picture.routes import (
    BackEdgeEnds,
    ColumnSpans,
    EdgeRoute,
    Positions,
    collect_back_edge_ends,
    compute_track_room,
    route_edges,
)
from groundplan.purpose.picture.tokens import BANDS, CardType

# Two columns are harder to read than one, so splitting a band must make the picture clearly larger.
SPLIT_GAIN_MIN = 1.06
TRAY_SHARE_MAX = 0.98  # of the width of the page, if the bands are narrower than the tray could be


class Box(NamedTuple):
    """The position of a card."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.y + self.height / 2


class Band(NamedTuple):
    """The area of the cards of one type."""

    node_type: CardType
    x: float
    width: float


class Tray(NamedTuple):
    """The area of the cards without links. Its title is above `y`."""

    y: float
    width: float
    height: float
    keys: list[str]


class Layout(NamedTuple):
    """The positions of all elements.

    Cards fill the height from 0; above it the bands have titles, from `-header`. Edges that lead back run above and
    below the bands, up to `-rise` and down to `depth`, where the tray ends if there is one. `text_scale` is how much
    larger titles and legend are than in a picture that fits a page.
    """

    boxes: dict[str, Box]
    bands: list[Band]
    routes: dict[EdgeName, EdgeRoute]
    width: float
    height: float
    depth: float
    rise: float
    header: float
    text_scale: float
    tray: Tray | None = None


class CardSize(NamedTuple):
    """A card to place."""

    node_type: CardType
    width: float
    height: float


def compute_layout(
    cards: Mapping[str, CardSize],
    edges: Sequence[EdgeName],
    causal: Sequence[EdgeName],
    bundles: Sequence[bool] | None = None,
    has_tray: bool = False,
    kept_in_bands: Collection[str] = (),
) -> Layout:
    """Place every card and route every edge. Only causal edges influence the placement of cards.

    Edges of one card run together. `bundles` groups them; by default all are one group. With `has_tray`, cards that
    nothing links are placed below the others, unless there is no edge at all; those `kept_in_bands` never are.
    """
    linked: Collection[str] = cards
    if has_tray and edges:
        linked = {*kept_in_bands, *(end for name in edges for end in (name.source, name.target))}
    numbers = {key: number for number, key in enumerate(key for key in cards if key in linked)}
    sizes = _collect_sizes([cards[key] for key in numbers])

    def ends(name: EdgeName) -> Ends:
        return numbers[name.source], numbers[name.target]

    pairs = [ends(name) for name in edges]
    together = [False] * len(pairs) if bundles is None else bundles
    columns, lanes, back, spans = _choose_columns(sizes, pairs, [ends(name) for name in causal], together)
    order = order_elements(lanes, len(columns.bands))
    middles, height = place_elements(lanes, order, sizes.heights)
    text_scale = _scale_text(spans.width, height)
    header = round(tokens.BAND_HEADER_HEIGHT * text_scale, 1)
    positions = Positions(spans, middles, -header, height)
    routes, top, depth = route_edges(positions, lanes, back, pairs, sizes)
    boxes = {}
    for key, number in numbers.items():
        left = spans.lefts[columns.of[number]]
        wide, tall = sizes.widths[number], sizes.heights[number]
        boxes[key] = Box(round(left, 1), round(middles[number] - tall / 2, 1), wide, tall)
    bands = _format_bands(columns, spans)
    by_name = dict(zip(edges, routes, strict=True))
    layout = Layout(boxes, bands, by_name, spans.width, height, depth, -top, header, text_scale)
    return _add_tray(layout, {key: size for key, size in cards.items() if key not in numbers})


def _add_tray(layout: Layout, cards: Mapping[str, CardSize]) -> Layout:
    """Return a layout with the unlinked cards below it, in rows by type, so that they do not stretch the columns."""
    if not cards:
        return layout
    step = max(card.width for card in cards.values()) + tokens.TRAY_GAP
    wanted = len(cards) * step - tokens.TRAY_GAP + 2 * tokens.BAND_PAD
    width = max(layout.width, min(wanted, tokens.PAGE_WIDTH * TRAY_SHARE_MAX - 2 * tokens.MARGIN))
    columns = max(1, int((width - 2 * tokens.BAND_PAD + tokens.TRAY_GAP) // step))
    # Cards of similar height stand in one row, so that rows have no holes.
    ordered = sorted(cards, key=lambda key: (BANDS.index(cards[key].node_type), cards[key].height))
    top = round(layout.depth + tokens.BAND_PAD + tokens.TRAY_DISTANCE + layout.header, 1)
    boxes: dict[str, Box] = {}
    y = 0.0
    for start in range(0, len(ordered), columns):
        row = ordered[start : start + columns]
        for place, key in enumerate(row):
            corner = round(tokens.BAND_PAD + place * step, 1), round(top + round(y, 1), 1)
            boxes[key] = Box(*corner, cards[key].width, cards[key].height)
        y += max(cards[key].height for key in row) + tokens.CARD_GAP
    width, height = round(width, 1), round(y - tokens.CARD_GAP, 1)
    return layout._replace(
        boxes=layout.boxes | boxes,
        width=max(layout.width, width),
        depth=top + height,
        tray=Tray(top, width, height, [*cards]),
    )


def _collect_sizes(cards: Sequence[CardSize]) -> Sizes:
    return Sizes(*(list(column) for column in zip(*cards, strict=True))) if cards else Sizes([], [], [])


def _scale_text(width: float, height: float) -> float:
    """Return the scale of titles and legend that keeps them readable when the whole picture fits a page."""
    fit = max((width + 2 * tokens.MARGIN) / tokens.PAGE_WIDTH, (height + tokens.AROUND_HEIGHT) / tokens.PAGE_HEIGHT)
    return round(min(max(fit, 1.0), tokens.TEXT_SCALE_MAX), 2)


def _choose_columns(
    sizes: Sizes, pairs: Sequence[Ends], causes: Sequence[Ends], bundles: Sequence[bool]
) -> tuple[Columns, Lanes, BackEdgeEnds, ColumnSpans]:
    """Return the column assignment with the largest scale on a page. A split of a band must gain enough."""
    best: tuple[Columns, Lanes, BackEdgeEnds, ColumnSpans] | None = None
    best_fit = 0.0
    for columns in generate_columns(sizes, causes):
        lanes = assign_lanes(columns.of, pairs, bundles)
        back = collect_back_edge_ends(lanes, pairs, len(columns.bands))
        spans = _compute_spans(columns, lanes, back, sizes)
        width = spans.width + 2 * tokens.MARGIN
        height = compute_min_column_height(lanes, len(columns.bands), sizes.heights) + tokens.AROUND_HEIGHT
        height += lanes.passing.count(None) * tokens.BACK_LANE
        fit = min(1.0, tokens.PAGE_WIDTH / width, tokens.PAGE_HEIGHT / height)
        if best is None or fit > best_fit * SPLIT_GAIN_MIN:
            best, best_fit = (columns, lanes, back, spans), fit
    assert best is not None  # noqa: S101 - there is at least one assignment
    return best


def _compute_spans(columns: Columns, lanes: Lanes, back: BackEdgeEnds, sizes: Sizes) -> ColumnSpans:
    """Return left and right of every column. The gap between columns grows with its edges and tracks."""
    widths = [0.0] * len(columns.bands)
    for number, column in enumerate(columns.of):
        widths[column] = max(widths[column], sizes.widths[number])
    between = [0] * len(widths)
    for source, _ in lanes.links:
        between[lanes.columns[source]] += 1
    bands = columns.bands
    begins = [not column or bands[column] is not bands[column - 1] for column in range(len(bands))]
    ends = [*begins[1:], True][: len(bands)]
    lefts: list[float] = []
    rights: list[float] = []
    x = 0.0
    for column, width in enumerate(widths):
        after = compute_track_room(len(back.starts[column - 1]), is_band_edge=ends[column - 1]) if column else 0.0
        before = compute_track_room(len(back.ends[column]), is_band_edge=begins[column])
        if column:
            more = min(between[column - 1] * tokens.GUTTER_PER_EDGE, tokens.GUTTER_MORE_MAX)
            gutter = more + (tokens.GUTTER_BETWEEN_BANDS if begins[column] else tokens.GUTTER)
            x += max(gutter, after + before + tokens.TRACKS_APART) if after or before else gutter
        else:
            x += max(tokens.BAND_PAD, before)
        lefts.append(round(x, 1))
        x += width
        rights.append(round(x, 1))
    last = compute_track_room(len(back.starts[-1]), is_band_edge=True) if widths else 0.0
    return ColumnSpans(lefts, rights, begins, ends, round(x + max(tokens.BAND_PAD, last), 1))


def _format_bands(columns: Columns, spans: ColumnSpans) -> list[Band]:
    """Return the bands, each as wide as its columns."""
    bands: list[Band] = []
    for node_type in dict.fromkeys(columns.bands):
        mine = [column for column, band in enumerate(columns.bands) if band is node_type]
        left, right = spans.lefts[mine[0]] - tokens.BAND_PAD, spans.rights[mine[-1]] + tokens.BAND_PAD
        bands.append(Band(node_type, round(left, 1), round(right - left, 1)))
    return bands
