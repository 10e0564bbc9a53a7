"""The shapes of the picture: outlines of cards, badges of assumptions, and signs of changes.

They differ without colour: work is a plain box, an activity is an arrow, an output has a folded corner, an outcome is
rounded, a goal has cut corners and a heavy outline. High risk is an octagon, medium a triangle, low a circle, unknown a
square; a sign in the badge shows the status.
"""

from __future__ import annotations

from math import cos, pi, sin

from groundplan.purpose.model import AssumptionStatus, NodeType, RiskLevel
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.subjects import Badge, Emphasis
from groundplan.purpose.picture.text import escape_markup
from groundplan.purpose.picture.tokens import CardType, Paint, WorkType


def format_number(value: float) -> str:
    """Return a coordinate as the shortest text."""
    rounded = int(value)
    return str(rounded) if rounded == value else f"{value:.1f}".removesuffix(".0")


def build_card_path(node_type: CardType, x: float, y: float, width: float, height: float) -> str:
    """Return the outline of a card inside its box."""
    right, bottom = x + width, y + height
    corner = min(tokens.CORNER, height / 2)
    n = format_number
    match node_type:
        case WorkType.WORK:
            return f"M{n(x)} {n(y)}H{n(right)}V{n(bottom)}H{n(x)}Z"
        case NodeType.ACTIVITY:
            tip = corner * 0.8
            return (
                f"M{n(x)} {n(y)}H{n(right - tip)}L{n(right)} {n(y + height / 2)}L{n(right - tip)} {n(bottom)}H{n(x)}Z"
            )
        case NodeType.OUTPUT:
            return f"M{n(x)} {n(y)}H{n(right - corner)}L{n(right)} {n(y + corner)}V{n(bottom)}H{n(x)}Z"
        case NodeType.OUTCOME:
            arc = f"A{n(corner)} {n(corner)} 0 0 1"
            return (
                f"M{n(x + corner)} {n(y)}H{n(right - corner)}{arc} {n(right)} {n(y + corner)}V{n(bottom - corner)}"
                f"{arc} {n(right - corner)} {n(bottom)}H{n(x + corner)}{arc} {n(x)} {n(bottom - corner)}"
                f"V{n(y + corner)}{arc} {n(x + corner)} {n(y)}Z"
            )
        case NodeType.GOAL:
            return (
                f"M{n(x + corner)} {n(y)}H{n(right - corner)}L{n(right)} {n(y + corner)}V{n(bottom - corner)}"
                f"L{n(right - corner)} {n(bottom)}H{n(x + corner)}L{n(x)} {n(bottom - corner)}V{n(y + corner)}Z"
            )


def build_fold_path(x: float, y: float, width: float, height: float) -> str:
    """Return the folded corner of an output."""
    corner = min(tokens.CORNER, height / 2)
    right = x + width
    return f"M{format_number(right - corner)} {format_number(y)}V{format_number(y + corner)}H{format_number(right)}"


def build_risk_path(risk: RiskLevel | None, x: float, y: float, size: float) -> str:
    """Return the shape of a badge around its centre."""
    half = size / 2
    n = format_number
    match risk:
        case RiskLevel.HIGH:
            return _build_polygon(x, y, half * 1.08, 8, turned=pi / 8)
        case RiskLevel.MEDIUM:
            top, bottom = y - half * 1.05, y + half * 0.85
            return f"M{n(x)} {n(top)}L{n(x + half * 1.2)} {n(bottom)}H{n(x - half * 1.2)}Z"
        case RiskLevel.LOW:
            return (
                f"M{n(x - half)} {n(y)}A{n(half)} {n(half)} 0 1 1 {n(x + half)} {n(y)}"
                f"A{n(half)} {n(half)} 0 1 1 {n(x - half)} {n(y)}Z"
            )
        case None:
            side = half * 0.9
            return f"M{n(x - side)} {n(y - side)}H{n(x + side)}V{n(y + side)}H{n(x - side)}Z"


def build_status_path(status: AssumptionStatus, x: float, y: float) -> str:
    """Return the sign in a badge as strokes: question mark, check mark, exclamation mark or cross."""
    n = format_number
    match status:
        case AssumptionStatus.UNTESTED:
            return f"M{n(x - 1.8)} {n(y - 2)}a1.9 1.9 0 1 1 2.7 1.6q-.9 .5 -.9 1.4M{n(x)} {n(y + 3.2)}v.1"
        case AssumptionStatus.HOLDING:
            return f"M{n(x - 2.8)} {n(y + 0.2)}l2 2.1l3.7 -4.4"
        case AssumptionStatus.AT_RISK:
            return f"M{n(x)} {n(y - 3.2)}v3.8m0 2.5v.1"
        case AssumptionStatus.REFUTED:
            return f"M{n(x - 2.3)} {n(y - 2.3)}l4.6 4.6m0 -4.6l-4.6 4.6"


def _build_polygon(x: float, y: float, radius: float, corners: int, *, turned: float) -> str:
    points = (
        (x + radius * cos(turned + 2 * pi * place / corners), y + radius * sin(turned + 2 * pi * place / corners))
        for place in range(corners)
    )
    return "M" + "L".join(f"{format_number(px)} {format_number(py)}" for px, py in points) + "Z"


SIGNS = {Emphasis.ADDED: "+", Emphasis.REMOVED: "−", Emphasis.CHANGED: "~"}  # noqa: RUF001 - a real minus
SIGN_PX = 13


def draw_sign(emphasis: Emphasis, x: float, y: float, paint: Paint, *, plate: str | None = None) -> str:
    """Draw the sign of a change around its centre, with a plate on a dark background."""
    cx, cy = format_number(x), format_number(y)
    around = "" if plate is None else f'<circle cx="{cx}" cy="{cy}" r="{tokens.SIGN / 2 + 2.5}" fill="{paint(plate)}"/>'
    return (
        f'{around}<circle cx="{cx}" cy="{cy}" r="{tokens.SIGN / 2}" fill="{paint(emphasis.value)}"/>'
        f'<text x="{cx}" y="{format_number(y + SIGN_PX * 0.34)}" font-size="{SIGN_PX}" font-weight="700" '
        f'fill="{paint("change-sign")}" text-anchor="middle">{SIGNS[emphasis]}</text>'
    )


def draw_badge(
    badge: Badge, x: float, y: float, paint: Paint, *, tooltip: str | None = None, is_muted: bool = False
) -> str:
    """Draw a badge around its centre. A muted badge keeps its shape and sign."""
    colour = tokens.RISK_COLOURS[badge.risk]
    fill, line, sign = ("muted-fill", "muted-line", "muted-text") if is_muted else (colour, colour, "risk-sign")
    title = "" if tooltip is None else f"<title>{escape_markup(tooltip)}</title>"
    lowered = 0.8 if badge.risk == "MEDIUM" else 0.0  # the centre of a triangle is lower
    return (
        f'<g class="gp-badge" data-key="{escape_markup(badge.key)}">{title}'
        f'<path d="{build_risk_path(badge.risk, x, y, tokens.BADGE)}" fill="{paint(fill)}" '
        f'stroke="{paint(line)}" stroke-width="1"/>'
        f'<path d="{build_status_path(badge.status, x, y + lowered)}" fill="none" stroke="{paint(sign)}" '
        f'stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round"/></g>'
    )


def describe_badge(badge: Badge) -> str:
    """Return the description of a badge in words."""
    return f"{badge.key}, {tokens.RISK_NAMES[badge.risk]}, {tokens.STATUS_NAMES[badge.status]}: {badge.text}"
