"""Read a theory from JSON Canvas: cards are nodes, arrows are edges, and groups give the types of their cards.

An exported canvas keeps its keys, types, texts, edges and assumptions; a copied card becomes another node with its own
key. On any other canvas a card is a node named by its first line, a file by its name, a link by its address. A group
called `Outcomes`, or similar, makes outcomes of the cards whose centre is inside; without a group the type is inferred
from the arrows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.document import ITEMS_MAX
from groundplan.purpose.exchange.readers.builder import (
    DocumentBuilder,
    ReadDocument,
    UnreadableFile,
    decode_json,
    infer_node_types,
    orient_ends,
    parse_node_type,
    too_many,
)
from groundplan.purpose.exchange.writers.canvas_texts import AssumptionCard, Label, NodeCard, parse_card, parse_label
from groundplan.purpose.model import TEXT_BYTES_MAX, EdgeType, NodeType, RiskLevel

# Cards, or lines between them: nodes, assumptions with two lines each, and groups.
LISTED_MAX = 4 * ITEMS_MAX
CARD_CHARS_MAX = 4 * TEXT_BYTES_MAX  # a theory stores only a part of it
# Checks of whether a card is in a group: a thousand groups with the maximum number of cards.
COMPARISONS_MAX = 10_000_000

_RISKS = {"1": RiskLevel.HIGH, "2": RiskLevel.MEDIUM, "3": RiskLevel.MEDIUM, "4": RiskLevel.LOW}


class _Group(NamedTuple):
    node_type: NodeType
    left: float
    top: float
    right: float
    bottom: float

    @property
    def area(self) -> float:
        return (self.right - self.left) * (self.bottom - self.top)


class _Arrow(NamedTuple):
    source: str
    target: str
    edge_type: EdgeType
    mechanism: str | None


class _Canvas:
    """The items of a canvas, by id."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeCard] = {}
        self.assumptions: dict[str, AssumptionCard] = {}
        self.groups: dict[str, _Group | None] = {}  # None if its name gives no type
        self.middles: dict[str, tuple[float, float]] = {}
        self.arrows: list[_Arrow] = []
        self.lines_from: dict[str, list[str]] = {}  # lines to assumptions, with their sources
        self.lines_to: dict[str, list[tuple[str, Label]]] = {}  # lines from assumptions, with their targets


def read_canvas(raw: bytes) -> ReadDocument:
    """Read the theory on a canvas."""
    document = decode_json(raw)
    if not isinstance(document, dict):
        raise UnreadableFile("it is not a JSON Canvas, which is an object with nodes and edges")
    builder = DocumentBuilder()
    canvas = _Canvas()
    ids: set[str] = set()
    for card in _get_objects(document, "nodes"):
        id_ = card.get("id")
        if not isinstance(id_, str) or not id_:
            raise UnreadableFile("one of its nodes has no id; every node of a JSON Canvas needs one")
        if id_ in ids:
            raise UnreadableFile(f"two items are called {quote_text(id_)}; names must be unique", name=id_)
        ids.add(id_)
        _read_card(card, id_, canvas, builder)
        if max(len(canvas.nodes), len(canvas.assumptions)) > ITEMS_MAX:
            raise too_many("cards", ITEMS_MAX)
    for line in _get_objects(document, "edges"):
        _read_line(line, canvas, builder)
    _add_items(canvas, builder)
    return builder.build()


def _get_objects(document: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = document.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise UnreadableFile(f"it is not a JSON Canvas: {name} must be a list of objects")
    if len(listed) > LISTED_MAX:
        raise too_many(name, LISTED_MAX)
    return listed


def _read_card(stored: dict[str, Any], id_: str, canvas: _Canvas, builder: DocumentBuilder) -> None:
    box = _parse_box(stored)
    match stored.get("type"):
        case "group":
            label = _get_text(stored, "label")
            builder.skip("group", "only the type that its name gives to the cards inside is imported", label or id_)
            group_type = parse_node_type(label)
            canvas.groups[id_] = _Group(group_type, *box) if group_type is not None and box is not None else None
            return
        case "text":
            text = _get_text(stored, "text")
            if len(text) > CARD_CHARS_MAX:
                builder.skip("card", f"longer than {CARD_CHARS_MAX} characters; shortened", id_)
            card = parse_card(text[:CARD_CHARS_MAX])
        case "file":
            path = _get_text(stored, "file")
            name = path.rpartition("/")[2].removesuffix(".md")
            address = path + _get_text(stored, "subpath")
            card = NodeCard(name, address if address != name else "")
        case "link":
            card = NodeCard(_get_text(stored, "url"), "")
        case _:
            builder.skip("card", "of a type that JSON Canvas 1.0 does not have", id_)
            return
    if isinstance(card, AssumptionCard):
        # The text of the card decides; without it the colour that the author chose.
        risk = card.risk_level or _RISKS.get(_get_text(stored, "color"))
        canvas.assumptions[id_] = card._replace(risk_level=risk)
        return
    canvas.nodes[id_] = card
    if box is not None:
        left, top, right, bottom = box
        canvas.middles[id_] = (left + right) / 2, (top + bottom) / 2


def _read_line(line: dict[str, Any], canvas: _Canvas, builder: DocumentBuilder) -> None:
    source, target = _get_text(line, "fromNode"), _get_text(line, "toNode")
    edge_label = f"{source} -> {target}"
    if source in canvas.groups or target in canvas.groups:
        builder.skip("edge", "its source or target is a group", edge_label)
        return
    label = parse_label(_get_text(line, "label"))
    if target in canvas.assumptions and source not in canvas.assumptions:
        canvas.lines_from.setdefault(target, []).append(source)
        return
    if source in canvas.assumptions:
        canvas.lines_to.setdefault(source, []).append((target, label))
        return
    is_back, is_forth = line.get("fromEnd") == "arrow", line.get("toEnd") != "none"
    if is_back and not is_forth:
        source, target = target, source
    elif not is_forth:
        builder.skip("arrow", "the edge has none; the drawing direction is used", edge_label)
    ends = (target, source) if label.is_turned else (source, target)
    canvas.arrows.append(_Arrow(*ends, label.edge_type or EdgeType.CONTRIBUTES_TO, label.mechanism))
    if is_back and is_forth:
        canvas.arrows.append(_Arrow(target, source, EdgeType.FEEDBACK, None))


def _add_items(canvas: _Canvas, builder: DocumentBuilder) -> None:
    inside = _infer_types_by_group(canvas, builder)
    declared = {id_: inside.get(id_) for id_ in canvas.nodes}
    causal = (orient_ends(*arrow[:3]) for arrow in canvas.arrows if arrow.edge_type.is_causal)
    types = infer_node_types(builder, declared, causal)
    for id_, card in canvas.nodes.items():
        builder.add_node(id_, types[id_], card.title, description=card.description)
    between: dict[tuple[str, str], list[EdgeType]] = {}
    for arrow in canvas.arrows:
        if builder.add_edge(*arrow[:3], mechanism=arrow.mechanism):
            between.setdefault((arrow.source, arrow.target), []).append(arrow.edge_type)
    for id_, assumed in canvas.assumptions.items():
        _gather_assumption(id_, assumed, canvas, between, builder)


def _gather_assumption(
    id_: str,
    assumed: AssumptionCard,
    canvas: _Canvas,
    between: dict[tuple[str, str], list[EdgeType]],
    builder: DocumentBuilder,
) -> None:
    """Attach an assumption: to a node by a single line, or to an edge by a line to it and a line from it."""
    before, after = canvas.lines_from.get(id_, []), canvas.lines_to.get(id_, [])
    node, edge = None, None
    if len(before) == len(after) == 1:
        source, (target, label) = before[0], after[0]
        if label.is_turned:
            source, target = target, source
        there = between.get((source, target), [])
        only_type = there[0] if len(there) == 1 else EdgeType.CONTRIBUTES_TO
        edge = (source, target, label.edge_type or only_type)
    elif len(before) + len(after) == 1:
        node = before[0] if before else after[0][0]
    else:
        builder.skip("assumption", "it is connected to nothing, or to too many items", id_)
        return
    builder.add_assumption(id_, assumed.text, node=node, edge=edge, risk_level=assumed.risk_level)


def _infer_types_by_group(canvas: _Canvas, builder: DocumentBuilder) -> dict[str, NodeType]:
    """Return the type of each card in typed groups. The smallest group decides."""
    types: dict[str, NodeType] = {}
    looks_left = COMPARISONS_MAX
    outside = canvas.middles
    groups = sorted((group for group in canvas.groups.values() if group is not None), key=lambda group: group.area)
    for place, group in enumerate(groups):
        looks_left -= len(outside)
        if looks_left < 0:
            for unseen in groups[place:]:
                builder.skip("group", "too many to check which cards are inside", unseen.node_type)
            break
        inside = [
            id_ for id_, (x, y) in outside.items() if group.left <= x <= group.right and group.top <= y <= group.bottom
        ]
        types |= dict.fromkeys(inside, group.node_type)
        if inside:
            outside = {id_: middle for id_, middle in outside.items() if id_ not in types}
    return types


def _parse_box(card: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """Return left, top, right and bottom of a card; None if they are not given."""
    values: list[Any] = [card.get(name) for name in ("x", "y", "width", "height")]
    if not all(isinstance(value, int | float) for value in values):
        return None
    x, y, width, height = (float(value) for value in values)
    return x, y, x + width, y + height


def _get_text(item: dict[str, Any], name: str) -> str:
    """Return a text, empty if there is none."""
    value = item.get(name)
    return value if isinstance(value, str) else ""
