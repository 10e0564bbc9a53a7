"""Render a picture as SVG, for web pages, files and print."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.arrows import OccupiedPoints, draw_arrow, draw_marks
from groundplan.purpose.picture.cards import draw_card, measure_card
from groundplan.purpose.picture.layout import Band, compute_layout
from groundplan.purpose.picture.legend import draw_legend, draw_waivers
from groundplan.purpose.picture.picture_model import Emphasis, Picture
from groundplan.purpose.picture.shapes import format_number
from groundplan.purpose.picture.tokens import Paint, Theme
from groundplan.purpose.picture.wording import clean_line, escape_markup, truncate_to_width

WIDTH_MIN = 720
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


def draw(picture: Picture, theme: Theme = Theme.LIGHT) -> DrawnPicture:
    """Draw a picture as SVG. Equal pictures give equal bytes."""
    paint = tokens.make_paint(theme)
    cards = {key: measure_card(card) for key, card in picture.cards.items()}
    names = [arrow.edge.name for arrow in picture.arrows]
    causal = [arrow.edge.name for arrow in picture.arrows if arrow.edge.is_causal]
    # Removed edges have their own lanes, so that added ones do not cover them.
    bundles = [arrow.emphasis is Emphasis.REMOVED for arrow in picture.arrows]
    layout = compute_layout({key: one.size for key, one in cards.items()}, names, causal, bundles)
    width = max(layout.width + 2 * tokens.MARGIN, WIDTH_MIN)
    top = tokens.MARGIN + tokens.HEADER_HEIGHT + tokens.BAND_HEADER_HEIGHT
    # A few cards are centred.
    left = (width - layout.width) / 2
    below = layout.depth + tokens.BAND_PAD + tokens.MARGIN
    legend = draw_legend(picture, tokens.MARGIN, top + below, width - 2 * tokens.MARGIN, paint)
    waivers = draw_waivers(picture.waivers, tokens.MARGIN, legend.bottom, width - 2 * tokens.MARGIN, paint)
    height = waivers.bottom + tokens.MARGIN
    size = DrawnPicture("", round(width + 0.5), round(height + 0.5))
    parts = [_draw_opening(picture, size, theme, paint), _draw_heading(picture, width, paint)]
    parts.append(f'<g transform="translate({format_number(left)} {format_number(top)})">')
    there = [card.node.node_type for card in picture.cards.values() if card.emphasis is not Emphasis.REMOVED]
    parts += [_style_band(band, layout.height, there.count(band.node_type), paint) for band in layout.bands]
    by_layer = sorted(picture.arrows, key=lambda arrow: _LAYERS.index(arrow.emphasis))
    parts += [draw_arrow(arrow, layout.routes[arrow.edge.name], paint) for arrow in by_layer]
    parts += [draw_card(one, layout.boxes[key], paint) for key, one in cards.items()]
    occupied = OccupiedPoints()
    parts += [draw_marks(arrow, layout.routes[arrow.edge.name], paint, occupied) for arrow in by_layer[::-1]]
    parts += ["</g>", legend.svg, waivers.svg, "</svg>\n"]
    return size._replace(svg="".join(parts))


def _draw_opening(picture: Picture, size: DrawnPicture, theme: Theme, paint: Paint) -> str:
    style = f"<style>{escape_markup(tokens.build_css_rules())}</style>" if theme is Theme.AUTO else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size.width}" height="{size.height}" '
        f'viewBox="0 0 {size.width} {size.height}" role="img" font-family="{tokens.FONT}" data-format="1">'
        f"<title>{escape_markup(picture.title)}</title><desc>{escape_markup(picture.subtitle)}</desc>{style}"
        f'<rect width="{size.width}" height="{size.height}" fill="{paint("page")}"/>'
    )


def _draw_heading(picture: Picture, width: float, paint: Paint) -> str:
    x, y = tokens.MARGIN, tokens.MARGIN + tokens.TITLE_PX
    room = width - 2 * tokens.MARGIN
    title = truncate_to_width(clean_line(picture.title), tokens.TITLE_PX, room)
    subtitle = truncate_to_width(clean_line(picture.subtitle), tokens.SUBTITLE_PX, room)
    return (
        f'<text x="{x}" y="{y}" font-size="{tokens.TITLE_PX}" font-weight="700" fill="{paint("heading")}">'
        f"{escape_markup(title)}</text>"
        f'<text x="{x}" y="{y + 22}" font-size="{tokens.SUBTITLE_PX}" fill="{paint("subtext")}">'
        f"{escape_markup(subtitle)}</text>"
    )


def _style_band(band: Band, height: float, count: int, paint: Paint) -> str:
    """Draw the background of a band, with its name above."""
    name = truncate_to_width(
        f"{tokens.CARD_BAND_NAMES[band.node_type]} ({count})", tokens.BAND_PX, band.width - tokens.BAND_PAD
    )
    y = -tokens.BAND_HEADER_HEIGHT
    return (
        f'<rect class="gp-band" x="{format_number(band.x)}" y="{y}" width="{format_number(band.width)}" '
        f'height="{format_number(height + tokens.BAND_HEADER_HEIGHT + tokens.BAND_PAD)}" '
        f'rx="10" fill="{paint("band")}"/>'
        f'<text x="{format_number(band.x + tokens.BAND_PAD)}" y="{y + 21}" '
        f'font-size="{tokens.BAND_PX}" font-weight="700" '
        f'fill="{paint("subtext")}">{escape_markup(name)}</text>'
    )
