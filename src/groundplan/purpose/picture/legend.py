"""Draw the legend of the shapes and lines that occur below the picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from groundplan.purpose.model import AssumptionStatus, Confidence, EdgeType, PurposeEdge, RiskLevel
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import choose_line_style, draw_head
from groundplan.purpose.picture.badges import draw_sign
from groundplan.purpose.picture.card_types import CardType, GroupSubject, WorkType
from groundplan.purpose.picture.picture_model import Arrow, Card, Emphasis, Picture
from groundplan.purpose.picture.shapes import build_card_path, build_risk_path, build_status_path, format_number
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import measure_width

ROW_HEIGHT = 24
ENTRY_GAP = 22  # between two entries
SYMBOL_WIDTH = 30  # width of one symbol
FEEDBACK = "feedback"
SERVES = "serves, or is part of"
NO_CONFIDENCE = "confidence not said"
_LINE_NAMES = (*(f"{one} confidence" for one in reversed(Confidence)), NO_CONFIDENCE, FEEDBACK)

_TYPE_NAMES: dict[CardType, str] = dict([(WorkType.WORK, "work"), *tokens.SINGULAR_NAMES.items()])
_HEAD_NAMES = {
    EdgeType.CONTRIBUTES_TO: "contributes to",
    EdgeType.CAUSES: "causes",
    EdgeType.DEPENDS_ON: "is needed by",
}
_CHANGE_NAMES = {Emphasis.ADDED: "added", Emphasis.REMOVED: "removed", Emphasis.CHANGED: "changed"}

Symbol = Callable[[float, float], str]


class LegendBlock(NamedTuple):
    """A block below the picture, and its lower end."""

    svg: str
    bottom: float


def draw_legend(
    picture: Picture, left: float, top: float, width: float, paint: Paint, scale: float = 1.0
) -> LegendBlock:
    """Draw the legend in as many rows as needed, `scale` times as large as in a picture that fits a page."""
    parts: list[str] = []
    room = width / scale
    x, y = 0.0, ROW_HEIGHT / 2
    for symbol, name in _list_entries(picture, paint):
        wide = SYMBOL_WIDTH + measure_width(name, tokens.LEGEND_PX) + ENTRY_GAP
        if x > 0 and x + wide > room:
            x, y = 0.0, y + ROW_HEIGHT
        parts.append(symbol(x, y))
        parts.append(
            f'<text x="{format_number(x + SYMBOL_WIDTH)}" y="{format_number(y + 4)}" font-size="{tokens.LEGEND_PX}" '
            f'fill="{paint("subtext")}">{name}</text>'
        )
        x += wide
    if not parts:
        return LegendBlock("", top)
    larger = f" scale({format_number(scale)})" if scale > 1 else ""
    where = f"translate({format_number(left)} {format_number(top)}){larger}"
    svg = f'<g class="gp-legend" transform="{where}">{"".join(parts)}</g>'
    return LegendBlock(svg, top + (y + ROW_HEIGHT / 2) * scale)


def _list_entries(picture: Picture, paint: Paint) -> Iterator[tuple[Symbol, str]]:
    for node_type, name in _TYPE_NAMES.items():
        if picture.list_cards_of_type(node_type):
            yield _make_card_symbol(node_type, paint), name
    if any(isinstance(card.node, GroupSubject) and card.node.size > 1 for card in picture.cards.values()):
        yield _make_group_symbol(paint), "several in one card"
    things: list[Card | Arrow] = [*picture.cards.values(), *picture.arrows]
    badges = [badge for thing in things for badge in thing.badges]
    risks = {badge.risk for badge in badges}
    for risk, name in tokens.RISK_NAMES.items():
        if risk in risks:
            yield _make_badge_symbol(risk, paint), f"assumption, {name}"
    statuses = {badge.status for badge in badges}
    for status, name in tokens.STATUS_NAMES.items():
        if status in statuses:
            yield _make_status_symbol(status, paint), name
    of_work = [arrow for arrow in picture.arrows if picture.cards[arrow.edge.source].node.node_type is WorkType.WORK]
    causal = [arrow for arrow in picture.arrows if arrow not in of_work] if of_work else picture.arrows
    if of_work:
        yield _make_line_symbol(of_work[0].edge, paint), SERVES
    if any(arrow.links > 1 for arrow in causal):
        yield _make_line_symbol(causal[0].edge, paint), "heavier: more links"
        causal = [arrow for arrow in causal if arrow.edge.confidence or arrow.edge.edge_type is EdgeType.FEEDBACK]
    lines = {_name_line(arrow.edge): arrow.edge for arrow in reversed(causal)}
    for name in _LINE_NAMES:
        if name in lines:
            yield _make_line_symbol(lines[name], paint), name
    types = {arrow.edge.edge_type for arrow in causal}
    for edge_type, name in _HEAD_NAMES.items():
        if edge_type in types and len(types - {EdgeType.FEEDBACK}) > 1:
            yield _make_head_symbol(edge_type, paint), name
    emphases = {thing.emphasis for thing in things}
    for emphasis, name in _CHANGE_NAMES.items():
        if emphasis in emphases:
            yield _make_change_symbol(emphasis, paint), name


def _name_line(edge: PurposeEdge) -> str:
    if edge.edge_type is EdgeType.FEEDBACK:
        return FEEDBACK
    return f"{edge.confidence} confidence" if edge.confidence else NO_CONFIDENCE


def _make_card_symbol(node_type: CardType, paint: Paint) -> Symbol:
    hue = tokens.CARD_HUES[node_type]

    def symbol(x: float, y: float) -> str:
        return (
            f'<path d="{build_card_path(node_type, x, y - 8, 24, 16)}" fill="{paint(f"{hue}-fill")}" '
            f'stroke="{paint(f"{hue}-line")}" stroke-width="1.5"/>'
        )

    return symbol


def _make_group_symbol(paint: Paint) -> Symbol:
    """Draw the outlines of two cards, one behind the other."""

    def symbol(x: float, y: float) -> str:
        fill, line = paint("muted-fill"), paint("line")
        return "".join(
            f'<rect x="{format_number(x + offset)}" y="{format_number(y - 8 + offset)}" width="20" height="13" '
            f'fill="{fill}" stroke="{line}"/>'
            for offset in (4, 0)
        )

    return symbol


def _make_badge_symbol(risk: RiskLevel | None, paint: Paint) -> Symbol:
    """Draw the shape of a risk without a sign."""
    colour = tokens.RISK_COLOURS[risk]
    return lambda x, y: f'<path d="{build_risk_path(risk, x + 14, y, tokens.BADGE)}" fill="{paint(colour)}"/>'


def _make_status_symbol(status: AssumptionStatus, paint: Paint) -> Symbol:
    """Draw the sign of a status without a shape."""
    return lambda x, y: (
        f'<path d="{build_status_path(status, x + 14, y)}" fill="none" stroke="{paint("subtext")}" stroke-width="1.8" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _make_line_symbol(edge: PurposeEdge, paint: Paint) -> Symbol:
    line = choose_line_style(edge)

    def symbol(x: float, y: float) -> str:
        dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
        return (
            f'<path d="M{format_number(x)} {format_number(y)}h24" stroke="{paint(line.colour)}" '
            f'stroke-width="{format_number(line.width)}"{dash}/>'
        )

    return symbol


def _make_head_symbol(edge_type: EdgeType, paint: Paint) -> Symbol:
    return lambda x, y: (
        f'<path d="M{format_number(x)} {format_number(y)}h16" stroke="{paint("line")}" stroke-width="1.7"/>'
        + draw_head(edge_type, (x + 24, y), paint("line"), paint)
    )


def _make_change_symbol(emphasis: Emphasis, paint: Paint) -> Symbol:
    return lambda x, y: draw_sign(emphasis, x + 14, y, paint)
