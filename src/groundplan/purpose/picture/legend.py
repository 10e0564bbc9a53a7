"""The blocks below a picture: a legend of its shapes and lines, its assumptions, and its waivers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from groundplan.purpose.model import AssumptionStatus, Confidence, EdgeType, PurposeEdge, RiskLevel, key_order
from groundplan.purpose.observing.records import Waiver
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import choose_line_style, draw_head
from groundplan.purpose.picture.shapes import (
    build_card_path,
    build_risk_path,
    build_status_path,
    draw_badge,
    draw_sign,
    format_number,
)
from groundplan.purpose.picture.subjects import Arrow, Badge, Card, Emphasis, GroupSubject, Picture
from groundplan.purpose.picture.text import clean_line, escape_markup, measure_width, wrap_to_width
from groundplan.purpose.picture.tokens import CardType, Paint, WorkType

ROW_HEIGHT = 24
ENTRY_GAP = 22  # between two entries
SYMBOL_WIDTH = 30  # width of one symbol
SERVES = "serves, or is part of"
NO_CONFIDENCE = "confidence not said"
FEEDBACK = tokens.RELATION_NAMES[EdgeType.FEEDBACK]
_LINE_NAMES = (*(f"{level} confidence" for level in reversed(Confidence)), NO_CONFIDENCE, FEEDBACK)

_TYPE_NAMES: dict[CardType, str] = dict([(WorkType.WORK, "work"), *tokens.SINGULAR_NAMES.items()])
_CHANGE_NAMES = {Emphasis.ADDED: "added", Emphasis.REMOVED: "removed", Emphasis.CHANGED: "changed"}

Symbol = Callable[[float, float], str]


class Block(NamedTuple):
    """A block below the picture, with the position of its lower end."""

    svg: str
    bottom: float


def draw_legend(picture: Picture, left: float, top: float, width: float, paint: Paint, scale: float = 1.0) -> Block:
    """Draw the legend in as many rows as needed, `scale` times as large as for a picture that fits a page."""
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
        return Block("", top)
    larger = f" scale({format_number(scale)})" if scale > 1 else ""
    where = f"translate({format_number(left)} {format_number(top)}){larger}"
    svg = f'<g class="gp-legend" transform="{where}">{"".join(parts)}</g>'
    return Block(svg, top + (y + ROW_HEIGHT / 2) * scale)


def _list_entries(picture: Picture, paint: Paint) -> Iterator[tuple[Symbol, str]]:
    for node_type, name in _TYPE_NAMES.items():
        if picture.list_cards_of_type(node_type):
            yield partial(_draw_card, node_type, paint), name
    if any(isinstance(card.node, GroupSubject) and card.node.size > 1 for card in picture.cards.values()):
        yield partial(_draw_group, paint), "several in one card"
    things: list[Card | Arrow] = [*picture.cards.values(), *picture.arrows]
    badges = [badge for thing in things for badge in thing.badges]
    risks = {badge.risk for badge in badges}
    for risk, name in tokens.RISK_NAMES.items():
        if risk in risks:
            yield partial(_draw_risk, risk, paint), f"assumption, {name}"
    statuses = {badge.status for badge in badges}
    for status, name in tokens.STATUS_NAMES.items():
        if status in statuses:
            yield partial(_draw_status, status, paint), name
    of_work = [arrow for arrow in picture.arrows if picture.cards[arrow.edge.source].node.node_type is WorkType.WORK]
    causal = [arrow for arrow in picture.arrows if arrow not in of_work] if of_work else picture.arrows
    if of_work:
        yield partial(_draw_line, of_work[0].edge, paint), SERVES
    if any(arrow.links > 1 for arrow in causal):
        yield partial(_draw_line, causal[0].edge, paint), "heavier: more links"
        causal = [arrow for arrow in causal if arrow.edge.confidence or arrow.edge.edge_type is EdgeType.FEEDBACK]
    lines = {_name_line(arrow.edge): arrow.edge for arrow in reversed(causal)}
    for name in _LINE_NAMES:
        if name in lines:
            yield partial(_draw_line, lines[name], paint), name
    types = {arrow.edge.edge_type for arrow in causal} - {EdgeType.FEEDBACK}
    for edge_type in EdgeType if len(types) > 1 else ():
        if edge_type in types:
            yield partial(_draw_head, edge_type, paint), tokens.RELATION_NAMES[edge_type]
    emphases = {thing.emphasis for thing in things}
    for emphasis, name in _CHANGE_NAMES.items():
        if emphasis in emphases:
            yield partial(_draw_change, emphasis, paint), name


def _name_line(edge: PurposeEdge) -> str:
    if edge.edge_type is EdgeType.FEEDBACK:
        return FEEDBACK
    return f"{edge.confidence} confidence" if edge.confidence else NO_CONFIDENCE


def _draw_card(node_type: CardType, paint: Paint, x: float, y: float) -> str:
    hue = tokens.CARD_HUES[node_type]
    return (
        f'<path d="{build_card_path(node_type, x, y - 8, 24, 16)}" fill="{paint(f"{hue}-fill")}" '
        f'stroke="{paint(f"{hue}-line")}" stroke-width="1.5"/>'
    )


def _draw_group(paint: Paint, x: float, y: float) -> str:
    """Draw the outlines of two cards, one behind the other."""
    return "".join(
        f'<rect x="{format_number(x + offset)}" y="{format_number(y - 8 + offset)}" width="20" height="13" '
        f'fill="{paint("muted-fill")}" stroke="{paint("line")}"/>'
        for offset in (4, 0)
    )


def _draw_risk(risk: RiskLevel | None, paint: Paint, x: float, y: float) -> str:
    """Draw the shape of a risk without a sign."""
    return f'<path d="{build_risk_path(risk, x + 14, y, tokens.BADGE)}" fill="{paint(tokens.RISK_COLOURS[risk])}"/>'


def _draw_status(status: AssumptionStatus, paint: Paint, x: float, y: float) -> str:
    """Draw the sign of a status without a shape."""
    return (
        f'<path d="{build_status_path(status, x + 14, y)}" fill="none" stroke="{paint("subtext")}" stroke-width="1.8" '
        f'stroke-linecap="round" stroke-linejoin="round"/>'
    )


def _draw_line(edge: PurposeEdge, paint: Paint, x: float, y: float) -> str:
    line = choose_line_style(edge)
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    return (
        f'<path d="M{format_number(x)} {format_number(y)}h24" stroke="{paint(line.colour)}" '
        f'stroke-width="{format_number(line.width)}"{dash}/>'
    )


def _draw_head(edge_type: EdgeType, paint: Paint, x: float, y: float) -> str:
    return (
        f'<path d="M{format_number(x)} {format_number(y)}h16" stroke="{paint("line")}" stroke-width="1.7"/>'
        + draw_head(edge_type, (x + 24, y), paint("line"), paint)
    )


def _draw_change(emphasis: Emphasis, paint: Paint, x: float, y: float) -> str:
    return draw_sign(emphasis, x + 14, y, paint)


LINE_HEIGHT = 1.4  # of the text size
NOTE_GAP = 0.7  # of the text size
COLUMN_WIDTH = 46  # in text sizes: about eighty letters
COLUMN_GAP = 3
LINES_MAX = 1_000  # more than the longest text needs, so nothing is cut


class Note(NamedTuple):
    """An entry of a block: a heading in bold, its text, and a symbol before it."""

    heading: str
    text: str
    symbol: str = ""  # SVG around the middle of the first line, from 0
    symbol_width: float = 0.0


def _draw_block(
    title: str, notes: Sequence[Note], place: tuple[float, float, float], scale: float, paint: Paint, css_class: str
) -> Block:
    """Draw a block with a title. `place` has its left and upper end and its width. Without notes, nothing is drawn."""
    left, top, width = place
    if not notes:
        return Block("", top)
    size = tokens.LEGEND_PX * scale
    columns = max(1, min(int(width // (COLUMN_WIDTH * size)), len(notes)))
    room = (width - (columns - 1) * COLUMN_GAP * size) / columns
    texts = [_break_note(note, size, room) for note in notes]
    heights = [(len(lines) * LINE_HEIGHT + NOTE_GAP) * size for lines in texts]
    first = top + size * (2 + LINE_HEIGHT)
    parts = [_draw_text(left, top + size * 2, title, size * 1.1, paint("heading"), is_bold=True)]
    share = sum(heights) / columns
    x, y, bottom = left, first, first
    for note, lines, height in zip(notes, texts, heights, strict=True):
        if y > first and y - first + height / 2 > share and x + room + COLUMN_GAP * size < left + width:
            x, y = x + room + COLUMN_GAP * size, first
        parts.append(_draw_note(note, lines, x, y + size, size, paint))
        y += height
        bottom = max(bottom, y)
    return Block(f'<g class="{css_class}">{"".join(parts)}</g>', bottom)


def _break_note(note: Note, size: float, room: float) -> list[str]:
    inner = room - note.symbol_width * size / tokens.LEGEND_PX
    return [note.heading, *wrap_to_width(note.text, size, inner, LINES_MAX)]


def _draw_note(note: Note, lines: list[str], x: float, y: float, size: float, paint: Paint) -> str:
    scale = size / tokens.LEGEND_PX
    parts = []
    if note.symbol:
        where = f"translate({format_number(x)} {format_number(y - size * 0.36)})"
        parts.append(f'<g transform="{where} scale({format_number(round(scale, 2))})">{note.symbol}</g>')
        x += note.symbol_width * scale
    for place, line in enumerate(lines):
        base = y + place * LINE_HEIGHT * size
        colour = paint("heading") if not place else paint("subtext")
        parts.append(_draw_text(x, base, line, size, colour, is_bold=not place))
    return "".join(parts)


def _draw_text(x: float, y: float, text: str, size: float, fill: str, *, is_bold: bool) -> str:
    weight = ' font-weight="700"' if is_bold else ""
    return (
        f'<text x="{format_number(x)}" y="{format_number(y)}" font-size="{format_number(size)}" fill="{fill}"{weight}>'
        f"{escape_markup(text)}</text>"
    )


BADGE_WIDTH = tokens.BADGE + 7


def draw_assumptions(picture: Picture, place: tuple[float, float, float], scale: float, paint: Paint) -> Block:
    """Draw the list of assumptions in the order of their keys, which are also beside the badges."""
    badges = [
        (badge, key)
        for key, card in picture.cards.items()
        if not isinstance(card.node, GroupSubject)
        for badge in card.badges
    ]
    badges += [
        (badge, " to ".join(_name_subject(picture, end) for end in arrow.edge.name[:2]))
        for arrow in picture.arrows
        for badge in arrow.badges
    ]
    badges.sort(key=lambda item: key_order(item[0].key))
    notes = [_describe_assumption(badge, on, paint) for badge, on in badges]
    return _draw_block("Assumptions", notes, place, scale, paint, "gp-assumptions")


def _name_subject(picture: Picture, key: str) -> str:
    node = picture.cards[key].node
    return f"group {node.group}" if isinstance(node, GroupSubject) else key


def _describe_assumption(badge: Badge, on: str, paint: Paint) -> Note:
    owner = f"owner {clean_line(badge.owner)}" if badge.owner else "no owner"
    review = f"review by {badge.review_by}" if badge.review_by else "no review date"
    facts = (tokens.RISK_NAMES[badge.risk], tokens.STATUS_NAMES[badge.status], owner, review)
    symbol = draw_badge(badge, tokens.BADGE / 2, 0, paint)
    return Note(f"{badge.key} · on {on}", f"{clean_line(badge.text)} ({', '.join(facts)})", symbol, BADGE_WIDTH)


# What each check that can be waived asks for. A reader of the picture knows no codes.
EXPECTATIONS = {
    "GA_ASSUMPTIONS": "links to outcomes and goals have assumptions",
    "GA_CONTEXT": "the facts of the project are committed",
    "GA_CYCLE": "no chain of links leads back to its start",
    "GA_DEAD_END": "every activity contributes to something",
    "GA_GOAL_COUNT": "there is the right number of goals",
    "GA_HIGH_RISK": "assumptions of high risk have an owner and a review date",
    "GA_LEAP": "no link skips a level",
    "GA_LOW_CONFIDENCE": "links of low confidence have assumptions",
    "GA_MECHANISM": "every link says how it works",
    "GA_MIN_TYPES": "there are goals, outcomes and outputs",
    "GA_ORPHANS": "everything leads to a goal",
    "GA_OUTCOME_COVERAGE": "every outcome has an indicator",
    "GA_REFUTED": "refuted assumptions have a decision",
    "GA_STRUCTURE": "metadata holds no structure",
    "GA_TITLE": "titles are there, and differ",
    "GA_TYPE_CHAIN": "links lead up the levels",
    "GB_BASELINE": "indicators of outcomes and goals have a baseline",
    "GB_FACTS": "the required facts are set",
    "GB_INDICATORS": "outcomes have indicators",
    "GB_PLAN": "indicators have a method, a frequency and an owner",
    "GB_TARGET": "indicators of outcomes and goals have a target",
    "GB_VERIFIED": "baselines are verified",
    "GB_WORK": "every activity is served by work",
}
UNKNOWN = "a rule of this project"


def draw_waivers(waivers: Sequence[Waiver], place: tuple[float, float, float], scale: float, paint: Paint) -> Block:
    """Draw the waivers: for each, the check and the last day."""
    return _draw_block("Waivers", [_describe_waiver(waiver) for waiver in waivers], place, scale, paint, "gp-waivers")


def _describe_waiver(waiver: Waiver) -> Note:
    refs = ", ".join(ref.split("/")[0].replace("->", " to ") if "->" in ref else ref for ref in waiver.refs)
    about = f" ({refs})" if refs else ""
    rule = EXPECTATIONS.get(waiver.code, UNKNOWN)
    heading = f"Waived until {waiver.due} by {clean_line(waiver.owner)}"
    return Note(heading, f"The rule that {rule}{about}: {clean_line(waiver.reason)}")
