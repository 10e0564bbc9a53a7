"""Draw a canvas as SVG for the page.

All cards have one size, so a new title moves nothing. Colours come from the style sheet, by class; nothing has a style
of its own, because the content policy forbids it. Every card and link is a link to its address, so a canvas works
without script. Exports have a renderer of their own, with resolved colours; both use the same layout, lines and shapes.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log2
from typing import NamedTuple
from urllib.parse import quote

from groundplan.purpose.model import EdgeName, NodeType, PurposeEdge
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import (
    LINE_WIDTH_MAX,
    OccupiedPoints,
    build_route_path,
    choose_line_style,
    draw_head,
    find_mark_point,
)
from groundplan.purpose.picture.layout import Band, CardSize, Tray, compute_layout
from groundplan.purpose.picture.routes import EdgeRoute, Point
from groundplan.purpose.picture.shapes import build_risk_path, build_status_path, format_number
from groundplan.purpose.picture.subjects import Badge, pluralize
from groundplan.purpose.picture.text import escape_markup, measure_width, wrap_to_width
from groundplan.surfaces.web.areas.plan.canvas_cards import TYPE_NAMES, CanvasCard, CanvasLink, find_worst_risk
from groundplan.surfaces.web.areas.plan.canvas_patches import CanvasDrawing, CanvasElement
from groundplan.surfaces.web.areas.plan.theory import format_edge

CARD_WIDTH = 196
CARD_HEIGHT = 78
POSITIONS_KEPT = 32  # the last ones of this process; those of 300 cards take 0.1 s to compute and 0.2 MB to keep
MARGIN = 16
DRAWN_KEPT = 16_384  # cards and links of this process, each: after an edit only what it changed is drawn again
BAND_HEADER = 36
TITLE_PX = 13
LINE_HEIGHT = 16
LINES_MAX = 3
TEXT_LEFT = 30
TEXT_ROOM = CARD_WIDTH - TEXT_LEFT - 12
BAR_LEFT = 14
BAR_WIDTH = CARD_WIDTH - 2 * BAR_LEFT
STRIPE = f"M6 .5H7V{CARD_HEIGHT - 0.5}H6A5.5 5.5 0 0 1 .5 {CARD_HEIGHT - 6}V6A5.5 5.5 0 0 1 6 .5Z"
ICONS = {  # beside the title; types differ without colour
    NodeType.ACTIVITY: "M14 19L23 24.5L14 30Z",
    NodeType.OUTPUT: "M14 20H23V29H14Z",
    NodeType.OUTCOME: "M14 24.5A4.7 4.7 0 1 1 23.4 24.5A4.7 4.7 0 1 1 14 24.5Z",
    NodeType.GOAL: "M18.7 19L20.3 22.8L24.4 23.1L21.3 25.8L22.2 29.8L18.7 27.7L15.2 29.8L16.1 25.8L13 23.1L17.1 22.8Z",
}
# One element where one colour is enough: a browser takes time for each.
MARKS = {
    type_: f'<path class="stripe" d="{STRIPE}"/><path class="icon" d="{icon}"/>'
    if type_ is NodeType.GOAL
    else f'<path class="stripe" d="{STRIPE}{icon}"/>'
    for type_, icon in ICONS.items()
}
# Behind a card that stands for several.
STACK = f'<path class="stack" d="M5 {CARD_HEIGHT}V{CARD_HEIGHT + 4}H{CARD_WIDTH + 4}V5H{CARD_WIDTH}"/>'
PLACEHOLDER = "new-"  # and a type: the empty card of a band without cards


class LinkRoute(NamedTuple):
    """The points of a link, and whether it is a back edge."""

    points: tuple[Point, ...]
    is_back: bool


class CanvasPositions(NamedTuple):
    """The positions of the cards, bands and links of a canvas."""

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
    """Return the positions of cards and of the links between them. Each card is given with its type.

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


class CanvasState(NamedTuple):
    """The state of a canvas: the selected item, the highlighted items, and whether it can be edited."""

    selected: str | None = None  # the key of a card, or the name of a link
    lit: Container[str] | None = None  # keys and names of links that stand out; None: all
    can_edit: bool = False
    is_part: bool = False  # whether the canvas shows groups, or only some of the items


class CanvasAddress(NamedTuple):
    """The address of the page, which a choice on the canvas extends."""

    start: str
    above: str = "?"  # without the group that is open

    def choose(self, name: str, value: str) -> str:
        """Return the address with a choice."""
        return f"{self.start}{name}={quote(value)}"

    def open_group(self, group: str) -> str:
        """Return the address of a group."""
        return f"{self.above}group={quote(group)}"


def draw_canvas(
    cards: list[CanvasCard], links: list[CanvasLink], state: CanvasState, address: CanvasAddress
) -> CanvasDrawing:
    """Draw cards and links. Empty bands get a placeholder if the whole plan is shown and can be edited."""
    known = {card.key for card in cards}
    links = [link for link in links if known.issuperset(link.drawn[:2])]
    empty = _list_empty_bands(cards, links) if state.can_edit and not state.is_part else []
    placeholders = {f"{PLACEHOLDER}{type_}": type_ for type_ in empty}
    at = compute_positions(
        [*((card.key, card.node_type) for card in cards), *placeholders.items()],
        (link.drawn for link in links),
        placeholders,
    )
    unlinked = frozenset(at.tray.keys if at.tray is not None else ())
    top = round(MARGIN + max(at.rise, BAND_HEADER))  # links that lead back run above the bands
    width, height = round(at.width + 2 * MARGIN), round(top + at.depth + 2 * MARGIN)
    counts = {
        type_: sum(card.size for card in cards if card.node_type is type_ and not card.is_around)
        for type_ in TYPE_NAMES
    }
    occupied = OccupiedPoints()
    ground = [f'<g transform="translate({MARGIN} {top})">']
    ground += [_draw_band(band, at.height, counts, state, address) for band in at.bands]
    if at.tray is not None:
        ground.append(_draw_tray(at.tray, sum(card.size for card in cards if card.key in unlinked)))
    drawn_links = []
    for link in links:
        route = at.routes[link.drawn]
        mark = find_mark_point(_to_edge_route(route), occupied) if link.badges else None
        drawn_links.append(_draw_link(link, route, mark, _get_state_classes(format_edge(link.edge), state), address))
    drawn_cards = []
    for card in cards:
        classes = _get_state_classes(card.key, state) + " around" * card.is_around
        drawn_cards.append(_draw_card(card, at.cards[card.key], classes, address, card.key in unlinked))
    drawn_cards += [_draw_placeholder(type_, at.cards[key], address) for key, type_ in placeholders.items()]
    named = {"links": drawn_links, "cards": drawn_cards}
    groups = {name: {part.name: part for part in parts} for name, parts in named.items()}
    return CanvasDrawing("".join(ground), groups, width, height)


def _list_empty_bands(cards: list[CanvasCard], links: list[CanvasLink]) -> list[NodeType]:
    """Return the types with an empty band. If there are links, cards without links are in the tray, not in a band."""
    linked = {end for link in links for end in link.drawn[:2]}
    types = {card.node_type for card in cards if not links or card.key in linked}
    return [type_ for type_ in TYPE_NAMES if type_ not in types]


def _draw_tray(tray: Tray, count: int) -> str:
    """Draw the area of the cards without links."""
    top = format_number(tray.y - BAND_HEADER)
    return (
        f'<g class="band tray" data-id="band-tray"><rect x="0" y="{top}" width="{format_number(tray.width)}" '
        f'height="{format_number(tray.height + BAND_HEADER + MARGIN)}" rx="8"/>'
        f'<text x="12" y="{format_number(tray.y - BAND_HEADER + 23)}">{tokens.TRAY_NAME} '
        f'<tspan class="count-of">{count}</tspan></text></g>'
    )


def _draw_band(
    band: Band, height: float, counts: Mapping[NodeType, int], state: CanvasState, address: CanvasAddress
) -> str:
    node_type = NodeType(band.node_type)
    name = tokens.BAND_NAMES[node_type]
    x, width, top = format_number(band.x), format_number(band.width), -BAND_HEADER
    add = ""
    if state.can_edit:
        href = escape_markup(address.choose("add", node_type.value))
        add = (
            f'<a class="plus" href="{href}" tabindex="-1" data-add="{node_type}" '
            f'aria-label="Add to {name.lower()}" transform="translate({format_number(band.x + band.width - 32)} '
            f'{top + 4})"><rect width="26" height="26" rx="5"/><path d="M13 8V18M8 13H18"/></a>'
        )
    return (
        f'<g class="band {_get_class(node_type)}" data-id="band-{node_type}">'
        f'<rect x="{x}" y="{top}" width="{width}" height="{format_number(height + BAND_HEADER + MARGIN)}" '
        f'rx="8"/><text x="{format_number(band.x + 12)}" y="{top + 23}">{name} '
        f'<tspan class="count-of">{counts[node_type]}</tspan></text>{add}</g>'
    )


@lru_cache(maxsize=DRAWN_KEPT)
def _draw_link(
    link: CanvasLink, route: LinkRoute, mark: Point | None, classes: str, address: CanvasAddress
) -> CanvasElement:
    source, target, edge_type = link.drawn
    named = escape_markup(format_edge(link.edge))
    edge = PurposeEdge("", source, target, edge_type, link.mechanism, link.confidence)
    style = choose_line_style(edge)
    if link.joined > 1:
        style = style._replace(width=min(style.width + log2(link.joined) / 2, LINE_WIDTH_MAX))
    dash = f' stroke-dasharray="{style.dash}"' if style.dash else ""
    path = build_route_path(_to_edge_route(route))
    badge = ""
    if mark is not None:
        x, y = mark
        plate = f'<circle class="plate" cx="{format_number(x)}" cy="{format_number(y)}" r="10"/>'
        badge = f"{plate}{_draw_risk(link.badges[0], x, y)}"
    name = f"link-{named}"
    ends = f'data-id="{name}" data-from="{escape_markup(source)}" data-to="{escape_markup(target)}"'
    classes = f"{_get_risk_class(link.badges)}{classes}"
    line = (
        f'<path class="line" d="{path}" stroke-width="{format_number(style.width)}"{dash}/>'
        f"{draw_head(edge_type, route.points[-1], 'currentColor', _paint)}{badge}"
    )
    if link.joined:  # its cards say what is in it; it has no address of its own
        tooltip = f"<title>{pluralize(link.joined, 'link')}</title>"
        return CanvasElement(name, f'<g class="link joined{classes}" {ends}>{tooltip}{line}</g>', "g")
    return CanvasElement(
        name,
        f'<a class="link{classes}" {ends} href="{escape_markup(address.choose("edge", format_edge(link.edge)))}" '
        f'tabindex="-1" aria-label="{escape_markup(link.label)}"><path class="hit" d="{path}"/>{line}</a>',
    )


@lru_cache(maxsize=DRAWN_KEPT)
def _draw_card(card: CanvasCard, at: Point, classes: str, address: CanvasAddress, is_in_tray: bool) -> CanvasElement:
    key = escape_markup(card.key)
    tray = " data-tray" if is_in_tray else ""
    label = f"{card.label}, {tokens.TRAY_NAME.lower()}" if is_in_tray and not card.group else card.label
    lines = wrap_to_width(card.title, TITLE_PX, TEXT_ROOM, LINES_MAX)
    title = "".join(_draw_line(line, 28.5 + LINE_HEIGHT * number) for number, line in enumerate(lines))
    # A title on one line is not repeated: what a browser does not read, it need not compare.
    tooltip = f"<title>{escape_markup(card.title)}</title>" if len(lines) > 1 else ""
    if card.group:
        named = f'data-group="{escape_markup(card.group)}"'
        href, stack = address.open_group(card.group), STACK
    else:
        named = f'id="{key}"'
        href, stack = address.choose("key", card.key), ""
    return CanvasElement(
        key,
        f'<a class="node {_get_class(card.node_type)}{_get_risk_class(card.badges)}{classes}" {named} '
        f'data-id="{key}" data-type="{card.node_type}"{tray} href="{escape_markup(href)}" '
        f'tabindex="-1" aria-label="{escape_markup(label)}" '
        f'transform="translate({format_number(at[0])} {format_number(at[1])})">'
        f"{tooltip}{stack}"
        f'<rect class="body" x=".5" y=".5" width="{CARD_WIDTH - 1}" height="{CARD_HEIGHT - 1}" rx="5.5"/>'
        f"{MARKS[card.node_type]}"
        f'<text class="key" x="{TEXT_LEFT}" y="14">{escape_markup(card.caption)}</text>'
        f"{title}{_draw_bar(card)}{_draw_badges(card.badges)}"
        "</a>",
    )


def _draw_line(line: str, y: float) -> str:
    return f'<text x="{TEXT_LEFT}" y="{format_number(y)}">{escape_markup(line)}</text>'


def _draw_bar(card: CanvasCard) -> str:
    """Draw the share of the linked work that is resolved."""
    if card.work is None or not card.work.total:
        return ""
    done = round(BAR_WIDTH * card.work.resolved / card.work.total, 1)
    y = CARD_HEIGHT - 8
    return (
        f'<rect class="track" x="{BAR_LEFT}" y="{y}" width="{BAR_WIDTH}" height="3" rx="1.5"/>'
        f'<rect class="done" x="{BAR_LEFT}" y="{y}" width="{format_number(done)}" height="3" rx="1.5"/>'
    )


def _draw_badges(badges: Sequence[Badge]) -> str:
    """Draw the most severe assumptions on the upper edge of a card, with the number of all."""
    if not badges:
        return ""
    many = str(len(badges)) if len(badges) > 1 else ""
    width = 24 + (measure_width(many, 11) + 5 if many else 0)
    left = CARD_WIDTH - 10 - width
    count = f'<text class="many" x="{format_number(left + 23)}" y="4.5">{many}</text>' if many else ""
    return (
        f'<g class="risks"><rect class="plate" x="{format_number(left)}" y="-10" width="{format_number(width)}" '
        f'height="20" rx="10"/>{_draw_risk(badges[0], left + 12, 0)}{count}</g>'
    )


def _draw_risk(badge: Badge, x: float, y: float) -> str:
    lowered = 0.8 if badge.risk == "MEDIUM" else 0.0  # the centre of a triangle is lower
    return (
        f'<path class="risk {tokens.RISK_COLOURS[badge.risk]}" d="{build_risk_path(badge.risk, x, y, tokens.BADGE)}"/>'
        f'<path class="sign" d="{build_status_path(badge.status, x, y + lowered)}"/>'
    )


def _draw_placeholder(node_type: NodeType, at: Point, address: CanvasAddress) -> CanvasElement:
    name = TYPE_NAMES[node_type].lower()
    words = f"Add {'an' if name[0] in 'aeiou' else 'a'} {name}"
    key = f"{PLACEHOLDER}{node_type}"
    return CanvasElement(
        key,
        f'<a class="placeholder" data-id="{key}" data-add="{node_type}" tabindex="-1" '
        f'href="{escape_markup(address.choose("add", node_type.value))}" '
        f'transform="translate({format_number(at[0])} {format_number(at[1])})">'
        f'<rect x=".5" y=".5" width="{CARD_WIDTH - 1}" height="{CARD_HEIGHT - 1}" rx="5.5"/>'
        f'<text x="{CARD_WIDTH // 2}" y="{CARD_HEIGHT // 2 + 4}">{words}</text></a>',
    )


def _paint(colour: str) -> str:
    """Return the CSS variable for the name of a colour."""
    return f"var({tokens.PREFIX}{colour})"


def _get_class(node_type: NodeType) -> str:
    return f"type-{tokens.TYPE_HUES[node_type]}"


def _to_edge_route(route: LinkRoute) -> EdgeRoute:
    return EdgeRoute(list(route.points), route.is_back)


def _get_risk_class(badges: Sequence[Badge]) -> str:
    risk = find_worst_risk(badges)
    return "" if risk is None else f" has-{tokens.RISK_COLOURS[risk]}"


def _get_state_classes(name: str, state: CanvasState) -> str:
    chosen = " chosen" if name == state.selected else ""
    return chosen if state.lit is None or name in state.lit else f"{chosen} faded"
