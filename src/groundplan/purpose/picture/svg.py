"""Render a picture as SVG, for web pages, files and print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import OccupiedPoints, draw_arrow, draw_marks
from groundplan.purpose.picture.cards import MeasuredCard, draw_card, measure_card
from groundplan.purpose.picture.font import build_font_rules
from groundplan.purpose.picture.layout import Layout, compute_layout
from groundplan.purpose.picture.legend import Block, draw_assumptions, draw_legend, draw_waivers
from groundplan.purpose.picture.shapes import format_number
from groundplan.purpose.picture.subjects import Card, Emphasis, GroupSubject, Picture
from groundplan.purpose.picture.text import clean_line, escape_markup, measure_width, truncate_to_width
from groundplan.purpose.picture.tokens import Paint, Theme

WIDTH_MIN = 720
NOTE_SCALE_MAX = 1.6  # lists are read close up, so they grow less than titles
# The drawing order; important elements are drawn last, on top.
_LAYERS = (
    Emphasis.MUTED,
    Emphasis.PLAIN,
    Emphasis.REMOVED,
    Emphasis.CHANGED,
    Emphasis.ADDED,
    Emphasis.STRONG,
    Emphasis.FOCUS,
)


class DrawnPicture(NamedTuple):
    """A drawn picture and its size."""

    svg: str
    width: int
    height: int


def draw(picture: Picture, theme: Theme = Theme.LIGHT, *, embeds_font: bool = False) -> DrawnPicture:
    """Draw a picture as SVG. Equal pictures give equal bytes. A file embeds its font; a page provides it."""
    paint = tokens.make_paint(theme)
    cards = {key: measure_card(card) for key, card in picture.cards.items()}
    layout = _lay_out(picture, cards)
    scale = layout.text_scale
    width = max(layout.width + 2 * tokens.MARGIN, WIDTH_MIN)
    top = tokens.MARGIN + tokens.HEADER_HEIGHT * scale + layout.rise
    # A few cards are centred.
    left = (width - layout.width) / 2
    below = top + layout.depth + tokens.BAND_PAD + tokens.MARGIN
    room = width - 2 * tokens.MARGIN
    legend = draw_legend(picture, tokens.MARGIN, below, room, paint, scale)
    note_scale = min(scale, NOTE_SCALE_MAX)
    assumptions = Block("", legend.bottom)
    if picture.lists_assumptions:
        assumptions = draw_assumptions(picture, (tokens.MARGIN, legend.bottom, room), note_scale, paint)
    waivers = draw_waivers(picture.waivers, (tokens.MARGIN, assumptions.bottom, room), note_scale, paint)
    size = DrawnPicture("", round(width + 0.5), round(waivers.bottom + tokens.MARGIN + 0.5))
    parts = [_draw_heading(picture, width, scale, paint)]
    parts.append(f'<g transform="translate({format_number(left)} {format_number(top)})">')
    parts += _draw_elements(picture, cards, layout, paint)
    parts += ["</g>", legend.svg, assumptions.svg, waivers.svg, "</svg>\n"]
    drawn = "".join(parts)
    rules = tokens.build_css_rules() if theme is Theme.AUTO else ""
    if embeds_font:
        rules = build_font_rules(drawn) + rules
    return size._replace(svg=_draw_opening(picture, size, rules, paint) + drawn)


def _lay_out(picture: Picture, cards: Mapping[str, MeasuredCard]) -> Layout:
    names = [arrow.edge.name for arrow in picture.arrows]
    causal = [arrow.edge.name for arrow in picture.arrows if arrow.edge.is_causal]
    # Removed edges have their own lanes, so that added ones do not cover them.
    bundles = [arrow.emphasis is Emphasis.REMOVED for arrow in picture.arrows]
    return compute_layout({key: card.size for key, card in cards.items()}, names, causal, bundles, True)


def _draw_elements(picture: Picture, cards: Mapping[str, MeasuredCard], layout: Layout, paint: Paint) -> Iterator[str]:
    """Yield the bands, the lines, the band titles, the cards, and the badges on the lines, from back to front."""
    for band in layout.bands:
        yield _draw_area(band.x, -layout.header, band.width, layout.header + layout.height + tokens.BAND_PAD, paint)
    if layout.tray is not None:
        tray = layout.tray
        yield _draw_area(0, tray.y - layout.header, tray.width, layout.header + tray.height + tokens.BAND_PAD, paint)
    by_layer = sorted(picture.arrows, key=lambda arrow: _LAYERS.index(arrow.emphasis))
    for arrow in by_layer:
        yield draw_arrow(arrow, layout.routes[arrow.edge.name], paint)
    for band in layout.bands:
        count = _count_nodes(card for card in picture.cards.values() if card.node.node_type is band.node_type)
        yield _draw_area_title(tokens.CARD_BAND_NAMES[band.node_type], count, (band.x, 0.0, band.width), layout, paint)
    if layout.tray is not None:
        count = _count_nodes(picture.cards[key] for key in layout.tray.keys)
        yield _draw_area_title(tokens.TRAY_NAME, count, (0.0, layout.tray.y, layout.tray.width), layout, paint)
    for key, measured in cards.items():
        yield draw_card(measured, layout.boxes[key], paint)
    is_labelled = picture.lists_assumptions
    occupied = OccupiedPoints(is_labelled=is_labelled)
    for arrow in reversed(by_layer):
        yield draw_marks(arrow, layout.routes[arrow.edge.name], paint, occupied, is_labelled=is_labelled)


def _count_nodes(cards: Iterable[Card]) -> int:
    """Return the number of nodes that some cards represent, without removed nodes."""
    return sum(
        card.node.size if isinstance(card.node, GroupSubject) else 1
        for card in cards
        if card.emphasis is not Emphasis.REMOVED
    )


def _draw_opening(picture: Picture, size: DrawnPicture, rules: str, paint: Paint) -> str:
    style = f"<style>{escape_markup(rules)}</style>" if rules else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{size.height}" '
        f'viewBox="0 0 {size.width} {size.height}" role="img" font-family="{tokens.FONT}" data-format="1">'
        f"<title>{escape_markup(picture.title)}</title><desc>{escape_markup(picture.subtitle)}</desc>{style}"
        f'<rect width="{size.width}" height="{size.height}" fill="{paint("page")}"/>'
    )


def _draw_heading(picture: Picture, width: float, scale: float, paint: Paint) -> str:
    x, y = tokens.MARGIN, tokens.MARGIN + tokens.TITLE_PX * scale
    title_px, subtitle_px = tokens.TITLE_PX * scale, tokens.SUBTITLE_PX * scale
    room = width - 2 * tokens.MARGIN
    title = truncate_to_width(clean_line(picture.title), title_px, room)
    subtitle = truncate_to_width(clean_line(picture.subtitle), subtitle_px, room)
    n = format_number
    return (
        f'<text x="{x}" y="{n(y)}" font-size="{n(title_px)}" font-weight="700" fill="{paint("heading")}">'
        f"{escape_markup(title)}</text>"
        f'<text x="{x}" y="{n(y + 22 * scale)}" font-size="{n(subtitle_px)}" fill="{paint("subtext")}">'
        f"{escape_markup(subtitle)}</text>"
    )


def _draw_area(x: float, y: float, width: float, height: float, paint: Paint) -> str:
    """Draw the background of a band or of the tray."""
    n = format_number
    return (
        f'<rect class="gp-band" x="{n(x)}" y="{n(y)}" width="{n(width)}" height="{n(height)}" rx="10" '
        f'fill="{paint("band")}"/>'
    )


def _draw_area_title(name: str, count: int, place: tuple[float, float, float], layout: Layout, paint: Paint) -> str:
    """Draw the name of a band above its cards and over passing lines, as large as needed and as fits.

    `place` is the left end, the top of the cards, and the width. A narrow band shows no count.
    """
    x, top, width = place
    room = width - 2 * tokens.BAND_PAD
    text, size = f"{name} ({count})", tokens.BAND_PX * layout.text_scale
    if measure_width(text, size) > room:
        text = name
        size = min(size, size * room / measure_width(text, size))
    baseline = top - layout.header * (1 - 21 / tokens.BAND_HEADER_HEIGHT)
    return (
        f'<text class="gp-band-title" x="{format_number(x + tokens.BAND_PAD)}" y="{format_number(baseline)}" '
        f'font-size="{format_number(size)}" font-weight="700" fill="{paint("subtext")}" stroke="{paint("band")}" '
        f'stroke-width="{format_number(size / 3)}" stroke-linejoin="round" paint-order="stroke">'
        f"{escape_markup(text)}</text>"
    )
