"""Measure and draw cards."""

from __future__ import annotations

from typing import NamedTuple

from groundplan.purpose.model import NodeType
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.layout import Box, CardSize
from groundplan.purpose.picture.shapes import (
    SIGNS,
    build_card_path,
    build_fold_path,
    describe_badge,
    draw_badge,
    draw_sign,
    format_number,
)
from groundplan.purpose.picture.subjects import Badge, Card, Emphasis, GroupSubject, pluralize, sort_by_severity
from groundplan.purpose.picture.text import (
    clean_line,
    escape_markup,
    is_exact,
    measure_width,
    truncate_to_width,
    wrap_to_width,
)
from groundplan.purpose.picture.tokens import Paint

NEARLY_FULL = 0.8  # share of a line above which its width is fixed, so that no font makes it wider
BADGE_STEP = 6
META_STEP = 8
OWNER_ROOM_MIN = 24  # below it a name is not useful


class MeasuredCard(NamedTuple):
    """A card with its text broken into lines."""

    card: Card
    lines: list[str]
    size: CardSize


def measure_card(card: Card) -> MeasuredCard:
    """Break the title of a card into lines, and return the card with its size."""
    style = tokens.CARDS[card.node.node_type]
    lines = wrap_to_width(card.node.title, style.title_px, style.width - 2 * style.inset, style.lines_max)
    height = 2 * tokens.CARD_PAD + tokens.META_HEIGHT + style.line_height * max(1, len(lines))
    if card.badges:
        height += tokens.FOOT_HEIGHT
    return MeasuredCard(card, lines, CardSize(card.node.node_type, style.width, height))


class _CardLook(NamedTuple):
    fill: str
    line: str
    text: str
    subtext: str
    outline: float
    dash: str | None = None


def draw_card(measured: MeasuredCard, box: Box, paint: Paint) -> str:
    """Draw a card as SVG."""
    card = measured.card
    node = card.node
    style = tokens.CARDS[node.node_type]
    look = _choose_look(card)
    x, y, width, height = box
    left, right = x + style.inset, x + width - style.inset
    group = f' data-group="{escape_markup(node.group)}"' if isinstance(node, GroupSubject) else ""
    parts = [
        f'<g class="gp-card" data-key="{escape_markup(node.key)}"{group}>'
        f"<title>{escape_markup(_describe_card(card))}</title>"
    ]
    dash = f' stroke-dasharray="{look.dash}"' if look.dash else ""
    if isinstance(node, GroupSubject) and node.size > 1:
        # A second card looks out behind the first.
        behind = build_card_path(node.node_type, x + tokens.STACK_OFFSET, y + tokens.STACK_OFFSET, width, height)
        parts.append(
            f'<path d="{behind}" fill="{paint(look.fill)}" stroke="{paint(look.line)}" stroke-width="{look.outline}" '
            f'stroke-linejoin="round"/>'
        )
    parts.append(
        f'<path d="{build_card_path(node.node_type, x, y, width, height)}" fill="{paint(look.fill)}" '
        f'stroke="{paint(look.line)}" stroke-width="{look.outline}" stroke-linejoin="round"{dash}/>'
    )
    if node.node_type is NodeType.OUTPUT:
        parts.append(f'<path d="{build_fold_path(x, y, width, height)}" fill="none" stroke="{paint(look.line)}"/>')
    # Letters missing in the width table may be wider than estimated, so overflow is clipped.
    is_clipped = not all(map(is_exact, (*measured.lines, node.owner or "")))
    if is_clipped:
        parts.append(
            f'<svg x="{format_number(x)}" y="{format_number(y)}" '
            f'width="{format_number(width)}" height="{format_number(height)}" '
            f'viewBox="{format_number(x)} {format_number(y)} {format_number(width)} {format_number(height)}">'
        )
    # At the top an output ends left of its folded corner.
    end = right - tokens.CORNER / 2 if node.node_type is NodeType.OUTPUT else right
    parts.append(_draw_meta(card, left, end, y + tokens.CARD_PAD + tokens.KEY_PX, paint, look))
    base = y + tokens.CARD_PAD + tokens.META_HEIGHT + style.title_px
    decoration = ' text-decoration="line-through"' if card.emphasis is Emphasis.REMOVED else ""
    room = width - 2 * style.inset
    for line in measured.lines:
        wide = measure_width(line, style.title_px)
        exact = f' textLength="{format_number(wide)}"' if wide > room * NEARLY_FULL and is_exact(line) else ""
        parts.append(
            _draw_text(left, base, line, style.title_px, paint(look.text), bold=True, more=f"{decoration}{exact}")
        )
        base += style.line_height
    if card.badges:
        middle = y + height - tokens.CARD_PAD - tokens.FOOT_HEIGHT / 2 + 5
        parts.append(_draw_foot(card, left, right, middle, paint, look))
    parts.append("</svg></g>" if is_clipped else "</g>")
    return "".join(parts)


def _choose_look(card: Card) -> _CardLook:
    hue = tokens.CARD_HUES[card.node.node_type]
    is_goal = card.node.node_type is NodeType.GOAL
    outline = tokens.CARDS[card.node.node_type].outline
    text, subtext = ("goal-text", "goal-subtext") if is_goal else ("text", "subtext")
    full = _CardLook(f"{hue}-fill", f"{hue}-line", text, subtext, outline)
    match card.emphasis:
        case Emphasis.PLAIN:
            return full
        case Emphasis.STRONG:
            return full._replace(outline=outline + 1)
        case Emphasis.FOCUS:
            return full._replace(line="line-strong", outline=outline + 3.5)
        case Emphasis.MUTED:
            return _CardLook("muted-fill", "muted-line", "muted-text", "muted-text", outline * 2 / 3)
        case Emphasis.ADDED:
            return full._replace(line="added", outline=outline + 1.5)
        case Emphasis.CHANGED:
            return full._replace(line="changed", outline=outline + 1.5)
        case Emphasis.REMOVED:
            return _CardLook("muted-fill", "removed", "muted-text", "muted-text", outline, tokens.REMOVED_DASH)


def _draw_meta(card: Card, left: float, right: float, base: float, paint: Paint, look: _CardLook) -> str:
    """Draw the line above the title: the key, the number of indicators, and the owner or the kind of change."""
    node = card.node
    label = _label_card(card)
    parts = [_draw_text(left, base, label, tokens.KEY_PX, paint(look.subtext), bold=True)]
    x = left + measure_width(label, tokens.KEY_PX) + META_STEP
    if card.indicators:
        remark = pluralize(card.indicators, "indicator")
        parts.append(_draw_text(x, base, remark, tokens.BADGE_KEY_PX, paint(look.subtext)))
        x += measure_width(remark, tokens.BADGE_KEY_PX) + META_STEP
    if card.emphasis in SIGNS:
        plate = "goal-badge" if look.fill == "goal-fill" else None
        parts.append(draw_sign(card.emphasis, right - tokens.SIGN / 2 + 2, base - 4, paint, plate=plate))
    elif node.owner and right - x > OWNER_ROOM_MIN:
        owner = truncate_to_width(clean_line(node.owner), tokens.KEY_PX, right - x)
        parts.append(_draw_text(right, base, owner, tokens.KEY_PX, paint(look.subtext), anchor="end"))
    return "".join(parts)


def _draw_foot(card: Card, left: float, right: float, middle: float, paint: Paint, look: _CardLook) -> str:
    """Draw the badges that fit, beginning with the most severe."""
    parts: list[str] = []
    shown = _select_fitting(sort_by_severity(card.badges), right - left)
    is_on_dark = card.node.node_type is NodeType.GOAL and look.fill != "muted-fill"
    if is_on_dark:
        wide = sum(map(_measure_badge, shown)) + BADGE_STEP
        parts.append(
            f'<rect x="{format_number(left - BADGE_STEP / 2)}" y="{format_number(middle - tokens.BADGE / 2 - 2)}" '
            f'width="{format_number(wide)}" height="{tokens.BADGE + 4}" rx="4" fill="{paint("goal-badge")}"/>'
        )
    x = left
    for badge in shown:
        is_muted = look.fill == "muted-fill"
        parts.append(draw_badge(badge, x + tokens.BADGE / 2, middle, paint, is_muted=is_muted))
        colour = paint("subtext" if is_on_dark else look.subtext)
        struck = ' text-decoration="line-through"' if badge.emphasis is Emphasis.REMOVED else ""
        parts.append(
            _draw_text(
                x + tokens.BADGE + 3, middle + 4, _format_badge_key(badge), tokens.BADGE_KEY_PX, colour, more=struck
            )
        )
        x += _measure_badge(badge)
    if len(shown) < len(card.badges):
        parts.append(
            _draw_text(
                x + BADGE_STEP,
                middle + 4,
                f"+{len(card.badges) - len(shown)}",
                tokens.BADGE_KEY_PX,
                paint(look.subtext),
            )
        )
    return "".join(parts)


def _select_fitting(badges: list[Badge], room: float) -> list[Badge]:
    """Return the badges that fit, with room for a number of those that do not."""
    if sum(map(_measure_badge, badges)) <= room:
        return badges
    room -= measure_width(f"+{len(badges)}", tokens.BADGE_KEY_PX) + BADGE_STEP
    shown: list[Badge] = []
    for badge in badges:
        room -= _measure_badge(badge)
        if room < 0:
            break
        shown.append(badge)
    return shown


def _measure_badge(badge: Badge) -> float:
    return tokens.BADGE + 3 + measure_width(_format_badge_key(badge), tokens.BADGE_KEY_PX) + BADGE_STEP


def _format_badge_key(badge: Badge) -> str:
    """Return the key of a badge, with a sign for its change."""
    sign = SIGNS.get(badge.emphasis)
    return badge.key if sign is None else f"{badge.key} {sign}"


def _label_card(card: Card) -> str:
    """Return the label above the title: the key of a node, or the number of nodes in a group."""
    node = card.node
    if not isinstance(node, GroupSubject):
        return node.key
    names = tokens.SINGULAR_NAMES if node.size == 1 else tokens.BAND_NAMES
    return f"{node.size} {names[node.node_type].lower()}"


def _describe_card(card: Card) -> str:
    """Return the tooltip, which is also the text for screen readers."""
    node = card.node
    is_group = isinstance(node, GroupSubject)
    lines = [
        f"{_label_card(card)}: {node.title}" if is_group else f"{node.key} ({node.node_type.lower()}): {node.title}"
    ]
    lines += [text for text in (card.remark, node.owner and f"owner: {node.owner}", node.description) if text]
    lines += [describe_badge(badge) for badge in card.badges]
    return "\n".join(lines)


def _draw_text(
    x: float, y: float, text: str, size: int, fill: str, *, bold: bool = False, anchor: str = "", more: str = ""
) -> str:
    weight = ' font-weight="700"' if bold else ""
    end = f' text-anchor="{anchor}"' if anchor else ""
    return (
        f'<text x="{format_number(x)}" y="{format_number(y)}" font-size="{size}" fill="{fill}"{weight}{end}{more}>'
        f"{escape_markup(text)}</text>"
    )
