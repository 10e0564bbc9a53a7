"""What is left out of an answer that would be longer than the caller's cap: whole parts, the least needed first.

Stored text is never cut. What an entity lacks it says in `leftOut`, and `query_graph get` gives it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET

from groundplan.kernel.output_gate import CHARS_PER_TOKEN, encode
from groundplan.kernel.store.transaction import Transaction

SPARE_CHARS = 64  # for the frame around the answer
PARTS = {
    "changelog": "changelog",
    "related_atoms": "relatedAtoms",
    "related_molecules": "relatedMolecules",
    "freshness": "freshness",  # its files can be many
    "knowledge": "knowledge",
    "paths": "paths",
    "matched_paths": "matchedPaths",
}


def lighten(tx: Transaction, answer: Any, entities: Sequence[Any], *, tenths: int = 10) -> None:
    """Leave parts of entities out until the answer fits, in the order of `PARTS`, of the last entity first."""
    excess = excess_chars(tx, answer, tenths)
    for part, wire in PARTS.items():
        for entity in reversed(entities):
            if excess <= 0:
                return
            value = getattr(entity, part, UNSET)
            if value is UNSET or not value:
                continue
            setattr(entity, part, UNSET)
            entity.left_out = [*(entity.left_out or ()), wire]
            excess -= len(encode(value).decode())
            if excess <= 0:
                excess = excess_chars(tx, answer, tenths)  # what says that it was left out takes room, too


def excess_chars(tx: Transaction, answer: Any, tenths: int = 10) -> int:
    """How many characters the answer is longer than so many tenths of the caller's cap; 0 or less where it fits."""
    cap = tx.preferences.answer_tokens_max * tenths // 10
    return len(encode(answer).decode()) + SPARE_CHARS - cap * CHARS_PER_TOKEN if cap else 0
