"""Where cards and links of a canvas are. All cards have one size, so a new title moves nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from groundplan.purpose.model import EdgeName, NodeType
from groundplan.purpose.picture.layout import Band, CardSize, compute_layout
from groundplan.purpose.picture.layout_steps.routing import Point

CARD_WIDTH = 196
CARD_HEIGHT = 78
POSITIONS_KEPT = 32  # the last ones of this process; those of 300 cards take 0.1 s to compute and 0.2 MB to keep


class LinkRoute(NamedTuple):
    """The points of a link, and whether it leads back."""

    points: tuple[Point, ...]
    is_back: bool


class CanvasPositions(NamedTuple):
    """Where everything is."""

    cards: dict[str, Point]  # their upper left corners
    bands: list[Band]
    routes: dict[EdgeName, LinkRoute]
    width: float
    height: float  # of the bands
    rise: float  # of the highest link, above the first row
    depth: float  # of the lowest link


def place(cards: Iterable[tuple[str, NodeType]], edges: Iterable[EdgeName]) -> CanvasPositions:
    """Return the positions of cards, each with its type, and of the edges between them."""
    return _place(tuple(cards), tuple(edges))


@lru_cache(maxsize=POSITIONS_KEPT)
def _place(cards: tuple[tuple[str, NodeType], ...], edges: tuple[EdgeName, ...]) -> CanvasPositions:
    sizes = {key: CardSize(node_type, CARD_WIDTH, CARD_HEIGHT) for key, node_type in cards}
    layout = compute_layout(sizes, edges, [edge for edge in edges if edge.edge_type.is_causal])
    return CanvasPositions(
        {key: (box.x, box.y) for key, box in layout.boxes.items()},
        layout.bands,
        {name: LinkRoute(tuple(route.points), route.is_back) for name, route in layout.routes.items()},
        layout.width,
        layout.height,
        max((-y for route in layout.routes.values() for _, y in route.points), default=0.0),
        layout.depth,
    )
