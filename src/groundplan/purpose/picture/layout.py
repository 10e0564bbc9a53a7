"""The layout of a picture: cards in columns, columns in bands, edges between and around them.

    columns → lanes → order → heights → routes

The layout knows only sizes of cards and pairs of edges. Equal input gives an equal layout.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from groundplan.purpose.model import EdgeName
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.card_types import CardType
from groundplan.purpose.picture.layout_steps.columns import Columns, Ends, Sizes, generate_columns
from groundplan.purpose.picture.layout_steps.lanes import Lanes, assign_lanes
from groundplan.purpose.picture.layout_steps.ordering import order_elements
from groundplan.purpose.picture.layout_steps.placing import compute_packed_height, place_elements
from groundplan.purpose.picture.layout_steps.routing import ColumnSpans, EdgeRoute, route_edges

# Two columns are harder to read than one, so splitting a band must make the picture clearly larger.
SPLIT_GAIN_MIN = 1.06


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


class Layout(NamedTuple):
    """The positions of all elements. Cards fill `height`; edges that lead back run below it, down to `depth`."""

    boxes: dict[str, Box]
    bands: list[Band]
    routes: dict[EdgeName, EdgeRoute]
    width: float
    height: float
    depth: float


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
) -> Layout:
    """Place every card and route every edge. Only causal edges influence the positions of cards.

    Edges of one card run together. `bundles` groups them; by default all are one group.
    """
    numbers = {key: number for number, key in enumerate(cards)}
    sizes = Sizes(*(list(column) for column in zip(*cards.values(), strict=True))) if cards else Sizes([], [], [])

    def ends(name: EdgeName) -> Ends:
        return numbers[name.source], numbers[name.target]

    pairs = [ends(name) for name in edges]
    together = [False] * len(pairs) if bundles is None else bundles
    columns, lanes, stage = _choose_columns(sizes, pairs, [ends(name) for name in causal], together)
    order = order_elements(lanes, len(columns.bands))
    middles, height = place_elements(lanes, order, sizes.heights)
    routes, depth = route_edges(stage, lanes, middles, pairs, sizes, height)
    boxes = {}
    for key, number in numbers.items():
        left = stage.lefts[columns.of[number]]
        wide, tall = sizes.widths[number], sizes.heights[number]
        boxes[key] = Box(round(left, 1), round(middles[number] - tall / 2, 1), wide, tall)
    return Layout(
        boxes, _format_bands(columns, stage), dict(zip(edges, routes, strict=True)), stage.width, height, depth
    )


def _choose_columns(
    sizes: Sizes, pairs: Sequence[Ends], causes: Sequence[Ends], bundles: Sequence[bool]
) -> tuple[Columns, Lanes, ColumnSpans]:
    """Return the column assignment that is largest on a page, if that justifies splitting a band."""
    best: tuple[Columns, Lanes, ColumnSpans] | None = None
    best_fit = 0.0
    for columns in generate_columns(sizes, causes):
        lanes = assign_lanes(columns.of, pairs, bundles)
        stage = _compute_spans(columns, lanes, sizes)
        width = stage.width + 2 * tokens.MARGIN
        height = compute_packed_height(lanes, len(columns.bands), sizes.heights) + tokens.AROUND_HEIGHT
        height += lanes.passing.count(None) * tokens.BACK_LANE
        fit = min(1.0, tokens.PAGE_WIDTH / width, tokens.PAGE_HEIGHT / height)
        if best is None or fit > best_fit * SPLIT_GAIN_MIN:
            best, best_fit = (columns, lanes, stage), fit
    assert best is not None  # noqa: S101 - there is at least one assignment
    return best


def _compute_spans(columns: Columns, lanes: Lanes, sizes: Sizes) -> ColumnSpans:
    """Return left and right of every column. The gap between columns grows with the number of edges."""
    widths = [0.0] * len(columns.bands)
    for number, column in enumerate(columns.of):
        widths[column] = max(widths[column], sizes.widths[number])
    between = [0] * len(widths)
    for source, _ in lanes.links:
        between[lanes.columns[source]] += 1
    lefts: list[float] = []
    rights: list[float] = []
    x = float(tokens.BAND_PAD)
    for column, width in enumerate(widths):
        if column:
            same = columns.bands[column] is columns.bands[column - 1]
            more = min(between[column - 1] * tokens.GUTTER_PER_EDGE, tokens.GUTTER_MORE_MAX)
            x += more + (tokens.GUTTER if same else tokens.GUTTER_BETWEEN_BANDS)
        lefts.append(round(x, 1))
        x += width
        rights.append(round(x, 1))
    return ColumnSpans(lefts, rights, round(x + tokens.BAND_PAD, 1))


def _format_bands(columns: Columns, spans: ColumnSpans) -> list[Band]:
    """Return the bands, each as wide as its columns."""
    found: list[Band] = []
    for node_type in dict.fromkeys(columns.bands):
        mine = [column for column, band in enumerate(columns.bands) if band is node_type]
        left, right = spans.lefts[mine[0]] - tokens.BAND_PAD, spans.rights[mine[-1]] + tokens.BAND_PAD
        found.append(Band(node_type, round(left, 1), round(right - left, 1)))
    return found
