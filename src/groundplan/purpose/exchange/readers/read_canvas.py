"""JSON Canvas as a theory: cards become nodes, arrows edges, and groups tell what lies inside of them.

Our own canvas comes back with its keys, types, texts, edges and assumptions; a card that was copied there is one more,
and gets a key of its own. On one that somebody drew, a card is a node, named by its first line; a file is one by its
name, a link by its address. A group called `Outcomes`, or something like it, makes outcomes of what has its middle
inside; where no group says it, the arrows do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from groundplan.kernel.wording import quote_text
from groundplan.purpose.exchange.formats.canvas_texts import AssumptionCard, NodeCard, read_card, read_label
from groundplan.purpose.exchange.formats.document import THINGS_MAX
from groundplan.purpose.exchange.readers.document_builder import (
    DocumentBuilder,
    ReadDocument,
    UnreadableFile,
    decode_json,
    too_many,
)
from groundplan.purpose.exchange.readers.type_inference import infer_node_types, parse_node_type
from groundplan.purpose.limits import TEXT_BYTES_MAX
from groundplan.purpose.model import EdgeType, NodeType, RiskLevel

# Of cards, or of lines between them: nodes, assumptions with two lines each, and groups.
LISTED_MAX = 4 * THINGS_MAX
CARD_CHARS_MAX = 4 * TEXT_BYTES_MAX  # of which a theory keeps no more than a part
# How often it is asked whether a card lies in a group: a thousand groups around as many cards as there may be.
LOOKS_MAX = 10_000_000

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
    """What is on a canvas, by id."""

    def __init__(self) -> None:
        self.nodes: dict[str, NodeCard] = {}
        self.assumptions: dict[str, AssumptionCard] = {}
        self.groups: dict[str, _Group | None] = {}  # None for one that tells no type
        self.middles: dict[str, tuple[float, float]] = {}
        self.arrows: list[_Arrow] = []
        self.lines_from: dict[str, list[str]] = {}  # to assumptions, and from what
        self.lines_to: dict[str, list[tuple[str, EdgeType | None]]] = {}  # from assumptions, and to what


def read_canvas(raw: bytes) -> ReadDocument:
    """The theory on a canvas.

    Raises:
        UnreadableFile: it is no JSON Canvas, two things on it have one id, or there are far too many.
    """
    found = decode_json(raw)
    if not isinstance(found, dict):
        raise UnreadableFile("it is not a JSON Canvas, which is an object with nodes and edges")
    gathering = DocumentBuilder()
    canvas = _Canvas()
    ids: set[str] = set()
    for one in _objects(found, "nodes"):
        id_ = one.get("id")
        if not isinstance(id_, str) or not id_:
            raise UnreadableFile("one of its nodes has no id; every node of a JSON Canvas needs one")
        if id_ in ids:
            raise UnreadableFile(f"two things are called {quote_text(id_)}; names must be unique", name=id_)
        ids.add(id_)
        _take_card(one, id_, canvas, gathering)
        if max(len(canvas.nodes), len(canvas.assumptions)) > THINGS_MAX:
            raise too_many("cards", THINGS_MAX)
    for one in _objects(found, "edges"):
        _take_line(one, canvas, gathering)
    _gather(canvas, gathering)
    return gathering.done()


def _objects(found: dict[str, Any], name: str) -> list[dict[str, Any]]:
    listed = found.get(name) or []
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise UnreadableFile(f"it is not a JSON Canvas: {name} must be a list of objects")
    if len(listed) > LISTED_MAX:
        raise too_many(name, LISTED_MAX)
    return listed


def _take_card(one: dict[str, Any], id_: str, canvas: _Canvas, gathering: DocumentBuilder) -> None:
    box = _box(one)
    match one.get("type"):
        case "group":
            label = _text(one, "label")
            gathering.skip("group", "only the type that its name gives to the cards inside is imported", label or id_)
            told = parse_node_type(label)
            canvas.groups[id_] = _Group(told, *box) if told is not None and box is not None else None
            return
        case "text":
            text = _text(one, "text")
            if len(text) > CARD_CHARS_MAX:
                gathering.skip("card", f"longer than {CARD_CHARS_MAX} characters; shortened", id_)
            card = read_card(text[:CARD_CHARS_MAX])
        case "file":
            path = _text(one, "file")
            name = path.rpartition("/")[2].removesuffix(".md")
            whole = path + _text(one, "subpath")
            card = NodeCard(name, whole if whole != name else "")
        case "link":
            card = NodeCard(_text(one, "url"), "")
        case _:
            gathering.skip("card", "of a type that JSON Canvas 1.0 does not have", id_)
            return
    if isinstance(card, AssumptionCard):
        # What the card says counts; the colour of one that does not say it is what somebody saw when they chose it.
        risk = card.risk_level or _RISKS.get(_text(one, "color"))
        canvas.assumptions[id_] = card._replace(risk_level=risk)
        return
    canvas.nodes[id_] = card
    if box is not None:
        left, top, right, bottom = box
        canvas.middles[id_] = (left + right) / 2, (top + bottom) / 2


def _take_line(one: dict[str, Any], canvas: _Canvas, gathering: DocumentBuilder) -> None:
    source, target = _text(one, "fromNode"), _text(one, "toNode")
    shown = f"{source} -> {target}"
    if source in canvas.groups or target in canvas.groups:
        gathering.skip("edge", "its source or target is a group", shown)
        return
    edge_type, mechanism = read_label(_text(one, "label"))
    if target in canvas.assumptions and source not in canvas.assumptions:
        canvas.lines_from.setdefault(target, []).append(source)
        return
    if source in canvas.assumptions:
        canvas.lines_to.setdefault(source, []).append((target, edge_type))
        return
    is_back, is_forth = one.get("fromEnd") == "arrow", one.get("toEnd") != "none"
    if is_back and not is_forth:
        source, target = target, source
    elif not is_forth:
        gathering.skip("arrow", "the edge has none; the drawing direction is used", shown)
    canvas.arrows.append(_Arrow(source, target, edge_type or EdgeType.CONTRIBUTES_TO, mechanism))
    if is_back and is_forth:
        canvas.arrows.append(_Arrow(target, source, EdgeType.FEEDBACK, None))


def _gather(canvas: _Canvas, gathering: DocumentBuilder) -> None:
    inside = _types_by_group(canvas, gathering)
    said = {id_: inside.get(id_) for id_ in canvas.nodes}
    causal = ((one.source, one.target) for one in canvas.arrows if one.edge_type is not EdgeType.FEEDBACK)
    types = infer_node_types(gathering, said, causal)
    for id_, card in canvas.nodes.items():
        gathering.node(id_, types[id_], card.title, description=card.description)
    between: dict[tuple[str, str], list[EdgeType]] = {}
    for one in canvas.arrows:
        if gathering.edge(*one[:3], mechanism=one.mechanism):
            between.setdefault((one.source, one.target), []).append(one.edge_type)
    for id_, assumed in canvas.assumptions.items():
        _gather_assumption(id_, assumed, canvas, between, gathering)


def _gather_assumption(
    id_: str,
    assumed: AssumptionCard,
    canvas: _Canvas,
    between: dict[tuple[str, str], list[EdgeType]],
    gathering: DocumentBuilder,
) -> None:
    """One line joins it to a node; one line to it and one from it join it to an edge."""
    before, after = canvas.lines_from.get(id_, []), canvas.lines_to.get(id_, [])
    node, edge = None, None
    if len(before) == len(after) == 1:
        source, (target, edge_type) = before[0], after[0]
        if edge_type is None:
            there = between.get((source, target), [])
            edge_type = there[0] if len(there) == 1 else EdgeType.CONTRIBUTES_TO
        edge = (source, target, edge_type)
    elif len(before) + len(after) == 1:
        node = before[0] if before else after[0][0]
    else:
        gathering.skip("assumption", "it is connected to nothing, or to too many items", id_)
        return
    gathering.assumption(id_, assumed.text, node=node, edge=edge, risk_level=assumed.risk_level)


def _types_by_group(canvas: _Canvas, gathering: DocumentBuilder) -> dict[str, NodeType]:
    """Of each card that lies in groups that tell a type, the type that the smallest tells."""
    found: dict[str, NodeType] = {}
    looks_left = LOOKS_MAX
    outside = canvas.middles
    groups = sorted((group for group in canvas.groups.values() if group is not None), key=lambda one: one.area)
    for place, group in enumerate(groups):
        looks_left -= len(outside)
        if looks_left < 0:
            for unseen in groups[place:]:
                gathering.skip("group", "too many to check which cards are inside", unseen.node_type)
            break
        inside = [
            id_ for id_, (x, y) in outside.items() if group.left <= x <= group.right and group.top <= y <= group.bottom
        ]
        found |= dict.fromkeys(inside, group.node_type)
        if inside:
            outside = {id_: middle for id_, middle in outside.items() if id_ not in found}
    return found


def _box(one: dict[str, Any]) -> tuple[float, float, float, float] | None:
    """Left, top, right and bottom, if they are said."""
    values: list[Any] = [one.get(name) for name in ("x", "y", "width", "height")]
    if not all(isinstance(value, int | float) for value in values):
        return None
    x, y, width, height = (float(value) for value in values)
    return x, y, x + width, y + height


def _text(one: dict[str, Any], name: str) -> str:
    """A text, empty where there is none."""
    value = one.get(name)
    return value if isinstance(value, str) else ""
