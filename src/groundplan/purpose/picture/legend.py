"""Draw the legend of the shapes and lines that occur, and the waivers, below the picture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from groundplan.purpose.model import AssumptionStatus, Confidence, EdgeType, PurposeEdge, RiskLevel
from groundplan.purpose.observing.observation_rows import Waiver
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import choose_line_style, draw_head
from groundplan.purpose.picture.badges import draw_sign
from groundplan.purpose.picture.card_types import CardType, WorkType
from groundplan.purpose.picture.picture_model import Arrow, Card, Emphasis, Picture
from groundplan.purpose.picture.shapes import build_card_path, build_risk_path, build_status_path, format_number
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import escape_markup, measure_width, wrap_to_width

ROW_HEIGHT = 24
ENTRY_GAP = 22  # between two entries
SYMBOL_WIDTH = 30  # width of one symbol
WAIVER_LINES_MAX = 1_000  # more than the longest reason needs, so a waiver is never cut
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


def draw_legend(picture: Picture, left: float, top: float, width: float, paint: Paint) -> LegendBlock:
    """Draw the legend in as many rows as needed."""
    parts: list[str] = []
    x, y = left, top + ROW_HEIGHT / 2
    for symbol, name in _list_entries(picture, paint):
        wide = SYMBOL_WIDTH + measure_width(name, tokens.LEGEND_PX) + ENTRY_GAP
        if x > left and x + wide > left + width:
            x, y = left, y + ROW_HEIGHT
        parts.append(symbol(x, y))
        parts.append(
            f'<text x="{format_number(x + SYMBOL_WIDTH)}" y="{format_number(y + 4)}" font-size="{tokens.LEGEND_PX}" '
            f'fill="{paint("subtext")}">{name}</text>'
        )
        x += wide
    return LegendBlock(f'<g class="gp-legend">{"".join(parts)}</g>', y + ROW_HEIGHT / 2 if parts else top)


def draw_waivers(waivers: list[Waiver], left: float, top: float, width: float, paint: Paint) -> LegendBlock:
    """Draw the waivers. A waiver is the only way past a check, so no picture hides it."""
    parts: list[str] = []
    y = top + (tokens.LEGEND_PX if waivers else 0)
    for waiver in waivers:
        about = f" ({', '.join(waiver.refs)})" if waiver.refs else ""
        said = f"Waived until {waiver.due} by {waiver.owner}: {waiver.code}{about}. {waiver.reason}"
        for line in wrap_to_width(said, tokens.LEGEND_PX, width, WAIVER_LINES_MAX):
            y += tokens.LEGEND_PX + 5
            parts.append(
                f'<text x="{format_number(left)}" y="{format_number(y)}" font-size="{tokens.LEGEND_PX}" '
                f'fill="{paint("subtext")}">{escape_markup(line)}</text>'
            )
    return LegendBlock(f'<g class="gp-waivers">{"".join(parts)}</g>' if parts else "", y)


def _list_entries(picture: Picture, paint: Paint) -> Iterator[tuple[Symbol, str]]:
    for node_type, name in _TYPE_NAMES.items():
        if picture.list_cards_of_type(node_type):
            yield _make_card_symbol(node_type, paint), name
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
