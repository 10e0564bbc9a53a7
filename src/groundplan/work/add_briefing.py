"""Add a briefing to an answer that has a budget: the answer itself comes first, the briefing uses what is left."""

from __future__ import annotations

from typing import Any

from groundplan.kernel.answers import CHARS_PER_TOKEN, Budget, CutLists, count_chars, trim
from groundplan.kernel.store.transaction import Transaction
from groundplan.providers import BRIEFING_LISTS, BriefingRequest, build_briefing

BRIEFING_CHARS_MIN = 160  # what is left out, and the call that gets it; an answer without this room is trimmed
KEPT_THIRDS = 2  # of the budget, for an answer that has to be trimmed anyway
FIELD_CHARS = len(',"briefing":')

# A warning that is added later can make an answer too long; then the briefing is cut, the least important list first.
TRIMMING = tuple(CutLists((f"briefing.{name}",)) for name in reversed(BRIEFING_LISTS))


def add_briefing(tx: Transaction, answer: Any, n: int, *, lean: bool, envelope_chars: int = 0) -> None:
    """Set the field `briefing` of an answer about a node, so that both are within the cap on the answer."""
    chars_max = tx.preferences.answer_tokens_max * CHARS_PER_TOKEN - envelope_chars
    if count_chars(answer) > chars_max - BRIEFING_CHARS_MIN:
        trim(answer, Budget(chars_max * KEPT_THIRDS // 3))
    room = chars_max - count_chars(answer) - FIELD_CHARS
    briefing = build_briefing(tx, BriefingRequest(n, room, lean))
    if briefing is not None:
        answer.briefing = briefing
