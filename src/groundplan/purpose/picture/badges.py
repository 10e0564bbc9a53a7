"""Draw badges of assumptions, whose shape shows the risk and whose sign shows the status, and signs of changes."""

from __future__ import annotations

from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.picture_model import Badge, Emphasis
from groundplan.purpose.picture.shapes import build_risk_path, build_status_path, format_number
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import escape_markup

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
    """Draw a badge around its centre. `tooltip` is the tooltip. A muted badge keeps its shape and sign."""
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
    """Describe a badge in words."""
    return f"{badge.key}, {tokens.RISK_NAMES[badge.risk]}, {tokens.STATUS_NAMES[badge.status]}: {badge.text}"
