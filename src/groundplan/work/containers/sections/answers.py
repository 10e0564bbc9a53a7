"""What is answered about sections, and what is left out where that would be longer than the caller's cap.

Stored text is never cut: contents go as a whole, that of the last section first, and `leftOut` says which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from groundplan.kernel.output_gate import CHARS_PER_TOKEN
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.containers.sections.section import Section
from groundplan.work.reading.room import length

SPARE_CHARS = 64  # for the frame around the answer
NAMED_CHARS = 40  # what an id takes in `leftOut`


class Sections(Struct, rename="camel"):
    """Sections in their order, and how many they are."""

    sections: list[Section]
    count: int
    left_out: list[str] | UnsetType = UNSET  # those of which not all is here; sectionIds asks for a few of them


def fitted(tx: Transaction, sections: list[Section], *, tenths: int = 10) -> Sections:
    """Sections as an answer, or as so many tenths of one, that keeps the caller's cap."""
    answer = Sections(sections, len(sections))
    excess = _excess_chars(tx, answer, tenths)
    if excess <= 0:
        return answer
    left_out = set(lighten(sections, excess))
    kept = list(sections)
    while True:
        answer.sections = kept
        answer.left_out = [section.id for section in sections if section.id in left_out]
        if not kept or _excess_chars(tx, answer, tenths) <= 0:
            return answer
        left_out.add(kept.pop().id)  # even without contents they are too long


def fitted_one(tx: Transaction, section: Section) -> Section:
    """One section as an answer that keeps the caller's cap."""
    if section.content and _excess_chars(tx, section) > 0:
        section.content = UNSET
        section.left_out = ["content"]
    return section


def lighten(sections: Sequence[Section], excess_chars: int) -> list[str]:
    """Leave contents out, of the last section first, until an answer is so many characters shorter.

    Gives the ids of those that have none any more; `leftOut`, which tells them, is counted in.
    """
    left_out = []
    for section in reversed(sections):
        if excess_chars <= 0:
            break
        saved = length(section.content) - NAMED_CHARS if section.content else 0
        if saved > 0:
            section.content = UNSET
            left_out.append(section.id)
            excess_chars -= saved
    return left_out[::-1]


def _excess_chars(tx: Transaction, answer: Any, tenths: int = 10) -> int:
    cap = tx.preferences.answer_tokens_max * tenths // 10
    return length(answer) + SPARE_CHARS - cap * CHARS_PER_TOKEN if cap else 0
