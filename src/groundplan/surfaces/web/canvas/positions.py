"""Where cards and links of a canvas are. All cards of a type have one size, so a new title moves nothing."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from groundplan.purpose.model import EdgeName, NodeType
from groundplan.purpose.picture.layout import CardSize, Layout, compute_layout

CARD_WIDTH = 196
CARD_HEIGHT = 78
LAYOUTS_KEPT = 32  # the last ones of this process; one of 300 cards takes 0.1 s to compute and 0.2 MB to keep


def place(cards: Iterable[tuple[str, NodeType]], edges: Iterable[EdgeName]) -> Layout:
    """Return the layout of cards, each with its type, and of the edges between them."""
    return _place(tuple(cards), tuple(edges))


@lru_cache(maxsize=LAYOUTS_KEPT)
def _place(cards: tuple[tuple[str, NodeType], ...], edges: tuple[EdgeName, ...]) -> Layout:
    sizes = {key: CardSize(node_type, CARD_WIDTH, CARD_HEIGHT) for key, node_type in cards}
    return compute_layout(sizes, edges, [edge for edge in edges if edge.edge_type.is_causal])
