"""Draw edges as SVG: lines with an arrow at the effect, and badges of their assumptions.

The line shows the confidence: heavy, plain, dotted. An edge that leads back is dashed. The head shows the type: filled
for a contribution, double for a cause, open for a dependency.
"""

from __future__ import annotations

from itertools import pairwise
from math import log2
from typing import NamedTuple

from groundplan.purpose.model import Confidence, EdgeType, PurposeEdge
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.routes import EdgeRoute, Point
from groundplan.purpose.picture.shapes import SIGNS, describe_badge, draw_badge, draw_sign, format_number
from groundplan.purpose.picture.subjects import Arrow, Emphasis, sort_by_severity
from groundplan.purpose.picture.text import escape_markup
from groundplan.purpose.picture.tokens import Paint

CORNER_RADIUS = 7.0  # corners of an edge that leads back
# Positions of a badge along the last curve; the first free one is used.
MARK_SHARES = (0.5, 0.62, 0.38, 0.74, 0.26, 0.84, 0.16, 0.56, 0.44, 0.68, 0.32)
LINE_WIDTH_MAX = 4.0  # of several edges between two groups
MARK_DISTANCE_MIN = tokens.BADGE + 1
LABEL_HEIGHT = 12
LABEL_OVERHANG = 12  # of a label on both sides of its badge
FALLBACK_SHARES = tuple(place / 40 for place in range(2, 39))


class LineStyle(NamedTuple):
    """The style of an edge."""

    colour: str
    width: float
    dash: str | None


def choose_line_style(edge: PurposeEdge, emphasis: Emphasis = Emphasis.PLAIN) -> LineStyle:
    """Return the line style of an edge by type, confidence and emphasis."""
    width = tokens.LINE_WIDTHS[edge.confidence]
    dash = tokens.LOW_DASH if edge.confidence is Confidence.LOW else None
    if edge.edge_type is EdgeType.FEEDBACK:
        dash = tokens.FEEDBACK_DASH
    match emphasis:
        case Emphasis.PLAIN:
            return LineStyle("line", width, dash)
        case Emphasis.STRONG | Emphasis.FOCUS:
            return LineStyle("line-strong", width + 0.9, dash)
        case Emphasis.MUTED:
            return LineStyle("muted-line", 1.0, dash)
        case Emphasis.ADDED:
            return LineStyle("added", width + 1.2, dash)
        case Emphasis.CHANGED:
            return LineStyle("changed", width + 1.2, dash)
        case Emphasis.REMOVED:
            return LineStyle("removed", width, tokens.REMOVED_DASH)


class OccupiedPoints:
    """The positions of badges. A badge with a label below it is higher than others."""

    def __init__(self, *, is_labelled: bool = False) -> None:
        self._height = MARK_DISTANCE_MIN + (LABEL_HEIGHT if is_labelled else 0)
        self._width = MARK_DISTANCE_MIN + (LABEL_OVERHANG if is_labelled else 0)
        self._cells: dict[tuple[int, int], list[Point]] = {}  # cells of the size of a mark

    def reserve_if_free(self, point: Point) -> bool:
        """Reserve a position. Return False if it is occupied."""
        x, y = point
        column, row = int(x // self._width), int(y // self._height)
        near = ((column + dx, row + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
        for taken_x, taken_y in (taken_point for cell in near for taken_point in self._cells.get(cell, ())):
            if abs(taken_x - x) < self._width and abs(taken_y - y) < self._height:
                return False
        self._cells.setdefault((column, row), []).append(point)
        return True


def draw_arrow(arrow: Arrow, route: EdgeRoute, paint: Paint) -> str:
    """Draw an edge without its badges."""
    line = choose_line_style(arrow.edge, arrow.emphasis)
    if arrow.links > 1:
        line = line._replace(width=min(line.width + log2(arrow.links) / 2, LINE_WIDTH_MAX))
    colour = paint(line.colour)
    dash = f' stroke-dasharray="{line.dash}"' if line.dash else ""
    tip = route.points[-1]
    return (
        f'<g class="gp-edge" data-edge="{escape_markup(str(arrow.name))}">'
        f"<title>{escape_markup(_describe_arrow(arrow))}</title>"
        f'<path d="{build_route_path(route)}" fill="none" stroke="{colour}" '
        f'stroke-width="{format_number(line.width)}"{dash}/>'
        f"{draw_head(arrow.edge.edge_type, tip, colour, paint)}</g>"
    )


def draw_marks(
    arrow: Arrow, route: EdgeRoute, paint: Paint, occupied: OccupiedPoints, *, is_labelled: bool = False
) -> str:
    """Draw the marks on an edge: the sign of its change, and the badge of its most severe assumption."""
    sign = ""
    if arrow.emphasis in SIGNS:
        sign = draw_sign(arrow.emphasis, *find_mark_point(route, occupied), paint, plate="band")
    return sign + _draw_badges(arrow, route, paint, occupied, is_labelled=is_labelled)


def _draw_badges(arrow: Arrow, route: EdgeRoute, paint: Paint, occupied: OccupiedPoints, *, is_labelled: bool) -> str:
    """Draw the badge of the most severe assumption on an edge, its key, and the number of other assumptions."""
    if not arrow.badges:
        return ""
    worst, *others = sort_by_severity(arrow.badges)
    x, y = find_mark_point(route, occupied)
    tooltip = "\n".join([str(arrow.name), *(describe_badge(badge) for badge in arrow.badges)])
    radius = format_number(tokens.BADGE / 2 + 2.5)
    plate = f'<circle cx="{format_number(x)}" cy="{format_number(y)}" r="{radius}" fill="{paint("band")}"/>'
    label = " ".join([worst.key] * is_labelled + [f"+{len(others)}"] * bool(others))
    named = (
        f'<text x="{format_number(x)}" y="{format_number(y + tokens.BADGE / 2 + LABEL_HEIGHT - 1)}" '
        f'font-size="{tokens.BADGE_KEY_PX}" font-weight="700" text-anchor="middle" fill="{paint("subtext")}" '
        f'stroke="{paint("band")}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">{label}</text>'
        if label
        else ""
    )
    is_muted = arrow.emphasis in (Emphasis.MUTED, Emphasis.REMOVED)
    return plate + draw_badge(worst, x, y, paint, tooltip=tooltip, is_muted=is_muted) + named


def find_mark_point(route: EdgeRoute, occupied: OccupiedPoints) -> Point:
    """Reserve and return a free position for a mark on an edge."""
    places = _list_mark_points(route)
    return next((place for place in places if occupied.reserve_if_free(place)), places[0])


def _list_mark_points(route: EdgeRoute) -> list[Point]:
    """Return positions for a mark, the best first. Those on the last segment come before those on earlier ones."""
    if route.is_back:
        (right, depth), (left, _) = route.points[2], route.points[3]
        return [(left + (right - left) * share, depth) for share in (*MARK_SHARES, *FALLBACK_SHARES)]
    pieces = list(pairwise(route.points))
    return [_compute_curve_point(start, end, share) for start, end in reversed(pieces) for share in MARK_SHARES]


def _compute_curve_point(start: Point, end: Point, share: float) -> Point:
    """Return a point of the curve that is horizontal at both ends."""
    rest = 1 - share
    middle = (start[0] + end[0]) / 2
    x = rest**3 * start[0] + 3 * rest * share * middle + share**3 * end[0]
    y = (rest**3 + 3 * rest**2 * share) * start[1] + (3 * rest * share**2 + share**3) * end[1]
    return x, y


def build_route_path(route: EdgeRoute) -> str:
    """Return the path of an arrow without its head."""
    points = [*route.points[:-1], (route.points[-1][0] - tokens.ARROW + 1, route.points[-1][1])]
    return _build_angular_path(points) if route.is_back else _build_curved_path(points)


def _build_curved_path(points: list[Point]) -> str:
    n = format_number
    parts = [f"M{n(points[0][0])} {n(points[0][1])}"]
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 == y2:
            parts.append(f"H{n(x2)}")
        else:
            middle = n((x1 + x2) / 2)
            parts.append(f"C{middle} {n(y1)} {middle} {n(y2)} {n(x2)} {n(y2)}")
    return "".join(parts)


def _build_angular_path(points: list[Point]) -> str:
    """Return a path of straight segments with rounded corners."""
    n = format_number
    parts = [f"M{n(points[0][0])} {n(points[0][1])}"]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into, out = _find_corner_start(corner, before), _find_corner_start(corner, after)
        parts.append(f"L{n(into[0])} {n(into[1])}Q{n(corner[0])} {n(corner[1])} {n(out[0])} {n(out[1])}")
    parts.append(f"L{n(points[-1][0])} {n(points[-1][1])}")
    return "".join(parts)


def _find_corner_start(corner: Point, neighbour: Point) -> Point:
    """Return the point at which a rounded corner begins."""
    away = (neighbour[0] - corner[0], neighbour[1] - corner[1])
    length = max(abs(away[0]), abs(away[1]), 0.1)
    share = min(CORNER_RADIUS, length / 2) / length
    return corner[0] + away[0] * share, corner[1] + away[1] * share


def draw_head(edge_type: EdgeType, tip: Point, colour: str, paint: Paint) -> str:
    """Draw the head of an arrow."""
    match edge_type:
        case EdgeType.CAUSES:
            return f'<path d="{_build_head(tip)}{_build_head((tip[0] - tokens.ARROW, tip[1]))}" fill="{colour}"/>'
        case EdgeType.DEPENDS_ON:
            return f'<path d="{_build_head(tip)}" fill="{paint("page")}" stroke="{colour}" stroke-width="1.3"/>'
        case _:
            return f'<path d="{_build_head(tip)}" fill="{colour}"/>'


def _build_head(tip: Point) -> str:
    x, y = tip
    n, back, half = format_number, tokens.ARROW, tokens.ARROW * 0.6
    return f"M{n(x)} {n(y)}L{n(x - back)} {n(y - half)}V{n(y + half)}Z"


def _describe_arrow(arrow: Arrow) -> str:
    edge = arrow.edge
    lines = [f"{edge.source} to {edge.target}, {tokens.RELATION_NAMES[edge.edge_type]}"]
    if edge.confidence:
        lines.append(f"confidence: {edge.confidence}")
    lines += [text for text in (arrow.remark, edge.mechanism) if text]
    lines += [describe_badge(badge) for badge in arrow.badges]
    return "\n".join(lines)
