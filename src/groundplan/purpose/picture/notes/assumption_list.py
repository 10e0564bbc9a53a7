"""List the assumptions of a picture below it: text, risk, what the last review found, owner and review date."""

from __future__ import annotations

from groundplan.purpose.model import key_order
from groundplan.purpose.picture import tokens
from groundplan.purpose.picture.badges import draw_badge
from groundplan.purpose.picture.card_types import GroupSubject
from groundplan.purpose.picture.notes.blocks import Note, NoteBlock, draw_block
from groundplan.purpose.picture.picture_model import Badge, Picture
from groundplan.purpose.picture.tokens import Paint
from groundplan.purpose.picture.wording import clean_line

SYMBOL_WIDTH = tokens.BADGE + 7


def draw_assumptions(picture: Picture, place: tuple[float, float, float], scale: float, paint: Paint) -> NoteBlock:
    """Draw the list, in the order of the keys that stand beside the badges."""
    badges = [
        (badge, key)
        for key, card in picture.cards.items()
        if not isinstance(card.node, GroupSubject)
        for badge in card.badges
    ]
    badges += [
        (badge, " to ".join(_name_end(picture, end) for end in arrow.edge.name[:2]))
        for arrow in picture.arrows
        for badge in arrow.badges
    ]
    notes = [_build_note(badge, on, paint) for badge, on in sorted(badges, key=lambda one: key_order(one[0].key))]
    return draw_block("Assumptions", notes, place, scale, paint, "gp-assumptions")


def _name_end(picture: Picture, key: str) -> str:
    node = picture.cards[key].node
    return f"group {node.group}" if isinstance(node, GroupSubject) else key


def _build_note(badge: Badge, on: str, paint: Paint) -> Note:
    owner = f"owner {clean_line(badge.owner)}" if badge.owner else "no owner"
    review = f"review by {badge.review_by}" if badge.review_by else "no review date"
    facts = (tokens.RISK_NAMES[badge.risk], tokens.STATUS_NAMES[badge.status], owner, review)
    symbol = draw_badge(badge, tokens.BADGE / 2, 0, paint)
    return Note(f"{badge.key} · on {on}", f"{clean_line(badge.text)} ({', '.join(facts)})", symbol, SYMBOL_WIDTH)
