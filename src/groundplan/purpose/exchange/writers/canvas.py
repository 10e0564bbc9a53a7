"""Write a theory as JSON Canvas 1.0, for Obsidian: a group per band, a card per node, and an arrow per edge.

Assumptions are small cards in the colour of their risk below their node, connected to it by a line without an arrow.
Lines cannot be connected to lines, so an assumption on an edge is placed below the cause, between two lines: one from
the cause to the card, one from the card to the effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, NamedTuple

import msgspec

from groundplan.purpose.exchange.document import INDENT_CHARS
from groundplan.purpose.exchange.theory import Theory
from groundplan.purpose.exchange.writers.canvas_texts import format_assumption, format_edge_label, format_node
from groundplan.purpose.model import Assumption, Content, EdgeName, NodeType, PurposeEdge, RiskLevel
from groundplan.purpose.picture.layout import Band, CardSize, compute_layout
from groundplan.purpose.picture.tokens import BAND_HEADER_HEIGHT, BAND_NAMES, BAND_PAD, COLOURS, TYPE_HUES

CARD_WIDTH = 340
ASSUMPTION_WIDTH = 300
LABEL_ROOM = 180  # between a card and the next one to the right, for labels of arrows
GAP = 16
LINE_CHARS = 38  # that fit on a line of a card
LINE_HEIGHT = 24
PADDING = 36
HEIGHT_MAX = 420  # a longer card can be scrolled

# The presets red, orange and green are for risk; types use other colours that are legible on light and dark.
RISK_COLOURS = {RiskLevel.HIGH: "1", RiskLevel.MEDIUM: "2", RiskLevel.LOW: "4"}
TYPE_COLOURS = {node_type: COLOURS[f"{hue}-line"].dark for node_type, hue in TYPE_HUES.items()}


class _Box(NamedTuple):
    x: int
    y: int
    width: int
    height: int


class _CanvasPositions(NamedTuple):
    cards: dict[str, _Box]  # of nodes and assumptions, by key
    bands: dict[NodeType, _Box]


def write_canvas(theory: Theory) -> str:
    """Write a theory as a canvas."""
    content = theory.content
    places = _place_cards(content)
    plain = {
        "nodes": [*_build_groups(places), *_build_cards(content, places)],
        "edges": [*_build_arrows(content), *_build_lines(content, places)],
    }
    return msgspec.json.format(msgspec.json.encode(plain), indent=INDENT_CHARS).decode() + "\n"


def _place_cards(content: Content) -> _CanvasPositions:
    """Place nodes as in the picture. Below each is room for its assumptions and those of its outgoing edges."""
    below: dict[str, list[Assumption]] = {key: [] for key in content.nodes}
    for assumption in content.assumptions.values():
        home = assumption.node if assumption.edge is None else content.orient(assumption.edge).source
        if home in below:
            below[home].append(assumption)
    heights = {key: _compute_height(format_node(node)) for key, node in content.nodes.items()}
    heights |= {
        assumption.key: _compute_height(format_assumption(assumption))
        for under in below.values()
        for assumption in under
    }
    sizes = {
        key: CardSize(
            content.nodes[key].node_type,
            CARD_WIDTH + LABEL_ROOM,
            heights[key] + sum(heights[assumption.key] + GAP for assumption in under),
        )
        for key, under in below.items()
    }
    edges = _find_complete_edges(content)
    arrows = [content.orient(edge.name) for edge in edges]
    layout = compute_layout(sizes, arrows, [arrow for arrow in arrows if arrow.edge_type.is_causal])
    cards: dict[str, _Box] = {}
    for key, under in below.items():
        x, y = round(layout.boxes[key].x), round(layout.boxes[key].y)
        cards[key] = _Box(x, y, CARD_WIDTH, heights[key])
        y += heights[key] + GAP
        for assumption in under:
            cards[assumption.key] = _Box(
                x + CARD_WIDTH - ASSUMPTION_WIDTH, y, ASSUMPTION_WIDTH, heights[assumption.key]
            )
            y += heights[assumption.key] + GAP
    return _CanvasPositions(
        cards, {NodeType(band.node_type): _to_band_box(band, layout.height) for band in layout.bands}
    )


def _to_band_box(band: Band, height: float) -> _Box:
    return _Box(round(band.x), -BAND_HEADER_HEIGHT, round(band.width), ceil(height) + BAND_HEADER_HEIGHT + BAND_PAD)


def _compute_height(text: str) -> int:
    lines = sum(max(1, ceil(len(line) / LINE_CHARS)) for line in text.splitlines())
    return min(PADDING + lines * LINE_HEIGHT, HEIGHT_MAX)


def _find_complete_edges(content: Content) -> list[PurposeEdge]:
    """Return the edges whose ends are both in the version."""
    return [edge for edge in content.edges if edge.source in content.nodes and edge.target in content.nodes]


def _build_groups(positions: _CanvasPositions) -> Iterator[dict[str, Any]]:
    for node_type, box in positions.bands.items():
        named = {"id": f"band {node_type}", "type": "group", "label": BAND_NAMES[node_type]}
        yield {**named, **box._asdict(), "color": TYPE_COLOURS[node_type]}


def _build_cards(content: Content, positions: _CanvasPositions) -> Iterator[dict[str, Any]]:
    for node in content.nodes.values():
        card = {"id": node.key, "type": "text", "text": format_node(node)}
        yield {**card, **positions.cards[node.key]._asdict(), "color": TYPE_COLOURS[node.node_type]}
    for assumption in content.assumptions.values():
        if assumption.key in positions.cards:
            card = {"id": assumption.key, "type": "text", "text": format_assumption(assumption)}
            colour = {} if assumption.risk_level is None else {"color": RISK_COLOURS[assumption.risk_level]}
            yield {**card, **positions.cards[assumption.key]._asdict(), **colour}


def _build_arrows(content: Content) -> Iterator[dict[str, Any]]:
    for edge in _find_complete_edges(content):
        cause, effect, _ = content.orient(edge.name)
        label = format_edge_label(edge, is_turned=edge.name in content.turned)
        # An edge that leads back runs over the top, where it covers no other arrow.
        sides = ("right", "left") if edge.is_causal else ("top", "top")
        yield {
            "id": str(edge.name),
            "fromNode": cause,
            "fromSide": sides[0],
            "toNode": effect,
            "toSide": sides[1],
            **({} if label is None else {"label": label}),
        }


def _build_lines(content: Content, positions: _CanvasPositions) -> Iterator[dict[str, Any]]:
    """Yield the lines between assumptions and their nodes or edges."""
    for assumption in content.assumptions.values():
        if assumption.key not in positions.cards:
            continue
        if assumption.edge is None:
            yield _build_line(assumption.key, str(assumption.node))
            continue
        cause, effect, _ = content.orient(assumption.edge)
        if effect in positions.cards:
            yield _build_line(cause, assumption.key)
            label = _build_type_label(assumption.edge, is_turned=assumption.edge in content.turned)
            yield {**_build_line(assumption.key, effect), "fromSide": "right", **label}


def _build_line(source: str, target: str) -> dict[str, Any]:
    """Return a line on the left of the cards, where it passes the cards between its ends."""
    ends = {"fromNode": source, "fromSide": "left", "toNode": target, "toSide": "left"}
    return {"id": f"{source}->{target}", **ends, "toEnd": "none"}


def _build_type_label(name: EdgeName, *, is_turned: bool) -> dict[str, str]:
    """Return the label that distinguishes parallel edges."""
    label = format_edge_label(PurposeEdge("", *name), is_turned=is_turned)
    return {} if label is None else {"label": label}
