"""Where cards and links of a canvas are. All cards have one size, so a new title moves nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import lru_cache
from typing import NamedTuple

from groundplan.purpose.model import EdgeName, NodeType
from groundplan.purpose.picture.layout import Band, CardSize, Tray, compute_layout
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
    depth: float  # of the lowest link, or of the tray
    tray: Tray | None = None  # below the bands, with the cards that nothing links


def compute_positions(
    cards: Iterable[tuple[str, NodeType]], edges: Iterable[EdgeName], kept_in_bands: Collection[str] = ()
) -> CanvasPositions:
    """Return the positions of cards, each with its type, and of the edges between them.

    Cards that nothing links are in a tray below the bands, except those `kept_in_bands`.
    """
    return _compute_positions(tuple(cards), tuple(edges), tuple(kept_in_bands))


@lru_cache(maxsize=POSITIONS_KEPT)
def _compute_positions(
    cards: tuple[tuple[str, NodeType], ...], edges: tuple[EdgeName, ...], kept_in_bands: tuple[str, ...]
) -> CanvasPositions:
    sizes = {key: CardSize(node_type, CARD_WIDTH, CARD_HEIGHT) for key, node_type in cards}
    causal = [edge for edge in edges if edge.edge_type.is_causal]
    layout = compute_layout(sizes, edges, causal, has_tray=True, kept_in_bands=kept_in_bands)
    return CanvasPositions(
        {key: (box.x, box.y) for key, box in layout.boxes.items()},
        layout.bands,
        {name: LinkRoute(tuple(route.points), route.is_back) for name, route in layout.routes.items()},
        layout.width,
        layout.height,
        max((-y for route in layout.routes.values() for _, y in route.points), default=0.0),
        layout.depth,
        layout.tray,
    )
