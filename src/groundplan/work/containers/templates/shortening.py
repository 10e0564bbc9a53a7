"""What is left out of an answer about templates that would be longer than the caller's cap: whole texts, never cut.

What lacks something says so in `leftOut`; the command line and Python, which have no cap, give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET

from groundplan.kernel.output_gate import CHARS_PER_TOKEN
from groundplan.kernel.store.transaction import Transaction
from groundplan.work.reading.room import length

SPARE_CHARS = 64  # for the frame around the answer
# In the order in which they go; a template has some of them, a section others.
PARTS = {
    "content_sample": "contentSample",
    "usage_description": "usageDescription",
    "description": "description",
    "tags": "tags",
}


def fit(tx: Transaction, answer: Any, things: Sequence[Any]) -> None:
    """Leave parts of templates and sections out until the answer fits, of the last one first."""
    parts = _parts(things)
    while (excess := _excess_chars(tx, answer)) > 0:
        for thing, part in parts:
            excess -= length(getattr(thing, part))
            setattr(thing, part, UNSET)
            thing.left_out = [*(thing.left_out or ()), PARTS[part]]
            if excess <= 0:
                break  # to measure anew: what says that it was left out takes room, too
        else:
            return


def _parts(things: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    for part in PARTS:
        for thing in reversed(things):
            if getattr(thing, part, UNSET) not in (UNSET, "", []):
                yield thing, part


def _excess_chars(tx: Transaction, answer: Any) -> int:
    cap = tx.preferences.answer_tokens_max
    return length(answer) + SPARE_CHARS - cap * CHARS_PER_TOKEN if cap else 0
